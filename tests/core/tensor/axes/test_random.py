"""Random Tensors: reproducible, the same as the published generator, and evenly spread."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from core import Tensor, dtypes
from core.tensor.axes.random import RandomState
from core.uop.uop import UOp
from tests.core.tensor_eval import threefry, value


@pytest.fixture(autouse=True)
def _seed() -> None:
    Tensor.manual_seed(1337)


@pytest.mark.parametrize(("counter", "key", "want"), [
    (0, 0, 0x99BA4EFE_6B200159),
    (0xFFFFFFFF_FFFFFFFF, 0xFFFFFFFF_FFFFFFFF, 0xBB002BE7_1CB996FC),
    (0x85A308D3_243F6A88, 0x03707344_13198A2E, 0x483DF7A0_C4923A9C),
])  # fmt: skip
def test_the_oracle_gives_the_published_answers(counter: int, key: int, want: int) -> None:
    """Known answers of threefry2x32-20, from the authors' Random123 (low word first)."""
    got = threefry(np.array([counter], np.uint64), np.array([key], np.uint64))
    assert hex(int(got[0])) == hex(want)


@pytest.mark.parametrize("make", [
    lambda: Tensor.rand(5, 3),
    lambda: Tensor.rand(7, dtype="float64"),
    lambda: Tensor.rand(7, dtype="float16"),
    lambda: Tensor.randint(40, low=-5, high=9),
    lambda: Tensor.randint(5, low=0, high=1 << 40, dtype="int64"),
    lambda: Tensor.uniform(6, low=-2, high=2),
])  # fmt: skip
def test_the_device_draws_what_the_oracle_draws(make: Callable[[], Tensor]) -> None:
    x = make()
    np.testing.assert_array_equal(value(x), x.numpy())


def test_a_seed_fixes_every_number_and_calls_differ() -> None:
    first = [Tensor.rand(4).tolist() for _ in range(2)]
    assert first[0] != first[1]
    Tensor.manual_seed(1337)
    assert [Tensor.rand(4).tolist() for _ in range(2)] == first
    Tensor.manual_seed(1338)
    assert Tensor.rand(4).tolist() != first[0]


def test_devices_draw_the_same() -> None:
    assert Tensor.rand(4).tolist() == Tensor.rand(4, device="REFERENCE").tolist()
    assert set(RandomState.drawn.values()) == {4}


def test_one_tensor_is_drawn_once() -> None:
    x = Tensor.rand(4)
    assert (x + 0).tolist() == (x * 1).tolist() == x.tolist()


def test_ranges_and_moments() -> None:
    n = 20_000
    u = Tensor.rand(n).numpy()
    assert u.min() >= 0
    assert u.max() < 1
    assert abs(u.mean() - 0.5) < 0.01
    assert abs(u.var() - 1 / 12) < 0.003
    z = Tensor.randn(n).numpy()
    assert abs(z.mean()) < 0.03
    assert abs(z.std() - 1) < 0.03
    assert 2.5 < np.abs(z).max() < 6
    m = Tensor.normal(n, mean=3, std=0.5).numpy()
    assert abs(m.mean() - 3) < 0.03
    assert abs(m.std() - 0.5) < 0.02


@pytest.mark.parametrize(("low", "high"), [(0, 10), (-3, 4), (5, 6), (0, 100_000)])
def test_integers_fill_their_range(low: int, high: int) -> None:
    drawn = Tensor.randint(20_000, low=low, high=high).numpy()
    assert drawn.min() >= low
    assert drawn.max() < high
    if high - low <= 10:
        counts = np.bincount(drawn - low, minlength=high - low)
        assert abs(counts / counts.mean() - 1).max() < 0.12


def test_initial_weights() -> None:
    bounds = {
        (Tensor.scaled_uniform, (30, 20)): 600**-0.5,
        (Tensor.glorot_uniform, (30, 20)): (6 / 50) ** 0.5,
        (Tensor.kaiming_uniform, (30, 20)): (6 / (1.0001 * 20)) ** 0.5,
    }
    for (make, shape), bound in bounds.items():
        drawn = np.abs(make(*shape).numpy())
        assert 0.9 * bound < drawn.max() <= bound
    assert abs(Tensor.kaiming_normal(50, 40).numpy().std() - (2 / 40.004) ** 0.5) < 0.02


def test_permutation() -> None:
    order = Tensor.randperm(50)
    assert order.dtype is dtypes.int32
    assert sorted(order.tolist()) == list(range(50))
    assert order.tolist() != list(range(50))


def test_dropout() -> None:
    x = Tensor.ones(4000)
    assert x.dropout(0.3).uop is x.uop
    with Tensor.train():
        y = x.dropout(0.3)
        kept = y.numpy()
        assert sorted(set(kept.tolist())) == pytest.approx([0, 1 / 0.7])
        assert abs((kept == 0).mean() - 0.3) < 0.04
        assert (y + 0).tolist() == kept.tolist(), "one mask, however often it is used"
        assert not x.dropout(1.0).numpy().any()


def test_likes_keep_shape_and_dtype() -> None:
    x = Tensor.zeros(2, 3, dtype="float64")
    assert (x.rand_like().shape, x.rand_like().dtype) == (x.shape, x.dtype)
    assert x.randn_like(dtype="float32").dtype is dtypes.float32


@pytest.mark.parametrize("make", [
    lambda: Tensor.rand(5, 3),
    lambda: Tensor.randn(7),
    lambda: Tensor.randint(9, low=-3, high=4),
    lambda: Tensor.ones(6) * Tensor.rand(6, contiguous=False),
])  # fmt: skip
def test_one_kernel_for_all_draws_of_a_shape(make: Callable[[], Tensor]) -> None:
    kernels: set[UOp] = set()
    for call in range(5):
        (item,) = make().schedule()
        kernels.add(item.ast)
        Tensor.rand(call).realize()
    Tensor.manual_seed(2)
    kernels |= {item.ast for item in make().schedule()}
    assert len(kernels) == 1
