"""LDMATRIX in numbers: which lane gets which element of which matrix.

Source: NVIDIA, "Parallel Thread Execution ISA", "Warp-level matrix load instruction: ldmatrix".
Never makes a node.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

ROW: Final = 8
"""Rows of a matrix, and elements of a row."""
LANES: Final = 32


def dealt(rows: npt.NDArray[Any], count: int, transposed: bool) -> npt.NDArray[Any]:
    """What each lane gets, (warps, 32, 2 count), of the rows that lanes are at, (warps, 32, 8)."""
    lane = np.arange(LANES)[:, None, None]
    matrix, half = np.arange(count)[:, None], np.arange(2)
    row, column = lane // 4, lane % 4 * 2 + half
    if transposed:
        row, column = column, row
    found = rows[:, matrix * ROW + row, column]
    return found.reshape(-1, LANES, 2 * count)
