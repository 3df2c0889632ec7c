"""What the page draws is what the layouts say, for every target, layout and dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core import dtypes
from core.dtype import DType
from core.target import targets
from core.tensor_cores import fragment
from core.tile.memory.layout import LAYOUTS, Choice, Layout, coordinates
from core.tile.memory.swizzle import Swizzle
from core.uop.kernelinfo import TileInfo
from core.uop.uop import UOp
from viz.coredialect.tiles.layouts import (
    MOST,
    Data,
    base_data,
    instruction_data,
    register_data,
    shared_data,
)

DTYPES = (dtypes.half, dtypes.bfloat16, dtypes.float, dtypes.int8, dtypes.fp8e4m3, dtypes.bool)
SIDES = (64, 128)


def owner(tile: Data, row: int, column: int) -> tuple[list[int], int]:
    """(lanes, register) as the page computes them: see BaseTile in data/messages/tile.ts."""
    base = tile["base"]
    across = tile["columns"] // base["columns"]
    number = row // base["rows"] * across + column // base["columns"]
    tiles = tile["rows"] // base["rows"] * across
    at = row % base["rows"] * min(base["columns"], MOST) + column % base["columns"]
    lanes = [base["lane"][at] + copy for copy in base["copies"]]
    return lanes, base["position"][at] * tiles + number


def held(layout: Layout) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """(lane, register) of each element, as `core.tile` has them."""
    rows, columns = coordinates(layout)
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for (lane, register), row in np.ndenumerate(rows):
        found.setdefault((int(row), int(columns[lane, register])), []).append((lane, register))
    return found


def check(layout: Layout, kind: Any) -> None:
    rows, columns = layout.shape
    info = TileInfo(kind, 0, rows, columns, 4, layout.name, layout.base)
    data = register_data(info, layout.base, "half")
    assert data["base"]["lanes"] == layout.base.threads
    elements = held(layout)
    assert len(elements) == rows * columns
    for (row, column), wanted in elements.items():
        lanes, register = owner(data, row, column)
        assert [(lane, register) for lane in lanes] == wanted, (row, column)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", targets)
@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_owners_of_every_layout(target: str, name: str, dtype: DType) -> None:
    choice = Choice(targets[target], tf32=True)
    tile = Layout(name, *SIDES, choice.base(name, dtype, SIDES))
    check(tile, "RT")
    check(tile.along("m"), "RV")
    check(tile.along("n"), "RV")


@pytest.mark.parametrize("target", [name for name in targets if targets[name].tensor_cores])
def test_operands_of_every_matrix_instruction(target: str) -> None:
    for core in targets[target].tensor_cores:
        data = instruction_data(core)
        for part, letters in (("a", "mk"), ("b", "kn"), ("c", "mn")):
            fragment_, base = getattr(core, part), data[part]
            sizes = [fragment_.size(letter) for letter in letters]
            assert [base["rows"], base["columns"]] == sizes
            for lane in range(fragment_.threads):
                for position in range(fragment_.count):
                    row, column = (fragment_.coordinate(x, lane, position) for x in letters)
                    at = row * base["columns"] + column
                    assert base["position"][at] == position
                    assert lane - base["lane"][at] in base["copies"]


@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.half, dtypes.float], ids=str)
@pytest.mark.parametrize("columns", [8, 24, 64, 128])
@pytest.mark.parametrize("swizzled", [True, False])
def test_places_in_shared_memory(dtype: DType, columns: int, swizzled: bool) -> None:
    rows, places = 32, Swizzle(columns, dtype.itemsize, swizzled)
    data = shared_data(TileInfo("ST", 0, rows, columns, swizzled=swizzled), dtype, 32)
    piece, keys = data["piece"], data["keys"]
    seen: set[int] = set()
    for row in range(rows):
        for column in range(columns):
            number = column // piece
            moved = number // keys * keys + (number % keys ^ data["key"][row])
            place = row * columns + moved * piece + column % piece
            if column % piece == row % piece:
                at = places.at(UOp.const(dtypes.int, row), UOp.const(dtypes.int, column))
                assert at.simplify().arg == place
            seen.add(place)
    assert seen == set(range(rows * columns))


def test_large_tiles_are_shown_in_part() -> None:
    base = fragment("n0 n1 m0 m1 m2", "n2")
    data = register_data(TileInfo("RT", 0, 1024, 512, 1, "acc", base), base, "float")
    assert (data["rows"], data["columns"], data["shown"]) == (1024, 512, [MOST, MOST])
    shared = shared_data(TileInfo("ST", 0, 1 << 20, 1 << 20), dtypes.float, 32)
    assert shared["shown"] == [MOST, MOST]
    assert len(shared["key"]) == MOST


def test_a_large_base_tile_is_shown_in_part() -> None:
    base = base_data(
        fragment(" ".join(f"n{i}" for i in range(9)), " ".join(f"m{i}" for i in range(9)))
    )
    assert (base["rows"], base["columns"]) == (512, 512)
    assert len(base["lane"]) == len(base["position"]) == MOST * MOST
    assert base["lane"][MOST - 1] == MOST - 1
    assert base["position"][-1] == MOST - 1
