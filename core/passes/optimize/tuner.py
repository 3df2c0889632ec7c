"""A kernel that is being tuned: what has been applied, questions about its loops, common moves.

Applies only what `apply_opt` allows. Never decides by itself what to do.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.errors import CompileError
from core.passes.optimize.access import Access, accesses
from core.passes.optimize.apply import apply_opt
from core.passes.optimize.kernel import OUTER, Kernel
from core.uop import UOp
from core.uop.kernelinfo import AxisType, Opt, OptOps

_reduces = (OptOps.UNROLL, OptOps.GROUP, OptOps.GROUPTOP)


class Tuner:
    """A kernel, what has been applied to it, and questions about it."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.opts: list[Opt] = []

    @property
    def outer(self) -> list[UOp]:
        """The loops over outputs, outermost first."""
        return self.kernel.loops(*OUTER)

    @property
    def inner(self) -> list[UOp]:
        """The loops of reduces."""
        return self.kernel.loops(AxisType.REDUCE)

    def seen(self) -> tuple[list[Access], list[Access]]:
        """(stores, loads) of the kernel as it is now."""
        found = accesses(self.kernel.sink)
        return [a for a in found if a.store], [a for a in found if not a.store]

    def apply(self, op: OptOps, loop: UOp, arg: int) -> bool:
        """Applies an opt to a loop, if it is allowed; whether it was."""
        loops = self.inner if op in _reduces else self.outer
        return self.attempt(Opt(op, loops.index(loop), arg))

    def attempt(self, opt: Opt) -> bool:
        """Applies an opt, if it is allowed; whether it was."""
        try:
            apply_opt(self.kernel, opt)
        except CompileError:
            return False
        self.opts.append(opt)
        return True

    def apply_largest(self, op: OptOps, loop: UOp, amounts: Iterable[int]) -> int:
        """Applies an opt with the first amount that is allowed; the amount, 1 for none."""
        return next((n for n in amounts if size(loop) % n == 0 and self.apply(op, loop, n)), 1)


def size(loop: UOp) -> int:
    """Iterations of a loop."""
    return loop.src[0].arg


def contiguous(loop: UOp, found: Iterable[Access], gates: bool = False) -> bool:
    """Whether every address stays or goes to its neighbour with each iteration, under one gate;
    with `gates`, loads may have a gate for each."""
    return all(
        a.stride(loop) in (0, 1) and (loop not in a.gated_by or (gates and not a.store))
        for a in found
    )


def halves(most: int, least: int) -> list[int]:
    """most, most / 2, ... down to `least`, 2 at least."""
    found: list[int] = []
    while most >= max(least, 2):
        found.append(most)
        most //= 2
    return found


def neighbours(loop: UOp, stores: Iterable[Access]) -> bool:
    """Whether every store goes to its neighbour with each iteration."""
    return all(s.stride(loop) == 1 for s in stores)


def reusable(t: Tuner, loads: list[Access]) -> list[UOp]:
    """Loops over outputs for which some load, and not every load, stays where it is."""
    return [
        r
        for r in t.outer
        if any(a.stride(r) == 0 for a in loads)
        and any(a.stride(r) != 0 for a in loads)
        and not any(r in a.gated_by for a in loads)
    ]


def register_tile(t: Tuner, loads: list[Access], vectors: int, registers: int) -> None:
    """Upcasts loops along which loads are used again, up to `registers` accumulators."""
    for loop in reusable(t, loads)[::-1][:2]:
        room = registers // vectors
        vectors *= t.apply_largest(OptOps.UPCAST, loop, (n for n in (4, 3, 2) if n <= room))


def unroll_small(t: Tuner) -> None:
    """Unrolls the innermost reduce loop where it is short."""
    if t.inner and size(t.inner[-1]) <= 4:
        t.apply(OptOps.UNROLL, t.inner[-1], 0)
