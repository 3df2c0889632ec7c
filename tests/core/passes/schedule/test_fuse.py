"""`fuse`: one kernel for all that only a value needs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from core import Tensor
from core.dtype import dtypes
from core.helpers import Context
from core.passes.schedule.grouping.fanout import Fanout
from core.passes.schedule.grouping.fuse import computed_within
from core.uop import Ops, UOp

X = np.random.default_rng(3).standard_normal((6, 20)).astype("float32")
PROGRAMS: dict[str, Callable[[Tensor], Tensor]] = {
    "softmax": lambda x: x.softmax(),
    "two reduces": lambda x: x.sum(1) + x.max(1),
    "normalized": lambda x: (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True),
    "attention": lambda x: (x @ x.T).softmax() @ x,
    "reduce of a reduce": lambda x: x.sum(1).exp().sum(),
    "turned": lambda x: x.softmax().T,
    "elementwise": lambda x: x * 2 + 1,
}


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("make", PROGRAMS.values(), ids=PROGRAMS)
def test_it_is_one_kernel_of_the_same_values(make: Callable[[Tensor], Tensor], level: int) -> None:
    want = make(Tensor(X)).numpy()
    with Context(OPT=level):
        fused = make(Tensor(X)).fuse()
        (item,) = fused.schedule()
        assert item.ast.op is Ops.SINK
        np.testing.assert_allclose(make(Tensor(X)).fuse().numpy(), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("device", ["REFERENCE", "PTX:EMU", "AMD:EMU"])
def test_on_other_devices(device: str) -> None:
    x = X[:3, :8]
    found = Tensor(x, device=device).softmax().fuse()
    assert len(found.schedule()) == 1
    want = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    np.testing.assert_allclose(
        Tensor(x, device=device).softmax().fuse().numpy(), want, rtol=1e-5, atol=1e-6
    )


def test_what_follows_is_computed_with_it() -> None:
    assert len((Tensor(X).softmax().fuse() * 2 + 1).schedule()) == 1
    assert len(Tensor(X).softmax().fuse().sum(0).schedule()) == 2


def test_memory_ends_it() -> None:
    x = Tensor(X)
    assert len((x * 2).contiguous().softmax().fuse().schedule()) == 2
    assert len(x.max(1, keepdim=True).contiguous().expand(6, 20).softmax().fuse().schedule()) == 2
    assert len(x.fuse().schedule()) == 0


def test_what_others_need_is_stored() -> None:
    x = Tensor(X)
    top = x.max(1, keepdim=True)
    y, z = ((x - top).exp().sum(1) + 1).fuse(), top.reshape(6) * 3
    assert len(y.schedule(z)) == 3


def test_every_value_is_a_kernel_at_level_0() -> None:
    with Context(OPT=0):
        assert len(Tensor(X).sum(1).exp().fuse().schedule()) > 1


def test_gradients_flow_through() -> None:
    x, y = (Tensor(X, requires_grad=True) for _ in range(2))
    weights = Tensor(X[::-1].copy())
    (x.softmax().fuse() * weights).sum().backward()
    (y.softmax() * weights).sum().backward()
    assert x.grad is not None and y.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-5, atol=1e-6)


def test_ends_within_each_other() -> None:
    x = Tensor(X)
    inner = x.exp().sum(1, keepdim=True).fuse()
    assert len((x / inner).sum().fuse().schedule()) == 1


def test_only_what_the_ends_need() -> None:
    buffer = UOp.new_buffer("CPU", 6, dtypes.int32).reshape((6,))
    total = buffer.r(Ops.ADD, (0,))
    end, other = total + 1, total * 2
    sink = UOp.sink(end, other)
    fanout = Fanout(sink, sink.toposort())
    assert computed_within(fanout, [end]) == set()
    assert total in computed_within(fanout, [end, other])
