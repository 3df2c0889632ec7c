"""Two results of a kernel in memory: how far they are apart, and how far they may be.

Never runs anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, cast

import numpy as np

from core.dtype import DType, dtypes
from core.prove.samples.rounding import of_result
from core.runtime.numeric import Array, from_memory
from core.shape import ShapeTracker
from core.trial.trial import arguments, outputs_of
from core.uop.kernels import stores_of
from core.uop.ops import Ops
from core.uop.pointer import pointer_of
from core.uop.uop import UOp

PIECE: Final = 1 << 20
"""Elements of a result that are compared at once."""


def differences(
    ast: UOp, got: Sequence[Array], wanted: Sequence[Array]
) -> Iterator[tuple[int, float, float]]:
    """(number, largest difference, largest difference allowed) of each output of a kernel, in the
    memory of its arguments."""
    rounded, kinds = summed_products(ast), arguments(ast)
    for number in outputs_of(ast):
        dtype = kinds[number].dtype.base.name
        yield number, *difference(got[number], wanted[number], dtype, rounded)


def difference(
    got: Array, wanted: Array, dtype: str, rounded: Sequence[str] = ()
) -> tuple[float, float]:
    """(largest difference, largest difference allowed) of a result in memory; exact for integers,
    relative to the largest finite magnitude for floats. Infinities and NaNs must agree. `rounded`:
    dtypes that parts of the result are rounded to on the way, or not."""
    kind = getattr(dtypes, dtype)
    worst = largest = 0.0
    for _, a, b in _pieces(got, wanted, kind):
        worst = max(worst, float(apart_of(a, b).max(initial=0.0)))
        largest = max(largest, float(np.abs(b[np.isfinite(b)]).max(initial=0.0)))
    return worst, of_result((dtype, *rounded), largest) if dtypes.is_float(kind) else 0.0


def summed_products(ast: UOp) -> list[str]:
    """The dtypes of products that a sum in a wider dtype adds: tensor cores do not round them."""
    casts = [u.src[0] for u in ast.toposort() if u.op is Ops.REDUCE_AXIS and u.arg[0] is Ops.ADD]
    inner = [u.src[0] for u in casts if u.op is Ops.CAST and u.src[0].op is Ops.MUL]
    return sorted({u.dtype.scalar().name for u in inner if dtypes.is_float(u.dtype)})


def first_wrong(got: Array, wanted: Array, dtype: str, limit: float) -> tuple[int, float, float]:
    """(position, what is there, what should be there) of the first element of a result in memory
    that is more than `limit` off; of the first element where there is none."""
    for begin, a, b in _pieces(got, wanted, getattr(dtypes, dtype)):
        wrong = np.flatnonzero(apart_of(a, b) > limit)
        if len(wrong):
            at = int(wrong[0])
            return begin + at, float(a[at]), float(b[at])
    return 0, float(got[0]), float(wanted[0])


def _pieces(got: Array, wanted: Array, dtype: DType) -> Iterator[tuple[int, Array, Array]]:
    """Two results in memory as float64, a piece at a time: whole copies of large ones in float64
    would be most of the memory of a run."""
    for begin in range(0, max(1, got.size), PIECE):
        parts = (values[begin : begin + PIECE] for values in (got, wanted))
        a, b = (from_memory(part, dtype).astype(np.float64) for part in parts)
        yield begin, a, b


def apart_of(a: Array, b: Array) -> Array:
    """The absolute difference of each element of two arrays of float64; infinite where only one is
    a number, or both are different infinities."""
    with np.errstate(invalid="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    return np.where(np.isnan(apart), np.inf, apart)


def ulps_apart(got: Array, wanted: Array) -> int:
    """The largest distance of two arrays of floats in memory, in units in the last place: how many
    numbers of the dtype lie between two elements (Goldberg, 1991, section "Ulps")."""
    apart = int(np.abs(ordered(got) - ordered(wanted)).max(initial=0))
    return 2 * apart if got.dtype.itemsize == 8 else apart


def ordered(values: Array) -> Array:
    """Floats in memory as integers in the order of the floats, those of 8 bytes as halves of them:
    integers of the same bits, those of negative floats turned around."""
    size = values.dtype.itemsize
    bits = np.ascontiguousarray(values).view(f"u{size}").astype(np.int64 if size < 8 else np.uint64)
    sign = 1 << (8 * size - 1)
    if size == 8:  # halves, so that a difference does not overflow
        return np.where(bits >= sign, -((bits - sign) >> 1).astype(np.int64),
                        (bits >> 1).astype(np.int64))  # fmt: skip
    return np.where(bits >= sign, sign - bits, bits)


def coordinates(ast: UOp, output: int, index: int) -> tuple[int, ...] | None:
    """Where an element of an output lies in the shape that is stored; None for a kernel of loops,
    whose outputs have none."""
    for store in stores_of(ast):
        place = store.src[0]
        if place.op is not Ops.VIEW or int(pointer_of(place).arg) != output:
            continue
        tracker = cast("ShapeTracker", place.arg)
        if tracker.contiguous:
            found = index if index < tracker.size else None
        else:
            offsets, valid = tracker.indices()
            flat = np.flatnonzero((offsets.reshape(-1) == index) & valid.reshape(-1))
            found = int(flat[0]) if len(flat) else None
        if found is not None:
            return tuple(int(n) for n in np.unravel_index(found, tracker.shape))
    return None
