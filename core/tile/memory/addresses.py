"""Where the elements of tiles lie in global and shared memory, and which of them are inside.

Makes addresses and conditions, as vectors over what a thread moves. Never an effect.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.dtype import dtypes
from core.errors import ShapeError
from core.tile.memory.layout import Layout
from core.tile.memory.swizzle import PIECE
from core.tile.sizes import Size, most
from core.tile.team import both, spread
from core.tile.tiles import GL, ST, Window
from core.uop.uop import UOp


@dataclass(frozen=True, slots=True)
class Points:
    """Elements of a tile: (row + down[i], column + across[i]), where `row` and `column` depend on
    the thread. No bit may be set in `row` and in a number of `down`, nor in `column` and in a
    number of `across`."""

    row: UOp
    column: UOp
    down: tuple[int, ...]
    across: tuple[int, ...]

    def moved(self, row: UOp, column: UOp) -> Points:
        """The points further down and to the right."""
        return Points(self.row + row, self.column + column, self.down, self.across)

    def turned(self) -> Points:
        """The points with rows and columns exchanged."""
        return Points(self.column, self.row, self.across, self.down)


def points_of(layout: Layout, lane: UOp) -> Points:
    """What a lane holds."""
    return Points(
        layout.of_lane("m", lane),
        layout.of_lane("n", lane),
        layout.constants("m"),
        layout.constants("n"),
    )


def in_shared(tile: ST, points: Points) -> UOp:
    """The offsets of points of a shared tile."""
    at = points.moved(tile.row, tile.column)
    found = tile.swizzle.of_many(at.row, at.column, at.down, at.across)
    return found + tile.start.broadcast(len(points.down))


def sized(value: Size, like: UOp) -> UOp:
    """A size as a node."""
    return value.cast(like.dtype) if isinstance(value, UOp) else like.const_like(value)


def elements(gl: GL) -> int:
    """The most elements that a view has."""
    total = 1
    for size in gl.shape:
        total *= most(size)
    return total


def in_global(
    window: Window, shape: tuple[int, int], points: Points, together: int = 1
) -> tuple[UOp, UOp | None]:
    """(offsets, which of them are inside) of points of a window of tiles of `shape`; None where all
    are. Runs of `together` neighbours along a row are inside or outside as a whole."""
    gl = window.gl
    _check(window, shape)
    kind = dtypes.index_up_to(elements(gl))
    like = UOp.const(kind, 0)
    batch, depth, row, column = (
        sized(n, like) for n in (window.batch, window.depth, window.row, window.column)
    )
    rows, columns = gl.shape[2:]
    top, left = row * shape[0] + points.row.cast(kind), column * shape[1] + points.column.cast(kind)
    matrix = batch * sized(gl.shape[1], like) + depth
    start = (matrix * sized(rows, like) + top) * sized(columns, like) + left
    if isinstance(columns, UOp):
        wide = sized(columns, like).broadcast(len(points.down))
        down = UOp.const(kind.vec(len(points.down)), points.down)
        offsets = spread(start, points.across) + down * wide
    else:
        more = tuple(r * columns + c for r, c in zip(points.down, points.across, strict=True))
        offsets = spread(start, more)
    across = tuple(c - c % together for c in points.across)
    gate = both(
        _inside(batch, (0,), gl.shape[0], like),
        _inside(depth, (0,), gl.shape[1], like),
        _inside(top, points.down, rows, like),
        _inside(left, across, columns, like),
    )
    return offsets, gate


def _check(window: Window, shape: tuple[int, int]) -> None:
    """Raises ShapeError for a tile that is outside of its view whatever runs."""
    numbers = window.batch, window.depth, window.row, window.column
    sides = zip(("matrix", "matrix", "row", "column"), numbers, (1, 1, *shape), strict=True)
    for (what, number, side), whole in zip(sides, window.gl.shape, strict=True):
        if isinstance(number, int) and number * side >= most(whole):
            raise ShapeError(
                f"tile {what} {number} of a global view with {-(-most(whole) // side)}",
                hint=f"tiles of {shape[0]} x {shape[1]} are numbered from 0",
            )


def _inside(start: UOp, more: tuple[int, ...], size: Size, like: UOp) -> UOp | None:
    """Whether numbers `start` + each of `more` are from 0 to `size` - 1; None where they must be. A
    single gate where they are all the same."""
    first = start.simplify()
    least = int(size.vmin) if isinstance(size, UOp) else size
    below, above = first.vmin + min(more) < 0, first.vmax + max(more) >= least
    if len(set(more)) == 1:
        numbers, count = start + more[0], 1
    else:
        numbers, count = spread(start, more), len(more)
    none, limit = (like.const_like(-1), sized(size, like))
    if count > 1:
        none, limit = none.broadcast(count), limit.broadcast(count)
    return both(none < numbers if below else None, numbers < limit if above else None)


def neighbours(layout: Layout, columns: Size) -> int:
    """How many neighbours along a row a lane holds that are all inside or all outside of rows with
    `columns` elements."""
    if isinstance(columns, UOp):
        return 1
    run = layout.spread("n")
    while columns % run:
        run //= 2
    return run


def piece_of(tile: ST) -> int:
    """How many neighbours of a shared tile a thread moves at once."""
    width = max(1, PIECE // tile.dtype.itemsize)
    while tile.columns % width:
        width //= 2
    return width


def whole_pieces(tile: ST, gl: GL) -> int:
    """How many neighbours in such a piece are all inside or all outside of the rows of a view."""
    columns, width = gl.shape[3], piece_of(tile)
    if isinstance(columns, UOp):
        return 1
    while columns % width:
        width //= 2
    return width
