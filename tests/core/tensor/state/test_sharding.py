"""Tensors on several devices: values are those of one device, whatever they are cut along."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core import Context, Device, Tensor, Variable
from core.errors import DeviceError, ShapeError, UopvizError
from core.runtime.allocators import allocated
from core.runtime.buffer import buffer_of
from core.uop import Ops
from core.uop.call.parts import parts_of

Array = NDArray[Any]
TWO = ("CPU", "CPU:1")
FOUR = (*TWO, "CPU:2", "CPU:3")
A = np.arange(96, dtype=np.float32).reshape(4, 8, 3) - 40


def test_cpu_devices_have_memory_of_their_own() -> None:
    first, second = (Device[name] for name in TWO)
    assert first.allocator is not second.allocator
    before = allocated("CPU:1")
    x = Tensor.ones(1000).contiguous().shard(TWO, 0).realize()
    assert allocated("CPU:1") == before + 2000
    addresses = [buffer_of(part).address for part in parts_of(x.uop.base)]
    assert len(set(addresses)) == 2
    del x
    assert allocated("CPU:1") == before


@pytest.mark.parametrize("devices", [TWO, FOUR, ("CPU:1", "REFERENCE")])
@pytest.mark.parametrize("axis", [None, 0, 1, -2])
def test_shards_hold_their_part(devices: tuple[str, ...], axis: int | None) -> None:
    x = Tensor(A).shard(devices, axis)
    assert (x.device, x.axis, x.shape) == (devices, axis if axis is None else axis % 3, A.shape)
    np.testing.assert_equal(x.numpy(), A)
    x.realize()
    assert (x.device, x.axis) == (devices, axis if axis is None else axis % 3)
    for i, part in enumerate(parts_of(x.uop.base)):
        want = A if axis is None else np.split(A, len(devices), axis)[i]
        assert part.device == devices[i]
        np.testing.assert_equal(buffer_of(part).as_array(), want.reshape(-1))
    np.testing.assert_equal(x.numpy(), A)
    np.testing.assert_equal(x.to("CPU").numpy(), A)


OPERATIONS: dict[str, tuple[Callable[[Any], Any], int | None]] = {
    "elementwise": (lambda x: x * 2 + 1, 1),
    "compare": (lambda x: (x > 3) * x, 1),
    "sum_other": (lambda x: x.sum(0), 0),
    "sum_cut": (lambda x: x.sum(1), None),
    "sum_all": (lambda x: x.sum(), None),
    "max_cut": (lambda x: x.max(1), None),
    "prod_cut": (lambda x: (x / 40).prod(1), None),
    "mean_and_back": (lambda x: x - x.sum(1)[:, None], 1),
    "reshape_apart": (lambda x: x.reshape(2, 2, 4, 2, 3), 2),
    "reshape_merged": (lambda x: x.reshape(4, 24), 1),
    "reshape_other_cut": (lambda x: x.reshape(32, 3), None),
    "transpose": (lambda x: x[..., 0].T, 0),
    "whole_first": (lambda x: x.reshape(4, 2, 4, 3)[0].reshape(-1), 0),
    "first_part": (lambda x: x[:, :4], 1),
    "second_part": (lambda x: x[:, 4:], 1),
    "across": (lambda x: x[:, 3:5], 1),
    "odd_rest": (lambda x: x[:, 1:4], None),
    "one": (lambda x: x[:, 5], None),
    "strided": (lambda x: x[:, 1::2], None),
    "reversed": (lambda x: x[:, ::-1] * 1, 1),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_are_numpys(name: str) -> None:
    operation, axis = OPERATIONS[name]
    made = operation(Tensor(A).shard(TWO, 1))
    assert made.device == TWO
    assert made.axis == axis
    np.testing.assert_allclose(made.numpy(), operation(A), rtol=1e-6)
    assert made.realize().axis == axis


def test_levels_do_not_change_values() -> None:
    want = (A @ np.ones((3, 8), np.float32)).sum(1)
    for level in range(4):
        with Context(OPT=level):
            x = Tensor(A).shard(TWO, 1)
            w = Tensor.ones(3, 8, device=TWO).contiguous()
            np.testing.assert_allclose((x @ w).sum(1).numpy(), want, rtol=1e-5)


@pytest.mark.parametrize("pad", [(1, 1), (0, 1), (3, 3), (9, 0)])
def test_padding_the_axis_that_is_cut(pad: tuple[int, int]) -> None:
    x = Tensor(A).shard(TWO, 1).pad((None, pad, None))
    assert x.axis == (1 if (8 + sum(pad)) % 2 == 0 else None)
    np.testing.assert_equal(x.numpy(), np.pad(A, ((0, 0), pad, (0, 0))))


def test_operands_that_are_cut_otherwise() -> None:
    x, y, z = Tensor(A).shard(TWO, 0), Tensor(A).shard(TWO, 1), Tensor(A).shard(TWO)
    assert [(x + y).axis, (y + x).axis, (z + y).axis] == [0, 1, 1]
    for made in (x + y + z, z + y + x, (x + y.sum(1, keepdim=True) * 0) + (y + z)):
        np.testing.assert_allclose(made.numpy(), 3 * A)


def test_cut_anew() -> None:
    x = Tensor(A).shard(TWO, 1)
    for made in (x.shard(TWO, 0), x.shard(TWO, None), x.shard(FOUR, 0), x.to(("CPU:2", "CPU:3"))):
        np.testing.assert_equal(made.numpy(), A)
    assert x.to(("CPU:2", "CPU:3")).axis == 1
    assert x.to(FOUR).axis is None
    assert x.to(TWO).axis == 1
    assert x.shard(TWO, 1).uop is x.uop


def test_copies_keep_every_bit() -> None:
    bits = np.array([0x80000000, 0x7FC00001, 0xFFFFFFFF, 0], np.uint32)
    x = Tensor(bits).bitcast("float32").shard(TWO, 0)
    np.testing.assert_equal(x.shard(TWO).bitcast("uint32").numpy(), bits)
    np.testing.assert_equal(x.flip(0).to("CPU").bitcast("uint32").numpy(), bits[::-1])


def test_bitcasts_to_other_sizes() -> None:
    for axis in (0, 1, None):
        x = Tensor(A[:, :, 0]).shard(TWO, axis)
        np.testing.assert_equal(x.bitcast("uint8").numpy(), A[:, :, 0].copy().view(np.uint8))
    odd = Tensor(A[0, 0, :2].view(np.uint8)).shard(FOUR[:2], 0)  # 4 bytes on each
    np.testing.assert_equal(odd.bitcast("float64").numpy(), A[0, 0, :2].copy().view(np.float64))


def test_copies_of_a_tensor_are_no_views() -> None:
    x = Tensor([1.0, 2.0]).realize()
    y = x.shard(TWO).realize()
    y += 1
    assert (x.tolist(), y.tolist()) == ([1, 2], [2, 3])
    x += 5
    assert (x.tolist(), y.tolist()) == ([6, 7], [2, 3])


def test_assign_keeps_memory_and_cut() -> None:
    x = Tensor(A).shard(TWO, 1).realize()
    memory = x.uop.base
    x.assign(Tensor(A * 2).shard(TWO, 0)).realize()
    assert x.uop.base is memory
    assert x.axis == 1
    np.testing.assert_equal(x.numpy(), A * 2)
    view = x[:, 2:5]
    x[:, 3] = 7
    x[1:3, 4:6] += 1
    want = A * 2
    want[:, 3] = 7
    want[1:3, 4:6] += 1
    np.testing.assert_equal(x.numpy(), want)
    np.testing.assert_equal(view.numpy(), want[:, 2:5])
    assert x.uop.base is memory


def test_a_part_that_is_stored_alone_is_assigned_to() -> None:
    x = (Tensor(A).shard(TWO, 1) + 1)[:, 2:6].realize()
    x[:, 0] = 5
    want = (A + 1)[:, 2:6].copy()
    want[:, 0] = 5
    np.testing.assert_equal(x.numpy(), want)


def test_created_on_several_devices() -> None:
    for make, want in (
        (lambda **k: Tensor([1.0, 2.0], **k), [1, 2]),
        (lambda **k: Tensor(np.array([3, 4]), **k), [3, 4]),
        (lambda **k: Tensor(5.0, **k), 5),
        (lambda **k: Tensor.ones(2, **k), [1, 1]),
        (lambda **k: Tensor.arange(3, **k), [0, 1, 2]),
        (lambda **k: Tensor.eye(2, **k), [[1, 0], [0, 1]]),
        (lambda **k: Tensor.linspace(0, 1, 3, **k), [0, 0.5, 1]),
    ):
        x = make(device=list(TWO))
        assert (x.device, x.axis) == (TWO, None)
        assert x.tolist() == want
        assert (x + x).tolist() == (np.array(want) * 2).tolist()
        stored = x.contiguous().realize()
        assert [buffer_of(p).device for p in parts_of(stored.uop.base)] == [*TWO]
    assert Tensor.empty(2, 3, device=TWO).realize().shape == (2, 3)
    assert Tensor.zeros(0, 4, device=TWO).shard(TWO, 1).sum(0).tolist() == [0, 0, 0, 0]


def test_random_numbers_are_those_of_one_device() -> None:
    for make in (Tensor.rand, Tensor.randn, lambda *s, **k: Tensor.randint(*s, high=99, **k)):
        Tensor.manual_seed(3)
        want = [make(4, 4).numpy() for _ in range(2)]
        Tensor.manual_seed(3)
        have = [make(4, 4, device=TWO) for _ in range(2)]
        assert [x.device for x in have] == [TWO, TWO]
        np.testing.assert_equal(have[0].numpy(), want[0])
        np.testing.assert_equal(have[1].shard(TWO, 1).numpy(), want[1])


def test_like_others() -> None:
    x = Tensor(A).shard(TWO, 1)
    assert x.zeros_like().device == TWO
    assert x.ones_like().shard_like(x).axis == 1
    assert Tensor(A).shard_like(x).axis == 1
    assert x.shard_like(Tensor(A)).device == "CPU"
    np.testing.assert_equal((x + Tensor(A).shard_like(x)).numpy(), 2 * A)
    y = Tensor(A).shard_(TWO, 0)
    assert (y.device, y.axis) == (TWO, 0)
    y.to_("CPU:1")
    assert y.device == "CPU:1"
    np.testing.assert_equal(y.numpy(), A)


def x() -> Tensor:
    return Tensor(A).shard(TWO, 1)


MISTAKES: list[tuple[str, Callable[[], Any], type[UopvizError], str]] = [
    ("mixed", lambda: x() + Tensor(A), DeviceError, "CPU and CPU:1 and on CPU(.|\n)*shard_like"),
    ("mixed_other_way", lambda: Tensor(A) + x(), DeviceError, r"\.to\('CPU'\)"),
    ("order", lambda: x() * Tensor(A).shard(TWO[::-1], 1), DeviceError, "on CPU:1 and CPU"),
    ("number", lambda: x() * Tensor(A).shard(FOUR, 1), DeviceError, "CPU:2 and CPU:3"),
    ("matmul", lambda: x() @ Tensor.ones(3, 2), DeviceError, "shard_like"),
    ("where", lambda: (x() > 0).where(Tensor(A), 0), DeviceError, "operands on"),
    ("assign", lambda: x().assign(Tensor(A)), DeviceError, "shard_like"),
    ("setitem", lambda: x().__setitem__(0, Tensor(A[0])), DeviceError, "shard_like"),
    ("setitem_of_one", lambda: Tensor(A).__setitem__(0, x()[0]), DeviceError, r"\.to\('CPU'\)"),
    ("setitem_1", lambda: Tensor(A).__setitem__(0, Tensor(A[0], "CPU:1")), DeviceError, "CPU:1"),
    ("axis", lambda: Tensor(A).shard(TWO, 3), ShapeError, "axis 3 of a Tensor with 3 axes"),
    ("negative_axis", lambda: Tensor(A).shard(TWO, -4), ShapeError, "axis -4"),
    ("no_axes", lambda: Tensor(1.0).shard(TWO, 0), ShapeError, "with 0 axes"),
    ("uneven", lambda: Tensor(A).shard(TWO, 2), ShapeError, r"2 devices do not divide axis 2 of"),
    ("uneven_like", lambda: Tensor(A[:, :3]).shard_like(x()), ShapeError, "do not divide axis 1"),
    ("twice", lambda: Tensor(A).shard(("CPU", "CPU:0"), 0), DeviceError, "CPU is named 2 times"),
    ("twice_new", lambda: Tensor.zeros(2, device=("CPU", "CPU")), DeviceError, "2 times"),
    ("alone", lambda: Tensor(A).shard(("CPU",), 0), DeviceError, "CPU alone"),
    ("none", lambda: Tensor(A).shard((), 0), DeviceError, "no devices"),
    ("unknown", lambda: Tensor(A).shard(("CPU", "TPU"), 0), DeviceError, "no device 'TPU'"),
    ("seed", lambda: x().backward(Tensor(A)), DeviceError, r"on CPU for a Tensor on CPU and CPU:1"),
    ("seed_of_one", lambda: Tensor(A).gradient(Tensor(A), gradient=x()), DeviceError, "'CPU'"),
    ("other_number", lambda: x().gradient(Tensor(A)), UopvizError, "gradient"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "error", "words"), [m[1:] for m in MISTAKES],
                         ids=[m[0] for m in MISTAKES])  # fmt: skip
def test_mistakes(mistake: Callable[[], Any], error: type[UopvizError], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        mistake()
    assert "test_sharding.py" in caught.value.where
    assert caught.value.hint or "gradient" in words


def test_kernels_by_hand_run_on_one_device() -> None:
    with pytest.raises(DeviceError, match="would run on CPU and CPU:1 at once"):
        Tensor.call_kernel(lambda *_: None, x(), outputs=[((4,), "float32")])


def test_gradients_are_those_of_one_device() -> None:
    w = np.linspace(-1, 1, 24, dtype=np.float32).reshape(3, 8)

    def grads(place: Callable[[Tensor, int | None], Tensor]) -> list[Array]:
        a = place(Tensor(A), 0).requires_grad_()
        b = place(Tensor(w), None).requires_grad_()
        c = place(Tensor(w), 1).requires_grad_()
        loss = ((a @ b).relu().mean(0) * (c.sum(0) + 1)).sum()
        loss.backward()
        assert all(t.grad is not None and t.grad.device == t.device for t in (a, b, c))
        return [loss.numpy(), *(t.grad.numpy() for t in (a, b, c) if t.grad is not None)]

    want = grads(lambda t, axis: t)
    for have in (grads(lambda t, axis: t.shard(TWO, axis)),
                 grads(lambda t, axis: t.shard(TWO, axis).realize())):  # fmt: skip
        for one, other in zip(have, want, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-4)


def test_gradients_flow_to_what_was_cut() -> None:
    for axis in (None, 0, 1):
        t = Tensor(A, requires_grad=True)
        y = t.shard(TWO, axis)
        (y * y).sum().backward()
        assert t.grad is not None
        assert t.grad.device == "CPU"
        np.testing.assert_equal(t.grad.numpy(), 2 * A)
        t.grad = None
        stored = t.shard(TWO, axis).realize()
        (stored * stored).sum().realize().backward()
        np.testing.assert_equal(t.grad.numpy(), 2 * A)


def test_gradients_are_cut_as_what_they_are_of() -> None:
    for axis, other in ((0, None), (0, 1), (None, 1), (None, None)):
        t = Tensor(A).shard(TWO, axis).requires_grad_()
        for y in (t.shard(TWO, other), t.to(("CPU:2", "CPU:3")), t.to("CPU"), t * x()):
            loss = (y * y).sum()
            (once,) = loss.gradient(t)
            loss.backward()
            assert t.grad is not None
            assert (t.grad.device, t.grad.axis) == (once.device, once.axis) == (TWO, axis)
            want = 2 * A * (A * A if y.uop.op is Ops.MUL else 1)
            np.testing.assert_allclose(once.numpy(), want, rtol=1e-6)
            loss.backward()
            assert t.grad.axis == axis, "added up"
            np.testing.assert_allclose(t.grad.numpy(), 2 * want, rtol=1e-6)
            t.grad = None
    t, unused = (Tensor(A).shard(TWO, 1).requires_grad_() for _ in range(2))
    (grad,) = t.sum().gradient(unused, materialize_grads=True)
    assert (grad.device, grad.axis) == (TWO, 1)


def test_a_gradient_of_gathered_values_is_not_copied_twice() -> None:
    t = Tensor(A).shard(TWO, 0).realize().requires_grad_()
    other = (Tensor(A).shard(TWO) + 1).realize()
    (t.shard(TWO) * other).sum().backward()
    assert t.grad is not None
    assert all(item.ast.op is not Ops.COPY for item in t.grad.schedule()), "each device has it"


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("protocol", [2, 5])
def test_pickles_and_copies_are_cut_alike(axis: int | None, protocol: int) -> None:
    t = Tensor(A).shard(TWO, axis).requires_grad_()
    (t * t).sum().backward()
    for made in (pickle.loads(pickle.dumps(t, protocol)), copy.deepcopy(t)):
        assert (made.device, made.axis, made.requires_grad) == (TWO, axis, True)
        np.testing.assert_equal(made.numpy(), A)
        assert (made.grad.device, made.grad.axis) == (TWO, axis)
        np.testing.assert_equal(made.grad.numpy(), 2 * A)
        with Tensor.no_grad():
            made += 1
        np.testing.assert_equal(made.numpy(), A + 1)
        np.testing.assert_equal(t.numpy(), A)
    empty = Tensor.zeros(0, 4).shard(TWO, 1)
    assert pickle.loads(pickle.dumps(empty, protocol)).shape == (0, 4)


def test_a_pickle_of_devices_that_are_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    text = pickle.dumps(Tensor(A).shard(("CPU", "CPU:6"), 1))
    get = type(Device).__getitem__

    def absent(self: Any, name: str | None) -> Any:
        if name == "CPU:6":
            raise DeviceError("CPU:6 is not here")
        return get(self, name)

    monkeypatch.setattr(type(Device), "__getitem__", absent)
    made = pickle.loads(text)
    assert (made.device, made.axis) == ("CPU", None)
    np.testing.assert_equal(made.numpy(), A)


def test_they_say_where_they_are() -> None:
    assert repr(x().realize()) == (
        "<Tensor (4, 8, 3) float32 on CPU and CPU:1 cut along axis 1, RESHAPE>"
    )
    assert "on CPU and CPU:1, " in repr(Tensor(A).shard(TWO))


def test_what_is_stored_is_one_buffer() -> None:
    y = (Tensor(A).shard(TWO, 1) + 1).realize()
    assert y.uop.base.op is Ops.BUFFER
    assert y.uop.base.arg == (4, 24)
    assert (y * 2).sum(1).realize().uop.base.arg == 12


def test_values_of_variables_are_computed_on_each_device() -> None:
    three = Tensor(Variable("n", 1, 10).bind(3))
    x = Tensor(A).shard(TWO, 1)
    np.testing.assert_equal((x + Tensor(three, device=TWO)).numpy(), A + 3)
    x = x.realize()
    x.assign(Tensor(three, device=TWO).cast("float32").expand(4, 8, 3)).realize()
    np.testing.assert_equal(x.numpy(), np.full_like(A, 3))
    both = Tensor(Variable("n", 1, 10).bind(4)).expand(2, 2).shard(TWO, 0)
    assert (both.device, both.axis, both.tolist()) == (TWO, 0, [[4, 4], [4, 4]])


def test_functions_of_many_operations() -> None:
    rows = A[..., 0]
    x = Tensor(rows).shard(TWO, 0)
    np.testing.assert_equal(x.sort(0)[0].numpy(), np.sort(rows, 0))
    np.testing.assert_equal(x.cumsum(0).numpy(), rows.cumsum(0))
    np.testing.assert_equal(x[[0, 3, 2]].numpy(), rows[[0, 3, 2]])
    np.testing.assert_equal(x.masked_select(x > 10).numpy(), rows[rows > 10])
    np.testing.assert_equal(x.cat(x + 1, dim=0).numpy(), np.concatenate([rows, rows + 1]))
    np.testing.assert_equal(x.argmax(0).numpy(), rows.argmax(0))
    assert x.cat(x, dim=0).axis == 0
    images = np.random.default_rng(0).normal(size=(2, 2, 6, 4)).astype(np.float32)
    weight = np.random.default_rng(1).normal(size=(3, 2, 3, 3)).astype(np.float32)
    want = Tensor(images).conv2d(Tensor(weight), padding=1).numpy()
    for axis in range(4):  # by image, by channel, by place
        have = Tensor(images).shard(TWO, axis).conv2d(Tensor(weight, device=TWO), padding=1)
        np.testing.assert_allclose(have.numpy(), want, rtol=1e-4, atol=1e-5)
