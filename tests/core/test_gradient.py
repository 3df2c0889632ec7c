"""Gradient rules: each against central differences in float64, evaluated by the NumPy oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.dtype import dtypes
from core.errors import GradientError
from core.gradients.gradient import derivatives, gradients
from core.tensor import Tensor
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp
from tests.core.tensor_eval import evaluate, value

Function = Callable[..., UOp]

# (name, function of float64 nodes of shape (2, 3), number of arguments)
RULES: list[tuple[str, Function, int]] = [
    ("neg", lambda x: -x, 1),
    ("reciprocal", lambda x: x.recip(), 1),
    ("sqrt", lambda x: x.sqrt(), 1),
    ("exp2", lambda x: x.exp2(), 1),
    ("log2", lambda x: x.log2(), 1),
    ("sin", lambda x: x.sin(), 1),
    ("add", lambda x, y: x + y, 2),
    ("sub", lambda x, y: x - y, 2),
    ("mul", lambda x, y: x * y, 2),
    ("fdiv", lambda x, y: x / y, 2),
    ("mulacc", lambda x, y, z: x.alu(Ops.MULACC, y, z), 3),
    ("power", lambda x, y: x.alu(Ops.POW, y), 2),
    ("maximum", lambda x, y: x.maximum(y), 2),
    ("where", lambda x, y: (x < y).where(x * 2, y * 3), 2),
    ("sum", lambda x: x.r(Ops.ADD, (1,)), 1),
    ("max", lambda x: x.r(Ops.MAX, (1,)), 1),
    ("prod", lambda x: x.r(Ops.MUL, (0, 1)), 1),
    ("reshape", lambda x: x.reshape((3, 2)), 1),
    ("permute", lambda x: x.permute((1, 0)), 1),
    ("expand", lambda x: x.reshape((2, 1, 3)).expand((2, 4, 3)), 1),
    ("pad", lambda x: x.pad(((1, 0), (0, 2))), 1),
    ("shrink", lambda x: x.shrink(((1, 2), (0, 2))), 1),
    ("flip", lambda x: x.flip((True, False)), 1),
    ("contiguous", lambda x: x.contiguous(), 1),
    ("contiguous_backward", lambda x: x.contiguous_backward(), 1),
    ("copy", lambda x: x.copy_to_device("NULL"), 1),
    ("assign", lambda x: UOp.new_buffer("CPU", 6, dtypes.float64).reshape((2, 3)).assign(x), 1),
    ("used_twice", lambda x: x * x.sin() + x, 1),
]


def numbers(count: int) -> list[np.ndarray]:
    random = np.random.default_rng(11)
    return [random.uniform(0.6, 2.4, (2, 3)) for _ in range(count)]


@pytest.mark.parametrize(("function", "count"), [r[1:] for r in RULES], ids=[r[0] for r in RULES])
def test_rule_agrees_with_differences(function: Function, count: int) -> None:
    arrays = numbers(count)
    nodes = [Tensor(a).uop for a in arrays]
    result = function(*nodes)
    weights = np.linspace(-1, 2, result.size).reshape(result.shaped)
    found = gradients(result, Tensor(weights).uop, nodes)

    def total(*inputs: np.ndarray) -> float:
        return float((evaluate(function(*(Tensor(a).uop for a in inputs))) * weights).sum())

    for i, array in enumerate(arrays):
        want = np.zeros_like(array)
        for at in np.ndindex(array.shape):
            ahead, behind = array.copy(), array.copy()
            ahead[at] += 1e-6
            behind[at] -= 1e-6
            others = [*arrays[:i]], [*arrays[i + 1 :]]
            want[at] = total(*others[0], ahead, *others[1]) - total(*others[0], behind, *others[1])
        np.testing.assert_allclose(evaluate(found[nodes[i]]), want / 2e-6, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_product_with_zeros(zeros: int) -> None:
    x = np.array([2.0, 3.0, 5.0])
    x[:zeros] = 0
    node = Tensor(x).uop
    result = node.r(Ops.MUL, (0,))
    want = [np.prod(np.delete(x, i)) for i in range(3)]
    found = gradients(result, result.const_like(1), [node])[node]
    np.testing.assert_allclose(evaluate(found), want)


def _beside(at: tuple[int, ...], shape: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """Which elements are multiplied with the one at `at`."""
    places = np.indices(shape)
    same = np.ones(shape, bool)
    for axis, place in enumerate(at):
        if axis not in axes:
            same &= places[axis] == place
    same[at] = False
    return same


@pytest.mark.parametrize("shape", [(1,), (32,), (33,), (4, 31), (65, 2, 3), (1030,)])
@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_gradient_of_products_is_the_product_of_the_others(
    shape: tuple[int, ...], zeros: int
) -> None:
    x = np.random.default_rng(3).uniform(0.9, 1.1, shape)
    axes = tuple(range(0, len(shape), 2))  # the first, and the third
    for at in range(min(zeros, x.size)):
        x[(-1 - at, *(0,) * (len(shape) - 1))] = 0
    node = Tensor(x).uop
    result = node.r(Ops.MUL, axes)
    want = np.array([
        np.prod(x[_beside(at, shape, axes)]) for at in np.ndindex(shape)
    ]).reshape(shape)  # fmt: skip
    found = gradients(result, result.const_like(1), [node])[node]
    np.testing.assert_allclose(evaluate(found), want, rtol=1e-12)


def test_gradient_of_products_that_overflow_or_underflow() -> None:
    for extreme in (1e-30, 1e30):
        x = Tensor(np.array([extreme, extreme, 2], np.float32))
        (grad,) = x.prod().gradient(x)
        want = np.array([extreme * 2, extreme * 2, 0 if extreme < 1 else np.inf], np.float32)
        np.testing.assert_allclose(value(grad), want, rtol=1e-6)


def test_ties_share_the_gradient_of_max() -> None:
    x = Tensor([1.0, 4.0, 4.0])
    (grad,) = x.max().gradient(x)
    np.testing.assert_array_equal(value(grad), [0, 0.5, 0.5])
    a, b = Tensor([2.0]), Tensor([2.0])
    ga, gb = a.maximum(b).sum().gradient(a, b)
    assert value(ga) == value(gb) == 0.5


def test_power_at_zero_has_no_nan() -> None:
    x, y = Tensor([0.0, 0.0, 2.0]), Tensor([0.0, 3.0, 0.0])
    gx, gy = (x**y).sum().gradient(x, y)
    np.testing.assert_allclose(value(gx), [0, 0, 0])
    np.testing.assert_allclose(value(gy), [0, 0, np.log(2)], rtol=1e-6)


@pytest.mark.parametrize("function", [
    Tensor.detach,
    lambda x: (x > 0).float(),
    lambda x: x.int().float(),
    lambda x: x.bitcast("int32").bitcast("float32"),
])  # fmt: skip
def test_no_gradient_flows_through_steps(function: Callable[[Tensor], Tensor]) -> None:
    x = Tensor([0.5, 1.5])
    with pytest.raises(GradientError, match="no gradient flows"):
        function(x).sum().gradient(x)
    (zeros,) = function(x).sum().gradient(x, materialize_grads=True)
    np.testing.assert_array_equal(value(zeros), [0, 0])


@pytest.mark.parametrize("function", [Tensor.trunc, Tensor.floor, Tensor.ceil, Tensor.round])
def test_the_gradient_of_rounding_is_zero(function: Callable[[Tensor], Tensor]) -> None:
    x = Tensor([0.5, 1.5, float("inf")], requires_grad=True)
    function(x).sum().backward()
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), [0, 0, 0])


def test_gradient_of_a_half_expand_accumulates_wide() -> None:
    x = Tensor([1.0], dtype="float16")
    (grad,) = x.expand(5000).sum().gradient(x)
    sums = [u for u in grad.uop.toposort() if u.op is Ops.REDUCE_AXIS]
    assert [u.dtype for u in sums] == [dtypes.float32]
    assert grad.dtype is dtypes.float16


def test_nodes_carry_the_line_of_the_forward_operation() -> None:
    x = Tensor([1.0, 2.0])
    y = x.sin()
    (grad,) = y.sum().gradient(x)
    cosines = [u for u in grad.uop.toposort() if u.op is Ops.COS]
    assert [u.origin for u in cosines] == [f"{y.uop.origin}.backward"]


def test_second_derivative() -> None:
    x = Tensor([0.7, -1.2], dtype="float64")
    (first,) = (x * x * x).sum().gradient(x)
    (second,) = first.sum().gradient(x)
    np.testing.assert_allclose(value(second), 6 * np.array([0.7, -1.2]))


def test_deep_graphs_do_not_recurse() -> None:
    x = y = Tensor([1.0])
    for _ in range(5000):
        y = y + x
    (grad,) = y.sum().gradient(x)
    assert grad.shape == (1,)


def test_every_rule_has_an_equation_and_every_float_op_a_rule() -> None:
    assert all(r.equation for r in derivatives.rules)
    covered = {op for r in derivatives.rules for op in r.pattern.op or ()}
    assert GroupOp.Elementwise | GroupOp.Movement <= covered


def test_an_op_without_a_rule_is_named() -> None:
    x = Tensor([1.0])
    odd = UOp(Ops.NOOP, dtypes.float32, (x.uop,))
    with pytest.raises(GradientError, match="NOOP has no gradient rule"):
        gradients(odd, odd.const_like(1), [x.uop])


def test_functions_of_derivatives_read_alike_in_every_run() -> None:
    """Their texts are in traces, which are compared."""
    x, at = Tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True), Tensor([1, 0])
    made = x[at] + x.gather(0, at.reshape(1, 2)) + x.scatter(0, at.reshape(1, 2), x * 2)
    given = [u.arg for u in made.uop.toposort() if u.op is Ops.DERIVATIVE and u.arg is not None]
    assert len(given) == 3
    assert not any(" at 0x" in repr(one) for one in given)
