"""What renderers want: alternatives where a gate is, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from core import Tensor
from core.dtype import DType, dtypes
from core.passes.program.final import final
from core.target import Target, targets
from core.uop import Ops, UOp
from core.uop.call.kernelcall import Parameter
from core.uop.kernelinfo import KernelInfo


def loads(value: UOp) -> list[UOp]:
    made = final(UOp.sink(value), targets["sm_80"])
    return [u for u in made.toposort() if u.op is Ops.LOAD]


def place(gate: UOp | None = None) -> UOp:
    pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(8), (), 0)
    return pointer.index(UOp.range(8, 0), gate=gate)


def test_a_gated_load_has_an_alternative() -> None:
    gate = UOp.range(8, 0) < 5
    (load,) = loads(place(gate).load())
    assert load.src[1].arg == 0
    (load,) = loads(place(gate).load(UOp.const(dtypes.float32, 3)))
    assert load.src[1].arg == 3


def test_a_load_without_a_gate_has_none() -> None:
    (load,) = loads(place().load(UOp.const(dtypes.float32, 3)))
    assert load.src == (place(),)


@pytest.mark.parametrize("device", ["CPU", "PYTHON", "PTX:EMU", "AMD:EMU"])
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.half, dtypes.bool, dtypes.int64])
def test_a_gate_that_always_holds(device: str, dtype: DType) -> None:
    """Simplified away, it leaves the alternative of the load behind."""

    def copied(target: Target, out: Parameter, x: Parameter) -> UOp:
        i = UOp.range(13, 0)
        value = x.at(i, gate=i < 20).load(UOp.const(dtype, 1))
        return UOp.sink(out[i].store(value).end(i), arg=KernelInfo("copied", ()))

    values = np.arange(13) % 3
    x = Tensor(values, device=device).cast(dtype)
    made = Tensor.call_kernel(copied, x, outputs=((13,), x.dtype))
    assert made.cast(dtypes.int32).tolist() == x.cast(dtypes.int32).tolist()
