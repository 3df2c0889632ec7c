"""Reduces of register tiles along rows or columns, by any function of two values whose order does
not matter.

Each thread combines what it holds, then lanes exchange what they have (SHUFFLE), then, along the
columns of a tile that several warps hold, warps do through shared memory. Every lane that holds
elements of a row or column has its result. Values are combined in the dtype of the tile or of the
vector, whichever is wider.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce as fold

from core.dtype import AddrSpace, DType
from core.errors import DTypeError, ShapeError
from core.tile.checks import check_function
from core.tile.memory.addresses import points_of
from core.tile.memory.layout import Axis, broadcasting
from core.tile.order import Place
from core.tile.team import Team, index, owner, spread
from core.tile.tiles import RT, RV
from core.uop.ops import Ops
from core.uop.uop import UOp

Combine = Callable[[UOp, UOp], UOp]
OTHER: dict[Axis, Axis] = {"m": "n", "n": "m"}


def reduced(team: Team, dst: RV, src: RT, combine: Combine, more: bool) -> None:
    """dst = the elements of each row (or column) of `src`, combined; `more`: and with what it was.
    Raises ShapeError where the vector is not one of the tile's rows or columns, DTypeError where
    `combine` is no function of two values."""
    function = check_function("a reduce", combine, 2, "two elements")

    def combined(x: UOp, y: UOp) -> UOp:
        value = function(x, y)
        if not isinstance(value, UOp) or value.dtype.count != x.dtype.count:
            raise DTypeError(
                "the function of a reduce gave no value of an element",
                hint="return arithmetic of its arguments, such as lambda x, y: x.maximum(y)",
            )
        return value.cast(x.dtype)

    axis = dst.axis
    wanted = src.layout.along(axis)
    if (dst.layout.shape, dst.layout.base) != (wanted.shape, wanted.base):
        each = "row" if axis == "m" else "column"
        raise ShapeError(
            f"a tile of {src.shape} in layout {src.layout.name!r} into a vector of {dst.length} "
            f"that lies like another",
            hint=f'make it like the tile: ker.rv(dtype, like=tile, each="{each}")',
        )
    alone = team.order.alone
    across = axis == "n" and (team.warps > 1 or alone)
    wide = dst.dtype if dst.dtype.bits > src.dtype.bits else src.dtype
    own = _vector(team, dst, wide) if across and wide is not dst.dtype else dst

    def build(state: UOp, sources: Sequence[UOp]) -> UOp:
        value = _within_warp(team, src, sources[0], axis, combined, wide)
        if more and not across:
            value = combined(team.read(sources[-1], dst.layout.count).cast(wide), value)
        return team.write(state, value.cast(own.dtype))

    before = _kept(team, dst) if more and across else None
    reads = [Place(src.memory), *([Place(dst.memory)] if more and not across else [])]
    team.order.effect(build, Place(own.memory), reads)
    if across:
        _between_warps(team, dst, own, combined, before)


def _within_warp(
    team: Team, src: RT, state: UOp, axis: Axis, combine: Combine, dtype: DType
) -> UOp:
    layout = src.layout
    vector = layout.along(axis)
    picks = broadcasting(vector, axis, layout)
    assert picks is not None, "a vector along a layout goes with it"
    members: list[list[int]] = [[] for _ in range(vector.count)]
    for register, at in enumerate(picks):
        members[at].append(register)
    value = team.read(state, layout.count).cast(dtype)
    turns = [value.gep(tuple(group[i] for group in members)) for i in range(len(members[0]))]
    while len(turns) > 1:  # by halves: short chains
        half = len(turns) // 2
        pairs = [combine(a, b) for a, b in zip(turns[:half], turns[half:], strict=False)]
        turns = pairs + turns[2 * half :]
    found = turns[0]
    for bit in () if team.order.alone else layout.lane_bits(OTHER[axis]):
        found = combine(found, shuffled(found, 1 << bit))
    return found


def shuffled(value: UOp, mask: int) -> UOp:
    """The value of the lane whose number is this one's XOR `mask`."""
    return UOp(Ops.SHUFFLE, value.dtype, (value,), mask)


def _kept(team: Team, vector: RV) -> RV:
    """A copy of a vector."""
    made = _vector(team, vector, vector.dtype)

    def build(state: UOp, sources: Sequence[UOp]) -> UOp:
        return team.write(state, team.read(sources[0], vector.layout.count))

    team.order.effect(build, Place(made.memory), [Place(vector.memory)])
    return made


def _vector(team: Team, like: RV, dtype: DType) -> RV:
    """A new vector that lies like another."""
    memory, layout = team.kernel.memory(dtype, like.layout.count, AddrSpace.REG), like.layout
    team.kernel.holds(memory, "RV", layout.rows, layout.columns, layout=layout)
    return RV(memory, dtype, like.layout, like.axis)


def _between_warps(team: Team, dst: RV, own: RV, combine: Combine, before: RV | None) -> None:
    """Combines the vectors `own` of the warps of a group: each warp reads what all have written.
    Where lanes have no other way to exchange values, these of all lanes."""
    layout, kernel = dst.layout, team.kernel
    length = layout.columns
    many = team.lanes if team.order.alone else 1
    scratch = kernel.scratch(own.dtype, kernel.warps * many, length)
    number = kernel.warp * many + (kernel.lane if team.order.alone else index(0))
    column = points_of(layout, kernel.lane).column

    def offsets(writer: UOp) -> UOp:
        return spread(writer * length + column, layout.constants("n"))

    def write(state: UOp, sources: Sequence[UOp]) -> UOp:
        value = team.read(sources[0], layout.count)
        gate = None if team.order.alone else owner(layout, kernel.lane)
        return state.index(offsets(number), gate=gate).store(value)

    team.order.effect(write, Place(scratch.memory), [Place(own.memory)])
    first = (kernel.warp - team.number) * many

    def gather(state: UOp, sources: Sequence[UOp]) -> UOp:
        dtype = own.dtype.vec(layout.count)
        parts = [
            sources[0].index(offsets(first + index(w))).load(dtype=dtype)
            for w in range(team.warps * many)
        ]
        if before is not None:
            parts.insert(0, team.read(sources[1], layout.count).cast(own.dtype))
        return team.write(state, fold(combine, parts).cast(dst.dtype))

    reads = [Place(scratch.memory), *([Place(before.memory)] if before is not None else [])]
    team.order.effect(gather, Place(dst.memory), reads)
