"""The passes that a kernel goes through, in order, and the one function that runs them all.

Each pass is data: its name, its function, and what holds afterwards. Adding a pass is adding a
line here. Never decides anything about a kernel itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.passes.collapse import collapse
from core.passes.decompose import decompose
from core.passes.devectorize import devectorize
from core.passes.expand import expand
from core.passes.final import final, gates_to_ifs
from core.passes.gpudims import gpudims
from core.passes.grouped import grouped
from core.passes.linearize import linearize
from core.passes.loadstore import loadstore
from core.passes.loops import loops
from core.passes.lower import lower
from core.passes.optimize import optimize
from core.passes.reduce import reduce
from core.passes.stage import stage
from core.target import Target
from core.uop import UOp, graph_rewrite
from core.uop.kernelinfo import KernelInfo, Opt
from core.uop.symbolic import gated, symbolic_index


@dataclass(frozen=True, slots=True)
class Pass:
    """One step from graph to graph. `contract` says what holds after it that did not before."""

    name: str
    run: Callable[[UOp, Target], UOp]
    contract: str


_simplifying = symbolic_index + gated


def simplify(sink: UOp, target: Target) -> UOp:
    """The kernel with simpler arithmetic."""
    return graph_rewrite(sink, _simplifying, name="simplify")


PASSES: tuple[Pass, ...] = (
    Pass("lower", lower, "no node has a shape: loops and single elements only"),
    Pass("simplify", simplify, "no symbolic rule applies"),
    Pass("collapse", collapse, "no reduce has a loop that its value does not need"),
    Pass("simplify", simplify, "no symbolic rule applies"),
    Pass("optimize", optimize, "loops have their final kinds; their numbers order the nest"),
    Pass("simplify", simplify, "no symbolic rule applies"),
    Pass("stage", stage, "no reduce reads far-apart memory anew in each pass of the inner loop"),
    Pass("expand", expand, "no UPCAST or UNROLL loop: their iterations are lanes of vectors"),
    Pass("grouped", grouped, "no REDUCE over a GROUP_REDUCE loop: shared memory and barriers"),
    Pass("gpudims", gpudims, "no parallel loop on a GPU: SPECIAL indices"),
    Pass("reduce", reduce, "no REDUCE: accumulators in registers"),
    Pass("loadstore", loadstore, "each INDEX has one offset and one gate"),
    Pass("devectorize", devectorize, "no arithmetic wider than the target's"),
    Pass("simplify", simplify, "no symbolic rule applies"),
    Pass("decompose", decompose, "every op and dtype of arithmetic is one that the target has"),
    Pass("final", final, "each gated LOAD has an alternative"),
    Pass("loops", loops, "each RANGE has one END"),
)


def lower_kernel(ast: UOp, target: Target, opts: Sequence[Opt] | None = None) -> list[UOp]:
    """The linear program of a kernel AST for `target`.

    `opts` are applied instead of those that the heuristic picks; () applies none.
    Raises CompileError where the kernel cannot be lowered or an opt does not apply.
    """
    sink = ast
    if opts is not None:
        info = ast.arg if isinstance(ast.arg, KernelInfo) else KernelInfo()
        sink = ast.replace(arg=replace(info, opts=tuple(opts)))
    for step in PASSES:
        sink = step.run(sink, target)
    return gates_to_ifs(linearize(sink))
