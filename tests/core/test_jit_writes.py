"""Writes that a captured function leaves waiting: replays do them, as the function itself would."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from core import Tensor, TinyJit, Variable
from core.errors import RunError
from core.nn.optim import SGD
from core.runtime.device import Device

at = Variable("at", 0, 3)
two = (f"{Device.DEFAULT}:1", f"{Device.DEFAULT}:2")


class State:
    """What functions write to: a matrix, wherever it is, and an argument."""

    def __init__(self, start: Callable[[Tensor], Tensor]) -> None:
        self.c = start(Tensor.arange(8).float().reshape(4, 2))
        self.picked = Tensor([3, 1], dtype="int32", device=self.c.device).realize()


def _element(s: State, x: Tensor) -> None:
    s.c[1, 0] = x[0] + s.c[0, 0]


def _view(s: State, x: Tensor) -> None:
    row = s.c[2]
    row += x
    s.c.T[1] *= 2


def _whole(s: State, x: Tensor) -> None:
    s.c.assign(s.c * 0.5 + x)


def _twice(s: State, x: Tensor) -> None:
    s.c += x
    before = s.c + 1
    s.c[0] = before[1]
    s.c += 1


def _picked(s: State, x: Tensor) -> None:
    s.c[s.picked] = s.c[s.picked] + x


def _argument(s: State, x: Tensor) -> None:
    x *= 2
    s.c[3] = x


def _as_it_is(x: Tensor) -> Tensor:
    return x


@pytest.mark.parametrize(
    "start", [Tensor.realize, Tensor.contiguous, _as_it_is], ids=["stored", "waits", "no memory"]
)
@pytest.mark.parametrize("kernels", [False, True], ids=["only writes", "beside a kernel"])
@pytest.mark.parametrize("write", [_element, _view, _whole, _twice, _picked, _argument])
def test_writes_are_captured(
    write: Callable[[State, Tensor], None], kernels: bool, start: Callable[[Tensor], Tensor]
) -> None:
    def function(s: State, x: Tensor) -> Tensor | None:
        write(s, x)
        return (x + 1).realize() if kernels else None

    plain, jitted = State(start), State(start)
    captured = TinyJit(partial(function, jitted))
    for i in range(5):
        ours, theirs = (Tensor([i + 1.0, 2.0]).realize() for _ in range(2))
        value, expected = captured(ours), function(plain, theirs)
        if expected is not None and value is not None:
            assert value.tolist() == expected.tolist()
        assert ours.tolist() == theirs.tolist()
        if i % 2:  # and what waited for two calls
            assert jitted.c.tolist() == plain.c.tolist()


def test_what_is_returned_of_state_is_that_of_each_call() -> None:
    state = Tensor.zeros(2).contiguous().realize()

    @TinyJit
    def step(x: Tensor) -> tuple[Tensor, Tensor]:
        state.assign(state + x)
        return state * 2, x + 1

    for i in range(1, 6):
        double, more = step(Tensor([1.0, float(i)]).realize())
        assert more.tolist() == [2, i + 1]
        assert double.tolist() == [2 * i, i * (i + 1)]


def test_writes_at_variables_and_on_several_devices() -> None:
    cache = Tensor.zeros(4, 2).contiguous().realize()
    cut = Tensor.zeros(4, 2).shard(two, 0).contiguous().realize()

    @TinyJit
    def step(x: Tensor, n: Any) -> None:
        cache[n] = x
        cut.assign(cut + x.shard(two))

    for i in range(4):
        step(Tensor([i + 1.0, 2.0]).realize(), at.bind(i))
    assert cache.tolist() == [[i + 1, 2] for i in range(4)]
    assert cut.tolist() == [[10, 8]] * 4


def test_a_step_of_an_optimizer_that_nobody_realizes() -> None:
    with Tensor.train():
        ways: list[list[float]] = []
        for jit in (True, False):
            w = Tensor([1.0, -2.0], requires_grad=True).realize()
            optimizer = SGD([w], lr=0.1, momentum=0.5)

            def train(x: Tensor, w: Tensor = w, optimizer: SGD = optimizer) -> None:
                optimizer.zero_grad()
                (w * x).square().sum().backward()
                optimizer.schedule_step()

            step = TinyJit(train) if jit else train
            for i in range(5):
                step(Tensor([1.0 + i, 0.5]).realize())
            ways.append(w.tolist())
    np.testing.assert_allclose(*ways, rtol=1e-6)


def test_writes_to_what_no_later_call_would_find() -> None:
    state, calls = Tensor.zeros(2), list[int]()

    @TinyJit
    def step(x: Tensor) -> Tensor:
        calls.append(1)
        if len(calls) > 1:
            state.assign(state + x)
        return (x + 1).realize()

    step(Tensor([1.0, 2.0]).realize())
    with pytest.raises(RunError, match="step writes to a Tensor that has no memory") as caught:
        step(Tensor([1.0, 2.0]).realize())
    assert "test_jit_writes.py" in (caught.value.where or "") and caught.value.hint
