"""Kernels that write to picked elements stay inside of memory, whatever the indices are."""

from __future__ import annotations

import pytest

from core.dtype import DType, dtypes
from core.isolation.safety import check_kernel
from core.target import targets
from core.uop import Ops
from core.uop.call.kernelcall import Parameter
from core.uop.call.scatter import Scatter
from core.uop.call.scatterkernel import scatter_kernel


@pytest.mark.parametrize("target", ["x86-64", "sm_90", "gfx942"])
@pytest.mark.parametrize("index", [dtypes.int32, dtypes.int64, dtypes.uint8], ids=str)
@pytest.mark.parametrize(
    "how",
    [Scatter(0), Scatter(1, Ops.ADD), Scatter(1, Ops.MAX, least=True, anew=True)],
    ids=("set", "add", "least"),
)
def test_no_gate_has_to_be_believed(target: str, index: DType, how: Scatter) -> None:
    out = Parameter(0, (5, 7), dtypes.float32)
    picks = Parameter(1, (3, 1) if how.axis == 0 else (1, 3), index)
    values = Parameter(2, (3, 7) if how.axis == 0 else (5, 3), dtypes.float32)
    check_kernel(scatter_kernel(how, targets[target], out, picks, values))
