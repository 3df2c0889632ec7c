"""Loads and stores between global memory, shared memory and registers, converting dtypes on the
way.

What lies outside of a global view is read as a fill value, and not stored. Between global and
shared memory all threads of a group copy pieces of 16 bytes in turn. A register tile of a group of
several warps is each warp's own part of a taller tile. Never computes with what it moves.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.dtype import ConstType, dtypes
from core.errors import ShapeError
from core.tile.memory.addresses import (
    Points,
    in_global,
    in_shared,
    neighbours,
    piece_of,
    points_of,
    whole_pieces,
)
from core.tile.memory.fragments import loaded, matrices_of
from core.tile.memory.layout import Layout, coordinates
from core.tile.memory.swizzle import BANK, SERVED, Swizzle
from core.tile.order import Place
from core.tile.team import Team, both, index, owner
from core.tile.tiles import RT, RV, ST, SV, Registers, Window
from core.uop.ops import Ops
from core.uop.spec.flight import ASYNCHRONOUS
from core.uop.uop import UOp


def shared_from_global(
    team: Team, dst: ST, src: Window, fill: ConstType, asynchronous: bool = False
) -> None:
    """A shared tile from a window of a global view, piece by piece. Asynchronous pieces are as long
    as all of their elements are inside, or none."""
    whole, later = whole_pieces(dst, src.gl), asynchronous and not team.order.alone
    width = whole if later else piece_of(dst)

    def build(state: UOp, sources: Sequence[UOp]) -> UOp:
        stores: list[UOp] = []
        for points, gate in _pieces(team, dst, width):
            offsets, inside = in_global(src, dst.shape, points, whole)
            value = _load(sources[0], offsets, both(gate, inside), fill)
            place = state.index(in_shared(dst, points), gate=gate)
            arg = ASYNCHRONOUS if later else None
            stores.append(UOp(Ops.STORE, dtypes.void, (place, value.cast(dst.dtype)), arg))
        return UOp.group(*stores)

    if asynchronous:
        team.order.copy(build, dst.place, Place(src.gl.memory))
    else:
        team.order.effect(build, dst.place, [Place(src.gl.memory)])


def global_from_shared(team: Team, dst: Window, src: ST) -> None:
    """A window of a global view from a shared tile, piece by piece."""

    def build(state: UOp, sources: Sequence[UOp]) -> UOp:
        stores: list[UOp] = []
        for points, gate in _pieces(team, src, piece_of(src)):
            count = len(points.down)
            value = _load(sources[0], in_shared(src, points), gate, 0, count)
            offsets, inside = in_global(dst, src.shape, points, whole_pieces(src, dst.gl))
            place = state.index(offsets, gate=both(gate, inside))
            stores.append(place.store(value.cast(dst.gl.dtype)))
        return UOp.group(*stores)

    team.order.effect(build, Place(dst.gl.memory), [src.place])


def registers_from_shared(team: Team, dst: RT, src: ST, turned: bool = False) -> None:
    """A register tile from a shared one; `turned`: with its rows and columns exchanged."""
    _same_shape(team, dst, src, turned)
    found = matrices_of(team.kernel.target, dst.layout, src, turned)

    def build(state: UOp, sources: Sequence[UOp]) -> UOp:
        if found is not None:
            first = team.number * dst.layout.rows
            value = loaded(sources[0], src, found, team.kernel.lane, first, turned)
        else:
            value = _load(sources[0], in_shared(src, _band(team, dst.layout, turned)), None, 0)
        return team.write(state, value.cast(dst.dtype))

    team.order.effect(build, Place(dst.memory), [src.place])


def shared_from_registers(team: Team, dst: ST, src: RT) -> None:
    """A shared tile from a register one."""
    _same_shape(team, src, dst, False)

    def build(state: UOp, sources: Sequence[UOp]) -> UOp:
        value = team.read(sources[0], src.layout.count).cast(dst.dtype)
        gate = owner(src.layout, team.kernel.lane)
        return state.index(in_shared(dst, _band(team, src.layout, False)), gate=gate).store(value)

    team.order.effect(build, dst.place, [Place(src.memory)])


def registers_from_global(team: Team, dst: Registers, src: Window, fill: ConstType) -> None:
    """A register tile or vector from a window of a global view."""
    shape, points = _window(team, dst)

    def build(state: UOp, sources: Sequence[UOp]) -> UOp:
        together = neighbours(dst.layout, src.gl.shape[3]) if isinstance(dst, RT) else 1
        offsets, gate = in_global(src, shape, points, together)
        return team.write(state, _load(sources[0], offsets, gate, fill).cast(dst.dtype))

    team.order.effect(build, Place(dst.memory), [Place(src.gl.memory)])


def global_from_registers(team: Team, dst: Window, src: Registers) -> None:
    """A window of a global view from a register tile or vector."""
    shape, points = _window(team, src)

    def build(state: UOp, sources: Sequence[UOp]) -> UOp:
        value = team.read(sources[0], src.layout.count).cast(dst.gl.dtype)
        together = neighbours(src.layout, dst.gl.shape[3]) if isinstance(src, RT) else 1
        offsets, inside = in_global(dst, shape, points, together)
        gate = both(inside, _first(team, src))
        return state.index(offsets, gate=gate).store(value)

    team.order.effect(build, Place(dst.gl.memory), [Place(src.memory)])


def vector_from_shared(team: Team, dst: RV, src: SV) -> None:
    """A register vector from a shared one."""
    shape, points = _window(team, dst)
    _same_length(shape[1], dst, src)

    def build(state: UOp, sources: Sequence[UOp]) -> UOp:
        value = _load(sources[0], _along(points), None, 0)
        return team.write(state, value.cast(dst.dtype))

    team.order.effect(build, Place(dst.memory), [Place(src.memory)])


def shared_from_vector(team: Team, dst: SV, src: RV) -> None:
    """A shared vector from a register one."""
    shape, points = _window(team, src)
    _same_length(shape[1], src, dst)

    def build(state: UOp, sources: Sequence[UOp]) -> UOp:
        value = team.read(sources[0], src.layout.count).cast(dst.dtype)
        return state.index(_along(points), gate=_first(team, src)).store(value)

    team.order.effect(build, Place(dst.memory), [Place(src.memory)])


def exchange(team: Team, dst: RT, src: RT, turned: bool = False) -> None:
    """A register tile from one whose elements lie in other lanes, through shared memory."""
    rows, _ = src.shape
    warps = team.kernel.warps
    wide = _scratch_columns(team, src.layout, dst.dtype.itemsize)
    scratch = team.kernel.scratch(dst.dtype, warps * rows, wide)
    own = scratch.subtile(src.shape, team.kernel.warp)
    alone = Team(team.kernel, 1)
    shared_from_registers(alone, own, src)
    registers_from_shared(alone, dst, own, turned)


def _scratch_columns(team: Team, layout: Layout, item: int) -> int:
    """How long the rows are of a tile that lanes exchange one of a layout through. Longer than its
    own where lanes would meet in a bank, which no swizzle of short rows helps against, as far as
    memory goes."""
    columns, kernel = layout.columns, team.kernel
    if layout.spread("n") > 1 or columns & (columns - 1):  # lanes write several elements at once
        return columns
    down, across = (part[: SERVED // BANK, 0].tolist() for part in coordinates(layout))
    wide, left = columns, kernel.target.shared_bytes - kernel.shared_bytes
    while wide * item < SERVED and kernel.warps * layout.rows * wide * item * 2 <= left:
        if Swizzle(wide, item).apart(down, across):
            return wide
        wide *= 2
    return wide if Swizzle(wide, item).apart(down, across) else columns


def _load(
    state: UOp, offsets: UOp, gate: UOp | None, fill: ConstType, count: int | None = None
) -> UOp:
    """Elements of memory at offsets, or `fill` where `gate` does not hold."""
    dtype = state.dtype.base.vec(count or offsets.dtype.count)
    if gate is None:
        return state.index(offsets).load(dtype=dtype)
    return state.index(offsets, gate=gate).load(UOp.const(dtype, fill), dtype=dtype)


def _pieces(team: Team, tile: ST, width: int) -> list[tuple[Points, UOp | None]]:
    """What each thread copies of a shared tile, `width` elements in a turn; and whether it does in
    that turn."""
    in_row = tile.columns // width
    count, threads = tile.rows * in_row, team.threads
    found: list[tuple[Points, UOp | None]] = []
    for turn in range(-(-count // threads)):
        number = team.thread + turn * threads
        row, column = number // in_row, number % in_row * width
        points = Points(row, column, (0,) * width, tuple(range(width)))
        gate = number < index(count) if (turn + 1) * threads > count else None
        found.append((points, gate))
    return found


def _band(team: Team, layout: Layout, turned: bool) -> Points:
    """What a lane holds, as points of the tile of the whole group."""
    points = points_of(layout, team.kernel.lane)
    if turned:
        return points.turned()
    return points.moved(team.number * layout.rows, index(0))


def _window(team: Team, registers: Registers) -> tuple[tuple[int, int], Points]:
    """The shape of what a group has in registers, and what a lane holds of it. A vector is a row,
    whatever it has an element for."""
    layout, lane = registers.layout, team.kernel.lane
    if isinstance(registers, RT):
        return (layout.rows * team.warps, layout.columns), _band(team, layout, False)
    points = points_of(layout, lane)
    if registers.axis == "n":
        return (1, layout.columns), points
    points = points.turned().moved(index(0), team.number * layout.rows)
    return (1, layout.rows * team.warps), points


def _along(points: Points) -> UOp:
    """The offsets of points of a vector."""
    like = points.column
    count = len(points.across)
    return like.broadcast(count) + UOp.const(like.dtype.vec(count), points.across)


def _first(team: Team, registers: Registers) -> UOp | None:
    """Whether a thread is the first of those that hold the same elements."""
    again = None
    if isinstance(registers, RV) and registers.axis == "n" and team.warps > 1:
        again = team.number.eq(0)
    return both(owner(registers.layout, team.kernel.lane), again)


def _same_shape(team: Team, registers: RT, shared: ST, turned: bool) -> None:
    rows, columns = registers.shape[::-1] if turned else registers.shape
    if (rows * team.warps, columns) != shared.shape:
        raise ShapeError(
            f"a register tile of {rows} x {columns} in each of {team.warps} warps, and a shared "
            f"tile of {shared.rows} x {shared.columns}",
            hint=f"the shared tile has to be {rows * team.warps} x {columns}: take a subtile, or "
            "another group",
        )
    if not shared.swizzle.keeps(rows, "m"):
        raise ShapeError(
            f"register tiles of {rows} rows in a swizzled shared tile",
            hint="give them a power of two or a multiple of 16, or allocate with swizzle=False",
        )


def _same_length(length: int, registers: RV, shared: SV) -> None:
    if length != shared.length:
        raise ShapeError(
            f"a register vector of {registers.length}, {length} in the group, and a shared one of "
            f"{shared.length}",
            hint="they have to be equally long",
        )
