"""Tensors of bound variables: values that are given at launch, on any device, once or often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core import Device, Tensor, TinyJit, UOp, Variable, dtypes
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
            Variable(*wrong)
    low, high = map(np.int64, (1, 10))
    assert Variable("a", low, high) is A
    with pytest.raises(DTypeError, match="RANGE is not the value of a Tensor"):
        Tensor(UOp.range(3, 0))
    for shape in ((A,), (2, 1.5), ("a",)):
        with pytest.raises(ShapeError, match=r"is no shape: each length is an integer(.|\n)*hint"):
            ShapeTracker.from_shape(shape)
    assert Tensor.zeros(A.bind(3)).tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", ["int32", "float32", "int8", "bool"])
def test_beside_tensors(dtype: str) -> None:
    """A bound variable takes part in arithmetic as a Python integer does, on either side."""
    v, x = A.bind(3), Tensor([1, 2, 5], device="REFERENCE").cast(dtype)
    calls: list[Callable[[Any, Any], Any]] = [
        lambda t, n: t + n, lambda t, n: n + t, lambda t, n: t * n, lambda t, n: n * t,
        lambda t, n: t / n, lambda t, n: n / t, lambda t, n: t < n, lambda t, n: n < t,
        lambda t, n: n >= t, lambda t, n: t == n, lambda t, n: n == t, lambda t, n: t.maximum(n),
        lambda t, n: (t > 1).where(n, t), lambda t, n: (t > 1).where(n, 0),
        lambda t, n: t + (n + 1), lambda t, n: t.cast("int32") - n, lambda t, n: n - t.int(),
        lambda t, n: t.int() // n, lambda t, n: n % t.int(),
    ]  # fmt: skip
    for call in calls:
        have, want = call(x, v), call(x, 3)
        assert have.dtype is want.dtype
        assert have.tolist() == want.tolist()


def test_beside_tensors_in_place_and_with_gradient() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    (x * A.bind(3)).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3, 3]
    y = Tensor([1.0, 2.0])
    y += A.bind(2)
    y *= A.bind(2)
    assert y.tolist() == [6, 8]
    stored = (Tensor.ones(2) * A.bind(3)).contiguous()
    assert (stored + y).tolist() == [9, 11]
    assert stored.tolist() == [3, 3]
    assert (y + A.bind(2) + A.bind(3)).tolist() == [11, 13]
    both = TinyJit(lambda t, n: (t + n + A.bind(3)).realize())
    assert both(Tensor([1.0, 2.0]).realize(), A.bind(2)).tolist() == [6, 7]
    with pytest.raises(RunError, match="a as an argument and binds it to another value"):
        both(Tensor([1.0, 2.0]).realize(), A.bind(2))


def test_what_is_no_number_is_refused_beside_a_tensor() -> None:
    with pytest.raises(DTypeError, match=r"does not combine with BUFFER(.|\n)*test_variables.py"):
        Tensor([1]).add(Tensor([1]).realize().uop)
    with pytest.raises(RunError, match="needs a value for a"):
        (Tensor([1]) * A).tolist()
    with pytest.raises(TypeError):
        _ = A * "text"


def test_the_variables_of_a_graph() -> None:
    b = Variable("b", 0, 4)
    value = (A.bind(3) + b) * A
    assert value.variables() == [A, b]
    assert value.vars() == {A.bind(3), b}
    assert Tensor([1.0]).uop.vars() == set()
    assert (A.bind(3).val, A.bind(3).unbind()) == (3, (A, 3))
    with pytest.raises(DTypeError, match="unbind of DEFINE_VAR"):
        A.unbind()
