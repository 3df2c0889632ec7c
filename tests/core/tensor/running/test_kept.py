"""Gradients of values that were computed before `backward`: the same as if they were not."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest

from core import Tensor, TinyJit, nn
from core.errors import GradientError
from core.passes.schedule import ScheduleItem
from core.realize import capturing
from core.runtime.buffer import buffers
from core.tensor.running import kept
from core.tensor.state.base import live
from core.uop.kernels import is_lowered
from core.uop.ops import Ops
from tests.core.tensor.running.written import call_axpy, call_max

X = np.array([[0.5, 1.0, 1.5], [2.0, 2.5, 3.0]], np.float32)


def leaf(data: object = X) -> Tensor:
    return Tensor(np.array(data, np.float32), requires_grad=True)


def realized(x: Tensor) -> Tensor:
    return x.realize()


def looked_at(x: Tensor) -> Tensor:
    x.sum().item()
    return x


def close(got: Tensor | None, want: object) -> None:
    assert got is not None
    np.testing.assert_allclose(got.numpy(), np.array(want), rtol=1e-5, atol=1e-5)


@pytest.fixture(autouse=True, scope="module")
def kept_before() -> None:
    """What other files' tests, whose errors and values are still there, have kept."""
    gc.collect()
    global _before
    _before = len(kept._kept)


_before = 0


def count_kept() -> int:
    """How much is kept of what the test has made."""
    gc.collect()
    return len(kept._kept) - _before


def kernels(*tensors: Tensor | None) -> int:
    """How many kernels and copies realizing takes."""
    with capturing() as items:
        Tensor.realize(*(t for t in tensors if t is not None))
    return len(items)


CASES: list[tuple[str, Callable[[Tensor, Callable[[Tensor], Tensor]], Tensor], object]] = [
    ("square", lambda x, do: do(x * x), 2 * X),
    ("sum", lambda x, do: do((x * x).sum()), 2 * X),
    ("contiguous", lambda x, do: do((x * x).contiguous()), 2 * X),
    ("chain", lambda x, do: do(do(do(x * 2).square()).square()), 64 * X**3),
    ("twice", lambda x, do: (lambda y: do(y * y) + y)(do(x + 1)), 2 * X + 3),
    ("view", lambda x, do: do(x * x).T[1:] * 3, 6 * X * [0, 1, 1]),
    ("view that is stored", lambda x, do: do(do(x * x).T[1:] * 1), 2 * X * [0, 1, 1]),
    ("part", lambda x, do: do((x * x).contiguous()[:, 1:]), 2 * X * [0, 1, 1]),
    ("turned", lambda x, do: do((x * x).T), 2 * X),
    ("expanded", lambda x, do: do((x * x).reshape(1, 2, 3).expand(4, 2, 3)), 8 * X),
    ("copy", lambda x, do: do((x * x).to("CPU:1")) * 2, 4 * X),
    ("copy and back", lambda x, do: do(do((x * x).to("CPU:1")).to("CPU")), 2 * X),
    ("copy of a turned value", lambda x, do: do(x.T.to("CPU:1")).to("CPU") * 2, np.full_like(X, 2)),
    ("clone", lambda x, do: do(x.clone()) * x, 2 * X),
    ("clone of what is stored", lambda x, do: do(do(x * 2).clone()) * x, 4 * X),
    ("equal", lambda x, do: do(x.contiguous()) * x, 2 * X),
    ("sums of single elements", lambda x, do: do(x.reshape(6, 1).cumsum(-1)), np.ones_like(X)),
    ("turned twice", lambda x, do: do(x.flip(0).flip(0).reshape(3, 2)) * 2, np.full_like(X, 2)),
    ("windows of one", lambda x, do: do(x.reshape(1, 1, 2, 3).max_pool2d(1, 1)), np.ones_like(X)),
    ("detached", lambda x, do: do(x.detach()) * x, X),
    ("detached and stored", lambda x, do: do(do(x * 2).detach().contiguous()) * x, 2 * X),
    ("both", lambda x, do: (lambda y: do(y.detach()) * do(y))(x * 2), 4 * X),
    ("added to", lambda x, do: added(do(x * 2), do), 8 * X + 4),
    ("added to data", lambda x, do: added_to_data(x, do), 2 * X),
    ("item", lambda x, do: item_set(do(x * x), do), 2 * X * [0, 1, 1]),
    ("row", lambda x, do: row_set(do(x * x), x, do), [[3, 3, 3], [4, 5, 6]]),
    ("assigned", lambda x, do: do(do(x * 5).assign(x * x)), 2 * X),
    ("through a view", lambda x, do: through_view(do(x * x), do), 2 * X * [0, 1, 1]),
    ("by hand", lambda x, do: do(by_hand(do(x * x), x, do) * 2), 8 * X + 2),
    ("max", lambda x, do: do(do(x * 2).max(1)), [[0, 0, 2], [0, 0, 2]]),
    ("softmax", lambda x, do: do(x.softmax(1)) * Tensor(X), None),
    ("matmul", lambda x, do: do(do(x @ x.T).exp2() * 0.01), None),
    ("half", lambda x, do: do(x.half()).float() * x, 2 * X),
]  # fmt: skip


