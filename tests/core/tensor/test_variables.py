"""Tensors of bound variables: values that are given at launch, on any device, once or often."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core import Device, Tensor, UOp, Variable, dtypes
from core.errors import DTypeError, RunError, ShapeError
from core.shape import ShapeTracker

A = Variable("a", 1, 10)


def bound(value: int = 2, **options: Any) -> Tensor:
    return Tensor(A.bind(value), **options)


@pytest.mark.parametrize("device", ["CPU", "REFERENCE"])
def test_its_value(device: str) -> None:
    x = bound(device=device)
    assert (x.shape, x.dtype, x.device) == ((), dtypes.int32, device)
    assert [x.item(), x.item(), int(x), x.realize().tolist(), (x + 1).item()] == [2, 2, 2, 2, 3]
    assert bound().to(device).item() == 2
    assert bound(device=device, dtype="float32").item() == 2.0
    assert Tensor(A.bind(2) * 3 + 1, device=device).item() == 7
    assert bound(device=device).reshape(1, 1).expand(3, 2).sum().item() == 12
    assert Tensor.ones(3, device=device).assign(bound(7, device=device).float()).tolist() == [7] * 3


def test_realizing_gives_memory() -> None:
    for x in (bound().realize(), bound().contiguous().realize()):
        assert x.uop.base.device == Device.DEFAULT
        assert not x.schedule()


def test_one_kernel_for_all_values() -> None:
    data = Tensor([1, 2, 3]).realize()
    kernels: set[UOp] = set()
    for value in (3, 4):
        (item,) = (data * bound(value)).schedule()
        kernels.add(item.ast)
        assert (data * bound(value)).tolist() == [value, 2 * value, 3 * value]
    assert len(kernels) == 1


def test_what_is_refused() -> None:
    with pytest.raises(RunError, match=r"needs a value for a(.|\n)*hint: bind it"):
        Tensor(A).item()
    with pytest.raises(DTypeError, match=r"a = 20 is outside 1\.\.10"):
        A.bind(20)
    for wrong in (("a", 5, 1), (3, 1, 5), ("a", 1.5, 3), ("a", None, 3)):
        with pytest.raises(DTypeError, match=r"a variable .* between(.|\n)*hint: give a name"):
            Variable(*wrong)  # type: ignore[arg-type]
    low, high = map(np.int64, (1, 10))
    assert Variable("a", low, high) is A  # type: ignore[arg-type]
    with pytest.raises(DTypeError, match="RANGE is not the value of a Tensor"):
        Tensor(UOp.range(3, 0))
    for shape in ((A,), (2, 1.5), ("a",)):
        with pytest.raises(ShapeError, match=r"is no shape: each length is an integer(.|\n)*hint"):
            ShapeTracker.from_shape(shape)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="is not made of integers"):
        Tensor.zeros(A.bind(3))  # type: ignore[arg-type]
