"""TinyJit: replay gives what the function gives, and says clearly when it cannot."""

from __future__ import annotations

import numpy as np
import pytest

from core import Tensor, TinyJit, nn
from core.errors import RunError
from core.realize import capturing


def test_replay_equals_the_function() -> None:
    calls: list[int] = []

    @TinyJit
    def double_plus(x: Tensor, y: Tensor) -> Tensor:
        calls.append(1)
        return (x * 2 + y).sum(axis=0).realize()

    rng = np.random.default_rng(1)
    for _ in range(5):
        a, b = (rng.standard_normal((4, 3)).astype(np.float32) for _ in range(2))
        got = double_plus(Tensor(a), Tensor(b)).numpy()
        np.testing.assert_allclose(got, (a * 2 + b).sum(axis=0), rtol=1e-5, atol=1e-6)
    assert len(calls) == 2


def test_replay_keeps_state_on_the_device() -> None:
    total = Tensor([0.0, 0.0]).contiguous().realize()

    @TinyJit
    def add(x: Tensor) -> Tensor:
        return total.assign(total + x).realize()

    for i in range(1, 6):
        add(Tensor([1.0, float(i)]))
    assert total.tolist() == [5.0, 15.0]


def test_training_under_the_jit_equals_training_without() -> None:
    def train(jit: bool) -> list[float]:
        Tensor.manual_seed(3)
        layer = nn.Linear(4, 2)
        optimizer = nn.optim.Adam(nn.state.get_parameters(layer), lr=0.05)
        rng = np.random.default_rng(0)
        data = [rng.standard_normal((8, 4)).astype(np.float32) for _ in range(6)]

        def step(x: Tensor) -> Tensor:
            optimizer.zero_grad()
            loss = (layer(x) - 1).square().mean().backward()
            return loss.realize(*optimizer.schedule_step())

        run = TinyJit(step) if jit else step
        with Tensor.train():
            return [float(run(Tensor(x)).item()) for x in data]

    np.testing.assert_allclose(train(True), train(False), rtol=1e-5)


def test_part_of_a_tensor_as_input() -> None:
    rows = Tensor(np.arange(12, dtype=np.float32).reshape(4, 3)).realize()

    @TinyJit
    def twice(x: Tensor) -> Tensor:
        return (x * 2).realize()

    for i in range(4):
        assert twice(rows[i]).tolist() == [2.0 * (3 * i + k) for k in range(3)]


def test_inputs_in_lists_and_keywords() -> None:
    @TinyJit
    def total(pair: list[Tensor], *, scale: Tensor) -> Tensor:
        return ((pair[0] + pair[1]) * scale).realize()

    for i in range(4):
        got = total([Tensor([i]), Tensor([1])], scale=Tensor([10]))
        assert got.tolist() == [(i + 1) * 10]


def test_capturing_sees_every_kernel() -> None:
    x = Tensor([1.0, 2.0]).realize()
    with capturing() as items:
        (x + 1).realize()
    assert len(items) == 1
    (x + 2).realize()
    assert len(items) == 1


def test_other_shapes_and_values_are_one_clear_error() -> None:
    @TinyJit
    def scaled(x: Tensor, by: int) -> Tensor:
        return (x * by).realize()

    for _ in range(2):
        scaled(Tensor([1.0, 2.0]), 3)
    with pytest.raises(RunError, match=r"captured with argument 0 \(2,\) float32 on CPU, now"):
        scaled(Tensor([1.0, 2.0, 3.0]), 3)
    with pytest.raises(RunError, match=r"argument 1 = 3, now argument 1 = 4"):
        scaled(Tensor([1.0, 2.0]), 4)
    scaled.reset()
    assert scaled(Tensor([1.0, 2.0, 3.0]), 4).tolist() == [4.0, 8.0, 12.0]


def test_nothing_to_capture() -> None:
    @TinyJit
    def lazy(x: Tensor) -> Tensor:
        return x + 1

    lazy(Tensor([1.0]))
    with pytest.raises(RunError, match="ran no kernel"):
        lazy(Tensor([1.0]))


def test_the_same_memory_twice() -> None:
    @TinyJit
    def add(x: Tensor, y: Tensor) -> Tensor:
        return (x + y).realize()

    x = Tensor([1.0]).realize()
    add(x, x)
    with pytest.raises(RunError, match="same memory in two arguments"):
        add(x, x)
