"""The objects that a tile kernel works on: views of global memory, tiles and vectors in shared
memory and in registers.

Plain data: each knows its memory, its shape and where its elements lie. Never makes an effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from core.dtype import DType
from core.errors import ShapeError
from core.tile.calls import call
from core.tile.checks import check_index, shape_of
from core.tile.memory.layout import Axis, Layout
from core.tile.memory.swizzle import Swizzle
from core.tile.order import Memory, Place
from core.tile.sizes import Size
from core.uop.uop import UOp

Each = Literal["row", "column"]


@dataclass(frozen=True, eq=False, slots=True)
class GL:
    """A view of a whole argument of the kernel: a row-major array of four axes (batch, depth, row,
    column). `gl[b, d, r, c]` is a window of it; fewer indices are those of the last axes."""

    memory: Memory
    dtype: DType
    shape: tuple[Size, Size, Size, Size]

    @call
    def __getitem__(self, index: Size | tuple[Size, ...]) -> Window:
        """A window. Raises ShapeError for too many indices, for a negative one, and for one that is
        not the same in all lanes of a warp."""
        given = index if isinstance(index, tuple) else (index,)
        if len(given) > 4:
            raise ShapeError(
                f"{len(given)} indices of a global view", hint="at most batch, depth, row, column"
            )
        for i in given:
            check_index("tile number", i, " of a global view")
            if not isinstance(i, UOp) and i < 0:
                raise ShapeError(
                    f"tile number {i} of a global view", hint="tiles are numbered from 0"
                )
        b, d, r, c = (*(0 for _ in range(4 - len(given))), *given)
        return Window(self, b, d, r, c)


@dataclass(frozen=True, eq=False, slots=True)
class Window:
    """The tile number (row, column) of a matrix of a global view, in units of whatever is loaded
    from it or stored to it. Of a vector, `row` counts single rows."""

    gl: GL
    batch: Size
    depth: Size
    row: Size
    column: Size


@dataclass(frozen=True, eq=False, slots=True)
class ST:
    """A tile in shared memory, or a part of one. Row-major, with rows that are `swizzle.columns`
    long; `row` and `column` are where the part begins, `start` the element where the stage does."""

    memory: Memory
    dtype: DType
    rows: int
    columns: int
    swizzle: Swizzle
    stage: UOp | None
    start: UOp
    row: UOp
    column: UOp

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.rows, self.columns

    @property
    def place(self) -> Place:
        """What is accessed."""
        return Place(self.memory, self.stage)

    @call
    def __getitem__(self, stage: Size) -> ST:
        """One of its stages. Raises ShapeError for a number that is none."""
        count = self.memory.stages
        check_index("stage", stage, " of a shared tile")
        number = stage if isinstance(stage, UOp) else self.start.const_like(stage)
        if number.vmin < 0 or number.vmax >= count or count == 1:
            raise ShapeError(
                f"stage {number.render()} of a tile with {count}",
                hint="allocate it with ker.st(..., stages=n), and take the number modulo n",
            )
        return ST(self.memory, self.dtype, self.rows, self.columns, self.swizzle, number,
                  number * (self.rows * self.columns), self.row, self.column)  # fmt: skip

    @call
    def subtile(self, shape: tuple[int, int], row: Size = 0, column: Size = 0) -> ST:
        """The tile number (row, column) of those of `shape` that this one is cut into. Raises
        ShapeError where they do not divide it, or where there is no such tile."""
        rows, columns = shape_of(shape, "a part of a shared tile")
        if rows < 1 or columns < 1 or self.rows % rows or self.columns % columns:
            raise ShapeError(
                f"tiles of {rows} x {columns} in one of {self.rows} x {self.columns}",
                hint="its sides have to be multiples of theirs",
            )
        if not (self.swizzle.keeps(rows, "m") and self.swizzle.keeps(columns, "n")):
            raise ShapeError(
                f"tiles of {rows} x {columns} in a swizzled one",
                hint="give them sides that are powers of two, or allocate with swizzle=False",
            )
        places: list[UOp] = []
        for number, side, whole, what in (
            (row, rows, self.rows, "row"),
            (column, columns, self.columns, "column"),
        ):
            check_index(f"tile {what}", number, " of a shared tile")
            at = number if isinstance(number, UOp) else self.start.const_like(number)
            if at.vmin < 0 or at.vmax >= whole // side:
                raise ShapeError(
                    f"tile {what} {at.render()} of {whole // side}",
                    hint=f"tiles of {rows} x {columns} in one of {self.rows} x {self.columns}",
                )
            places.append(at * side)
        return ST(self.memory, self.dtype, rows, columns, self.swizzle, self.stage, self.start,
                  self.row + places[0], self.column + places[1])  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class SV:
    """A vector in shared memory."""

    memory: Memory
    dtype: DType
    length: int


@dataclass(frozen=True, eq=False, slots=True)
class RT:
    """A tile in the registers of a warp, each of whose lanes holds some of its elements. In a group
    of several warps, each warp has such a tile, of rows further down."""

    memory: Memory
    dtype: DType
    layout: Layout

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns), of one warp."""
        return self.layout.shape


@dataclass(frozen=True, eq=False, slots=True)
class RV:
    """A vector in the registers of a warp, with an element for each row (axis m) or column (n) of a
    tile; lanes that hold elements of that row hold that of the vector, too."""

    memory: Memory
    dtype: DType
    layout: Layout
    axis: Axis

    @property
    def length(self) -> int:
        """Elements, of one warp."""
        return self.layout.rows if self.axis == "m" else self.layout.columns


Registers: TypeAlias = RT | RV
