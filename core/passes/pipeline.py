"""The passes that a kernel goes through, in order, and the one function that runs them all.

Each pass is data: its name, its function, and what holds afterwards. Adding a pass is adding a
line here. Never decides anything about a kernel itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.errors import SpecError
from core.helpers import SPEC
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
from core.passes.simplify import simplify
from core.passes.stage import stage
from core.target import Target
from core.uop import Ops, UOp
from core.uop.kernelinfo import KernelInfo, Opt
from core.uop.spec import ast_spec, index_spec, verify


@dataclass(frozen=True, slots=True)
class Pass:
    """One step from graph to graph. `contract` says what holds after it that did not before; the
    ops in `gone` do not appear any more, here and in all later passes."""

    name: str
    run: Callable[[UOp, Target], UOp]
    contract: str
    gone: tuple[Ops, ...] = ()


_SIMPLIFY = Pass("simplify", simplify, "no symbolic rule applies")

PASSES: tuple[Pass, ...] = (
    Pass(
        "lower",
        lower,
        "no node has a shape: loops and single elements only",
        (Ops.VIEW, Ops.REDUCE_AXIS, Ops.IOTA),
    ),
    _SIMPLIFY,
    Pass("collapse", collapse, "no reduce has a loop that its value does not need"),
    _SIMPLIFY,
    Pass("optimize", optimize, "loops have their final kinds; their numbers order the nest"),
    _SIMPLIFY,
    Pass("stage", stage, "what rows of a tile read from far apart comes from a panel nearby"),
    Pass(
        "expand",
        expand,
        "no UPCAST or UNROLL loop: their iterations are lanes of vectors",
        (Ops.UNROLL, Ops.CONTRACT),
    ),
    Pass("grouped", grouped, "no REDUCE over a GROUP_REDUCE loop: shared memory and barriers"),
    Pass("gpudims", gpudims, "no parallel loop on a GPU: SPECIAL indices"),
    Pass("reduce", reduce, "no REDUCE: accumulators in registers", (Ops.REDUCE,)),
    Pass("loadstore", loadstore, "each INDEX has one offset and one gate"),
    Pass("devectorize", devectorize, "no arithmetic wider than the target's"),
    _SIMPLIFY,
    Pass("decompose", decompose, "every op and dtype of arithmetic is one that the target has"),
    Pass("final", final, "each gated LOAD has an alternative; the gate of a store is the STORE's"),
    Pass("loops", loops, "each RANGE has one END"),
)


def lower_kernel(ast: UOp, target: Target, opts: Sequence[Opt] | None = None) -> list[UOp]:
    """The linear program of a kernel AST for `target`.

    `opts` are applied instead of those that the heuristic picks; () applies none. With SPEC=1
    every graph on the way is verified. Raises CompileError where the kernel cannot be lowered or
    an opt does not apply.
    """
    sink = ast
    if opts is not None:
        info = ast.arg if isinstance(ast.arg, KernelInfo) else KernelInfo()
        sink = ast.replace(arg=replace(info, opts=tuple(opts)))
    if SPEC:
        verify(sink, ast_spec, "kernel")
    gone: set[Ops] = set()
    for step in PASSES:
        sink = step.run(sink, target)
        gone.update(step.gone)
        if SPEC:
            _check(sink, step, gone)
    return gates_to_ifs(linearize(sink))


def _check(sink: UOp, step: Pass, gone: set[Ops]) -> None:
    verify(sink, index_spec, step.name)
    for u in sink.toposort():
        if u.op in gone:
            raise SpecError(
                f"{u.op.name} appears after pass {step.name}",
                where=repr(u),
                hint="the pass breaks the contract of one before it",
            )
