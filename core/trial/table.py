"""An output of a kernel as a table of numbers that is shown: its axes, its rows and columns.

Never runs anything.
"""

from __future__ import annotations

import math
from typing import Final

from core.helpers import ceildiv
from core.uop.kernels import stores_of
from core.uop.ops import Ops
from core.uop.pointer import pointer_of
from core.uop.uop import UOp

SIDE: Final = 256
"""Cells of a picture along either side at most."""


def number(value: float) -> float | str:
    """A number for JSON: what it does not have is its name."""
    return value if math.isfinite(value) else str(value)


def rows_and_columns(ast: UOp, output: int, size: int) -> tuple[int, int]:
    """An output as a table: its last axis is the columns; a long line is folded."""
    shape = shape_of(ast, output, size)
    columns = shape[-1] if len(shape) > 1 else size
    rows = size // max(1, columns)
    if min(rows, columns) > 1 or size <= SIDE:
        return rows, columns
    columns = 1 << math.ceil(math.log2(math.sqrt(size)))
    return ceildiv(size, columns), columns


def shape_of(ast: UOp, output: int, size: int) -> tuple[int, ...]:
    """The axes of an output that are not 1; one axis where they are not known."""
    for store in stores_of(ast):
        place = store.src[0]
        if place.op is Ops.VIEW and int(pointer_of(place).arg) == output:
            found = tuple(n for n in place.arg.shape if n != 1)
            if place.arg.contiguous and math.prod(found) == size:
                return found
    return (size,)
