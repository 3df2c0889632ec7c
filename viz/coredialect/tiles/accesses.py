"""What one warp reads or writes of a shared tile with one node, and what its banks make of that.

The addresses are those of the node, computed for every lane of the first warp of the first work
group, in the first iteration of its loops. Conflicts are counted as the emulator counts them; and
once more for the same elements in a tile that is not swizzled. An address that depends on memory is
not known. Never runs a kernel: only integers are computed, within a budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.dtype import dtypes
from core.errors import UopvizError
from core.runtime.emulator.memory.banks import conflicts
from core.tile.memory.swizzle import PIECE, Swizzle
from core.uop.facts.meaning_arrays import evaluate_arrays, numpy_dtype
from core.uop.kernelinfo import AxisType
from core.uop.ops import GroupOp, Ops
from core.uop.pointer import parts_of_address
from core.uop.uop import UOp
from viz.budget import take

MOST_NODES: Final = 4096
"""Nodes that one address is computed from."""
MOST_BYTES: Final = 128
"""Bytes that one lane moves at once."""
ROWS: Final = 8
"""Rows of a matrix of LDMATRIX, each of a lane of its own."""
MOST_LANES: Final = 1024
"""Elements that one lane reads at once."""
_UNGATED: Final[Mapping[Ops, int]] = {Ops.LOAD: 2, Ops.STORE: 2, Ops.COPY_ASYNC: 3}
"""Sources before a gate: of a load, its address and the value where the gate does not hold."""
Array = npt.NDArray[Any]


class UnknownAddressError(Exception):
    """An address is not one of lanes and constants alone."""


class Lanes:
    """Values of integer nodes in the lanes of one warp. `sizes`: of the hardware indices of a work
    group, by name; the first varies fastest."""

    def __init__(self, wave: int, sizes: Mapping[str, int]) -> None:
        self.wave = wave
        self._values: dict[UOp, Array] = {}
        self._special: dict[str, Array] = {}
        left = np.arange(wave)
        for name in sorted(sizes):
            self._special[name] = left % sizes[name]
            left = left // sizes[name]

    def of(self, root: UOp) -> Array:
        """(lanes, elements) of a node. Raises UnknownAddressError."""
        stack = [root]
        count = 0
        while stack:
            u = stack[-1]
            if u in self._values:
                stack.pop()
                continue
            count += 1
            if count > MOST_NODES or u.dtype.count > MOST_LANES:
                raise UnknownAddressError
            leaf = self._leaf(u)
            missing = [] if leaf is not None else [s for s in u.src if s not in self._values]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            take(u.dtype.count, 16 * self.wave * u.dtype.count)
            self._values[u] = self._computed(u) if leaf is None else leaf
        return self._values[root]

    def _leaf(self, u: UOp) -> Array | None:
        if u.op is Ops.RANGE:
            is_lane = isinstance(u.arg, tuple) and AxisType.WARP in u.arg
            return _column(np.arange(self.wave) if is_lane else np.zeros(self.wave, np.int64))
        if u.op is Ops.SPECIAL:
            return _column(self._special.get(str(u.arg), np.zeros(self.wave, np.int64)))
        if u.op is Ops.DEFINE_VAR:
            return np.full((self.wave, 1), u.arg[1])
        return None

    def _computed(self, u: UOp) -> Array:
        if not (dtypes.is_int(u.dtype) or dtypes.is_bool(u.dtype)):
            raise UnknownAddressError
        sources = [self._values[s] for s in u.src]
        if u.op is Ops.CONST:
            return np.full((self.wave, u.dtype.count), u.arg, numpy_dtype(u.dtype))
        if u.op is Ops.VCONST:
            return np.tile(np.asarray(u.arg, numpy_dtype(u.dtype)), (self.wave, 1))
        if u.op is Ops.VECTORIZE:
            return np.concatenate(sources, axis=1)
        if u.op is Ops.GEP:
            return sources[0][:, [*u.arg]]
        if u.op not in GroupOp.Elementwise and u.op not in (Ops.CAST, Ops.BITCAST):
            raise UnknownAddressError
        try:
            return evaluate_arrays(u.op, u.dtype, sources, u.src[-1].dtype)
        except (UopvizError, ValueError, OverflowError, TypeError) as error:
            raise UnknownAddressError from error


@dataclass(frozen=True)
class Access:
    """`times` a warp reads or writes `width` bytes in each lane; `conflicts` turns of shared memory
    are beyond the first of each, and `plain` would be without a swizzle. `first`: of the time with
    most conflicts, the element where each lane begins, counted row by row from the start of its
    stage; -1 for a lane that does not take part. `matrices`: how many an LDMATRIX loads, of which
    each lane names a row for the whole warp; else 0."""

    times: int
    width: int
    conflicts: int
    plain: int
    first: tuple[int, ...]
    matrices: int = 0


def access_of(u: UOp, lanes: Lanes, swizzle: Swizzle, rows: int) -> Access:
    """What a LOAD, STORE, LDMATRIX or COPY_ASYNC of a shared tile is. Raises
    UnknownAddressError."""
    item, count = _moved(u)
    if not 0 < item <= MOST_BYTES:
        raise UnknownAddressError
    offsets, constant = parts_of_address(u.src[0])
    at = np.full((lanes.wave, 1), constant, np.int64)
    for offset, step in offsets:
        at = at + lanes.of(offset).astype(np.int64) * step
    if at.shape[1] == 1 and count > 1:
        at = at + np.arange(count)[None, :] * item
    if at.shape[1] > MOST_LANES or int(at.min(initial=0)) < 0:
        raise UnknownAddressError
    active = np.ones(lanes.wave, np.bool_)
    if u.op is Ops.LDMATRIX:  # the others are at a row again
        active = np.arange(lanes.wave) < ROWS * u.arg[0]
    if (gate := _gate(u)) is not None:
        active = np.all(lanes.of(gate).astype(np.bool_), axis=1)
    number = np.flatnonzero(active)
    if not len(number):
        return Access(0, item, 0, 0, (-1,) * lanes.wave)
    at = at[active]
    at = at[:, np.argsort(at[0], kind="stable")]  # neighbours are moved at once in any order
    found: list[tuple[int, int, int, Array]] = []
    for start, width in _runs(at, item):
        mine = at[:, start]
        unmixed, _ = plain(mine, swizzle, rows)
        zero = np.zeros_like(mine)
        found.append((
            conflicts(zero, number, lanes.wave, mine, width),
            conflicts(zero, number, lanes.wave, unmixed, width),
            width,
            mine,
        ))  # fmt: skip
    worst = max(found, key=lambda one: one[0])
    first = np.full(lanes.wave, -1)
    first[active] = plain(worst[3], swizzle, rows)[1]
    return Access(
        len(found),
        worst[2],
        sum(one[0] for one in found),
        sum(one[1] for one in found),
        tuple(first.tolist()),
        u.arg[0] if u.op is Ops.LDMATRIX else 0,
    )


def _gate(u: UOp) -> UOp | None:
    """Which lanes take part: the gate of the node itself or, before that is its own, of its
    address."""
    before = _UNGATED.get(u.op, len(u.src))
    if len(u.src) > before:
        return u.src[before]
    place = u.src[0]
    return place.src[2] if place.op is Ops.INDEX and len(place.src) == 3 else None


def _moved(u: UOp) -> tuple[int, int]:
    """(bytes of an element, elements) of what each lane moves. A lane gives LDMATRIX one row."""
    if u.op is Ops.COPY_ASYNC:
        return u.arg, 1
    if u.op is Ops.LDMATRIX:
        return PIECE, 1
    value = u.src[1] if u.op is Ops.STORE else u
    return value.dtype.scalar().itemsize, value.dtype.count


def plain(at: Array, swizzle: Swizzle, rows: int) -> tuple[Array, Array]:
    """(the bytes where what lies at the bytes `at` would lie in tiles that are not swizzled, the
    elements there, counted row by row from the start of its stage)."""
    bytes_of_row = swizzle.columns * swizzle.item
    row = at // bytes_of_row % rows
    inside = at % bytes_of_row
    if swizzle.keys > 1:
        key = np.asarray([swizzle.key(int(r)) for r in row])
        piece = inside // PIECE
        inside = (piece // swizzle.keys * swizzle.keys + (piece % swizzle.keys ^ key)) * PIECE + (
            inside % PIECE
        )
    return (
        at // bytes_of_row * bytes_of_row + inside,
        row * swizzle.columns + inside // swizzle.item,
    )


def _runs(at: Array, item: int) -> list[tuple[int, int]]:
    """(first element, bytes) of what each lane moves at once: neighbours, at most PIECE bytes,
    that begin at a multiple of their size in every lane."""
    found: list[tuple[int, int]] = []
    start, count = 0, at.shape[1]
    while start < count:
        size = 1
        while 2 * size * item <= PIECE and start + 2 * size <= count:
            more = 2 * size
            steps = at[:, start : start + more] - at[:, start : start + 1]
            near = bool((steps == np.arange(more)[None, :] * item).all())
            if not near or bool((at[:, start] % (more * item)).any()):
                break
            size = more
        found.append((start, size * item))
        start += size
    return found


def _column(values: Array) -> Array:
    return np.asarray(values, np.int64)[:, None]
