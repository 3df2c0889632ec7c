"""What runs when, who gets the result, and that laziness never changes a value."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from core import Context, Tensor, nn
from core.realize import capturing
from core.runtime.buffer import buffers
from core.tensor.state.base import live
from core.uop.engine.observe import NullObserver, observing
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp


def kernels(*tensors: Tensor) -> int:
    """How many kernels realizing takes."""
    with capturing() as items:
        Tensor.realize(*tensors)
    return sum(item.ast.op is Ops.SINK for item in items)


def data(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(3).uniform(0.5, 2, shape).astype(np.float32))


def test_nothing_runs_before_a_value_is_needed() -> None:
    with capturing() as items:
        x = data(3, 4)
        y = (x @ x.T).relu().sum().backward()
    assert not items
    assert y.uop.base.op is not Ops.BUFFER


def test_realizing_again_runs_nothing() -> None:
    x = data(3) + 1
    assert kernels(x) == 1
    assert kernels(x) == 0
    assert kernels(x.reshape(1, 3), x.flip(0), x.expand(2, 3)) == 0


def test_constants_run_nothing_until_read() -> None:
    assert kernels(Tensor.ones(3), Tensor(2), Tensor.zeros(2, 2).T) == 0
    assert Tensor.full((2,), 7).numpy().tolist() == [7, 7]


def test_contiguous_of_stored_values_is_free() -> None:
    x = (data(3, 4) + 1).realize()
    assert kernels(x.contiguous(), x.reshape(4, 3).contiguous()) == 0
    y = x.T.contiguous()
    assert y.contiguous().uop is y.uop
    assert kernels(y) == 1


def test_results_reach_every_live_tensor_that_contains_them() -> None:
    x = data(4, 4)
    y = x.exp()
    z, w = y + 1, y.T
    y.realize()
    assert w.uop.base is y.uop.base
    assert w.uop.base.op is Ops.BUFFER
    assert kernels(z) == 1
    assert not any(u.op is Ops.EXP2 for u in z.uop.toposort())


def test_only_what_is_asked_for_runs() -> None:
    x = data(4, 4)
    rows = (x + 1)[0:1]
    with capturing() as items:
        rows.realize()
    assert [b.arg for item in items for b in item.bufs[:1]] == [4]


def test_realized_graphs_are_released() -> None:
    gc.collect()
    before = len(buffers)
    x = data(8)
    for _ in range(20):
        x = (x * 1.01 + 0.5).realize()
    gc.collect()
    assert len(buffers) <= before + 2


def test_live_tensors_are_forgotten() -> None:
    gc.collect()
    before = len(live)
    for _ in range(10):
        data(3) + 1
    gc.collect()
    assert len(live) <= before


def test_equal_constants_get_memory_of_their_own() -> None:
    a, b = Tensor.zeros(3).contiguous(), Tensor.zeros(3).contiguous()
    Tensor.realize(a, b)
    a.assign(Tensor.ones(3)).realize()
    assert (a.tolist(), b.tolist()) == ([1, 1, 1], [0, 0, 0])


def test_equal_parameters_get_gradients_of_their_own() -> None:
    a, b = (Tensor.ones(3, requires_grad=True) for _ in range(2))
    (a * 2 + b * 5).sum().backward()
    assert a.grad is not None
    assert b.grad is not None
    assert (a.grad.tolist(), b.grad.tolist()) == ([2, 2, 2], [5, 5, 5])


# assignment


def test_assign_writes_the_same_memory() -> None:
    x = (data(4) + 0).realize()
    memory = x.uop.base
    x.assign(x * 2).realize()
    assert x.uop.base is memory
    np.testing.assert_allclose(x.numpy(), data(4).numpy() * 2)


def test_assign_to_what_has_no_memory_takes_the_value() -> None:
    x = Tensor.zeros(3)
    x.assign(Tensor([1.0, 2.0, 3.0]))
    assert x.tolist() == [1, 2, 3]
    assert (Tensor([1.0, 2.0]).assign(7)).tolist() == [7, 7]


def test_a_reader_made_before_an_assignment_keeps_the_old_value() -> None:
    x = Tensor([1.0, 2.0])
    doubled, view = x * 2, x.reshape(2, 1)
    x.assign(x + 10).realize()
    assert doubled.tolist() == [2, 4]
    assert view.tolist() == [[11], [12]]


def test_a_reader_made_after_an_assignment_sees_the_new_value() -> None:
    x = Tensor([1.0, 2.0])
    x.assign(x + 10)
    doubled = x * 2
    assert doubled.tolist() == [22, 24]
    assert x.tolist() == [11, 12]


def test_assignments_in_a_row() -> None:
    x = Tensor([1.0])
    x.assign(x + 1)
    between = x * 10
    x.assign(x * 3)
    after = x + 0
    assert (after.item(), x.item(), between.item()) == (6, 6, 20)


@pytest.mark.parametrize("assigned", [False, True])
def test_realizing_one_costs_the_same_however_many_wait(
    monkeypatch: pytest.MonkeyPatch, assigned: bool
) -> None:
    seen = 0
    toposort = UOp.toposort

    def counting(self: UOp, *gate: Callable[[UOp], bool]) -> dict[UOp, None]:
        nonlocal seen
        found = toposort(self, *gate)
        seen += len(found)
        return found

    def cost(count: int) -> int:
        nonlocal seen
        made = [Tensor.empty(3, 4).realize() for _ in range(count)]
        waiting = [x.assign(x + 1) if assigned else x.sum() for x in made]
        waiting[0].realize()
        seen = 0
        waiting[1].realize()
        return seen

    monkeypatch.setattr(UOp, "toposort", counting)
    few, many = cost(10), cost(300)
    assert 0 < few == many


def test_an_assignment_runs_once() -> None:
    x = Tensor([1.0])
    x.assign(x + 1)
    y = x * 2
    y.realize()
    assert x.uop.base.op is Ops.BUFFER
    assert (x.item(), y.item()) == (2, 4)


def test_swapping_two_tensors() -> None:
    a, b = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    old = a + 0
    a.assign(b)
    b.assign(old)
    Tensor.realize(a, b)
    assert (a.tolist(), b.tolist()) == ([3, 4], [1, 2])


def test_assigning_part_of_a_tensor() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    x[0:1].assign(Tensor([[8.0, 9.0]])).realize()
    assert x.tolist() == [[8, 9], [3, 4]]


def test_assigning_its_own_transpose() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    x.assign(x.T.contiguous()).realize()
    assert x.tolist() == [[1, 3], [2, 4]]


def test_replace_stores_nothing() -> None:
    x = Tensor([1.0])
    memory = x.uop
    x.replace(Tensor([5.0]) + 1)
    assert x.item() == 6
    assert x.uop.base is not memory


# training


def test_training_by_the_loss_read_after_the_step() -> None:
    w = Tensor([2.0], requires_grad=True)
    optimizer = nn.optim.SGD([w], lr=0.5)
    with Tensor.train():
        loss = (w * 3).sum().backward()
        optimizer.step()
        assert loss.item() == 6
        assert w.item() == 0.5


def test_memory_is_bounded_in_a_training_loop() -> None:
    layer = nn.Linear(4, 2)
    optimizer = nn.optim.Adam(nn.state.get_parameters(layer))
    x, counts = data(3, 4), []
    with Tensor.train():
        for _ in range(6):
            optimizer.zero_grad()
            layer(x).square().mean().backward()
            optimizer.step()
            gc.collect()
            counts.append((len(buffers), len(live)))
    assert counts[2] == counts[-1]


def test_gradients_add_up() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    (x * 3).sum().backward()
    (x * x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [5, 7]


def test_gradients_go_to_live_tensors_that_want_one() -> None:
    x, y = Tensor([1.0], requires_grad=True), Tensor([2.0], requires_grad=False)
    z = Tensor([4.0])
    middle = x * y * z
    middle.sum().backward()
    assert y.grad is None
    assert z.grad is None
    assert x.grad is not None
    assert middle.grad is not None
    assert (x.grad.item(), middle.grad.item()) == (8, 1)


def test_no_grad_and_detach() -> None:
    x = Tensor([2.0], requires_grad=True)
    with Tensor.no_grad():
        frozen = x * 3
    assert frozen.requires_grad is False
    (frozen * x + x.detach() * 7).sum().backward()
    assert x.grad is not None
    assert x.grad.item() == 6


def test_training_flag() -> None:
    assert Tensor.training is False
    with Tensor.train():
        assert Tensor.training is True
        with Tensor.train(False):
            assert Tensor.training is False
    with Context(TRAINING=1):
        assert Tensor.training is True
    Tensor.training = True
    assert Tensor.training is True
    Tensor.training = False


# kernels


@pytest.mark.parametrize(("make", "most"), [
    (lambda x: ((x + 1) * 2).exp(), 1),
    (lambda x: (x @ x.T).relu(), 1),
    (lambda x: x.softmax(), 3),
    (lambda x: (x - 1).square().mean(), 2),
    (lambda x: x.reshape(1, 1, 8, 8).conv2d(Tensor.ones(2, 1, 3, 3)), 1),
    (lambda x: x.reshape(1, 1, 8, 8).max_pool2d(), 1),
    (lambda x: x[Tensor([1, 2, 5])], 1),
    (lambda x: x.cat(x * 2).pad((1, 1)), 1),
])  # fmt: skip
def test_fusion(make: object, most: int) -> None:
    x = data(8, 8).realize()
    if not callable(make):
        raise TypeError
    assert kernels(make(x)) <= most


def test_moving_is_free() -> None:
    x = data(4, 6).realize()
    moved = x.T.reshape(2, 12).flip(0).unsqueeze(1).expand(2, 3, 12)
    assert kernels(moved) == 0
    assert {u.op for u in moved.uop.toposort()} <= GroupOp.Movement | {
        Ops.BUFFER, Ops.UNIQUE, Ops.DEVICE}  # fmt: skip


def test_kernelize_runs_nothing() -> None:
    x = data(3) + 1
    with capturing() as items:
        assert x.kernelize() is x
    assert not items
    assert x.uop.base.op is Ops.ADD


def test_schedule_hands_over_the_kernels() -> None:
    x = data(3) + 1
    items = x.schedule()
    assert len(items) == 1
    assert x.uop.base.op is Ops.BUFFER


def test_reading_what_is_stored_schedules_nothing() -> None:
    class Schedules(NullObserver):
        def __init__(self) -> None:
            self.names: list[str] = []

        def context_begin(self, name: str, kind: str, meta: Mapping[str, object]) -> None:
            self.names.append(name)

    x = (Tensor([1.0, 2.0, 3.0, 4.0]) + 1).realize()
    with observing(Schedules()) as seen:
        assert x.tolist() == [2.0, 3.0, 4.0, 5.0]
        assert x.reshape(2, 2).detach().tolist() == [[2.0, 3.0], [4.0, 5.0]]
        assert x[3:].item() == 5.0
    assert len(seen.names) <= 2, "only the part needs a kernel"


@pytest.mark.parametrize("device", ["CPU", "REFERENCE"])
def test_views_are_read_from_every_device(device: str) -> None:
    x = Tensor([7.0, 8.0], device=device)
    for y in (x, x + 1):
        first = y.tolist()[0]
        assert y.flip(0).tolist() == y.tolist()[::-1]
        assert y[:1].expand(3).tolist() == [first] * 3
        assert y[:1].reshape(1, 1).expand(3, 2).permute(1, 0).tolist() == [[first] * 3] * 2
        assert y.pad((1, 0)).tolist() == [0.0, *y.tolist()]
