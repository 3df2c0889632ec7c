"""The opts that a kernel gets when nobody says which: for vector units and for work groups.

Reads the kernel's loops and how its addresses move. Each choice is applied as soon as it is made,
so that the next one sees its effect. Never applies what `apply_opt` would refuse, and never looks
at what a value is computed from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from core.dtype import dtypes
from core.errors import CompileError
from core.helpers import ceildiv, prod
from core.passes.optimize.access import Access, accesses
from core.passes.optimize.apply import UPCAST_MAX, apply_opt
from core.passes.optimize.kernel import OUTER, Kernel
from core.uop import UOp
from core.uop.kernelinfo import AxisType, Opt, OptOps

THREAD_WORK = 1 << 18
"""Iterations of all loops together from which a kernel is worth starting threads for."""

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
        opt = Opt(op, loops.index(loop), arg)
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


def heuristic(kernel: Kernel) -> list[Opt]:
    """Applies what is likely to make the kernel fast; returns the opts in order."""
    tuner = Tuner(kernel)
    choose: Callable[[Tuner], None] = for_groups if kernel.target.has_local else for_vectors
    choose(tuner)
    return tuner.opts


# vector units


def for_vectors(t: Tuner) -> None:
    """Lanes along an axis of neighbours, register tiles where loads are used again, threads."""
    stores, loads = t.seen()
    if not stores:
        return
    lanes = lanes_of(t, stores + loads)
    registers = t.kernel.target.registers * 3 // 4
    gates = t.kernel.target.lane_gates
    across = next((r for r in reversed(t.outer) if neighbours(r, stores)
                   and contiguous(r, stores + loads, gates)), None)  # fmt: skip
    tile = [r for r in reusable(t, loads) if r is not across] if t.inner else []
    if across is not None:
        vectors = max(1, upcast_lanes(t, across, lanes) // lanes)
        if t.inner and not tile:
            widen(t, vectors, registers)
    elif along := [r for r in t.inner if contiguous(r, loads, gates)
                   and any(a.stride(r) == 1 for a in loads)]:  # fmt: skip
        most = lanes if tile else 4 * lanes
        vectors = t.apply_largest(OptOps.GROUP, along[-1], halves(most, lanes // 2)) // lanes
    else:
        vectors = 1
        if not t.inner:
            transpose_tile(t, stores, loads, lanes)
    if tile:
        register_tile(t, loads, max(1, vectors), registers)
    unroll_small(t)
    if across is not None and tile:
        keep_columns(t)
    work = prod(size(r) for r in t.kernel.path)
    if t.outer and size(t.outer[0]) > 1 and work >= THREAD_WORK:
        t.apply(OptOps.THREAD, t.outer[0], 0)


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


def upcast_lanes(t: Tuner, loop: UOp, lanes: int) -> int:
    """Makes up to two vectors of a loop's iterations lanes, as full as can be; how many lanes."""
    amounts = range(2, min(2 * lanes, UPCAST_MAX) + 1)
    best = sorted(amounts, key=lambda n: (ceildiv(n, lanes) * lanes / n, -n))
    return t.apply_largest(OptOps.UPCAST, loop, best)


