"""Matrix instructions on NumPy arrays, from the elements that lanes hold: what evaluators share.

Arrays are (warps, lanes, elements) in the dtype that `numpy_dtype` names. Every lane's copy of an
element of A or B is the first lane's. Never knows where the elements come from.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.dtype import dtypes
from core.tensor_cores.fragment import Fragment
from core.tensor_cores.instruction import TensorCore
from core.uop.facts.meaning_arrays import round_array

Array = npt.NDArray[Any]
_ROWS: Final = {"mk": ("m", "k"), "nk": ("k", "n"), "mn": ("m", "n")}


@lru_cache(maxsize=256)
def indices(fragment: Fragment) -> tuple[Array, Array]:
    """(rows, columns) of the elements, each of (lanes, elements)."""
    lane = np.arange(fragment.threads)[:, None]
    position = np.arange(fragment.count)[None, :]
    row, column = _ROWS["".join(fragment.letters)]
    shape = (fragment.threads, fragment.count)
    return (
        np.broadcast_to(fragment.coordinate(row, lane, position), shape),
        np.broadcast_to(fragment.coordinate(column, lane, position), shape),
    )


@lru_cache(maxsize=256)
def holders(fragment: Fragment) -> tuple[Array, Array]:
    """(lanes, positions) that hold each element first, each of (rows, columns)."""
    rows, columns = indices(fragment)
    shape = int(rows.max()) + 1, int(columns.max()) + 1
    _, first = np.unique(rows * shape[1] + columns, return_index=True)
    lane, position = np.unravel_index(first.reshape(shape), rows.shape)
    return lane, position


def gather(fragment: Fragment, held: Array) -> Array:
    """The matrices (warps, rows, columns) whose elements lanes hold as (warps, lanes, elements)."""
    lanes, positions = holders(fragment)
    return held[:, lanes, positions]


def scatter(fragment: Fragment, matrix: Array) -> Array:
    """What lanes hold of matrices (warps, rows, columns): (warps, lanes, elements)."""
    rows, columns = indices(fragment)
    return matrix[:, rows, columns]


def multiply(core: TensorCore, a: Array, b: Array, c: Array) -> Array:
    """D of each warp, as lanes hold it. Floats: products and their sum with C in float64, rounded
    once; integers wrap around. Bits of A and B that the instruction does not look at are 0."""
    whole = np.float64 if dtypes.is_float(core.dtype_out) else np.int64
    left = gather(core.a, _leading(core, a)).astype(whole)
    right = gather(core.b, _leading(core, b)).astype(whole)
    with np.errstate(all="ignore"):
        total = left @ right + gather(core.c, c).astype(whole)
        return round_array(scatter(core.c, total), core.dtype_out)


def _leading(core: TensorCore, held: Array) -> Array:
    """The elements without the bits that the instruction does not look at."""
    if core.exact:
        return held
    kept = (0xFFFFFFFF << (32 - core.bits)) & 0xFFFFFFFF
    return (held.astype(np.float32).view(np.uint32) & np.uint32(kept)).view(np.float32)
