"""Methods that end in `_`: what they share with `x += y`, in memory, captures and traces."""

from __future__ import annotations

import numpy as np
import pytest

from core import Tensor, TinyJit
from core.errors import DTypeError, GradientError, ShapeError
from core.uop.ops import Ops

ALONE = {"is_param_", "requires_grad_", "copy_", "fill_", "zero_"}
ALONE |= {"normal_", "uniform_", "bernoulli_", "exponential_", "shard_", "to_"}
METHODS = sorted(name for name in dir(Tensor) if name.endswith("_") and not name.startswith("_"))


def test_each_is_a_method_without_the_sign() -> None:
    assert len(METHODS) > 80
    for name in set(METHODS) - ALONE:
        assert callable(getattr(Tensor, name[:-1])), name
        assert getattr(Tensor, name).__name__ == name
        assert getattr(Tensor, name).__doc__ == f"`{name[:-1]}`, stored in this Tensor."


def test_a_chain_changes_one_memory() -> None:
    x = Tensor([1.0, 2.0, 3.0, 4.0]).realize()
    memory, part = x.uop.base, x[1:3]
    assert x.mul_(2).add_(Tensor([1.0, 1.0, 1.0, 1.0]), alpha=3).realize() is x
    part.clamp_(max_=8).neg_()
    assert x.tolist() == [5, -7, -8, 11]
    assert x.uop.base is memory
    assert memory.op is Ops.BUFFER


def test_a_captured_function_changes_its_state() -> None:
    state = Tensor([0.0, 8.0]).realize()

    @TinyJit
    def step(x: Tensor) -> Tensor:
        state.mul_(0.5).add_(x, alpha=0.5)
        return (state + 1).realize()

    want = np.array([0.0, 8.0])
    for k in range(5):
        x = np.array([k, 2.0 * k])
        want = want * 0.5 + x * 0.5
        assert step(Tensor(x.astype(np.float32)).realize()).tolist() == (want + 1).tolist()
        assert state.tolist() == want.tolist()


def test_what_was_computed_before_keeps_its_value_and_its_gradient() -> None:
    leaf = Tensor([1.0, 2.0], requires_grad=True)
    x = leaf * 3
    before = x.square()
    x.zero_()
    (before.sum() + x.sum()).backward()
    assert leaf.grad is not None
    assert (before.tolist(), x.tolist(), leaf.grad.tolist()) == ([9, 36], [0, 0], [18, 36])


def test_gradients_are_set_to_zero() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    for _ in range(2):
        x.square().sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [4, 8]
    x.grad.zero_()
    x.square().sum().backward()
    assert x.grad.tolist() == [2, 4]


@pytest.mark.parametrize(("error", "text", "call"), [
    (ShapeError, "cannot store", lambda x: x.add_(Tensor.ones(4, 2, 3))),
    (ShapeError, "repeats", lambda x: x[0].expand(5, 3).zero_()),
    (DTypeError, "add_: alpha is 'a'", lambda x: x.add_(1, alpha="a")),
    (DTypeError, "the result is float32", lambda x: x.int().exp_()),
    (GradientError, "changed in place", lambda x: x.detach().requires_grad_().relu_()),
    (ShapeError, "take a source of", lambda x: x.index_add_(0, Tensor([1]), Tensor.ones(2, 3))),
    (ShapeError, "vector of integers", lambda x: x.index_fill_(0, Tensor([[1]]), 2)),
    (ShapeError, "narrow of 3", lambda x: x.narrow(1, 2, 2)),
    (ShapeError, "prelu", lambda x: x.prelu(Tensor([1.0, 2.0]))),
])  # fmt: skip
def test_mistakes(error: type[Exception], text: str, call: object) -> None:
    assert callable(call)
    with pytest.raises(error, match=text):
        call(Tensor.zeros(2, 3).contiguous())