def widen(t: Tuner, vectors: int, registers: int) -> None:
    """More lanes of the last loop, where nothing is used again: longer runs of memory per turn."""
    if t.outer:
        t.apply_largest(OptOps.UPCAST, t.outer[-1], halves(min(4, registers // vectors), 2))


def transpose_tile(t: Tuner, stores: list[Access], loads: list[Access], lanes: int) -> None:
    """A square of lanes where stores are neighbours along one loop and loads along another."""
    written = [r for r in t.outer if neighbours(r, stores)]
    read = [r for r in t.outer if r not in written and any(a.stride(r) == 1 for a in loads)]
    if (
        not written
        or not read
        or any(r in a.gated_by for a in loads for r in (written[0], read[0]))
    ):
        return
    at = t.outer.index(read[-1])
    if t.apply_largest(OptOps.UPCAST, written[-1], halves(lanes, 4)) > 1:
        t.apply_largest(OptOps.UPCAST, t.outer[at], halves(lanes, 4))


def keep_columns(t: Tuner) -> None:
    """Puts the loop over columns around the one over rows: a panel of columns then stays in cache
    while all rows pass."""
    stores, loads = t.seen()
    if len(t.outer) < 2:
        return
    rows, columns = t.outer[-2:]
    used_again = any(a.stride(rows) == 0 and a.stride(columns) != 0 for a in loads)
    if used_again and (stores[0].stride(rows) or 0) > (stores[0].stride(columns) or 0):
        t.apply(OptOps.SWAP, rows, len(t.outer) - 1)


def lanes_of(t: Tuner, found: list[Access]) -> int:
    """Lanes of one vector of the widest dtype in memory, 4 bytes at least."""
    widest = max((a.dtype for a in found), key=lambda d: d.itemsize, default=dtypes.float32)
    return t.kernel.target.alu_lanes(widest if widest.itemsize > 4 else dtypes.float32)


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


# work groups


def for_groups(t: Tuner) -> None:
    """Wide loads, register tiles, threads of a group next to each other in memory."""
    stores, loads = t.seen()
    if not stores:
        return
    outputs = prod(size(r) for r in t.outer)
    reduced = prod(size(r) for r in t.inner)
    few = outputs <= 4096 and reduced >= 64
    rows = reduced >= 32 and not reusable(t, loads) and any(contiguous(r, loads) for r in t.inner)
    if (few or rows) and group_reduce(t, loads, 256 if outputs <= 4096 else 32):
        return
    if t.inner:
        register_tile(t, loads, 1, 16)
        if t.inner and size(t.inner[-1]) % 4 == 0:
            t.apply(OptOps.UNROLL, t.inner[-1], 4)
        else:
            unroll_small(t)
    elif outputs >= 1 << 14:
        wide = t.kernel.target.vector_lanes(
            max((s.dtype for s in stores), key=lambda d: d.itemsize)
        )
        for loop in t.outer[::-1]:
            if all(s.stride(loop) == 1 for s in stores) and contiguous(loop, stores + loads):
                t.apply_largest(OptOps.UPCAST, loop, (n for n in (8, 4, 2) if n <= wide))
                break
    threads(t, stores, 256)


def group_reduce(t: Tuner, loads: list[Access], most: int) -> bool:
    """Lets up to `most` threads of a work group reduce together; whether they could."""
    along = [r for r in t.inner if contiguous(r, loads)]
    loop = along[-1] if along else max(t.inner, key=size)
    top = not along
    if along and size(loop) >= 128 and size(loop) % 4 == 0:
        at = t.inner.index(loop)
        t.apply(OptOps.UNROLL, loop, 4)
        loop = t.inner[at]
    amounts = (16, 8) if top else halves(most, 8)
    grouped = t.apply_largest(OptOps.GROUPTOP if top else OptOps.GROUP, loop, amounts)
    if grouped > 1 and grouped < 256:
        stores, _ = t.seen()
        threads(t, stores, 256 // grouped)
    return grouped > 1


def threads(t: Tuner, stores: list[Access], most: int) -> None:
    """Makes up to `most` threads a group, first along loops whose stores are neighbours."""
    order = sorted(t.outer, key=lambda r: (stores[0].stride(r) != 1, -t.outer.index(r)))
    for loop in order:
        amounts = [n for n in (64, 32, 16, 8, 4, 3, 2) if n <= most]
        if loop is order[0]:
            amounts = [
                n for n in (256, 128, *amounts) if (n <= most and len(order) == 1) or n <= 64
            ]
            if most >= 32 and size(loop) > 64 and all(size(loop) % n for n in (4, 8, 16, 32)):
                at = t.outer.index(loop)
                if t.apply(OptOps.PADTO, loop, 32):
                    loop = t.outer[at]
        most //= t.apply_largest(OptOps.LOCAL, loop, amounts)
