"""Gradients of kernels written by hand: what their functions get and give, on every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core import Tensor, nn
from core.passes.schedule import ScheduleItem
from core.realize import capturing
from core.target import Target
from core.uop.call.kernelcall import Parameter
from core.uop.kernels import is_lowered
from core.uop.uop import UOp
from tests.core.tensor.running.written import call_axpy, call_matmul, call_max, flat

A = np.random.default_rng(7).standard_normal((4, 6), dtype=np.float32)
B = np.random.default_rng(8).standard_normal((6, 3), dtype=np.float32)


def leaf(data: Any, device: str = "CPU") -> Tensor:
    return Tensor(data, device=device, requires_grad=True)


def close(got: Tensor | None, want: Any) -> None:
    assert got is not None
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("device", ["CPU", "REFERENCE", "PTX:EMU", "AMD:EMU"])
def test_by_further_kernels(device: str) -> None:
    a, b, c, d = (leaf(data, device) for data in (A, B, A, B))
    (call_matmul(a * 2, b).relu() ** 2).sum().backward()
    (((c * 2) @ d).relu() ** 2).sum().backward()
    for own, want in ((a, c), (b, d)):
        assert want.grad is not None
        close(own.grad, want.grad.numpy())


def test_gradients_add_up() -> None:
    x, y = leaf(A[0]), leaf(A[1])
    z = call_axpy(x, y)
    (z.sum() + (call_axpy(z, x) * 3).sum()).backward()
    close(x.grad, [2 + 3 * (4 + 1)] * 6)
    close(y.grad, [1 + 3 * 2] * 6)


def two(target: Target, double: Parameter, square: Parameter, x: Parameter) -> UOp:
    i, loops = flat(target, x.size)
    value = x[i].load()
    return UOp.sink(
        UOp.group(double[i].store(value * 2.0), square[i].store(value * value)).end(*loops)
    )


SEEN: list[tuple[list[Any], list[Any], list[Any]]] = []


def two_backward(grads: list[Tensor], inputs: list[Tensor], outputs: list[Tensor]) -> Tensor:
    SEEN.append((grads, inputs, outputs))
    return grads[0] * 2 + grads[1] * inputs[0] * 2


def call_two(x: Tensor) -> list[Tensor]:
    kind = (x.shape, x.dtype)
    return Tensor.call_kernel(two, x, outputs=[kind, kind], backward=two_backward)


def test_several_outputs_have_one_backward() -> None:
    x = leaf(A[0])
    double, square = call_two(x)
    SEEN.clear()
    (double.sum() + square.sum() * 5 + double.sum()).backward()
    assert len(SEEN) == 1
    close(x.grad, 4 + 10 * A[0])


@pytest.mark.parametrize("which", [0, 1])
def test_outputs_without_a_gradient_have_zeros(which: int) -> None:
    x = leaf(A[0])
    found = call_two(x)
    SEEN.clear()
    found[which].sum().backward()
    ((grads, inputs, outputs),) = SEEN
    close(grads[1 - which], np.zeros(6))
    close(inputs[0], A[0])
    close(outputs[1], A[0] ** 2)
    close(x.grad, [np.full(6, 2), 2 * A[0]][which])


def max_backward(grads: list[Any], inputs: list[Tensor], outputs: list[Tensor]) -> Tensor:
    """The gradient of the largest goes to where it is; the position itself has none."""
    assert grads[1] is None
    (x,), (_, where) = inputs, outputs
    there = Tensor.arange(x.shape[1], device=x.device).reshape(1, -1) == where.reshape(-1, 1)
    return there.where(grads[0].reshape(-1, 1), 0.0)


@pytest.mark.parametrize("device", ["CPU", "PTX:EMU"])
def test_integer_outputs_are_read_by_the_gradient(device: str) -> None:
    x = leaf(A, device)
    top, where = call_max(x, backward=max_backward)
    (top * Tensor([1.0, 2.0, 3.0, 4.0], device=device) + where).sum().backward()
    want = np.zeros_like(A)
    want[np.arange(4), A.argmax(1)] = [1, 2, 3, 4]
    close(x.grad, want)


def test_integer_inputs_have_none() -> None:
    def build(target: Target, out: Parameter, x: Parameter, at: Parameter) -> UOp:
        i, loops = flat(target, at.size)
        return UOp.sink(out[i].store(x[at[i].load()].load()).end(*loops))

    def backward(grads: list[Tensor], inputs: list[Tensor], outputs: list[Tensor]) -> Any:
        x, at = inputs
        hot = Tensor.arange(x.shape[0]).reshape(-1, 1) == at.reshape(1, -1)
        return hot.where(grads[0].reshape(1, -1), 0.0).sum(1), None

    x, at = leaf(A[0]), Tensor([5, 0, 5, 2])
    found = Tensor.call_kernel(build, x, at, outputs=((4,), x.dtype), backward=backward)
    found.sum().backward()
    close(found, A[0][[5, 0, 5, 2]])
    close(x.grad, [1, 0, 1, 0, 0, 2])


def test_second_derivatives() -> None:
    x = leaf(A[0])
    (first,) = call_two(x)[1].sum().gradient(x)
    (second,) = (first * first).sum().gradient(x)
    close(first, 2 * A[0])
    close(second, 8 * A[0])


def test_a_detached_result_gives_none() -> None:
    x, y = leaf(A[0]), leaf(A[1])
    (call_axpy(x, y).detach() * x + call_axpy(x.detach(), y)).sum().backward()
    close(x.grad, 2 * A[0] + A[1])
    close(y.grad, np.ones(6))


def test_a_kernel_without_backward_is_no_obstacle_where_no_gradient_is_asked_for() -> None:
    x, y = leaf(A[0]), leaf(A[1])
    z = call_axpy(x.detach(), (y > 0).float(), backward=None)
    (z * x).sum().backward()
    close(x.grad, 2 * A[0] + (A[1] > 0))
    assert y.grad is None


def test_forward_and_backward_run_it_once() -> None:
    x, y = leaf(A[0]), leaf(A[1])
    z = call_axpy(x, y)
    loss = (z * z).sum()
    loss.backward()
    with capturing() as steps:
        loss.realize()
        assert x.grad is not None
        x.grad.realize()
    assert sum(isinstance(step, ScheduleItem) and is_lowered(step.ast) for step in steps) == 1
    close(x.grad, 4 * (2 * A[0] + A[1]))


def test_a_model_learns_through_it() -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((32, 6)).astype(np.float32)
    target = data @ B
    weight = Tensor(np.zeros((6, 3), np.float32), requires_grad=True)
    optimizer = nn.optim.SGD([weight], lr=0.4)
    losses: list[float] = []
    with Tensor.train():
        for _ in range(20):
            optimizer.zero_grad()
            loss = ((call_matmul(Tensor(data), weight) - Tensor(target)) ** 2).mean().backward()
            optimizer.step()
            losses.append(float(loss.item()))
    assert losses[-1] < losses[0] / 10
    assert losses == sorted(losses, reverse=True)


def test_values_that_are_looked_at_on_the_way_keep_their_gradients() -> None:
    x, y = leaf(A[0]), leaf(A[1])
    z = call_axpy(x * 2, y)
    w = call_axpy(z, z + 1)
    for _ in range(2):
        assert np.isfinite(w.max().item())
    with capturing() as steps:
        assert (z + w).sum().item() is not None
    assert not any(is_lowered(step.ast) for step in steps if isinstance(step, ScheduleItem))
    (z * w).sum().backward()
    first, second = 4 * A[0] + A[1], 3 * (4 * A[0] + A[1]) + 1
    close(z, first)
    close(w, second)
    slope = second + 3 * first
    close(x.grad, 4 * slope)
    close(y.grad, slope)