def by_hand(x: Tensor, y: Tensor, do: Callable[[Tensor], Tensor]) -> Tensor:
    return do(call_axpy(x.flatten(), y.flatten())).reshape(x.shape)


def added(y: Tensor, do: Callable[[Tensor], Tensor]) -> Tensor:
    y += 1
    do(y)
    return do(y * y)


def added_to_data(x: Tensor, do: Callable[[Tensor], Tensor]) -> Tensor:
    total = Tensor(X).realize()
    total += x * x
    return do(total)


def item_set(y: Tensor, do: Callable[[Tensor], Tensor]) -> Tensor:
    y[:, 0] = 7
    return do(y)


def row_set(y: Tensor, x: Tensor, do: Callable[[Tensor], Tensor]) -> Tensor:
    y[0] = x[0] * 3
    return do(y)


def through_view(y: Tensor, do: Callable[[Tensor], Tensor]) -> Tensor:
    do(y.T)[0].assign(7)
    return do(y)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("do", [realized, looked_at])
@pytest.mark.parametrize(("make", "want"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_gradients_survive(
    make: Callable[[Tensor, Callable[[Tensor], Tensor]], Tensor],
    want: object,
    do: Callable[[Tensor], Tensor],
) -> None:
    x, lazy = leaf(), leaf()
    end = make(lazy, lambda y: y)
    end.sum().backward()
    assert lazy.grad is not None
    if want is not None:
        close(lazy.grad, want)
    stored = make(x, do)
    close(stored, end.numpy())
    stored.sum().backward()
    close(x.grad, lazy.grad.numpy())


def test_intermediate_gradients_are_complete() -> None:
    x = leaf()
    y = x * 2
    z = (y * y).realize()
    w = (z * y).realize()
    w.sum().backward()
    close(z.grad, 2 * X)
    close(y.grad, 12 * X**2)
    close(x.grad, 24 * X**2)


def test_several_of_one_schedule() -> None:
    x = leaf()
    y = x * 2
    z = y * y
    Tensor.realize(z, y)
    z.sum().backward()
    close(y.grad, 4 * X)
    close(x.grad, 8 * X)


def test_gradient_of_what_is_stored() -> None:
    x = leaf()
    z = (x * x * x).realize()
    (first,) = z.sum().gradient(x)
    (second,) = first.sum().gradient(x)
    close(first, 3 * X**2)
    close(second, 6 * X)
    (to_z,) = (z * z).sum().gradient(z)
    close(to_z, 2 * X**3)


def test_a_second_backward_adds_up() -> None:
    x = leaf()
    z = (x * x).realize()
    z.sum().backward()
    z.sum().backward()
    close(x.grad, 4 * X)


def test_a_long_chain() -> None:
    x = z = leaf()
    for _ in range(1500):
        z = (z + 1).realize()
    z.sum().backward()
    close(x.grad, np.ones_like(X))
    del z
    assert count_kept() == 0


# what is changed in place


def test_a_leaf_that_is_changed() -> None:
    x, other = leaf(), leaf()
    z = (x * other).realize()
    w = (z * 2).realize()
    x.assign(x * 2).realize()
    for end in (z, w, w * other):
        with pytest.raises(GradientError, match="changed in place after it was used"):
            end.sum().backward()
    assert x.grad is None and other.grad is None
    assert count_kept() == 0
    (x * z.detach()).sum().backward()
    close(x.grad, X * X)


@pytest.mark.parametrize("pending", [False, True])
def test_data_that_is_changed(pending: bool) -> None:
    """An error only where the gradient reads the old values."""
    x, data = leaf(), Tensor(X).realize()
    added, times = (x + data).realize(), (x * data).realize()
    data += 1
    if pending:
        times.sum().backward()
        close(x.grad, X)
        x.grad = None
    data.realize()
    added.sum().backward()
    close(x.grad, np.ones_like(X))
    with pytest.raises(GradientError, match="memory that the gradient is computed from"):
        times.sum().backward()


def test_an_old_value_goes_by_what_computed_it() -> None:
    x = leaf()
    y = (x * 2).realize()
    z, w = (y * y).realize(), y * 3
    y += 1
    y.realize()
    (z + w).sum().backward()
    close(x.grad, 8 * X + 6)


def test_equals_part_with_their_ways() -> None:
    x = leaf()
    y = (x * 2).realize()
    equal, view = y.contiguous(), y.T
    y *= 3
    y.realize(equal)
    (equal + view.T).sum().backward()
    close(x.grad, np.full_like(X, 8))
    close(equal, 2 * X)


def test_a_value_stored_as_a_part_of_memory() -> None:
    x = leaf()
    y = ((x * 2).realize()[:, ::2] * 1).realize()
    y.square().sum().backward()
    close(x.grad, 8 * X * [1, 0, 1])
    y += x[:, :2]
    y.realize().sum().backward()
    close(x.grad, 8 * X * [1, 0, 1] + [[3, 1, 2], [3, 1, 2]])


def test_second_derivatives_by_a_stored_gradient() -> None:
    x = leaf()
    (first,) = (x * x * x).sum().gradient(x)
    first.requires_grad_().realize()
    (second,) = first.sum().gradient(x)
    close(second, 6 * X)


def test_integer_outputs_of_a_kernel_are_not_computed_again() -> None:
    x = leaf()
    top, where = call_max(x, backward=max_backward)
    Tensor.realize(top, where)
    (top * Tensor([1.0, 2.0])).sum().backward()
    with capturing() as steps:
        close(x.grad, [[0, 0, 1], [0, 0, 2]])
    assert not any(isinstance(s, ScheduleItem) and is_lowered(s.ast) for s in steps)


def max_backward(grads: list[Tensor], inputs: list[Tensor], outputs: list[Tensor]) -> Tensor:
    """The gradient of the largest goes to where it is."""
    places = Tensor.arange(inputs[0].shape[1]).reshape(1, -1)
    return (places == outputs[1].reshape(-1, 1)).where(grads[0].reshape(-1, 1), 0.0)


def test_what_takes_memory_again_is_found_again() -> None:
    x, y = leaf(), (leaf() * 2).realize()
    z = (x * 3).realize()
    x.assign(x + 1).realize()
    with pytest.raises(GradientError):
        z.sum().backward()
    z.assign(x * x).realize()
    z.sum().backward()
    close(x.grad, 2 * (X + 1))
    y.assign(x.detach()).realize()
    y.sum().backward()
    close(y.grad, np.ones_like(X))


def test_in_place_of_what_is_no_leaf() -> None:
    x = leaf().realize()
    y = (x * 2).realize()
    y += 1
    y[0] = 2
    assert y.requires_grad
    with pytest.raises(GradientError, match="changed in place"):
        x += 1


def test_an_optimizer_step_releases_what_was_kept() -> None:
    layers = nn.Linear(3, 8), nn.Linear(8, 1)
    optimizer = nn.optim.Adam(nn.state.get_parameters(layers))
    Tensor.realize(*optimizer.params)
    losses: list[Tensor] = []
    counts: list[tuple[int, ...]] = []
    with Tensor.train():
        for step in range(60):
            optimizer.zero_grad()
            hidden = layers[0](Tensor(X)).relu().realize()
            losses.append(layers[1](hidden).square().mean().realize().backward())
            losses[-1].grad = None
            optimizer.step()
            del hidden
            if step % 20 == 19:
                kept_now = count_kept()
                counts.append((kept_now, len(buffers) - step, len(live) - step))
    assert counts[0][0] == 0
    assert counts[0] == counts[1] == counts[2]
    assert losses[-1].item() < losses[0].item()
    with pytest.raises(GradientError):
        losses[-1].backward()


def test_training_is_the_same_with_values_stored_on_the_way() -> None:
    def train(do: Callable[[Tensor], Tensor]) -> list[float]:
        w = leaf()
        optimizer, losses = nn.optim.SGD([w], lr=0.1, momentum=0.9), list[float]()
        with Tensor.train():
            for _ in range(3):
                optimizer.zero_grad()
                hidden = do((w * w).contiguous())
                losses.append(do((do(hidden.relu()) - 1).square().mean()).backward().item())
                optimizer.step()
        return losses

    want = train(lambda x: x)
    np.testing.assert_allclose(train(realized), want, rtol=1e-5)
    np.testing.assert_allclose(train(looked_at), want, rtol=1e-5)


# what is not kept


def test_nothing_is_kept_without_a_gradient() -> None:
    before = count_kept()
    x, plain = leaf(), Tensor(X)
    a = (plain * 2).realize()
    b = (x.detach() * 2).realize()
    with Tensor.no_grad():
        c = (x * 2).realize()
    d = (x > 1).realize()
    e = (x * 2).cast("int32").realize()
    f = leaf().realize()
    assert count_kept() == before
    del a, b, c, d, e, f


def test_it_dies_with_its_memory() -> None:
    before, memory = count_kept(), len(buffers)
    x = leaf()
    y = (x * x).realize()
    z = (y + 1).realize()
    assert count_kept() == before + 2
    del y
    assert count_kept() == before + 2
    del z
    assert count_kept() == before
    del x
    gc.collect()
    assert len(buffers) == memory


IN_PLACE = ("added to", "added to data", "item", "row", "assigned", "through a view")


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "make",
    [c[1] for c in CASES if c[0] not in IN_PLACE],
    ids=[c[0] for c in CASES if c[0] not in IN_PLACE],
)
def test_no_value_is_computed_again(
    make: Callable[[Tensor, Callable[[Tensor], Tensor]], Tensor],
) -> None:
    """The gradient takes at most the kernels that it takes together with the values."""
    x, lazy = leaf(), leaf()
    end = make(lazy, lambda y: y).sum().backward()
    most = kernels(end, lazy.grad)
    stored = make(x, realized).sum().backward()
    first = kernels(stored)
    assert first + kernels(x.grad) <= most


def test_a_pending_assignment_runs_once() -> None:
    x = leaf()
    y = (x * 2).realize()
    y += x
    (y * y).sum().backward()
    close(x.grad, 18 * X)
    close(y, 3 * X)


# under the jit


def test_a_replay_has_no_way_back() -> None:
    w = leaf()

    @TinyJit
    def scale(x: Tensor) -> Tensor:
        return (x * w).realize()

    for call in range(4):
        w.grad = None
        x = Tensor(X + call).realize()
        y = scale(x)
        if call < 2:
            y.sum().backward()
            close(w.grad, X + call)
        else:
            with pytest.raises(GradientError, match="changed in place"):
                y.sum().backward()
            (y.detach() * w).sum().backward()
            close(w.grad, (X + call) * X)
        close(y, (X + call) * X)


def test_a_replay_cuts_what_was_computed_from_its_memory() -> None:
    w = leaf()
    counter = Tensor(X).realize()

    @TinyJit
    def step() -> Tensor:
        return counter.assign(counter + 1).realize()

    for call in range(4):
        y = (w * counter).realize()
        step()
        with suppress(GradientError) if call > 1 else pytest.raises(GradientError):
            y.sum().backward()
            raise AssertionError("the gradient reads what was overwritten")


def test_a_step_that_is_replayed() -> None:
    def train(jit: bool) -> list[float]:
        w = leaf()
        optimizer = nn.optim.SGD([w], lr=0.01)

        def step(x: Tensor) -> Tensor:
            optimizer.zero_grad()
            loss = ((x * w).realize() ** 2).sum().realize()
            loss.backward()
            optimizer.step()
            return loss.realize()

        run = TinyJit(step) if jit else step
        with Tensor.train():
            return [run(Tensor(X + i).realize()).item() for i in range(5)]

    np.testing.assert_allclose(train(True), train(False), rtol=1e-5)


def stored_copy(x: Tensor) -> tuple[Tensor, Tensor]:
    """A value in memory that was changed by way of a view, copied to another device and back, and
    changed again; the copy, too."""
    v = (x * Tensor(X[:, 1:] - 1)).realize()
    part = v.T
    part += x * 0.25
    copied = v.to("CPU:1").to("CPU")
    v += x * 0.25
    return v, copied


def test_a_copy_of_what_is_changed_afterwards() -> None:
    x = leaf(X[:, :2])
    v, copied = stored_copy(x)
    (v.square().sum() + copied.square().sum()).backward()
    first = X[:, :2] * (X[:, 1:] - 1) + X[:, :2].T * 0.25
    close(v, first + X[:, :2] * 0.25)
    close(copied, first)


def test_a_gradient_through_a_copy_of_what_is_changed_afterwards() -> None:
    x = leaf(X[:, :2])
    v, copied = stored_copy(x)
    v.realize()
    copied.sum().backward()
    close(x.grad, X[:, 1:] - 1 + 0.25)


def test_a_detached_leaf() -> None:
    x = leaf()
    y = x.detach().realize().requires_grad_()
    z = (y * x).realize()
    z.sum().backward()
    close(y.grad, X)
    close(x.grad, X)
    with pytest.raises(GradientError, match="changed in place"):
        y += 1
    with Tensor.no_grad():
        y += 1
    y.realize()
    with pytest.raises(GradientError, match="changed in place after"):
        z.sum().backward()


def test_a_detached_value_is_overwritten_like_any_other() -> None:
    x = leaf()
    equal, view = x.detach().contiguous().realize(), x.detach().realize()
    x.assign(x + 1).realize()
    close(equal, X)
    close(view, X + 1)


def test_the_memory_of_a_value_is_what_its_tensor_names() -> None:
    z = (leaf() * 2).realize()
    assert z.uop.base.op is Ops.BUFFER


def test_an_assignment_that_waits_is_done_once_for_values_and_gradients() -> None:
    """A gradient reads memory after an ASSIGN of a value that is in memory already."""
    x, data = leaf(X), Tensor(X * 0.5).realize()
    square = x * x
    square.realize(data)
    data.assign(data * 0.5 + (x * x).detach() * 0.1)
    y = x * data
    (y.square() + square).sum().backward()
    after = X * 0.25 + X * X * 0.1
    close(y, X * after)
    assert x.grad is not None
    close(x.grad, 2 * X * after * after + 2 * X)
    close(data, after)
