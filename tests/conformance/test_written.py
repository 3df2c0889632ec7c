"""Writing to picked elements and the gradients of that, with equal indices, against PyTorch."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
import torch

from core import Device, Tensor
from tests.conformance.devices import on_devices
from tests.core.tensor.random_programs.running import NUMBERED
from tests.fuzzing import seeds

DEVICES = on_devices("CPU", "REFERENCE", "PTX:EMU", "AMD:EMU")
HERE = Device.DEFAULT if Device.DEFAULT in NUMBERED else "CPU"
Array = np.ndarray[Any, Any]


def floats(rng: Random, shape: tuple[int, ...]) -> Array:
    count = int(np.prod(shape))
    some = np.array([rng.choice((-2, -1, 0, 0, 1, 1.5, 3)) for _ in range(count)], np.float32)
    return some.reshape(shape)


def case(seed: int) -> tuple[Random, int, Array, Array, Array]:
    """Values, an axis, indices with equal ones among them, and what is written there."""
    rng = Random(seed)
    shape = tuple(rng.randint(1, 5) for _ in range(rng.randint(1, 3)))
    axis = rng.randrange(len(shape))
    count = rng.randint(1, 6)
    lengths = tuple(count if k == axis else rng.randint(1, n) for k, n in enumerate(shape))
    total = int(np.prod(lengths))
    index = np.array([rng.randrange(shape[axis]) for _ in range(total)]).reshape(lengths)
    return rng, axis, floats(rng, shape), index, floats(rng, lengths)


def compare(make: Any, x: Array, v: Array, device: str, told: str) -> None:
    mine = [Tensor(a, device=device, requires_grad=True) for a in (x, v)]
    other = [torch.from_numpy(a.copy()).requires_grad_() for a in (x, v)]
    result, expected = make(*mine), make(*other)
    weight = np.arange(1, x.size + 1, dtype=np.float32).reshape(x.shape)
    np.testing.assert_allclose(result.numpy(), expected.detach().numpy(), rtol=1e-5, err_msg=told)
    (result * Tensor(weight, device=device)).sum().backward()
    (expected * torch.from_numpy(weight)).sum().backward()
    for a, b in zip(mine, other, strict=True):
        have = np.zeros(a.shape) if a.grad is None else a.grad.numpy()
        want = np.zeros(a.shape) if b.grad is None else b.grad.numpy()
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5, err_msg=told)


def indices_for(x: Any, index: Array, device: str) -> Any:
    if isinstance(x, torch.Tensor):
        return torch.from_numpy(index)
    return Tensor(index.astype(np.int32), device=device)


@pytest.mark.parametrize("how", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("device", DEVICES)
def test_scatter_reduce(device: str, how: str, pytestconfig: pytest.Config) -> None:
    for seed in seeds(pytestconfig, 4, 0)[:400]:
        rng, axis, x, index, v = case(seed)
        own = rng.random() < 0.5
        if how == "prod":  # of zeros among many PyTorch divides
            x, v = np.where(x == 0, 1, x), np.where(v == 0, 0.5, v)
        if not own:  # PyTorch shares the gradient of an extreme with what was there before
            x = x + np.float32(0.25)

        def make(x: Any, v: Any, axis: int = axis, index: Array = index, own: bool = own) -> Any:
            i = indices_for(x, index, device)
            return x.scatter_reduce(axis, i, v, how, include_self=own)

        compare(make, x, v, device, f"{how} along {axis}, include_self={own}, seed {seed}")


@pytest.mark.parametrize("device", DEVICES)
def test_scatter_to_different_places(device: str, pytestconfig: pytest.Config) -> None:
    """PyTorch leaves open which of equal ones wins. What is beside short indices keeps its
    gradient."""
    for seed in seeds(pytestconfig, 8, 20)[:400]:
        rng, axis, x, index, _ = case(seed)
        count = rng.randint(1, x.shape[axis])
        lengths = tuple(count if k == axis else rng.choice((1, n)) for k, n in enumerate(x.shape))
        order = np.random.default_rng(seed).permuted(
            np.broadcast_to(np.arange(x.shape[axis]), (*np.delete(lengths, axis), x.shape[axis])),
            axis=-1,
        )
        index = np.ascontiguousarray(np.moveaxis(order[..., :count], -1, axis))

        def make(x: Any, v: Any, axis: int = axis, index: Array = index) -> Any:
            return x.scatter(axis, indices_for(x, index, device), v)

        compare(make, x, floats(rng, lengths), device, f"along {axis}, seed {seed}")


@pytest.mark.parametrize("device", DEVICES)
def test_scatter_add_and_rows(device: str, pytestconfig: pytest.Config) -> None:
    for seed in seeds(pytestconfig, 6, 50)[:400]:
        rng, axis, x, index, v = case(seed)

        def make(x: Any, v: Any, axis: int = axis, index: Array = index) -> Any:
            return x.scatter_add(axis, indices_for(x, index, device), v)

        compare(make, x, v, device, f"add along {axis}, seed {seed}")
        rows = np.array([rng.randrange(-len(x), len(x)) for _ in range(3)])

        def read(x: Any, v: Any, rows: Array = rows) -> Any:
            return x + x[indices_for(x, rows, device)].sum(0) * v.sum()

        compare(read, x, v, device, f"rows {rows}, seed {seed}")


@pytest.mark.parametrize("device", DEVICES)
def test_items_are_written_as_numpy_does(device: str, pytestconfig: pytest.Config) -> None:
    """Of equal indices the last one wins, forward; its value alone gets the gradient."""
    for seed in seeds(pytestconfig, 6, 90)[:400]:
        rng = Random(seed)
        shape = tuple(rng.randint(2, 4) for _ in range(rng.randint(1, 3)))
        x = floats(rng, shape)
        first = rng.randrange(len(shape))
        axes = shape[first : first + rng.randint(1, len(shape) - first)]
        indices = [np.array([rng.randrange(-n, n) for _ in range(3)]) for n in axes]
        lead = [slice(None)] * first
        v = floats(rng, x[(*lead, *indices)].shape)
        y = x.copy()
        y[(*lead, *indices)] = v
        t, value = Tensor(x, device=device), Tensor(v, device=device, requires_grad=True)
        own = [Tensor(i.astype(np.int32), device=device) for i in indices]
        t[(*lead, *own)] = value * 1
        np.testing.assert_array_equal(t.numpy(), y, err_msg=f"seed {seed}")
        (t * Tensor(y + 1, device=device)).sum().backward()
        places = np.zeros(shape, np.int64)
        places[(*lead, *indices)] = np.arange(1, v.size + 1).reshape(v.shape)
        won = np.zeros(v.size + 1)
        won[places.reshape(-1)] = (y + 1).reshape(-1)
        assert value.grad is not None
        have = value.grad.numpy().reshape(-1)
        np.testing.assert_allclose(have, won[1:], rtol=1e-5, err_msg=f"seed {seed}")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("length", [64, 100, 300])
def test_long_axes_are_written_in_order(device: str, length: int) -> None:
    """On a GPU several work groups write: each goes over all indices, in their order."""
    index = np.array([1, length - 1, 1, 70 % length, length - 1, 0])
    values = np.arange(1, 7, dtype=np.float32)
    x = np.zeros(length, np.float32)
    t = Tensor(x, device=device).contiguous()
    t[Tensor(index.astype(np.int32), device=device)] = Tensor(values, device=device)
    x[index] = values
    np.testing.assert_array_equal(t.numpy(), x)
    value = Tensor(values, device=device, requires_grad=True)
    t = Tensor(np.zeros(length, np.float32), device=device)
    made = t.scatter(0, Tensor(index.astype(np.int32), device=device), value)
    (made * Tensor(x + 10, device=device)).sum().backward()
    assert value.grad is not None
    np.testing.assert_array_equal(made.numpy(), x)
    np.testing.assert_array_equal(value.grad.numpy(), [0, 0, 13, 14, 15, 16])


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_unsigned_indices_name_places_of_an_axis_that_is_longer_than_they_reach(dtype: str) -> None:
    length = 300 if dtype == "uint8" else 70_000
    index = np.array([2, min(length - 1, np.iinfo(dtype).max), 44], dtype)
    x, v = np.arange(length, dtype=np.float32), np.array([-1, -2, -3], np.float32)
    place, value = Tensor(index), Tensor(v)
    y = x.copy()
    y[index] = v
    t = Tensor(x).contiguous()
    t[place] = value
    np.testing.assert_array_equal(t.numpy(), y)
    t = Tensor(x).contiguous()
    t[place] += value
    y = x.copy()
    y[index] += v
    np.testing.assert_array_equal(t.numpy(), y)
    for gathered in (False, True):
        leaf = Tensor(x, requires_grad=True)
        read = leaf.gather(0, place) if gathered else leaf[place]
        (read * value).sum().backward()
        assert leaf.grad is not None
        np.testing.assert_array_equal(leaf.grad.numpy(), y - x)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_one_hot_of_more_classes_than_the_dtype_has(dtype: str) -> None:
    classes = torch.tensor([0, 44, 127])
    have = Tensor(classes.numpy().astype(dtype)).one_hot(300)
    np.testing.assert_array_equal(have.numpy(), torch.nn.functional.one_hot(classes, 300).numpy())


def test_values_with_axes_of_length_1_in_front() -> None:
    x, v = np.zeros((2, 3), np.float32), np.arange(3, dtype=np.float32).reshape(1, 1, 3)
    for key in (0, (slice(None),), [1, 0], (slice(None), [2, 0, 1])):
        t, y = Tensor(x).contiguous(), x.copy()
        t[key], y[key] = Tensor(v), v
        np.testing.assert_array_equal(t.numpy(), y, err_msg=str(key))


@pytest.mark.parametrize("own", [False, True])
def test_second_derivatives_of_products(own: bool) -> None:
    """What a product's gradient is made of has gradients, at zeros as well: against differences."""
    index, weight = np.array([0, 1, 0, 1, 1, 0]), np.array([1.5, -2.0])
    x, v = np.array([2.0, -1.0]), np.array([0.0, 0.0, 3.0, 2.0, 0.0, -2.0])
    towards = np.arange(1, 9) / 4

    def loss(at: Array) -> float:
        product = at[:2].copy() if own else np.ones(2)
        np.multiply.at(product, index, at[2:])
        return float((product * weight).sum())

    def slopes(at: Array) -> Array:
        return np.array([loss(at + step) - loss(at - step) for step in np.eye(8) / 128]) * 64

    at = np.concatenate([x, v])
    expected = (slopes(at + towards / 128) - slopes(at - towards / 128)) * 64
    mine = [Tensor(a.astype(np.float32), requires_grad=True) for a in (x, v)]
    made = mine[0].scatter_reduce(0, Tensor(index), mine[1], "prod", include_self=own)
    total = (made * Tensor(weight.astype(np.float32))).sum()
    first = total.gradient(*mine)
    along = [Tensor(a.astype(np.float32)) for a in (towards[:2], towards[2:])]
    change = sum(((g * d).sum() for g, d in zip(first, along, strict=True)), Tensor(0.0))
    second = change.gradient(*mine, materialize_grads=True)
    have = [np.concatenate([g.numpy() for g in gs]) for gs in (first, second)]
    np.testing.assert_allclose(have[0], slopes(at), atol=0.02)
    np.testing.assert_allclose(have[1], expected, atol=0.02)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_means_of_integers_are_rounded_down(dtype: str, own: bool) -> None:
    most = 2**60 + 1 if dtype == "int64" else 100
    low = 3 if dtype == "uint8" else -3
    x, v = (np.array(a).astype(dtype) for a in ([0, most, low], [low, most, low * 2, low]))
    index = np.array([0, 1, 2, 2])
    expected = torch.from_numpy(x).scatter_reduce(
        0, torch.from_numpy(index), torch.from_numpy(v), "mean", include_self=own
    )
    for devices in (HERE, (f"{HERE}:1", f"{HERE}:2")):
        place = [Tensor(a, device=HERE) for a in (x, index, v)]
        if isinstance(devices, tuple):
            place = [t.shard(devices) for t in place]
        made = place[0].scatter_reduce(0, place[1], place[2], "mean", include_self=own)
        np.testing.assert_array_equal(made.numpy(), expected.numpy(), err_msg=str(devices))
