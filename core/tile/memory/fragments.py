"""Fragments of register tiles that a warp loads from shared memory as matrices of 8 x 8 elements.

Whether a layout is made of such matrices, and where each of them begins, follows from its bits: a
lane holds two neighbours of a row (or, transposed, of a column), and four lanes a whole one. Never
makes an effect.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.dtype import dtypes
from core.target import Target
from core.tile.memory.addresses import Points, in_shared
from core.tile.memory.layout import Axis, Layout
from core.tile.team import index
from core.tile.tiles import ST
from core.uop.ops import Ops
from core.uop.spec.ldmatrix import LANES, ROW
from core.uop.uop import UOp


@dataclass(frozen=True, slots=True)
class Matrices:
    """How a layout is loaded: as many matrices at once as `steps` has combinations, each of which
    says how many rows and columns further down and across the next one is."""

    layout: Layout
    transposed: bool
    steps: tuple[tuple[int, int], ...]

    @property
    def together(self) -> int:
        """Matrices of one load."""
        return 1 << len(self.steps)

    def numbered(self, register: int) -> tuple[int, int]:
        """The row and column at which the matrix of a register of a lane begins."""
        first = register // self.layout.tiles // 2 * 2 * self.layout.tiles
        whole = first + register % self.layout.tiles
        return self.layout.constants("m")[whole], self.layout.constants("n")[whole]


def matrices_of(target: Target, dst: Layout, src: ST, turned: bool) -> Matrices | None:
    """How a register tile of a layout is loaded from a shared one (`turned`: with rows and columns
    exchanged); None where that takes loads of single elements."""
    pieces = src.swizzle.columns % ROW == 0 and src.columns % ROW == 0
    if not (target.ldmatrix and target.wave == LANES and src.dtype.itemsize == 2 and pieces):
        return None
    row, column = ("n", "m") if turned else ("m", "n")
    base, transposed = dst.base, False
    if (base.lanes, base.elements[:1]) != _deal(row, column):
        transposed = True
        if (base.lanes, base.elements[:1]) != _deal(column, row):
            return None
    steps = [_step(bit) for bit in base.elements[1:]]
    steps += [(0, base.size("n"))] * (dst.across % 2 == 0)
    steps += [(base.size("m"), 0)] * (dst.down % 2 == 0)
    return Matrices(dst, transposed, tuple(steps[:2]))


def _deal(row: Axis, column: Axis) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The bits of lanes, and the first of positions, of what LDMATRIX gives."""
    lanes = (f"{column}1", f"{column}2", f"{row}0", f"{row}1", f"{row}2")
    return lanes, (f"{column}0",)


def _step(bit: str) -> tuple[int, int]:
    size = 1 << int(bit[1:])
    return (size, 0) if bit[0] == "m" else (0, size)


def loaded(state: UOp, src: ST, found: Matrices, lane: UOp, first: UOp, turned: bool) -> UOp:
    """What each lane holds of a tile, from shared memory at a state; `first` is its first row."""
    down, across = _rows(lane, found, turned)
    origins = [(r, c) for r, c in _origins(found)]
    points = Points(down, across, *(tuple(part) for part in zip(*origins, strict=True)))
    points = points.turned() if turned else points.moved(first, index(0))
    offsets = in_shared(src, points)
    halves, layout = src.dtype.vec(2 * found.together), found.layout
    arg = found.together, found.transposed
    loads = {
        origin: UOp(Ops.LDMATRIX, halves, (state.index(offsets.gep(i)),), arg)
        for i, origin in enumerate(origins)
    }
    elements: list[UOp] = []
    for register in range(layout.count):
        (r, c), number = _in_load(found, found.numbered(register))
        elements.append(loads[r, c].gep(2 * number + register // layout.tiles % 2))
    return UOp.vectorize(*elements)


def _origins(found: Matrices) -> list[tuple[int, int]]:
    """Where the first matrix of each load begins."""
    every = (found.numbered(r) for r in range(found.layout.count))
    return list(dict.fromkeys(_in_load(found, origin)[0] for origin in every))


def _in_load(found: Matrices, origin: tuple[int, int]) -> tuple[tuple[int, int], int]:
    """(where the first matrix of its load begins, the number of a matrix in it)."""
    row, column = origin
    number = 0
    for i, (down, across) in enumerate(found.steps):
        if (row & down) | (column & across):
            row, column, number = row - down, column - across, number | 1 << i
    return (row, column), number


def _rows(lane: UOp, found: Matrices, turned: bool) -> tuple[UOp, UOp]:
    """The row and column of the tile that a lane is at, beyond the origin of its load."""
    zero = lane.const_like(0)
    row, column = lane % ROW, zero
    if turned:
        row, column = column, row
    for i, (down, across) in enumerate(found.steps):
        bit = lane // (ROW << i) % 2
        row, column = row + bit * down, column + bit * across
    return row.cast(dtypes.index), column.cast(dtypes.index)
