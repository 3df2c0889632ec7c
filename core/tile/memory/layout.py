"""Where the elements of a register tile lie: which lane of a warp holds which, and at which
position.

A layout is a grid of equal base tiles. How a base tile lies is a `Fragment`, taken from the
target's matrix instructions: rows are its m, columns its n. Independent of the vendor and the
number of lanes. Never makes memory; coordinates are nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from core.dtype import DType
from core.target import Target
from core.tensor_cores import COPY, Fragment, TensorCore
from core.tile.memory.swizzle import PIECE
from core.uop.uop import UOp

Axis = Literal["m", "n"]
"""m: down, the rows; n: across, the columns."""
LAYOUTS: Final = ("row", "col", "acc")
"""As operand A of a matrix instruction, whose lanes hold neighbours along a row; as operand B,
along a column; as the product."""
_LETTERS: Final = {"row": "mk", "col": "kn", "acc": "mn"}
SERIAL: Final = 16
"""Iterations of a loop that stands for the threads of a warp."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A tile of `rows` x `columns`: a grid of tiles that lie as `base` says (m: rows, n: columns).

    Register r of a lane is at position r // tiles of base tile r % tiles; tiles are numbered row by
    row. `name` is one of LAYOUTS.
    """

    name: str
    rows: int
    columns: int
    base: Fragment

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.rows, self.columns

    @property
    def down(self) -> int:
        """Base tiles in a column."""
        return self.rows // self.base.size("m")

    @property
    def across(self) -> int:
        """Base tiles in a row."""
        return self.columns // self.base.size("n")

    @property
    def tiles(self) -> int:
        """Base tiles."""
        return self.down * self.across

    @property
    def count(self) -> int:
        """Elements that each lane holds."""
        return self.tiles * self.base.count

    def constants(self, axis: Axis) -> tuple[int, ...]:
        """What the number of each register adds to the row or column."""
        return _constants(self, axis)

    def of_lane(self, axis: Axis, lane: UOp) -> UOp:
        """What the lane's number adds to the row or column of its elements."""
        found = _coordinate(self.base, axis, lane, 0)
        return found if isinstance(found, UOp) else lane.const_like(found)

    def spread(self, axis: Axis) -> int:
        """Neighbours along an axis that one lane holds side by side, a power of two."""
        bits = [bit for bit in self.base.elements if bit[0] == axis]
        run = 0
        while f"{axis}{run}" in bits:
            run += 1
        return 1 << run

    def lane_bits(self, axis: Axis) -> tuple[int, ...]:
        """The bits of a lane's number that are bits of the row or column."""
        return tuple(i for i, bit in enumerate(self.base.lanes) if bit[0] == axis)

    def along(self, axis: Axis) -> Layout:
        """The layout of a vector that has one element for each row (m) or column (n), where lanes
        that hold elements of that row or column hold that of the vector."""
        lanes = tuple(bit if bit[0] == axis else COPY for bit in self.base.lanes)
        base = Fragment(lanes, tuple(bit for bit in self.base.elements if bit[0] == axis))
        rows, columns = (self.rows, 1) if axis == "m" else (1, self.columns)
        return Layout(self.name, rows, columns, base)


@lru_cache(maxsize=512)
def _constants(layout: Layout, axis: Axis) -> tuple[int, ...]:
    base, size = layout.base, layout.base.size(axis)
    found: list[int] = []
    for position in range(base.count):
        within = _coordinate(base, axis, 0, position)
        for down in range(layout.down):
            for across in range(layout.across):
                found.append(within + size * (down if axis == "m" else across))
    return tuple(found)


def _coordinate(base: Fragment, axis: Axis, lane: Any, position: int) -> Any:
    return 0 if base.size(axis) == 1 else base.coordinate(axis, lane, position)


@lru_cache(maxsize=512)
def coordinates(layout: Layout) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """(rows, columns) of every element, each of (lanes, registers)."""
    lanes = np.arange(layout.base.threads)[:, None]
    found: list[npt.NDArray[Any]] = []
    for axis in ("m", "n"):
        own = _coordinate(layout.base, axis, lanes, 0)
        found.append(own + np.asarray(layout.constants(axis))[None, :] + 0 * lanes)
    return found[0], found[1]


@lru_cache(maxsize=512)
def renaming(have: Layout, wanted: Layout, transposed: bool = False) -> tuple[int, ...] | None:
    """For each register of `wanted`, that of `have` with the same element (`transposed`: with its
    row and column exchanged); None where some lane lacks an element that it should hold."""
    shape = have.shape[::-1] if transposed else have.shape
    if shape != wanted.shape or have.base.threads != wanted.base.threads:
        return None
    rows, columns = coordinates(have)[::-1] if transposed else coordinates(have)
    down, across = coordinates(wanted)
    return _same(rows * shape[1] + columns, down * shape[1] + across)


