"""Mistakes raise at the user's call: the class, the shapes, a hint, and the line."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core import Tensor, nn
from core.errors import (
    DeviceError,
    DTypeError,
    GradientError,
    RunError,
    ShapeError,
    UopvizError,
)

X = (2, 3)


def x() -> Tensor:
    return Tensor.zeros(*X)


def ints() -> Tensor:
    return Tensor.zeros(3, dtype="int32")


def leaf() -> Tensor:
    return Tensor([1.0], requires_grad=True)


CASES: list[tuple[str, Callable[[], Any], type[UopvizError], str]] = [
    ("broadcast", lambda: x() + Tensor.zeros(2, 4), ShapeError, r"\(2, 3\) and \(2, 4\)"),
    ("matmul", lambda: x() @ x(), ShapeError, "3 elements"),
    ("matmul_scalar", lambda: x() @ Tensor(1.0), ShapeError, "needs an axis|need an axis"),
    ("axis", lambda: x().sum(2), ShapeError, "axis 2 of a Tensor with 2 axes"),
    ("axis_twice", lambda: x().sum((0, 0)), ShapeError, "twice"),
    ("reshape", lambda: x().reshape(4, 2), ShapeError, "cannot reshape"),
    ("reshape_minus", lambda: x().reshape(-1, -1), ShapeError, "only one"),
    ("reshape_uneven", lambda: x().reshape(4, -1), ShapeError, "do not split"),
    ("permute", lambda: x().permute(0, 0), ShapeError, "every axis"),
    ("expand", lambda: x().expand(2, 4), ShapeError, "cannot broadcast"),
    ("shrink", lambda: x().shrink(((0, 3), None)), ShapeError, "cannot take"),
    ("shrink_count", lambda: x().shrink(((0, 1),)), ShapeError, "1 ranges"),
    ("pad", lambda: x().pad(((0, 0), (-4, 0))), ShapeError, "takes .* away"),
    ("pad_count", lambda: x().pad((1, 2, 3)), ShapeError, "before and after"),
    ("pad_mode", lambda: x().pad((1, 1), "mirror"), ShapeError, "mirror"),
    ("pad_reflect", lambda: x().pad((3, 0), "reflect"), ShapeError, "only 2 elements"),
    ("flip", lambda: x().flip(0, 0), ShapeError, "twice"),
    ("index", lambda: x()[2], ShapeError, "index 2 is out of range on axis 0"),
    ("index_count", lambda: x()[0, 0, 0], ShapeError, "3 indices"),
    ("index_dots", lambda: x()[..., ...], ShapeError, "two"),
    ("index_step", lambda: x()[::0], ShapeError, "step 0"),
    ("index_float", lambda: x()[Tensor([0.5])], DTypeError, "index of float32"),
    ("index_text", lambda: x()["a"], DTypeError, "indexed by str"),
    ("cat", lambda: x().cat(Tensor.zeros(2, 4)), ShapeError, "cannot join"),
    ("stack", lambda: x().stack(Tensor.zeros(2, 4)), ShapeError, "cannot stack"),
    ("split", lambda: x().split([1, 3], 1), ShapeError, "sum to 4"),
    ("repeat", lambda: x().repeat(2), ShapeError, "one number per axis"),
    ("conv", lambda: Tensor.zeros(1, 3, 4, 4).conv2d(Tensor.zeros(2, 4, 3, 3)), ShapeError,
     "convolution of"),
    ("conv_window", lambda: Tensor.zeros(1, 1, 2, 2).conv2d(Tensor.zeros(1, 1, 3, 3)), ShapeError,
     "window of 3"),
    ("pool", lambda: Tensor.zeros(1, 1, 2, 2).max_pool2d((2, 2), (1, 2, 3)), ShapeError, "stride"),
    ("einsum", lambda: Tensor.einsum("ij,jk->ik", x(), x()), ShapeError, "'j' has lengths 3 and 2"),
    ("einsum_count", lambda: Tensor.einsum("ij,jk->ik", x()), ShapeError, "2 operands"),
    ("max_of_nothing", lambda: Tensor.zeros(0).max(), ShapeError, "no elements"),
    ("shift_float", lambda: x() << 1, DTypeError, "bit operations"),
    ("minus_bool", lambda: (x() > 0) - (x() > 1), DTypeError, "minus of bools"),
    ("idiv_float", lambda: x().idiv(2), DTypeError, "idiv of float32"),
    ("int_power", lambda: ints() ** -1, DTypeError, "power of -1"),
    ("operand", lambda: x() + "a", DTypeError, "does not combine with str"),
    ("one_hot", lambda: x().one_hot(3), DTypeError, "one_hot of float32"),
    ("device", lambda: x() + Tensor.zeros(2, 3, device="NULL"), DeviceError, "CPU and on NULL"),
    ("assign_shape", lambda: Tensor([1.0]).assign(Tensor.zeros(2)), ShapeError, "cannot store"),
    ("assign_dtype", lambda: Tensor([1.0]).assign(ints()[:1]), DTypeError, "cannot assign int32"),
    ("gather", lambda: x().gather(0, Tensor([1])), ShapeError, "gather with an index"),
    ("scatter", lambda: x().scatter(0, ints().reshape(1, 3), x(), "max"), DTypeError, "'max'"),
    ("loss", lambda: x().cross_entropy(ints()), ShapeError, "logits"),
    ("backward", lambda: x().backward(), GradientError, "single number"),
    ("backward_int", lambda: ints().sum().backward(), GradientError, "int32 has no gradient"),
    ("assign_expanded", lambda: x().expand(2, 2, 3).assign(1.0), ShapeError, "several values"),
    ("setitem_expanded", lambda: x().expand(2, 2, 3).__setitem__(0, 1.0), ShapeError, "several"),
    ("setitem_shape", lambda: x().__setitem__(0, Tensor([1.0, 2.0])), ShapeError, "broadcast"),
    ("add_floats", lambda: ints().__iadd__(Tensor([1.5])), DTypeError, "cannot take"),
    ("divide_in_place", lambda: ints().__itruediv__(2), DTypeError, "result is float32"),
    ("add_larger", lambda: x().__iadd__(Tensor.zeros(2, 2, 3)), ShapeError, "cannot store"),
    ("add_to_leaf", lambda: leaf().__iadd__(1), GradientError, "in place"),
    ("setitem_leaf", lambda: leaf().__setitem__(0, 1.0), GradientError, "in place"),
    ("dropout", lambda: x().dropout(2), DTypeError, "probability 2"),
    ("rand_dtype", lambda: Tensor.rand(2, dtype="int32"), DTypeError, "random numbers in int32"),
    ("randint", lambda: Tensor.randint(2, low=3, high=3), ShapeError, "randint from 3 to 3"),
    ("index_list", lambda: x()[[0, 2]], ShapeError, "index 2 is out of range on axis 0"),
    ("index_lists", lambda: x()[:, [[0, 1], [2, -4]]], ShapeError, "index -4 is out of .* axis 1"),
    ("index_array", lambda: x()[None, ..., np.array([3])], ShapeError, "index 3 .* axis 1"),
    ("setitem_list", lambda: x().__setitem__([2], 1.0), ShapeError, "index 2 is out of range"),
    ("length", lambda: len(Tensor(1)), ShapeError, "no length"),
    ("iteration", lambda: list(Tensor(1)), ShapeError, "iteration"),
    ("linspace", lambda: Tensor.linspace(0, 1, -1), ShapeError, "-1 steps"),
    ("replace", lambda: x().replace(ints()), ShapeError, "cannot replace"),
    ("pool_axes", lambda: ints().max_pool2d((2, 2)), ShapeError, "pooling of"),
    ("reshape_none", lambda: x().reshape(2, 3, None), ShapeError, "cannot keep an axis"),
    ("diagonal", lambda: x().diagonal(0, 1, 1), ShapeError, "with itself"),
    ("keyword", lambda: x().sum(dim=0), DTypeError, "sum has no argument called dim"),
    ("array_times", lambda: np.ones((2, 3)) * x(), DTypeError, "combine with ndarray"),
    ("bitcast", lambda: Tensor.zeros(3, dtype="uint8").bitcast("int16"), ShapeError, "bitcast"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "error", "words"), [c[1:] for c in CASES],
                         ids=[c[0] for c in CASES])  # fmt: skip
def test_mistake(mistake: Callable[[], Any], error: type[UopvizError], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        mistake()
    assert "test_errors.py:" in str(caught.value), "the message names the user's line"
    assert "hint: " in str(caught.value)


def nested(depth: int) -> list[Any]:
    found: list[Any] = [1.0]
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda: bool(x()), r"shape \(2, 3\) is neither true nor false.*\n.*\n.*any\(\)"),
        (lambda: 1 if x() > 0 else 0, "neither true nor false"),
        (lambda: float(x()), "item of a Tensor with 6 elements"),
        (lambda: Tensor([[1, 2, 3], [4, 5]]), r"\[0\] has 3 elements, and \[1\] has 2 elements"),
        (lambda: Tensor([[1, 2, 3], 4]), r"\[0\] has 3 elements, and \[1\] is a number"),
        (lambda: Tensor([1, [2]]), r"\[0\] is a number, and \[1\] has 1 element$"),
        (lambda: Tensor([[[1], [2]], [[3], [4, 5]]]), r"\[0\]\[0\] has 1 element, and \[1\]\[1\]"),
        (lambda: Tensor(nested(5000)), "lists nested more than 64 deep"),
        (lambda: x() @ 3, "multiply by a number with"),
        (lambda: Tensor.zeros(2, 2.5), r"\(2, 2.5\) is not made of integers"),
        (lambda: Tensor.zeros("ab"), "is not made of integers"),
        (lambda: x().reshape(3, "2"), "is not made of integers"),
        (lambda: nn.BatchNorm(7)(x()), r"batch norm of 7 channels for a Tensor of \(2, 3\)"),
    ],
)
def test_a_shape_that_cannot_be_is_said_in_the_users_words(
    mistake: Callable[[], Any], words: str
) -> None:
    with pytest.raises(ShapeError) as caught:
        mistake()
    assert re.search(words, str(caught.value), re.MULTILINE), str(caught.value)
    assert "test_errors.py:" in caught.value.where
    assert caught.value.hint


def test_a_list_that_holds_itself() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ShapeError, match="nested more than 64 deep"):
        Tensor(endless)


def test_lengths_may_be_numpy_integers_and_single_tensors_are_numbers() -> None:
    assert Tensor.zeros(2, np.int64(3)).shape == (2, 3)
    assert x().reshape(np.int32(3), -1).shape == (3, 2)
    assert x().reshape((np.int64(3), 2)).reshape(3, None).shape == (3, 2)
    assert Tensor.zeros(1, 2).expand(np.int64(4), None).shape == (4, 2)
    assert (int(Tensor([3])), float(Tensor(2.5)), bool(Tensor([0.0]))) == (3, 2.5, False)


@pytest.mark.parametrize("operation", [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.pow, operator.lt, operator.le, operator.eq, operator.ne, operator.ge, operator.gt,
])  # fmt: skip
@pytest.mark.parametrize("kind", [np.float32, np.int64, np.float64])
def test_numpy_numbers_are_numbers_on_both_sides(
    operation: Callable[[Any, Any], Any], kind: Callable[[float], Any]
) -> None:
    t, data = Tensor([1.0, 2.0, 3.0]), np.array([1, 2, 3], np.float32)
    for made, wanted in (
        (operation(kind(2), t), operation(np.float32(2), data)),
        (operation(t, kind(2)), operation(data, np.float32(2))),
    ):
        assert isinstance(made, Tensor)
        np.testing.assert_allclose(made.numpy(), wanted, rtol=1e-6)
    leaf = Tensor([3.0], requires_grad=True)
    (kind(2) * leaf).sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [2.0]


@pytest.mark.parametrize("array", [np.ones((2, 3), np.float32), np.array(2.0)])
def test_an_array_beside_a_tensor_is_refused_on_both_sides(array: Any) -> None:
    for mistake in (lambda: array + x(), lambda: x() + array, lambda: array < x()):
        with pytest.raises(DTypeError, match="hint: make a Tensor of it first"):
            mistake()


def test_keywords_that_a_method_does_not_have() -> None:
    for mistake, words in (
        (lambda: x().exp(dim=0), "exp has no argument called dim(.|\n)*by name it takes nothing"),
        (lambda: Tensor.zeros(2, dtyp="int32"), "dtyp(.|\n)*device, dtype, requires_grad"),
        (lambda: x().cat(x(), axis=1), "axis(.|\n)*by name it takes dim"),
        (lambda: Tensor([1], dtyp="int32"), "Tensor has no argument called dtyp"),
    ):
        with pytest.raises(DTypeError, match=words):
            mistake()


def test_values_that_the_host_has_no_room_for() -> None:
    with pytest.raises(RunError, match="no 4,000,000,000,000,000 bytes left"):
        Tensor.ones(10**15).numpy()
