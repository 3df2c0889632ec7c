"""Where the elements of tiles lie, as tables that the page draws.

Computed from the layouts themselves, as `core/tile` and the matrix instructions have them. Shows at
most MOST rows and columns of anything, and says how many there are.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.dtype import DType
from core.tensor_cores import COPY, Fragment, TensorCore
from core.tile.memory.layout import renamed
from core.tile.memory.swizzle import Swizzle
from core.uop.kernelinfo import TileInfo
from viz.budget import take

MOST: Final = 256
"""Rows and columns that are shown."""
_LANE: Final = 1 << 16
"""In a table, lane * _LANE + position; a lane has fewer positions."""

Data = dict[str, Any]


def base_data(base: Fragment) -> Data:
    """How a base tile lies: of each element, row by row, the first lane that holds it and at which
    of its positions; lanes that are `copies` further hold it, too."""
    rows, columns = base.size("m"), base.size("n")
    take(base.threads * base.count, 32 * base.threads * base.count)
    down, across = _coordinate(base, "m"), _coordinate(base, "n")
    shown = min(rows, MOST), min(columns, MOST)
    inside = (down < shown[0]) & (across < shown[1])
    numbers: npt.NDArray[Any] = np.arange(base.threads)[:, None] * _LANE + np.arange(base.count)
    held = numbers[inside]
    owner = np.full(shown, np.iinfo(np.int64).max, np.int64)
    np.minimum.at(owner, (down[inside], across[inside]), held)
    spare = [1 << i for i, bit in enumerate(base.lanes) if bit == COPY]
    copies = [0]
    for step in spare:
        copies += [copy + step for copy in copies]
    return {
        "rows": rows,
        "columns": columns,
        "lanes": base.threads,
        "count": base.count,
        "lane": (owner // _LANE).ravel().tolist(),
        "position": (owner % _LANE).ravel().tolist(),
        "copies": copies,
    }


def _coordinate(base: Fragment, letter: str) -> npt.NDArray[np.int64]:
    """(lanes, positions): the rows (m) or columns (n) of the elements."""
    lanes, positions = np.arange(base.threads)[:, None], np.arange(base.count)[None, :]
    if base.size(letter) == 1:
        return 0 * (lanes + positions)
    return base.coordinate(letter, lanes, positions) + 0 * (lanes + positions)


def register_data(info: TileInfo, base: Fragment, dtype: str) -> Data:
    """A tile or vector in the registers of each warp."""
    return {
        "space": "register",
        "kind": info.kind,
        "number": info.number,
        "dtype": dtype,
        "rows": info.rows,
        "columns": info.columns,
        "shown": [min(info.rows, MOST), min(info.columns, MOST)],
        "layout": info.layout,
        "warps": info.warps,
        "base": base_data(base),
    }


def shared_data(info: TileInfo, dtype: DType, lanes: int) -> Data:
    """A tile or vector in shared memory: where piece c of a row lies where piece c XOR the row's
    key would. Without a swizzle there is one key, 0."""
    swizzle = swizzle_of(info, dtype)
    shown = min(info.rows, MOST), min(info.columns, MOST)
    return {
        "space": "shared",
        "kind": info.kind,
        "number": info.number,
        "dtype": dtype.name,
        "rows": info.rows,
        "columns": info.columns,
        "shown": [*shown],
        "stages": info.stages,
        "item": dtype.itemsize,
        "piece": swizzle.piece,
        "keys": swizzle.keys,
        "key": [swizzle.key(row) if swizzle.keys > 1 else 0 for row in range(shown[0])],
        "lanes": lanes,
    }


def swizzle_of(info: TileInfo, dtype: DType) -> Swizzle:
    """The places of a shared tile."""
    return Swizzle(info.columns, dtype.itemsize, info.swizzled)


def instruction_data(core: TensorCore) -> Data:
    """A matrix instruction: how A, B and the product lie."""
    return {
        "name": core.name,
        "dims": [*core.dims],
        "dtypes": [core.dtype_in.name, core.dtype_out.name],
        "a": base_data(renamed(core.a, "m", "k")),
        "b": base_data(renamed(core.b, "k", "n")),
        "c": base_data(renamed(core.c, "m", "n")),
    }
