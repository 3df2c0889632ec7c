"""The passes that a kernel goes through, in order, and the one function that runs them all.

Each pass is data: its name, its function, and what holds afterwards. Adding a pass is adding a
line here. Never decides anything about a kernel itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.passes.linearize import linearize
from core.passes.loops import loops
from core.passes.lower import lower
from core.passes.reduce import reduce
from core.target import Target
from core.uop import UOp
from core.uop.kernelinfo import Opt


@dataclass(frozen=True, slots=True)
class Pass:
    """One step from graph to graph. `contract` says what holds after it that did not before."""

    name: str
    run: Callable[[UOp, Target], UOp]
    contract: str


PASSES: tuple[Pass, ...] = (
    Pass("lower", lower, "no node has a shape; loops and single elements only"),
    Pass("reduce", reduce, "no REDUCE; accumulators are registers"),
    Pass("loops", loops, "each RANGE has one END"),
)


def lower_kernel(ast: UOp, target: Target, opts: Sequence[Opt] | None = None) -> list[UOp]:
    """The linear program of a kernel AST for `target`.

    `opts` are applied instead of those that the heuristic picks; () applies none.
    Raises CompileError where the kernel cannot be lowered or an opt does not apply.
    """
    sink = ast
    for step in PASSES:
        sink = step.run(sink, target)
    return linearize(sink)
