"""What the reference makes of views, beside the definition of a view."""

from __future__ import annotations

import numpy as np
import pytest

from core.runtime.reference.evaluate.shaped import read_view
from core.shape import ShapeTracker


def transposed_rows() -> ShapeTracker:
    """Rows of a transposed matrix cut anew, twice: two views that are one object."""
    return ShapeTracker.from_shape((3, 4)).permute((1, 0)).reshape((3, 4)).permute((1, 0))


@pytest.mark.parametrize(
    "st",
    [
        transposed_rows(),
        transposed_rows().pad(((1, 0), (0, 2))),
        ShapeTracker.from_shape((12,)).shrink(((2, 3),)).reshape(()),
        ShapeTracker.from_shape((3, 4)).flip((True, False)).expand((3, 4)),
    ],
)
def test_a_view_reads_what_its_indices_say(st: ShapeTracker) -> None:
    memory = np.arange(1, 13, dtype=np.float32)
    places, valid = st.indices()
    expected = np.where(valid, memory[np.where(valid, places, 0)], 0)
    assert np.array_equal(read_view(memory, st), expected)


def test_views_of_a_tracker_may_be_equal() -> None:
    first, second = transposed_rows().views
    assert first is second
