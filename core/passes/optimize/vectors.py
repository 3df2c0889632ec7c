"""Opts for processors with vector units: lanes, register tiles, panels, threads.

Reads how addresses move and never looks at what a value is computed from.
"""

from __future__ import annotations

from core.dtype import dtypes
from core.helpers import ceildiv, prod
from core.passes.optimize.access import Access
from core.passes.optimize.apply import UPCAST_MAX
from core.passes.optimize.tuner import (
    Tuner,
    contiguous,
    halves,
    neighbours,
    register_tile,
    reusable,
    size,
    unroll_small,
)
from core.uop import UOp
from core.uop.kernelinfo import OptOps

THREAD_WORK = 1 << 18
"""Iterations of all loops together from which a kernel is worth starting threads for."""


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
    along = [r for r in t.inner if contiguous(r, loads, gates)
             and any(a.stride(r) == 1 for a in loads)]  # fmt: skip
    if across is not None and along and size(across) < lanes // 2 <= size(along[-1]):
        across = None  # as of the gradient of a small filter: too few lanes
    tile = [r for r in reusable(t, loads) if r is not across] if t.inner else []
    if across is not None:
        vectors = max(1, upcast_lanes(t, across, lanes) // lanes)
        if t.inner and not tile:
            widen(t, vectors, registers)
    elif along:
        most = lanes if tile else 4 * lanes
        vectors = t.apply_largest(OptOps.GROUP, along[-1], halves(most, lanes // 2)) // lanes
    else:
        vectors = 1
        if not t.inner:
            transpose_tile(t, stores, loads, lanes)
    if tile:
        register_tile(t, loads, max(1, vectors), registers)
    if across is not None or not tile or not t.kernel.fastest:
        unroll_small(t)  # else sums of lanes would be lanes of sums, put together from everywhere
    if across is not None and tile:
        keep_columns(t)
    work = prod(size(r) for r in t.kernel.path)
    if t.outer and size(t.outer[0]) > 1 and work >= THREAD_WORK:
        t.apply(OptOps.THREAD, t.outer[0], 0)


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
    # the UPCAST may use up the loop that is written along, and move the positions of the others
    across = read[-1]
    if t.apply_largest(OptOps.UPCAST, written[-1], halves(lanes, 4)) > 1:
        t.apply_largest(OptOps.UPCAST, across, halves(lanes, 4))


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
