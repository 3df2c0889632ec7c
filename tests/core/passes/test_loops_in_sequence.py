"""Loops of kernels written by hand that may write an element again are run in sequence."""

from __future__ import annotations

import numpy as np
import pytest

from core.compile import compile_kernel
from core.dtype import dtypes
from core.target import targets
from core.tensor import Tensor
from core.uop import Ops, UOp
from core.uop.call.kernelcall import Parameter
from core.uop.kernelinfo import KernelInfo

COUNT, SIZE = 100, 7


def picked(_: object, out: Parameter, index: Parameter, values: Parameter) -> UOp:
    i = UOp.range(index.size, 0)
    place = index[i].load().maximum(0).minimum(out.size - 1)
    store = out.pointer.index(place).store(values[i].load()).end(i)
    return UOp.sink(store, arg=KernelInfo("picked"))


def last(_: object, out: Parameter, values: Parameter) -> UOp:
    i = UOp.range(values.size, 0)
    return UOp.sink(out[0].store(values[i].load()).end(i), arg=KernelInfo("last"))


def turned(_: object, out: Parameter, values: Parameter) -> UOp:
    i = UOp.range(values.size, 0)
    store = out[UOp.const(dtypes.int32, out.size - 1) - i].store(values[i].load()).end(i)
    return UOp.sink(store, arg=KernelInfo("turned"))


@pytest.mark.parametrize("target", ["sm_90", "gfx942"])
def test_what_is_given_to_work_groups(target: str) -> None:
    numbers = Parameter(1, (COUNT,), dtypes.int32), Parameter(2, (COUNT,), dtypes.float32)
    kernels = {
        "picked": picked(None, Parameter(0, (SIZE,), dtypes.float32), *numbers),
        "last": last(None, Parameter(0, (1,), dtypes.int32), numbers[0]),
        "turned": turned(None, Parameter(0, (COUNT,), dtypes.int32), numbers[0]),
    }
    spread = {
        name: any(u.op is Ops.SPECIAL for u in compile_kernel(ast, targets[target]).uops)
        for name, ast in kernels.items()
    }
    assert spread == {"picked": False, "last": False, "turned": True}


@pytest.mark.parametrize("device", ["CPU", "PTX:EMU", "AMD:EMU"])
def test_the_last_iteration_is_the_last(device: str) -> None:
    index = np.arange(COUNT, dtype=np.int32)[::-1] % SIZE
    values = np.arange(COUNT, dtype=np.float32)
    wanted = np.zeros(SIZE, np.float32)
    wanted[index] = values
    given = Tensor(index, device=device), Tensor(values, device=device)
    made = Tensor.call_kernel(picked, *given, outputs=((SIZE,), dtypes.float32))
    np.testing.assert_array_equal(made.numpy(), wanted)
