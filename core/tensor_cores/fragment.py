"""`Fragment`: which element of a matrix each lane of a warp holds, as data.

Every layout of the vendors' matrix instructions is a matter of bits: each bit of a row or column
number is one bit of the lane's number or one bit of the position among the lane's elements. A
fragment names them from the lowest bit up. In `m16n8k16` of PTX the lanes of A are
`k1 k2 m0 m1 m2` and its elements `k0 m3 k3`: lane 5 (binary 00101) holds at position 6 (110)
row 1 + 8 and column 2 + 8. Never knows what an instruction computes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol, Self, TypeVar

from core.errors import DTypeError

COPY: Final = "-"
"""Stands for a bit of the lane's number that says nothing: lanes that differ in it alone hold the
same elements."""
_BIT: Final = re.compile(r"[mnk][0-9]")


class Integer(Protocol):
    """What a coordinate can be computed on: int, an array of integers, or a node of the graph."""

    def __add__(self, other: Any, /) -> Self: ...
    def __mul__(self, other: Any, /) -> Self: ...
    def __floordiv__(self, other: Any, /) -> Self: ...
    def __mod__(self, other: Any, /) -> Self: ...


Number = TypeVar("Number", bound=Integer)


@dataclass(frozen=True, slots=True)
class Run:
    """`count` neighbouring bits of a lane's number or a position, from `start`, that are bits of a
    coordinate, from `to`. `last`: nothing lies above them."""

    start: int
    to: int
    count: int
    last: bool

    def __call__(self, number: Number) -> Number:
        """What these bits of `number` add to the coordinate."""
        value = number // (1 << self.start) if self.start else number
        value = value if self.last else value % (1 << self.count)
        return value * (1 << self.to) if self.to else value


@dataclass(frozen=True, slots=True)
class Fragment:
    """The bits of coordinates that the bits of a lane's number and of a position among its elements
    are, lowest first: "k1" is the bit of column k that counts 2. m is the row of the product, n its
    column, k what is summed over. `COPY` stands in `lanes` for a bit without meaning.

    Raises DTypeError where a bit is named twice or is no bit.
    """

    lanes: tuple[str, ...]
    elements: tuple[str, ...]

    def __post_init__(self) -> None:
        named = [bit for bit in (*self.lanes, *self.elements) if bit != COPY]
        wrong = [bit for bit in named if not _BIT.fullmatch(bit)]
        if wrong or COPY in self.elements or len(set(named)) != len(named):
            raise DTypeError(
                f"{self} is not a layout of a matrix",
                hint="each bit is a letter of m, n, k and a digit, and is named once",
            )

    def __str__(self) -> str:
        return f"lanes {' '.join(self.lanes)}, elements {' '.join(self.elements)}"

    @property
    def threads(self) -> int:
        """Lanes that hold the matrix together."""
        return 1 << len(self.lanes)

    @property
    def count(self) -> int:
        """Elements that each lane holds."""
        return 1 << len(self.elements)

    @property
    def letters(self) -> tuple[str, ...]:
        """The coordinates of an element, in the order of m, n, k."""
        named = {bit[0] for bit in (*self.lanes, *self.elements) if bit != COPY}
        return tuple(letter for letter in "mnk" if letter in named)

    def size(self, letter: str) -> int:
        """How many values a coordinate has; 1 where the matrix does not have it."""
        return 1 << sum(bit[0] == letter for bit in (*self.lanes, *self.elements))

    def coordinate(self, letter: str, lane: Number, position: Number) -> Number:
        """Row or column of the element at `position` of `lane`, by arithmetic that ints, arrays and
        nodes have alike. Raises DTypeError for a coordinate that the matrix does not have."""
        parts = [run(lane) for run in _runs(self.lanes, letter)]
        parts += [run(position) for run in _runs(self.elements, letter)]
        if not parts:
            raise DTypeError(f"a matrix of {self.letters} has no coordinate {letter!r}")
        value = parts[0]
        for part in parts[1:]:
            value = value + part
        return value


def fragment(lanes: str, elements: str) -> Fragment:
    """A fragment from names between spaces: fragment("k1 k2 m0 m1 m2", "k0 m3 k3")."""
    return Fragment(tuple(lanes.split()), tuple(elements.split()))


@lru_cache(maxsize=512)
def _runs(bits: tuple[str, ...], letter: str) -> tuple[Run, ...]:
    """The runs of bits of one coordinate."""
    found: list[Run] = []
    at = 0
    while at < len(bits):
        end = at + 1
        if bits[at][0] == letter:
            to = int(bits[at][1:])
            while end < len(bits) and bits[end] == f"{letter}{to + end - at}":
                end += 1
            found.append(Run(at, to, end - at, end == len(bits)))
        at = end
    return tuple(found)
