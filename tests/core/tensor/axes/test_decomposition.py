"""Factors of matrices: their product is the matrix, and they are orthogonal, whatever its rank."""

from __future__ import annotations

import numpy as np
import pytest

from core import Tensor, Variable, dtypes
from core.errors import ShapeError
from core.uop import Ops

RANDOM = np.random.default_rng(5)
SHAPES = [(1, 1), (3, 3), (4, 2), (2, 5), (2, 3, 2), (1, 3), (3, 1)]


def matrices(shape: tuple[int, ...]) -> list[np.ndarray]:
    """Of full rank, of rank one, of zeros, and with large and small values."""
    x = RANDOM.normal(size=shape).astype(np.float32)
    return [x, np.ones(shape, np.float32), np.zeros(shape, np.float32), x * 1e12, x * 1e-12]


def check_orthogonal(x: np.ndarray) -> None:
    unit = np.eye(x.shape[-1]) + np.zeros((*x.shape[:-2], 1, 1))
    np.testing.assert_allclose(np.swapaxes(x, -1, -2) @ x, unit, atol=2e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_qr(shape: tuple[int, ...]) -> None:
    for x in matrices(shape)[:4]:
        q, r = (t.numpy() for t in Tensor(x).qr())
        assert q.shape == (*shape[:-1], shape[-2])
        assert r.shape == shape
        check_orthogonal(q)
        np.testing.assert_array_equal(r, np.triu(r))
        np.testing.assert_allclose(q @ r, x, atol=2e-6 * max(1e-30, np.abs(x).max()))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("shape", SHAPES)
def test_svd(shape: tuple[int, ...]) -> None:
    k = min(shape[-2:])
    for x in matrices(shape):
        size = max(1e-30, float(np.abs(x).max()))
        u, s, v = (t.numpy() for t in Tensor(x).svd())
        assert u.shape == (*shape[:-1], shape[-2])
        assert v.shape == (*shape[:-2], shape[-1], shape[-1])
        check_orthogonal(u)
        check_orthogonal(v)
        wanted = np.linalg.svd(x.astype(np.float64), compute_uv=False)
        np.testing.assert_allclose(s, wanted, rtol=2e-5, atol=5e-6 * size)
        product = u[..., :k] * s[..., None, :] @ v[..., :k, :]
        np.testing.assert_allclose(product, x, atol=5e-6 * size)


def test_svd_cut_and_larger() -> None:
    x = RANDOM.normal(size=(9, 7)) @ np.diag(10.0 ** -np.arange(7))
    u, s, v = (t.numpy() for t in Tensor(x).svd(full_matrices=False))
    assert (u.shape, s.shape, v.shape) == ((9, 7), (7,), (7, 7))
    np.testing.assert_allclose(s, np.linalg.svd(x, compute_uv=False), rtol=1e-9)
    np.testing.assert_allclose(u * s @ v, x, atol=1e-12)
    u, s, v = Tensor(x.T).svd(full_matrices=False)
    assert (u.shape, v.shape) == ((7, 7), (7, 9))


def test_many_columns() -> None:
    """A step is the same kernel for all columns."""
    x = RANDOM.normal(size=(60, 60)).astype(np.float32)
    kernels = {item.ast for item in Tensor(x).qr()[0].schedule() if item.ast.op is Ops.SINK}
    assert len(kernels) <= 3
    q, r = (t.numpy() for t in Tensor(x).qr())
    np.testing.assert_allclose(q @ r, x, atol=2e-5)
    u, s, v = (t.numpy() for t in Tensor(x).svd())
    np.testing.assert_allclose(s, np.linalg.svd(x, compute_uv=False), rtol=2e-5, atol=1e-4)
    np.testing.assert_allclose(u * s @ v, x, atol=1e-4)


@pytest.mark.parametrize("device", ["PTX:EMU", "AMD:EMU"])
def test_on_emulators(device: str) -> None:
    x = RANDOM.normal(size=(2, 5, 4)).astype(np.float32)
    q, r = (t.numpy() for t in Tensor(x, device=device).qr())
    check_orthogonal(q)
    np.testing.assert_allclose(q @ r, x, atol=5e-6)
    u, s, v = (t.numpy() for t in Tensor(x, device=device).svd(full_matrices=False))
    np.testing.assert_allclose(u * s[..., None, :] @ v, x, atol=5e-6)


def test_what_has_no_kernel_takes_the_steps_one_by_one() -> None:
    """Parts on several devices, and a length that is a variable."""
    x = RANDOM.normal(size=(4, 3, 3)).astype(np.float32)
    parts = Tensor(x).shard(("CPU:0", "CPU:1"), 0)
    for given, size in ((parts, 4), (Tensor(x)[: Variable("n", 1, 4).bind(2)], 2)):
        q, r = (t.numpy() for t in given.qr())
        np.testing.assert_allclose(q @ r, x[:size], atol=5e-6)


def test_gradient_of_singular_values() -> None:
    """The derivative of their sum is U @ V."""
    x = RANDOM.normal(size=(3, 2))
    given = Tensor(x, requires_grad=True)
    given.svd()[1].sum().backward()
    assert given.grad is not None
    u, _, v = np.linalg.svd(x, full_matrices=False)
    np.testing.assert_allclose(given.grad.numpy(), u @ v, atol=1e-12)


def test_gradient_of_qr() -> None:
    x = RANDOM.normal(size=(3, 2))
    weight = RANDOM.normal(size=(3, 2))

    def value(x: np.ndarray) -> Tensor:
        given = Tensor(x, requires_grad=True)
        loss = (given.qr()[1] * Tensor(weight)).sum()
        loss.backward()
        assert given.grad is not None
        values.append(given.grad.numpy())
        return loss

    values: list[np.ndarray] = []
    step, change = 1e-6, RANDOM.normal(size=(3, 2))
    numeric = (value(x + step * change).item() - value(x - step * change).item()) / (2 * step)
    value(x)
    np.testing.assert_allclose((values[-1] * change).sum(), numeric, rtol=1e-5)


def test_a_step_of_the_gradient_is_the_same_kernels_for_all_columns() -> None:
    def count(n: int) -> int:
        x = Tensor(RANDOM.normal(size=(n, n)), requires_grad=True)
        x.qr()[0].sum().backward()
        assert x.grad is not None
        return len({item.ast for item in x.grad.schedule() if item.ast.op is Ops.SINK})

    assert count(5) == count(8)


def test_other_dtypes_and_shapes() -> None:
    q, r = Tensor([[1, 2], [3, 4]]).qr()
    assert (q.dtype, r.dtype) == (dtypes.float32, dtypes.float32)
    assert Tensor([[1.0, 2]]).half().svd()[1].dtype is dtypes.float16
    for wrong in (Tensor([1.0]), Tensor.zeros(2, 0), Tensor(1)):
        with pytest.raises(ShapeError, match="it takes matrices"):
            wrong.qr()
        with pytest.raises(ShapeError, match="it takes matrices"):
            wrong.svd()
