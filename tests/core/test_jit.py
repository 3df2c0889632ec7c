"""TinyJit: replay gives what the function gives, and says clearly when it cannot."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from core import Tensor, TinyJit, nn
from core.errors import RunError
from core.realize import capturing
from core.runtime.device import Device
from core.uop import UOp


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
    captured = rf"captured with argument 0 \(2,\) float32 on {Device.DEFAULT}, now"
    with pytest.raises(RunError, match=captured):
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


def test_the_same_tensor_twice() -> None:
    @TinyJit
    def add(x: Tensor, y: Tensor) -> Tensor:
        x += y.flip(0)
        return (x + y).realize(x)

    x, other = Tensor([1.0, 0.0]).realize(), Tensor([1.0, 2.0]).realize()
    for i in range(4):
        x = Tensor([1.0, i]).realize()
        assert add(x, x).tolist() == [2 * (1 + i), 2 * (1 + i)]
        assert x.tolist() == [1 + i, 1 + i]
    with pytest.raises(RunError, match="the same Tensor as argument 0, now it is"):
        add(x, other)


def test_two_tensors_never_become_one() -> None:
    @TinyJit
    def add(x: Tensor, y: Tensor) -> Tensor:
        return x.assign(x + y.flip(0)).realize()

    x, y = Tensor([1.0, 2.0]).realize(), Tensor([0.0, 0.0]).realize()
    for _ in range(3):
        assert add(x, y).tolist() == [1, 2]
    with pytest.raises(RunError, match=r"now it is .* the same Tensor as argument 0"):
        add(x, x)


def test_memory_of_the_function_as_an_argument() -> None:
    total, scale = Tensor([1.0, 2.0]).realize(), Tensor([3.0, 4.0]).realize()

    @TinyJit
    def add(x: Tensor) -> Tensor:
        return total.assign(total + (x * scale).flip(0)).realize()

    for _ in range(3):
        add(Tensor([0.0, 0.0]))
    assert add(scale).tolist() == [17, 11], "both are only read"
    with pytest.raises(RunError, match="also uses by itself"):
        add(total)
    assert add(total.clone()).tolist() == [17 + 44, 11 + 51]


def test_part_of_an_input_as_another_dtype() -> None:
    @TinyJit
    def low_bytes(x: Tensor) -> Tensor:
        return (x.bitcast("uint8").reshape(-1, 4)[:, 0] + 1).realize()

    for i in range(4):
        assert low_bytes(Tensor([i, 7 + i], dtype="int32")).tolist() == [i + 1, 8 + i]


def test_inputs_in_dicts() -> None:
    @TinyJit
    def total(batch: dict[str, Tensor]) -> Tensor:
        return (batch["x"] + batch["y"]).realize()

    for i in range(4):
        assert total({"x": Tensor([i]), "y": Tensor([1])}).tolist() == [i + 1]


def test_replays_settle_what_came_since() -> None:
    """Between some calls with the same memory others take its value, or wait to read it."""
    total = Tensor([0.0, 0.0]).realize()

    @TinyJit
    def add(x: Tensor) -> Tensor:
        return total.assign(total + x).realize()

    x = Tensor([1.0, 2.0]).realize()
    for i in range(0, 12, 3):
        pending, taken = total * 10, total.contiguous()
        for _ in range(3):
            add(x)
        assert pending.tolist() == [10 * i, 20 * i]
        assert taken.tolist() == [i, 2 * i]
    assert total.tolist() == [12, 24]


def test_random_numbers_are_those_of_the_function_without_a_jit() -> None:
    def noisy(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        with Tensor.train():
            kept = x.dropout(0.5)
        drawn = (x + Tensor.rand(4) + Tensor.randn(4), kept, Tensor.randint(4, high=1 << 20))
        drawn[0].realize(*drawn[1:])
        return drawn

    def calls(function: Callable[[Tensor], tuple[Tensor, ...]]) -> list[list[list[float]]]:
        Tensor.manual_seed(7)
        found: list[list[list[float]]] = []
        for i in range(8):
            if i == 5:
                Tensor.manual_seed(11)  # later calls follow the new seed
            found.append([t.tolist() for t in function(Tensor([1.0 + i] * 4))])
            Tensor.rand(i).realize()  # and what is drawn between them
        return found

    plain, captured = calls(noisy), calls(TinyJit(noisy))
    assert captured == plain
    assert len({str(one[2]) for one in plain}) == len(plain)


def test_a_seed_that_the_function_sets() -> None:
    @TinyJit
    def same() -> Tensor:
        Tensor.manual_seed(3)
        return Tensor.rand(4).realize()

    assert len({str(same().tolist()) for _ in range(5)}) == 1
    after = [same().tolist(), Tensor.rand(4).tolist()]
    Tensor.manual_seed(3)
    assert after == [Tensor.rand(4).tolist() for _ in range(2)]


def test_random_numbers_drawn_before_are_not_drawn_again() -> None:
    noise = Tensor.rand(4).realize()

    @TinyJit
    def add(x: Tensor) -> Tensor:
        return (x + noise).realize()

    assert len({str(add(Tensor.zeros(4)).tolist()) for _ in range(5)}) == 1


@pytest.mark.parametrize("before", range(4))
def test_a_jit_in_a_jit(before: int) -> None:
    """The inner one joins the capture of the outer one, at whichever of its calls."""
    calls: list[str] = []

    @TinyJit
    def inner(x: Tensor) -> Tensor:
        calls.append("inner")
        return (x * 2 + Tensor.rand(2)).realize()

    @TinyJit
    def outer(x: Tensor, y: Tensor) -> Tensor:
        calls.append("outer")
        first = (inner(x + 1) + y).realize()
        second = (inner(first) * 3).realize()  # before the next call of inner
        return (second + inner(y)).realize()

    def plainly(x: Tensor, y: Tensor) -> Tensor:
        first = (x + 1) * 2 + Tensor.rand(2) + y
        return (first * 2 + Tensor.rand(2)) * 3 + (y * 2 + Tensor.rand(2))

    for i in range(before):
        inner(Tensor([float(i), 1.0]))
    for i in range(5):
        x, y = Tensor([float(i), 2.0]), Tensor([5.0, -float(i)])
        Tensor.manual_seed(i)
        got = outer(x, y).tolist()
        Tensor.manual_seed(i)
        assert got == pytest.approx(plainly(x, y).tolist())
    assert calls.count("outer") == 2
    assert calls.count("inner") == 2


def test_captures_that_hold_the_same() -> None:
    with capturing() as outer:
        with capturing() as inner:
            pass
        (Tensor([1.0]) + 1).realize()
    assert (len(outer), len(inner)) == (1, 0)
    with capturing() as outer:
        with capturing() as inner:
            (Tensor([1.0]) + 1).realize()
        (Tensor([1.0]) + 1).realize()
    assert (len(outer), len(inner)) == (2, 1)
    (Tensor([1.0]) + 1).realize()
    assert (len(outer), len(inner)) == (2, 1)


def test_an_argument_that_is_returned_is_that_of_each_call() -> None:
    @TinyJit
    def add(x: Tensor) -> tuple[Tensor, Tensor, dict[str, list[Tensor]]]:
        x += 1
        y = (x * 2).realize()
        return x, y, {"part": [x[0:1].realize(), y]}

    for n in range(1, 6):
        given = Tensor([float(n), 9.0]).realize()
        x, y, more = add(given)
        assert x.tolist() == given.tolist() == [n + 1, 10.0]
        assert y.tolist() == [2 * n + 2, 20.0]
        assert more["part"][0].tolist() == [n + 1] and more["part"][1] is y
        if n > 2:
            assert x is given


@pytest.mark.parametrize("how", ["x.assign(x * 2)", "x[0] = x[0] * 2", "x *= 2"])
def test_arguments_changed_in_place_and_returned(how: str) -> None:
    def change(x: Tensor) -> Tensor:
        exec(how, {"x": x})
        return x.realize()

    jitted = TinyJit(change)
    assert [jitted(Tensor([float(n)]).realize()).item() for n in range(5)] == [0, 2, 4, 6, 8]


@pytest.mark.parametrize("look", [Tensor.item, Tensor.tolist, Tensor.numpy, bool, float, int])
def test_looking_at_a_value_in_a_capture(look: Callable[[Tensor], object]) -> None:
    @TinyJit
    def scaled(x: Tensor) -> Tensor:
        look(x.sum())
        return (x * 2).realize()

    scaled(Tensor([1.0]))
    with pytest.raises(RunError, match="scaled looks at a value while it is captured") as caught:
        scaled(Tensor([2.0]))
    assert caught.value.hint and "test_jit.py" in (caught.value.where or "")
    assert Tensor([3.0]).item() == 3.0


def test_arguments_that_cannot_be_captured() -> None:
    with pytest.raises(RunError, match="TinyJit of 3"):
        TinyJit(3)
    a = UOp.variable("a", 1, 9)

    @TinyJit
    def plus(x: Tensor, by: UOp) -> Tensor:
        return (x + Tensor(by)).realize()

    plus(Tensor([1.0]), a.bind(2))
    plus(Tensor([1.0]), a.bind(2))
    assert plus(Tensor([1.0]), a.bind(3)).tolist() == [4]
    with pytest.raises(RunError, match="argument 1 = a, now argument 1 = b"):
        plus(Tensor([1.0]), UOp.variable("b", 1, 9).bind(3))


class Pair(NamedTuple):
    """Two Tensors by name."""

    left: Tensor
    right: Tensor


def test_containers_keep_their_type() -> None:
    @TinyJit
    def swap(pair: Pair, more: OrderedDict[str, Tensor]) -> tuple[Pair, OrderedDict[str, Tensor]]:
        (pair.left + 1).realize()
        return Pair(pair.right, pair.left), OrderedDict(b=more["a"])

    for i in range(4):
        one, two, three = (Tensor([float(i + k)]).realize() for k in range(3))
        pair, more = swap(Pair(one, two), OrderedDict(a=three))
        assert isinstance(pair, Pair) and isinstance(more, OrderedDict)
        assert (pair.left.item(), pair.right.item(), more["b"].item()) == (i + 1, i, i + 2)


def test_results_of_equal_value_are_all_computed_again() -> None:
    kept: list[Tensor] = []

    @TinyJit
    def twice(x: Tensor) -> tuple[Tensor, ...]:
        y = x + x
        total = y.sum().realize()
        kept.append(total * 1)
        some = (y, y * 1, y.flip(0) * 1, total * 1, total, weight * 1)
        Tensor.realize(*some, kept[-1])
        return some

    weight = Tensor([7.0]).realize()
    for n in range(4):
        made = twice(Tensor([float(n), 1.0]).realize())
        assert [y.tolist() for y in made] == [
            [2 * n, 2], [2 * n, 2], [2, 2 * n], 2 * n + 2, 2 * n + 2, [7 + n],
        ]  # fmt: skip
        weight.assign(weight + 1).realize()
