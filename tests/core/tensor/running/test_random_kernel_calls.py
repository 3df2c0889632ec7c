"""Random programs that mix kernels written by hand with ordinary operations, assignments, and
values realized on the way: what they compute is what NumPy does, and their gradients are those of
the same program of ordinary operations alone."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from core import Context, Tensor
from core.target import Target
from core.uop.call.kernelcall import Parameter
from core.uop.uop import UOp
from tests.core.tensor.running.written import call_axpy, call_matmul, call_max, flat
from tests.fuzzing import seeds

Array = np.ndarray[Any, Any]
N = 4


def sum_and_product(target: Target, s: Parameter, p: Parameter, x: Parameter, y: Parameter) -> UOp:
    i, loops = flat(target, x.size)
    a, b = x.pointer.index(i).load(), y.pointer.index(i).load()
    stores = s.pointer.index(i).store(a + b), p.pointer.index(i).store(a * b)
    return UOp.sink(UOp.group(*stores).end(*loops))


def both_backward(
    grads: list[Tensor], inputs: list[Tensor], outputs: list[Tensor]
) -> tuple[Tensor, Tensor]:
    x, y = inputs
    return grads[0] + grads[1] * y, grads[0] + grads[1] * x


def call_both(x: Tensor, y: Tensor) -> list[Tensor]:
    kind = (x.shape, x.dtype)
    return Tensor.call_kernel(sum_and_product, x, y, outputs=[kind, kind], backward=both_backward)


def row_max(x: Tensor) -> Tensor:
    """As far as the program is concerned, a constant."""
    return call_max(x.detach())[0].reshape(N, 1).expand(N, N)


def along(x: Tensor, y: Tensor) -> Tensor:
    return call_axpy(x.reshape(N * N), y.reshape(N * N)).reshape(N, N)


Two = Callable[[Any, Any], Any]
HAND: list[tuple[Two, Two, Two]] = [
    # by hand, of ordinary operations, in NumPy
    (along, lambda x, y: x * 2 + y, lambda x, y: 2 * x + y),
    (call_matmul, lambda x, y: x @ y, lambda x, y: x @ y),
    (lambda x, y: call_both(x, y)[0], lambda x, y: x + y, lambda x, y: x + y),
    (lambda x, y: call_both(x, y)[1], lambda x, y: x * y, lambda x, y: x * y),
    (lambda x, y: sum(call_both(x, y)), lambda x, y: x + y + x * y, lambda x, y: x + y + x * y),
    (lambda x, y: row_max(x) - y, lambda x, y: x.detach().max(1, keepdim=True) - y,
     lambda x, y: x.max(1, keepdims=True) - y),
]  # fmt: skip
PLAIN: list[tuple[Two, Two]] = [
    (lambda x, y: x + y, lambda x, y: x + y),
    (lambda x, y: x - y * 0.5, lambda x, y: x - y * 0.5),
    (lambda x, y: x.permute(1, 0) * y, lambda x, y: x.T * y),
    (lambda x, y: x.flip(0) + y.sum(0), lambda x, y: x[::-1] + y.sum(0)),
    (lambda x, y: x.relu() + y.max(1, keepdim=True).detach(),
     lambda x, y: np.maximum(x, 0) + y.max(1, keepdims=True)),
    (lambda x, y: x[:, 1:3].pad(((0, 0), (1, 1))) + y,
     lambda x, y: np.pad(x[:, 1:3], ((0, 0), (1, 1))) + y),
    (lambda x, y: x.contiguous() + y.expand(N, N).permute(1, 0).contiguous(), lambda x, y: x + y.T),
]  # fmt: skip


def program(seed: int, device: str, by_hand: bool) -> tuple[list[Array], list[Array], list[Array]]:
    """The values of a program, what they have to be, and the gradients of its leaves."""
    rng = Random(seed)
    data = np.random.default_rng(seed).uniform(-1, 1, (2, N, N))
    leaves = [Tensor(d.astype(np.float32), device=device, requires_grad=True) for d in data]
    values: list[Tensor] = list(leaves)
    wanted: list[Array] = list(data)
    state = Tensor(np.ones((N, N), np.float32), device=device).realize()
    held: Array = np.ones((N, N))
    for _ in range(rng.randint(3, 9)):
        a, b = (rng.randrange(len(values)) for _ in range(2))
        x, y, p, q = values[a], values[b], wanted[a], wanted[b]
        if rng.random() < 0.6:
            hand, plain, numpy = rng.choice(HAND)
            made = hand(x, y) if by_hand else plain(x, y)
        else:
            plain, numpy = rng.choice(PLAIN)
            made = plain(x, y)
        want = numpy(p, q)
        scale = float(2.0 ** -np.ceil(np.log2(max(1.0, np.abs(want).max()))))
        values.append(made * scale)
        wanted.append(want * scale)
        what = rng.random()
        if what < 0.2:  # memory that kernels read changes, while others wait to read it
            new, held = state * 0.5 + values[-1].detach(), held * 0.5 + wanted[-1]
            turned = rng.random() < 0.5
            state.assign(new.permute(1, 0) if turned else new)
            held = held.T if turned else held
        elif what < 0.4:
            values.append(along(state, values[-1]) if by_hand else state * 2 + values[-1])
            wanted.append(held * 2 + wanted[-1])
        elif what < 0.5:
            (values[-1].detach() + 1).realize()
    loss = values[-1].sum()
    for value in values[2:]:
        loss = loss + (value * value).sum() * 0.25
    loss.backward()
    order = list(range(len(values)))
    rng.shuffle(order)
    for k in order[:3]:
        values[k].realize()
    state.realize()
    gradients = [leaf.grad.numpy() for leaf in leaves if leaf.grad is not None]
    return [v.numpy() for v in [*values, state]], [*wanted, held], gradients


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", seeds(metafunc.config, 12, 4100))


def test_a_program(seed: int) -> None:
    rng = Random(seed + 1)
    device = rng.choice(["CPU", "CPU", "CPU", "REFERENCE", "PTX:EMU", "AMD:EMU"])
    flags = {"OPT": rng.randint(0, 3), "MEMORY_PLANNER": rng.randint(0, 1), "SPEC": 1}
    with Context(**flags):
        got, wanted, gradients = program(seed, device, by_hand=True)
        _, _, plain = program(seed, "CPU", by_hand=False)
    for value, want in zip(got, wanted, strict=True):
        np.testing.assert_allclose(value, want, rtol=1e-4, atol=1e-5)
    assert len(gradients) == len(plain)
    for value, want in zip(gradients, plain, strict=True):
        np.testing.assert_allclose(value, want, rtol=1e-3, atol=1e-4)
