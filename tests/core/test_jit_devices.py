"""Captured calls on several devices, and training that is cut between them."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import Tensor, TinyJit, Variable, nn
from core.errors import RunError
from core.runtime.buffer import buffer_of
from core.runtime.device import Device
from core.uop.call.parts import parts_of
from core.uop.uop import UOp

ONE = Device.DEFAULT
TWO = (ONE, f"{ONE}:1")
Place = Callable[[Tensor, int | None], Tensor]


def here(x: Tensor, axis: int | None) -> Tensor:
    return x


def cut(x: Tensor, axis: int | None) -> Tensor:
    return x.shard(TWO, axis)


def test_captured_calls_take_new_inputs() -> None:
    scale = Tensor([3.0]).to(TWO).realize()

    @TinyJit
    def f(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        total = (x * scale + y.sum(0)).realize()
        return total, x

    for i in range(5):
        a, b = np.full((4, 2), i, np.float32), np.arange(8, dtype=np.float32).reshape(4, 2) + i
        x, y = cut(Tensor(a), 0), cut(Tensor(b), 0)
        total, same = f(x, y)
        np.testing.assert_allclose(total.numpy(), a * 3 + b.sum(0))
        assert same.device == TWO
        np.testing.assert_equal(same.numpy(), a)
        assert f.captured is None or all(
            len({b.device for b in s.bufs}) <= 2 for s in f.captured.first.steps
            if not callable(s)
        )  # fmt: skip


def test_captured_draws_and_writes() -> None:
    def numbers(place: Place, jit: bool) -> list[list[float]]:
        Tensor.manual_seed(5)
        kept = place(Tensor.zeros(4).contiguous(), 0).realize()

        def f(x: Tensor) -> Tensor:
            return kept.assign(kept + x + Tensor.rand(4, device=kept.device)).realize()

        call = TinyJit(f) if jit else f
        found: list[list[float]] = []
        for i in range(4):
            found.append(call(place(Tensor([float(i)] * 4), 0).realize()).tolist())
        return found

    want = numbers(here, jit=False)
    assert numbers(cut, jit=False) == want
    assert numbers(cut, jit=True) == want


def test_another_cut_is_another_capture() -> None:
    f = TinyJit(lambda x: (x + 1).realize())
    for _ in range(2):
        f(cut(Tensor.ones(4, 4).contiguous(), 0))
    with pytest.raises(RunError, match=rf"{ONE} and {ONE}:1 cut along axis 0, now it is .*axis 1"):
        f(cut(Tensor.ones(4, 4).contiguous(), 1))
    with pytest.raises(RunError, match=rf"now it is .* on {ONE}\n"):
        f(Tensor.ones(4, 4).contiguous())


class Net:
    """A linear layer, batch norm, dropout, and another one."""

    def __init__(self) -> None:
        self.first, self.norm, self.last = (
            nn.Linear(6, 8, bias=False),
            nn.BatchNorm(8),
            nn.Linear(8, 3),
        )

    def __call__(self, x: Tensor) -> Tensor:
        return self.last(self.norm(self.first(x)).relu().dropout(0.25))


def trained(place: Place, weights: int | None, optimizer: Any, jit: bool) -> dict[str, Any]:
    """Losses of a few steps, and all weights afterwards. `weights`: the axis that they are cut
    along where it divides."""
    Tensor.manual_seed(2)
    rng = np.random.default_rng(0)
    net = Net()
    state = nn.state.get_state_dict(net)
    for w in state.values():
        axis = weights if w.ndim and w.shape[0] % 2 == 0 else None
        w.replace(place(w, axis))
    opt = optimizer(nn.state.get_parameters(net), lr=0.05)

    def step(x: Tensor, y: Tensor) -> Tensor:
        opt.zero_grad()
        loss = net(x).sparse_categorical_crossentropy(y).backward()
        return loss.realize(*opt.schedule_step())

    call = TinyJit(step) if jit else step
    losses: list[float] = []
    with Tensor.train():
        for _ in range(5):
            x = rng.normal(size=(8, 6)).astype(np.float32)
            y = rng.integers(0, 3, 8).astype(np.int32)
            losses.append(call(place(Tensor(x), 0), place(Tensor(y), 0)).item())
    return {"losses": losses, **{name: w.numpy() for name, w in state.items()}}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("optimizer", "weights"), [(nn.optim.SGD, 0), (nn.optim.AdamW, None)])
def test_training_is_that_of_one_device(optimizer: Any, weights: int | None) -> None:
    want = trained(here, None, optimizer, jit=False)
    for jit in (False, True):
        have = trained(cut, weights, optimizer, jit)
        for name in want:
            np.testing.assert_allclose(have[name], want[name], rtol=1e-3, atol=1e-4, err_msg=name)


def test_states_are_loaded_as_they_are_cut(tmp_path: Path) -> None:
    layer, other = nn.Linear(4, 6), nn.Linear(4, 6)
    layer.weight.shard_(TWO, 0)
    layer.bias.shard_(TWO)
    nn.state.load_state_dict(layer, nn.state.get_state_dict(other))
    np.testing.assert_equal(layer.weight.numpy(), other.weight.numpy())
    assert (layer.weight.device, layer.weight.axis) == (TWO, 0)
    parts = parts_of(layer.weight.uop.base)
    np.testing.assert_equal(buffer_of(parts[1]).as_array(), other.weight.numpy()[3:].reshape(-1))
    nn.state.safe_save(nn.state.get_state_dict(layer), tmp_path / "w")
    loaded = nn.state.safe_load(tmp_path / "w")
    np.testing.assert_equal(loaded["weight"].numpy(), other.weight.numpy())


def test_random_values_are_cut_like_others() -> None:
    x = cut(Tensor.ones(4, 6), 1)
    for made in (x.rand_like(), x.randn_like(), x.full_like(2), x.ones_like(dtype="int32")):
        assert (made.device, made.axis, made.shape) == (TWO, 1, (4, 6))
    assert x.rand_like(device=ONE).device == ONE
    Tensor.manual_seed(1)
    want = Tensor.ones(4, 6).rand_like().numpy()
    Tensor.manual_seed(1)
    np.testing.assert_equal(x.rand_like().numpy(), want)
    with Tensor.train():
        Tensor.manual_seed(1)
        want = Tensor.ones(4, 6).dropout(0.5).numpy()
        Tensor.manual_seed(1)
        dropped = x.dropout(0.5)
        assert dropped.axis == 1
        np.testing.assert_equal(dropped.numpy(), want)


@pytest.mark.nightly
def test_the_example_trains_as_on_one_device(monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(__file__).parents[2] / "examples" / "digits_parallel.py"
    monkeypatch.syspath_prepend(str(path.parent))
    train = runpy.run_path(str(path))["train"]
    monkeypatch.setitem(train.__globals__, "load_digits", _few_digits)
    alone, together = train((ONE,), 2), train(TWO, 2)
    assert len(alone) == 8
    np.testing.assert_allclose(together, alone, rtol=1e-4)
    assert alone[-1] < alone[0]


def _few_digits() -> Any:
    from sklearn.datasets import load_digits

    found = load_digits()
    found.images, found.target = found.images[:128], found.target[:128]
    return found


@pytest.mark.parametrize("optimizer", [nn.optim.SGD, nn.optim.AdamW])
def test_parameters_of_one_optimizer_on_different_devices(optimizer: Any) -> None:
    start = np.linspace(-1, 1, 8, dtype=np.float32)
    params = [
        Tensor(start).realize(),
        Tensor(start).to(TWO[1]).realize(),
        cut(Tensor(start), 0).realize(),
        cut(Tensor(start), None).realize(),
    ]
    opt = optimizer(params, lr=0.1)
    with Tensor.train():
        for _ in range(3):
            opt.zero_grad()
            total = Tensor(0.0)
            for p in params:
                total = total + (p * p).sum().to(ONE)
            total.backward()
            opt.step()
    assert [p.device for p in params] == [*TWO, TWO, TWO]
    for p in params[1:]:
        np.testing.assert_allclose(p.numpy(), params[0].numpy(), rtol=1e-6)
    assert abs(params[0].numpy()).max() < 1


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_lengths_that_are_variables(axis: int | None) -> None:
    """Of what is cut along the axis whose length varies, devices may have less than their part."""
    a = np.arange(48, dtype=np.float32).reshape(6, 8) - 20
    x, n = cut(Tensor(a), axis).realize(), Variable("n", 1, 6)

    @TinyJit
    def f(x: Tensor, n: UOp) -> Tensor:
        return (x.shrink([(0, n), None]) * 2).sum(0).realize()

    for length in (2, 3, 4, 1, 6):
        np.testing.assert_allclose(f(x, n.bind(length)).numpy(), 2 * a[:length].sum(0))