@lru_cache(maxsize=512)
def broadcasting(vector: Layout, axis: Axis, tile: Layout) -> tuple[int, ...] | None:
    """For each register of `tile`, that of `vector` with the same row (m) or column (n); None where
    some lane lacks an element of the vector that its part of the tile needs."""
    lengths = (vector.rows, tile.rows) if axis == "m" else (vector.columns, tile.columns)
    if lengths[0] != lengths[1] or vector.base.threads != tile.base.threads:
        return None
    at = 0 if axis == "m" else 1
    return _same(coordinates(vector)[at], coordinates(tile)[at])


def _same(held: npt.NDArray[Any], needed: npt.NDArray[Any]) -> tuple[int, ...] | None:
    """For each column of `needed`, the column of `held` that is equal to it."""
    at = {int(element): register for register, element in enumerate(held[0])}
    first = [at.get(int(element)) for element in needed[0]]
    picks = tuple(register for register in first if register is not None)
    if len(picks) != len(first) or not np.array_equal(held[:, picks], needed):
        return None
    return picks


@dataclass(frozen=True, slots=True)
class Choice:
    """The matrix instructions that a kernel may use: those of `target`, with `tf32` also those that
    round float32 to 19 bits."""

    target: Target
    tf32: bool = False

    def core(self, dtype_in: DType | None, dtype_out: DType | None) -> TensorCore | None:
        """The best instruction for these dtypes (None: any)."""
        for core in self.target.tensor_cores:
            if (core.exact or self.tf32) and (
                dtype_in in (None, core.dtype_in) and dtype_out in (None, core.dtype_out)
            ):
                return core
        return None

    def base(self, name: str, dtype: DType, shape: tuple[int, int]) -> Fragment:
        """How a base tile of `dtype` lies in a tile of a shape in the layout `name`: as an
        instruction wants it, where there is one for the dtype."""
        core = self.core(None, dtype) if name == "acc" else self.core(dtype, None)
        core = core or self.core(None, None)
        if core is None:
            return _plain(self.target)
        if name == "acc":
            return renamed(core.c, "m", "n")
        steps = together(core, shape[1] if name == "row" else shape[0])
        return renamed(deepened(core.a if name == "row" else core.b, steps), *_LETTERS[name])


def together(core: TensorCore, depth: int) -> int:
    """How many instructions take their steps of K from one base tile, of a sum over `depth`: as
    many as let a lane hold 16 bytes of neighbours. More than one only where what a lane holds lies
    all along K, in A and in B alike; which step of the sum is done when is free."""
    run = [f"k{i}" for i in range(len(core.a.elements))]
    among = [[bit for bit in part.lanes if bit[0] == "k"] for part in (core.a, core.b)]
    if run != [*core.a.elements] or run != [*core.b.elements] or among[0] != among[1]:
        return 1
    steps = max(1, PIECE // (core.dtype_in.itemsize << len(run)))
    while steps > 1 and depth % (core.k * steps):
        steps //= 2
    return steps


def deepened(part: Fragment, steps: int) -> Fragment:
    """An operand of `steps` instructions at once: each lane holds as many times the neighbours
    along K; those of the later instructions are at the later positions."""
    if steps == 1:
        return part
    more, run = steps.bit_length() - 1, len(part.elements)
    lanes = tuple(f"k{int(bit[1:]) + more}" if bit[0] == "k" else bit for bit in part.lanes)
    return Fragment(lanes, (*part.elements, *(f"k{run + i}" for i in range(more))))


def renamed(part: Fragment, row: str, column: str) -> Fragment:
    """A fragment of an instruction with its letters `row` and `column` as m and n."""
    names = {row: "m", column: "n"}

    def bit(name: str) -> str:
        return name if name == COPY else names[name[0]] + name[1:]

    return Fragment(tuple(map(bit, part.lanes)), tuple(map(bit, part.elements)))


def lanes_of(target: Target) -> int:
    """Threads of a warp; without threads, the iterations of the loop over rows that stands for
    one."""
    return target.wave if target.wave > 1 else SERIAL


def _plain(target: Target) -> Fragment:
    """The layout of targets without matrix instructions: neighbours along a row, 4 to a lane; where
    warps are loops, a row for each iteration."""
    bits = lanes_of(target).bit_length() - 1
    if target.wave == 1:
        return Fragment(tuple(f"m{i}" for i in range(bits)), ())
    rows = tuple(f"m{i}" for i in range(bits - 2))
    return Fragment(("n2", "n3", *rows), ("n0", "n1"))
