"""Generated arguments: the table that the page's generator is held to, too."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from core.dtype import dtypes
from core.runtime.numeric import from_memory
from core.runtime.reference.generated import generated
from core.runtime.reference.spans import Span

TABLE = Path(__file__).parents[4] / "viz/web/test/data/generated.json"
ROWS = json.loads(TABLE.read_text())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['dtype']} {row['span']}")
def test_the_table_of_both_generators(row: dict[str, object]) -> None:
    span = None if row["span"] is None else Span(*row["span"], True)  # type: ignore[misc]
    made = generated(int(str(row["number"])), getattr(dtypes, str(row["dtype"])), 9, span)
    assert made.tobytes().hex() == row["bytes"]


def test_floats_are_exact_near_normal_and_different_by_argument() -> None:
    one, other = (generated(n, dtypes.float32, 100_000, None) for n in (0, 1))
    assert abs(float(one.mean())) < 0.02
    assert abs(float(one.std()) - 1.1547) < 0.02
    assert (one == other).mean() < 0.001
    for name in ("float16", "bfloat16", "fp8e4m3", "fp8e5m2"):
        dtype = getattr(dtypes, name)
        values = from_memory(generated(0, dtype, 10_000, None), dtype)
        assert values.min() == -2
        assert values.max() == 2


def test_integers_that_are_indices_stay_within_their_span() -> None:
    made = generated(3, dtypes.int32, 10_000, Span(5, 12, True))
    assert set(np.unique(made)) == set(range(5, 13))
    assert generated(0, dtypes.uint8, 100, Span(0, 1 << 40, True)).max() <= 255
