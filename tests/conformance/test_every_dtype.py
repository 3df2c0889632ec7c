"""Each function of Tensor with each dtype is right on each device: a sample, or all with --all.

`python -m tests.bench dtypes` prints the whole table, where PyTorch is installed.
"""

from __future__ import annotations

import pytest

from core import Tensor, dtypes
from core.dtype import DType
from tests.conformance.devices import on_devices
from tests.conformance.every_dtype import (
    DEVICES,
    ENDS,
    ROWS,
    Row,
    found_wrong,
    in_place,
    wrong_at_ends,
)
from tests.conformance.every_function import ELSEWHERE
from tests.fuzzing import has_float64

EVERY: tuple[Row, ...] = (*ROWS, *in_place())
COMPUTED = tuple(dtype for dtype in dtypes.all if dtype is not dtypes.float64 or has_float64())
"""The dtypes that the device has."""
SAMPLE = 40
"""Every 40th function of each dtype, a different one for each, without --all."""


def test_every_function_has_a_row() -> None:
    names = {name for name in dir(Tensor) if not name.startswith("_")}
    assert names - ELSEWHERE - {row.name for row in EVERY} == set()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", dtypes.all, ids=str)
def test_functions(dtype: DType, device: str, pytestconfig: pytest.Config) -> None:
    step = 1 if pytestconfig.getoption("--all") else SAMPLE
    rows = EVERY[dtypes.all.index(dtype) % step :: step]
    found = {row.name: found_wrong(row, dtype, device) for row in rows}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("device", on_devices("CPU", "REFERENCE"))
@pytest.mark.parametrize("name", [row[0] for row in ENDS])
def test_ends_of_dtypes(name: str, device: str) -> None:
    found = {str(dtype): wrong_at_ends(name, dtype, device) for dtype in COMPUTED}
    assert {dtype: wrong for dtype, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("device", on_devices("PTX:EMU", "AMD:EMU"))
@pytest.mark.parametrize("dtype", [dtypes.fp8e4m3, dtypes.fp8e5m2, dtypes.uint64], ids=str)
def test_ends_of_a_dtype(dtype: DType, device: str) -> None:
    found = {row[0]: wrong_at_ends(row[0], dtype, device) for row in ENDS}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
