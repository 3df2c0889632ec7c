"""Every kernel of `kernels.py`, compiled for this processor, computes what NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.compile import compile_kernel, sources_for
from core.dtype import dtypes
from core.passes.pipeline import lower_kernel
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.reference.kernel import evaluate_kernel
from core.target import targets
from core.toolchain.processor import host_target
from core.uop import Ops
from tests.core.passes import kernels
from tests.core.passes.kernels import CASES, Case, close


@pytest.mark.parametrize("make", CASES, ids=lambda make: make().name)
def test_on_this_processor(make: Callable[[], Case]) -> None:
    case = make()
    program = compile_kernel(case.ast, host_target())
    outs = [np.empty(e.shape, e.dtype) for e in case.expected]
    arrays = [*outs, *(np.ascontiguousarray(a) for a in case.inputs)]
    buffers = [Buffer.share("CPU", a, dtypes.named(a.dtype.name)) for a in arrays]
    Device["CPU"].load(program)(buffers, {}, wait=True)
    for out, want in zip(outs, case.expected, strict=True):
        close(out, want)


def test_gates_by_lane() -> None:
    """A padded convolution loads whole vectors, with a gate for each lane."""
    case = kernels.conv(1, 2, 24, 1)
    program = compile_kernel(case.ast, targets["x86-64"]).uops
    gates = [u.src[2] for u in program if u.op is Ops.INDEX and len(u.src) > 2]
    assert any(gate.dtype.count > 1 for gate in gates)
    memory: list[np.ndarray[Any, Any]] = [np.zeros(e.size, e.dtype) for e in case.expected]
    memory += [a.ravel() for a in case.inputs]
    evaluate_kernel(program, memory, {})
    close(memory[0].reshape(case.expected[0].shape), case.expected[0])
    assert all(source.text for source in sources_for(case.ast, targets["x86-64"]))


LARGER: tuple[Callable[[], Case], ...] = (
    lambda: kernels.total(4096),
    lambda: kernels.matmul(64, 64, 32),
    lambda: kernels.matmul(16, 1, 512),
    lambda: kernels.row_sum(512, 64),
    lambda: kernels.row_sum(8, 4096),
    lambda: kernels.row_sum(3, 997),
    lambda: kernels.column_sum(512, 64),
    lambda: kernels.column_sum(1000, 7),
    lambda: kernels.elementwise((1 << 15,)),
    lambda: kernels.elementwise((131, 37)),
    lambda: kernels.transpose(64, 96),
    lambda: kernels.conv(4, 8, 16, 1),
    lambda: kernels.softmax_part(40, 640),
    lambda: kernels.one_hot_gather(100, 64, 32),
    lambda: kernels.cumsum(100),
)


@pytest.mark.parametrize("make", LARGER, ids=lambda make: make().name)
@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_larger_kernels(make: Callable[[], Case], target: str) -> None:
    case = make()
    program = lower_kernel(case.ast, targets[target])
    memory: list[np.ndarray[Any, Any]] = [np.zeros(e.size, e.dtype) for e in case.expected]
    memory += [np.ascontiguousarray(a).ravel() for a in case.inputs]
    evaluate_kernel(program, memory, {})
    for got, want in zip(memory, case.expected, strict=False):
        np.testing.assert_allclose(got.reshape(want.shape), want, rtol=2e-4, atol=2e-4)
