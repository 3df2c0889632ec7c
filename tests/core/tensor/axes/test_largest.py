"""The largest of each float dtype, also of one that has no infinity."""

from __future__ import annotations

import numpy as np
import pytest

from core.dtype import DType, dtypes
from core.tensor import Tensor
from core.uop import UOp

VALUES = np.array([-7.0, -3.0, -2.0, -1.0, -6.0] * 3, np.float32)


@pytest.mark.parametrize("dtype", dtypes.floats, ids=str)
def test_the_largest_of_negative_numbers(dtype: DType) -> None:
    x = Tensor(VALUES.reshape(3, 5)).cast(dtype)
    assert x.max(1).cast(dtypes.float32).numpy().tolist() == [-1.0] * 3
    assert x.min(1).cast(dtypes.float32).numpy().tolist() == [-7.0] * 3
    n = UOp.variable("n", 1, 15)
    part = Tensor(VALUES).cast(dtype)[: n.bind(3)]
    assert part.max().cast(dtypes.float32).item() == -2.0
