"""Random Tensor programs: the CPU device gives what the NumPy oracle says of the same graph.

Only continuous operations, so that rounding in another order stays within the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core import Tensor
from tests.core.tensor_eval import value

Pick = Callable[[int], int]
"""A number below the bound, drawn from the example."""

UNARY: list[Callable[[Tensor], Tensor]] = [
    lambda x: -x,
    lambda x: x.relu(),
    lambda x: x.tanh(),
    lambda x: (x * 0.3).exp2(),
    lambda x: x.abs().sqrt(),
    lambda x: x.sin(),
    lambda x: x * x,
    lambda x: (x > 0).where(x, 0.5),
    lambda x: x.contiguous(),
    lambda x: x.sigmoid().log(),
    lambda x: 1 / (1 + x * x),
    lambda x: x.half().float(),
]


def move(x: Tensor, pick: Pick) -> Tensor:
    if not x.ndim:
        return x.reshape(1, 1)
    axis = pick(x.ndim)
    n = x.shape[axis]
    choice = pick(10)
    if choice == 0:
        return x.transpose(axis, pick(x.ndim))
    if choice == 1:
        return x.flip(axis)
    if choice == 2:
        return x.pad([(pick(2), pick(3)) if i == axis else None for i in range(x.ndim)])
    if choice == 3 and n:
        start = pick(n)
        keep = (start, start + 1 + pick(n - start))
        return x.shrink([keep if i == axis else None for i in range(x.ndim)])
    if choice == 4 and x.ndim < 4:
        return x.unsqueeze(axis).expand(*x.shape[:axis], 1 + pick(3), *x.shape[axis:])
    if choice == 5 and x.ndim > 1:
        return x.flatten(0, 1)
    if choice == 6 and n % 2 == 0 and n and x.ndim < 4:
        return x.unflatten(axis, (n // 2, 2))
    if choice == 7 and n:
        return x.roll(1 + pick(3), axis)
    if choice == 8 and n:
        return x[(slice(None),) * axis + (slice(None, None, -2),)]
    return x.cat(x * 2, dim=axis)


def reduce(x: Tensor, pick: Pick) -> Tensor:
    if not x.ndim:
        return x
    axis, keep = pick(x.ndim), bool(pick(2))
    if not x.shape[axis]:
        return x.sum(axis, keep)
    choice = pick(5)
    if choice == 0:
        return x.sum(axis, keep)
    if choice == 1:
        return x.max(axis, keep)
    if choice == 2:
        return x.mean(axis, keep)
    if choice == 3:
        return x.softmax(axis)
    return x.cumsum(axis)


def combine(x: Tensor, y: Tensor, pick: Pick) -> Tensor:
    choice = pick(6)
    if choice == 0 and x.ndim and y.ndim and x.shape[0] and x.shape[0] == y.shape[0]:
        return x.reshape(x.shape[0], -1).T @ y.reshape(y.shape[0], -1)
    if choice == 1 and y.ndim and y.shape[0]:
        index = [pick(y.shape[0]) - pick(2) * y.shape[0] for _ in range(1 + pick(4))]
        return y[Tensor(index)]
    if x.shape != y.shape:
        x, y = x.sum(), y
    return [x + y, x * y, x.maximum(y), (x < y).where(x, y)][pick(4)]


@given(data=st.data())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_programs(data: st.DataObject) -> None:
    def pick(n: int) -> int:
        return data.draw(st.integers(0, n - 1))

    random = np.random.default_rng(pick(1000))
    shapes = [(2, 3), (4, 3), (6,), (2, 2, 3)]
    pool = [Tensor(random.uniform(-2, 2, shapes[pick(4)]).astype(np.float32)) for _ in range(2)]
    for _ in range(1 + pick(7)):
        x, kind = pool[pick(len(pool))], pick(4)
        if kind == 0:
            made = UNARY[pick(len(UNARY))](x)
        elif kind == 1:
            made = move(x, pick)
        elif kind == 2:
            made = reduce(x, pick)
        else:
            made = combine(x, pool[pick(len(pool))], pick)
        if made.numel() > 2000:
            break
        pool.append(made)
    wanted = [value(t) for t in pool[-3:]]
    if pick(2):
        Tensor.realize(*pool[-3:])
    for have, want in zip(pool[-3:], wanted, strict=True):
        assert have.shape == want.shape
        np.testing.assert_allclose(have.numpy(), want, rtol=2e-3, atol=2e-3)


def test_sums_of_a_repeated_function_of_a_constant() -> None:
    """Nothing but constants is below the repeat; one of them has its shape."""
    x = Tensor.full((), 1.5, device="CPU")
    made = x.sigmoid().expand((4,)).log_softmax(-1).tolist()
    assert made == pytest.approx([-np.log(4)] * 4)
    assert x.exp2().expand((4,)).pad((1, 1)).sum(0).item() == pytest.approx(4 * 2**1.5)
