"""Assignment is by value: who sees it, who does not, and what it costs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from core import Tensor, TinyJit, nn
from core.errors import GradientError
from core.helpers import Context
from core.realize import capturing
from core.uop.ops import Ops


def kernels(*tensors: Tensor) -> int:
    with capturing() as items:
        Tensor.realize(*tensors)
    return sum(item.ast.op is Ops.SINK for item in items)


def stored(*shape: int) -> Tensor:
    """Integers from 0 in memory of their own."""
    return Tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape)).realize()


def lazy(*shape: int) -> Tensor:
    """The same, not yet computed."""
    return stored(*shape) * 2 / 2


def assigned(*shape: int) -> Tensor:
    """The same, with an assignment that waits."""
    x = stored(*shape) * 0
    return x.realize().assign(stored(*shape))


SOURCES = [stored, lazy, assigned]
source = pytest.mark.parametrize("make", SOURCES, ids=[f.__name__ for f in SOURCES])

# views: writing to one is writing to the other

VIEWS: list[tuple[str, Callable[[Tensor], Tensor], Callable[[np.ndarray], np.ndarray]]] = [
    ("reshape", lambda x: x.reshape(2, 8), lambda a: a.reshape(2, 8)),
    ("transpose", lambda x: x.T, lambda a: a.T),
    ("permute", lambda x: x.reshape(2, 2, 4).permute(2, 0, 1),
     lambda a: a.reshape(2, 2, 4).transpose(2, 0, 1)),
    ("flip", lambda x: x.flip(0), lambda a: a[::-1]),
    ("shrink", lambda x: x.shrink(((1, 3), (0, 2))), lambda a: a[1:3, 0:2]),
    ("row", lambda x: x[1], lambda a: a[1]),
    ("steps", lambda x: x[::2, ::3], lambda a: a[::2, ::3]),
    ("back", lambda x: x[::-1, 3:0:-2], lambda a: a[::-1, 3:0:-2]),
    ("new_axis", lambda x: x[None, :, 2], lambda a: a[None, :, 2]),
    ("detach", lambda x: x.detach(), lambda a: a),
    ("of_a_view", lambda x: x[1:].T[0], lambda a: a[1:].T[0]),
    ("split", lambda x: x.split(2)[1], lambda a: a[2:]),
    ("flatten", lambda x: x.flatten()[3:7], lambda a: a.reshape(-1)[3:7]),
    ("diagonal", lambda x: x.diagonal(1), lambda a: a.reshape(-1)[1:12:5]),
    ("to_itself", lambda x: x.reshape(4, 4), lambda a: a),
]  # fmt: skip


@source
@pytest.mark.parametrize(("view", "of_array"), [v[1:] for v in VIEWS], ids=[v[0] for v in VIEWS])
def test_a_view_and_its_source_change_together(
    make: Callable[..., Tensor],
    view: Callable[[Tensor], Tensor],
    of_array: Callable[[np.ndarray], np.ndarray],
) -> None:
    x, a = make(4, 4), np.arange(16, dtype=np.float32).reshape(4, 4)
    y, b = view(x), of_array(a)
    before = x * 1, y * 1
    old = a.copy(), b.copy()
    y.assign(y * -1 - 1)
    b[...] = b * -1 - 1
    np.testing.assert_array_equal(x.numpy(), a)
    np.testing.assert_array_equal(y.numpy(), b)
    x += 100
    a += 100
    np.testing.assert_array_equal(y.numpy(), b)
    np.testing.assert_array_equal(x.numpy(), a)
    for value, want in zip(before, old, strict=True):
        np.testing.assert_array_equal(value.numpy(), want)


@source
def test_an_expanded_view_sees_changes_and_takes_none(make: Callable[..., Tensor]) -> None:
    x = make(3)
    wide, copied = x.expand(2, 3), x.repeat(2)
    x[0] = 9
    copied[5] = 7
    assert wide.tolist() == [[9, 1, 2], [9, 1, 2]]
    assert copied.tolist() == [0, 1, 2, 0, 1, 7]
    assert x.tolist() == [9, 1, 2]


# equal values: writing to one leaves the other

EQUALS: list[tuple[str, Callable[[Tensor], Tensor]]] = [
    ("assigned", lambda x: Tensor.zeros(*x.shape).assign(x)),
    ("constructed", lambda x: Tensor(x)),
    ("replaced", lambda x: Tensor.zeros(*x.shape).replace(x)),
    ("times_one", lambda x: x * 1),
    ("minus_zero", lambda x: x - 0),
    ("cast_twice", lambda x: x.cast("int32").cast("float32")),
    ("contiguous", lambda x: x.contiguous()),
    ("to", lambda x: x.to(x.device)),
    ("cast", lambda x: x.cast(x.dtype)),
    ("bitcast", lambda x: x.bitcast(x.dtype)),
    ("cat_of_one", lambda x: x.cat()),
    ("clone", lambda x: x.clone()),
    ("dropout", lambda x: x.dropout(0.5)),
    ("where", lambda x: Tensor([True]).expand(x.shape).where(x, 0)),
    ("pad_of_nothing", lambda x: x.pad([(0, 0)] * x.ndim)),
    ("sum_of_one", lambda x: x.unsqueeze(0).sum(0)),
    ("set_item", lambda x: (y := Tensor.zeros(*x.shape), y.__setitem__(slice(None), x))[0]),
]


@source
@pytest.mark.parametrize("ready", [False, True])
@pytest.mark.parametrize("equal", [e[1] for e in EQUALS], ids=[e[0] for e in EQUALS])
def test_an_equal_value_stays(
    make: Callable[..., Tensor], equal: Callable[[Tensor], Tensor], ready: bool
) -> None:
    for written in (0, 1):
        for part in (False, True):
            pair = [x := make(4), equal(x)]
            if ready:
                Tensor.realize(*pair)
            w, other = pair[written], pair[1 - written]
            if part:
                w[1:3] += 100
                want = [0, 101, 102, 3]
            else:
                w.assign(w + 100)
                want = [100, 101, 102, 103]
            w.realize()
            assert other.tolist() == [0, 1, 2, 3]
            assert w.tolist() == want
            other -= 1
            assert (w.tolist(), other.tolist()) == (want, [-1, 0, 1, 2])


def test_equal_graphs_are_two_values() -> None:
    x = stored(3)
    a, b = x + 1, x + 1
    Tensor.realize(a, b)
    a += 5
    assert (a.tolist(), b.tolist()) == ([6, 7, 8], [1, 2, 3])


def test_many_equals_of_one_memory() -> None:
    w = stored(2)
    copies = [Tensor.zeros(2).assign(w) for _ in range(4)]
    Tensor.realize(*copies)
    for i, t in enumerate(copies):
        t += 10 * (i + 1)
    w *= 3
    assert [t.tolist() for t in copies] == [[10, 11], [20, 21], [30, 31], [40, 41]]
    assert w.tolist() == [0, 3]


# what the target may read of itself

READS: list[tuple[str, Callable[[Tensor], Tensor], int]] = [
    ("elementwise", lambda b: b * 2 + 1, 1),
    ("transpose", lambda b: b.T, 2),
    ("flip", lambda b: b.flip(0) + b, 2),
    ("roll", lambda b: (b + 1).roll(1, 0), 2),
    ("pad_and_shrink", lambda b: (b + 1).pad(((1, 0), (0, 0)))[:32], 2),
    ("shrink_and_pad", lambda b: (b + 1)[1:31].pad(((1, 1), (0, 0))), 1),
    ("halves", lambda b: (b + 1)[16:].cat((b + 1)[:16]), 2),
    ("same_halves", lambda b: (b + 1)[:16].cat((b + 2)[16:]), 1),
    ("reversed_rows", lambda b: Tensor.stack(*(b[i] + 1 for i in range(31, -1, -1))), 2),
    ("matmul", lambda b: b @ b, 2),
    ("softmax", lambda b: b.softmax(), 4),
    ("row_plus_all", lambda b: b + b[0:1], 2),
    ("cumsum", lambda b: b.cumsum(0), 3),
    ("gather", lambda b: b[Tensor(list(range(31, -1, -1)))], 2),
]  # fmt: skip


@pytest.mark.parametrize(("value", "most"), [r[1:] for r in READS], ids=[r[0] for r in READS])
def test_a_value_may_read_its_target_anywhere(value: Callable[[Tensor], Tensor], most: int) -> None:
    array = np.random.default_rng(1).uniform(-1, 1, (32, 32)).astype(np.float32)
    b, want = Tensor(array).realize(), value(Tensor(array)).numpy()
    memory = b.uop.base
    b.assign(value(b))
    assert kernels(b) <= most
    assert b.uop.base is memory
    np.testing.assert_allclose(b.numpy(), want, rtol=1e-5, atol=1e-6)
    twice = value(Tensor(want)).numpy()
    b.assign(value(b))
    third = value(Tensor(twice)).numpy()
    b.assign(value(b))
    np.testing.assert_allclose(b.numpy(), third, rtol=1e-3, atol=1e-3)


def test_two_assignments_that_read_each_other() -> None:
    a, b = stored(3), (stored(3) + 10).realize()
    new_a, new_b = b + 1, a + 2
    a.assign(new_a)
    b.assign(new_b)
    Tensor.realize(a, b)
    assert (a.tolist(), b.tolist()) == ([11, 12, 13], [2, 3, 4])


def test_parts_of_one_memory() -> None:
    x = stored(6)
    x[0:3] = x[3:6]
    x[1:4] = x[0:3]
    x[::2], x[1::2] = x[1::2] * 10, x[::2] + 1
    want = np.arange(6, dtype=np.float32)
    want[0:3] = want[3:6]
    want[1:4] = want[0:3].copy()
    want[::2], want[1::2] = want[1::2] * 10, want[::2] + 1
    assert x.tolist() == want.tolist()


def test_a_view_that_was_computed_by_itself() -> None:
    x = lazy(4)
    part = x[1:3].realize()
    x += 1
    assert part.tolist() == [2, 3]
    part *= 10
    assert x.tolist() == [1, 20, 30, 4]


# operators

OPERATORS: list[tuple[str, float | int]] = [
    ("add", 3), ("sub", 3), ("mul", 3), ("truediv", 4), ("floordiv", 4), ("mod", 4), ("pow", 2),
    ("lshift", 1), ("rshift", 1), ("and", 6), ("or", 9), ("xor", 5),
]  # fmt: skip


@pytest.mark.parametrize(("name", "operand"), OPERATORS, ids=[o[0] for o in OPERATORS])
@pytest.mark.parametrize("as_tensor", [False, True])
def test_operators_change_the_callers_tensor(name: str, operand: int, as_tensor: bool) -> None:
    dtype = np.float32 if name == "truediv" else np.int32
    array = np.arange(1, 7, dtype=dtype).reshape(2, 3)
    x = Tensor(array)
    row, memory = x[1], x.uop.base
    result = getattr(x, f"__i{name}__")(Tensor(operand).cast(x.dtype) if as_tensor else operand)
    assert result is x
    want = getattr(array, f"__{name}__")(dtype(operand))
    np.testing.assert_array_equal(x.numpy(), want)
    np.testing.assert_array_equal(row.numpy(), want[1])
    assert x.uop.base is memory
    assert x.dtype == Tensor(array).dtype


def test_matmul_in_place() -> None:
    x = stored(2, 2)
    x @= Tensor([[0.0, 1.0], [1.0, 0.0]])
    assert x.tolist() == [[1, 0], [3, 2]]


def test_a_function_changes_its_argument() -> None:
    def add_one(x: Tensor) -> None:
        x += 1

    a, b = stored(2), Tensor.zeros(2)
    add_one(a)
    add_one(b)
    add_one(a[1:])
    assert (a.tolist(), b.tolist()) == ([1, 3], [1, 1])


def test_a_wider_float_is_cast_back() -> None:
    x = Tensor([1.0, 2.0], dtype="float16")
    x += Tensor([0.5, 0.5])
    assert (x.dtype.name, x.tolist()) == ("float16", [1.5, 2.5])


# setting items

KEYS = [
    0, -1, slice(1, 3), slice(None, None, 2), slice(None, None, -1), slice(3, 0, -2), (1, 2),
    (..., 0), (slice(None), slice(1, None, 2)), (None, 2), (slice(3, 1), 0), [0, 2], [3, 3, 1],
    ([0, 1], [2, 3]), (slice(None), [0, -1]), (slice(1, 3), [1, 1]), ([[0], [1]], [2, 3]),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("how", ["number", "row", "full", "add", "tensors"])
def test_every_key_can_be_set(key: object, how: str) -> None:
    array = np.arange(16, dtype=np.float32).reshape(4, 4)
    x = Tensor(array).realize()
    kept, memory = x * 1, x.uop.base
    named = array[key].shape
    mine = key
    if how == "tensors":
        parts = key if isinstance(key, tuple) else (key,)
        mine = tuple(Tensor(np.array(k, np.int32)) if isinstance(k, list) else k for k in parts)
    value = np.random.default_rng(2).uniform(-9, 9, named if how != "row" else named[-1:])
    want = array.copy()
    if how == "add":
        want[key] += 5
        x[key] += 5
    else:
        new = -7.0 if how == "number" else value.astype(np.float32)
        want[key] = new
        x[mine] = -7.0 if how == "number" else Tensor(value.astype(np.float32))
    np.testing.assert_array_equal(x.numpy(), want)
    np.testing.assert_array_equal(kept.numpy(), array)
    assert x.uop.base is memory


def test_masks_can_be_set() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    for mask, value in (
        (array > 2, np.float32(-1)),
        (array > 2, np.array([7, 8, 9], np.float32)),
        (np.array([True, False]), np.array([4, 5, 6], np.float32)),
        (array > 99, np.float32(5)),
    ):
        x, want = Tensor(array), array.copy()
        x[Tensor(mask)] = Tensor(value)
        want[mask] = value
        np.testing.assert_array_equal(x.numpy(), want)


def test_indices_out_of_range_store_nothing() -> None:
    x = stored(3)
    x[Tensor([1, 7, -9])] = Tensor([5.0, 6.0, 7.0])
    assert x.tolist() == [0, 5, 2]


def test_a_part_is_all_that_is_written() -> None:
    x = stored(64, 32)
    x[10:12] = stored(2, 32) * -1
    with capturing() as items:
        x.realize()
    assert len(items) == 1
    assert items[0].ast.src[0].src[0].size == 64
    want = np.arange(64 * 32, dtype=np.float32).reshape(64, 32)
    want[10:12] = -np.arange(64).reshape(2, 32)
    np.testing.assert_array_equal(x.numpy(), want)


# gradients and training


def test_gradients_flow_through_what_is_changed_in_place() -> None:
    w = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    h = w * 2
    h += w
    h[1] = 0
    total = stored(3)
    total += h * h
    total.sum().backward()
    assert w.grad is not None
    np.testing.assert_allclose(w.grad.numpy(), [18, 0, 54])


def test_a_leaf_is_changed_without_gradients() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    with Tensor.no_grad():
        w -= 0.5
        w[0] = 4
    assert w.requires_grad
    (w * w).sum().backward()
    assert w.grad is not None
    assert (w.tolist(), w.grad.tolist()) == ([4, 1.5], [8, 3])


@pytest.mark.parametrize("then", [lambda w, loss: None, lambda w, loss: w.realize(),
                                  lambda w, loss: loss.realize(w)])  # fmt: skip
@pytest.mark.parametrize("change", ["assign", "item", "view"])
def test_a_gradient_that_is_lost_is_an_error(
    then: Callable[[Tensor, Tensor], object], change: str
) -> None:
    w, other = (Tensor(v, requires_grad=True) for v in ([1.0, 2.0], [3.0, 4.0]))
    loss = (w * w * other).sum()
    if change == "assign":
        w.assign(w * 2)
    with Tensor.no_grad():
        if change == "item":
            w[0] = 5
        if change == "view":
            w.detach().flip(0).assign([1.0, 2.0])
    then(w, loss)
    with pytest.raises(GradientError, match="changed in place after it was used"):
        loss.backward()
    assert w.grad is None and other.grad is None
    (w * other).sum().backward()
    assert w.grad is not None and w.grad.tolist() == [3, 4]


def test_what_needs_no_gradient_of_the_old_value_has_its_own() -> None:
    w, other = (Tensor(v, requires_grad=True) for v in ([1.0, 2.0], [3.0, 4.0]))
    old = w.detach() * 2
    loss = (old * other).sum()
    w.assign(w * 2)
    loss.backward()
    assert other.grad is not None and other.grad.tolist() == [2, 4]
    for realized in (False, True):  # of what was assigned, what it was made from has no part
        if realized:
            w.realize()
        w.grad = None
        (w * w).sum().backward()
        assert w.grad is not None and w.grad.tolist() == [4, 8]


@pytest.mark.parametrize("realized", [False, True])
def test_a_leaf_keeps_its_gradient_to_itself(realized: bool) -> None:
    """Whether or not the value that it was assigned has been stored."""
    w, x = (Tensor(v, requires_grad=True) for v in ([1.0, 2.0], [3.0, 4.0]))
    w.assign(x * 2)
    if realized:
        w.realize()
    (w * w).sum().backward()
    assert w.grad is not None and w.grad.tolist() == [12, 16]
    assert x.grad is None


def test_a_loss_is_written_down_again_after_each_step() -> None:
    w = Tensor([1.0, 2.0], requires_grad=True)
    optimizer, losses = nn.optim.SGD([w], lr=0.25), list[Tensor]()
    with Tensor.train():
        for _ in range(3):
            optimizer.zero_grad()
            losses.append((w * w).sum().backward())
            optimizer.step()
    assert [loss.item() for loss in losses] == [5, 1.25, 0.3125]
    with pytest.raises(GradientError, match="changed in place"):
        losses[0].backward()


def test_views_of_parameters_see_each_step() -> None:
    w = Tensor([[1.0, 2.0]], requires_grad=True)
    turned, taken = w.detach().T, Tensor.zeros(1, 2).assign(w.detach())
    optimizer = nn.optim.SGD([w], lr=0.5)
    with Tensor.train():
        for _ in range(2):
            optimizer.zero_grad()
            w.sum().backward()
            optimizer.step()
    assert turned.tolist() == [[0], [1]]
    assert taken.tolist() == [[1, 2]]


def test_a_step_is_one_kernel_per_parameter() -> None:
    params = [(stored(n) + 1).realize().requires_grad_() for n in (3, 5)]
    optimizer = nn.optim.Adam(params)
    with Tensor.train():
        for _ in range(2):
            for p in params:
                p.grad = Tensor.ones(*p.shape).contiguous().realize()
            count = kernels(*optimizer.schedule_step())
    assert count <= 4, "one for each, and the two powers of b1 and b2"


# under the jit


def test_a_replay_leaves_equals_and_pending_readers() -> None:
    x, total = stored(2), stored(2)

    @TinyJit
    def step(x: Tensor) -> Tensor:
        total.assign(total + x)
        x += 1
        return (total * 2).realize(total, x)

    want_x, want_total = np.arange(2.0), np.arange(2.0)
    for _ in range(5):
        pending, taken, view = total * 10, total.contiguous(), total.reshape(2, 1)
        old = want_total.copy()
        want_total = want_total + want_x
        want_x = want_x + 1
        assert step(x).tolist() == (want_total * 2).tolist()
        assert pending.tolist() == (old * 10).tolist()
        assert taken.tolist() == old.tolist()
        assert view.tolist() == want_total[:, None].tolist()
        assert (x.tolist(), total.tolist()) == (want_x.tolist(), want_total.tolist())


def test_a_replay_sees_what_was_assigned_before() -> None:
    total = stored(2)

    @TinyJit
    def add(x: Tensor) -> Tensor:
        return total.assign(total + x).realize()

    for i in range(5):
        total.assign(Tensor([float(i), 0.0]))
        assert add(Tensor([1.0, 2.0])).tolist() == [i + 1, 2]


def test_equal_arguments_are_two() -> None:
    @TinyJit
    def both(x: Tensor, y: Tensor) -> Tensor:
        x += 1
        return (x + y).realize(x)

    x = stored(2)
    for i in range(4):
        y = x.contiguous()
        assert both(x, y).tolist() == [2 * i + 1, 2 * i + 3]
        assert y.tolist() == [i, i + 1]


@pytest.mark.parametrize("make", [stored, lazy, assigned, lambda n: Tensor.ones(n) * 0])
def test_the_function_changes_its_argument(make: Callable[..., Tensor]) -> None:
    @TinyJit
    def add(x: Tensor) -> Tensor:
        x += 1
        return x.realize()

    for _ in range(4):
        x = make(1)
        add(x)
        assert x.tolist() == [1]


def test_writing_to_no_elements_changes_nothing() -> None:
    x, y = Tensor.arange(4).reshape(1, 4), stored(1, 4).cast("int32").realize()
    nothing = x[:-2]
    x.assign(y)
    y ^= y
    Tensor.realize(y, nothing)
    nothing -= nothing
    other = nothing.cast("int32")
    other[:1] = -9
    nothing //= 3
    assert (x.tolist(), y.tolist()) == ([[0, 1, 2, 3]], [[0, 0, 0, 0]])


@pytest.mark.parametrize("level", range(4))
def test_a_view_of_no_elements_never_repeats_an_assignment(level: int) -> None:
    """Its graph is released with that of its source: what it waited for has been stored."""
    with Context(OPT=level):
        y, x = stored(4), Tensor.arange(4, dtype="float32")
        nothing = x[:0]
        x.assign(y)
        y += 10
        y.realize()  # x, which only equals y, gets a copy before
        assert all(u.op is not Ops.ASSIGN for u in nothing.uop.toposort())
        x += nothing.sum()
        assert (x.tolist(), y.tolist()) == ([0, 1, 2, 3], [10, 11, 12, 13])


def test_a_value_of_no_elements_never_repeats_an_assignment() -> None:
    x = assigned(4)
    nothing = (x * 2)[:0] + 1
    x += 10
    x.realize()
    x += nothing.sum()
    assert x.tolist() == [10, 11, 12, 13]
