"""Two results of one kernel, element by element: how many agree, which is furthest off, a picture.

Floats are also compared in units in the last place: how many numbers of the dtype lie between two.
Never runs anything.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from core.dtype import DType, dtypes
from core.helpers import ceildiv
from core.runtime.numeric import Array, from_memory
from core.trial.difference import apart_of, coordinates, ulps_apart
from core.trial.table import SIDE, number, rows_and_columns
from core.uop.uop import UOp

MOST_CELLS: Final = 8192
"""The most cells that a picture describes in detail, those that are furthest off."""


@dataclass(frozen=True)
class Difference:
    """How one output of the edited program differs from the original's. `error` and `ulps` are the
    largest; `ulps` is None for dtypes that are no floats, and where an element is a number in one
    and none in the other. `at`: coordinates of the element that is furthest off, or its number;
    `original` and `edited` are there."""

    output: int
    compared: int
    identical: int
    error: float
    ulps: int | None
    at: tuple[int, ...]
    original: float
    edited: float

    def data(self) -> dict[str, Any]:
        """As JSON, which has no infinities."""
        found = asdict(self)
        found["at"] = list(self.at)
        for name in ("error", "original", "edited"):
            found[name] = number(found[name])
        return found


def errors(original: Array, edited: Array, dtype: DType) -> Array:
    """The absolute difference of each element; infinite where only one is a number, or both are
    different infinities. Integers that differ, but are the same as float64, differ by 1."""
    held_a, held_b = (from_memory(held, dtype) for held in (original, edited))
    a, b = (held.astype(np.float64) for held in (held_a, held_b))
    apart = apart_of(a, b)
    return (
        apart if dtypes.is_float(dtype) else np.where((held_a != held_b) & (apart == 0), 1.0, apart)
    )


def difference_of(
    ast: UOp, output: int, dtype: DType, original: Array, edited: Array, apart: Array
) -> Difference:
    """How an output differs; `apart` is what `errors` gives."""
    worst = int(apart.argmax())
    place = coordinates(ast, output, worst)
    a, b = (
        float(from_memory(held[worst : worst + 1], dtype).astype(np.float64)[0])
        for held in (original, edited)
    )
    width = original.dtype.itemsize
    same = original.view(f"u{width}") == edited.view(f"u{width}")
    return Difference(
        output,
        int(original.size),
        int(same.sum()),
        float(apart[worst]),
        largest_ulps(original, edited, dtype, apart),
        (worst,) if place is None else place,
        a,
        b,
    )


def largest_ulps(original: Array, edited: Array, dtype: DType, apart: Array) -> int | None:
    """The largest distance in units in the last place of elements that differ."""
    if not dtypes.is_float(dtype):
        return None
    differs = np.flatnonzero(apart)
    if not len(differs):
        return 0
    if not np.isfinite(apart).all():
        return None
    return ulps_apart(original[differs], edited[differs])


def picture(
    ast: UOp, output: int, dtype: DType, original: Array, edited: Array, apart: Array
) -> dict[str, Any]:
    """The error over an output as a table of at most SIDE x SIDE cells, each the largest in it:
    `Picture` of the page."""
    rows, columns = rows_and_columns(ast, output, apart.size)
    down, across = ceildiv(rows, SIDE), ceildiv(columns, SIDE)
    height, width = ceildiv(rows, down), ceildiv(columns, across)
    table = np.zeros(height * down * width * across)
    table = table.reshape(height * down, width * across)
    flat = np.zeros(rows * columns)
    flat[: apart.size] = apart
    table[:rows, :columns] = flat.reshape(rows, columns)
    blocks = table.reshape(height, down, width, across).transpose(0, 2, 1, 3)
    blocks = blocks.reshape(height * width, down * across)
    inside, largest = blocks.argmax(axis=1), blocks.max(axis=1)
    found = np.flatnonzero(largest)
    chosen = found[np.argsort(-largest[found], kind="stable")[:MOST_CELLS]]
    y = chosen // width * down + inside[chosen] // across
    x = chosen % width * across + inside[chosen] % across
    at = y * columns + x
    a, b = (from_memory(held[at], dtype).astype(np.float64) for held in (original, edited))
    return {
        "output": output,
        "rows": rows,
        "columns": columns,
        "height": height,
        "width": width,
        "down": down,
        "across": across,
        "cell": chosen.tolist(),
        "at": at.tolist(),
        "error": [number(float(n)) for n in largest[chosen]],
        "original": [number(float(n)) for n in a],
        "edited": [number(float(n)) for n in b],
        "more": len(found) - len(chosen),
    }
