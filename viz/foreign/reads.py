"""Which element of which value an element of a view is: indices go down through movements, as
arithmetic, to what is not moved. Of tinygrad 0.13 and newer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from core.dtype import dtypes
from core.uop import Ops, UOp
from viz.compilers.tinygradfacts import TinygradFacts
from viz.format.cells import parse_json
from viz.read.tracefile import TraceFile

VIEWS: Final = frozenset(("INDEX", "RESHAPE", "PERMUTE", "EXPAND"))
_DEEPEST: Final = 200
_MOST_AXES: Final = 16

Index = int | UOp
"""A whole number that is not negative: one that is known, or an expression of int64."""


@dataclass(frozen=True)
class Element:
    """One element of a value that is no view."""

    node: int
    at: tuple[UOp, ...]


class Reads:
    """The elements of the views of one file. `expression`: that of a node that is a number."""

    def __init__(
        self, file: TraceFile, facts: TinygradFacts, expression: Callable[[int], UOp]
    ) -> None:
        self._file, self._facts, self._expression = file, facts, expression

    def axes(self, node: int) -> tuple[UOp, ...] | None:
        """A variable for each axis of a node; None where its shape is not known."""
        shape = self._facts.shape(node)
        if shape is None or len(shape) > _MOST_AXES or 0 in shape:
            return None
        return tuple(UOp.variable(f"axis{i}", 0, n - 1, dtypes.int64) for i, n in enumerate(shape))

    def element(self, node: int, at: Sequence[UOp]) -> Element:
        """What element of a view is, as far down as it can be followed."""
        indices: list[Index] = [*at]
        for _ in range(_DEEPEST):
            below = self._below(node, indices)
            if below is None:
                break
            node, indices = below
        return Element(node, tuple(map(_expression, indices)))

    def _below(self, node: int, at: list[Index]) -> tuple[int, list[Index]] | None:
        sources = self._file.nodes.sources(node)
        shape = self._facts.shape(sources[0]) if sources else None
        if shape is None:
            return None
        first, op = sources[0], self._text(node, "op")
        match op:
            case "INDEX" if all(self._facts.shape(s) == () for s in sources[1:]):
                return first, [*(self._index(s) for s in sources[1:]), *at]
            case "LOAD" if len(sources) == 1:
                return first, at
            case "STACK" if at and isinstance(at[0], int) and at[0] < len(sources):
                return sources[at[0]], at[1:]
            case "EXPAND":
                front = len(at) - len(shape)
                return first, [0 if n == 1 else i for n, i in zip(shape, at[front:], strict=True)]
            case "PERMUTE":
                order = parse_json(self._text(node, "arg"))
                numbers = _numbers(order)
                if sorted(numbers) != [*range(len(at))]:
                    return None
                places = dict(zip(numbers, at, strict=True))
                return first, [places[axis] for axis in range(len(at))]
            case "RESHAPE":
                own = self._facts.shape(node)
                if own is None or len(own) != len(at) or math.prod(own) != math.prod(shape):
                    return None
                return first, _parts(_flat(at, own), shape)
            case _:
                return None

    def _index(self, node: int) -> Index:
        value = parse_json(self._text(node, "arg")) if self._text(node, "op") == "CONST" else None
        if type(value) is int and value >= 0:
            return value
        return self._expression(node).cast(dtypes.int64)

    def _text(self, node: int, name: str) -> str:
        return self._file.text(int(self._file.nodes.field(name)[node]))


def _numbers(value: object) -> list[int]:
    """The numbers of a tuple, which is a list or a text; none for anything else."""
    if isinstance(value, str):
        parts = [part.strip() for part in value.strip("()").split(",") if part.strip()]
        return [int(part) for part in parts] if all(map(str.isdecimal, parts)) else []
    if isinstance(value, list):
        return [one for one in value if type(one) is int]
    return []


def _flat(at: Sequence[Index], shape: Sequence[int]) -> Index:
    """Which element in order an element of a shape is."""
    made: Index = 0
    for index, size in zip(at, shape, strict=True):
        made = _sum(_product(made, size), index) if size != 1 else made
    return made


def _parts(flat: Index, shape: Sequence[int]) -> list[Index]:
    """The indices of an element of a shape, by its number in order."""
    found: list[Index] = []
    for axis, size in enumerate(shape):
        stride = math.prod(shape[axis + 1 :])
        if size == 1:
            found.append(0)
        elif isinstance(flat, int):
            found.append(flat // stride % size)
        else:
            part = flat if stride == 1 else flat.alu(Ops.IDIV, flat.const_like(stride))
            outer = math.prod(shape[:axis]) == 1
            found.append(part if outer else part.alu(Ops.MOD, part.const_like(size)))
    return found


def _sum(a: Index, b: Index) -> Index:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if isinstance(a, int) and a == 0:
        return b
    if isinstance(b, int) and b == 0:
        return a
    return _expression(a).alu(Ops.ADD, _expression(b))


def _product(a: Index, b: int) -> Index:
    if isinstance(a, int) or b == 1:
        return a * b if isinstance(a, int) else a
    return a.alu(Ops.MUL, a.const_like(b))


def _expression(index: Index) -> UOp:
    return UOp.const(dtypes.int64, index) if isinstance(index, int) else index
