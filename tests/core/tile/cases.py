"""The kernels that are shipped, with their arguments and what NumPy makes of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.dtype import DType, dtypes
from core.tile import kernels
from core.tile.kernels import AttentionShape
from core.uop.uop import UOp
from tests.core.tile.running import Array

LOG2E = np.log2(np.e)


@dataclass(frozen=True)
class Case:
    """A kernel, its arguments, and its outputs: the first arguments after a run."""

    ast: UOp
    arrays: Sequence[Array]
    wanted: Sequence[Array]
    tolerance: float = 0.0

    def check(self, found: Sequence[Array]) -> None:
        for got, want in zip(found, self.wanted, strict=False):
            np.testing.assert_allclose(got, want, rtol=self.tolerance, atol=self.tolerance)


def numbers(*shape: int, dtype: DType = dtypes.float32, seed: int = 0) -> Array:
    """Random numbers that the dtype holds exactly."""
    rng = np.random.default_rng(seed)
    if dtypes.is_int(dtype):
        low = 0 if dtypes.is_unsigned(dtype) else -9
        return rng.integers(low, 9, shape).astype(np.int64)
    exact = rng.standard_normal(shape).astype(np.float32)
    if dtype is dtypes.bfloat16:
        return (exact.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    if dtype in dtypes.fp8s:
        return np.round(exact)
    return exact.astype(np.float16).astype(np.float32) if dtype is dtypes.float16 else exact


def copy(target: str, rows: int = 70, columns: int = 90, out: DType = dtypes.float32,
         warps: int = 4) -> Case:  # fmt: skip
    x = numbers(rows, columns)
    ast = kernels.copy(rows, columns, target, out=out, warps=warps)
    half = out is dtypes.float16
    return Case(ast, [np.zeros_like(x), x], [x.astype(np.float16) if half else x])


def matmul(
    target: str, m: int, n: int, k: int, dtype: DType = dtypes.float16, warps: int = 4,
    tile: tuple[int, int, int] = (64, 64, 32), tf32: bool = False, tolerance: float = 1e-4,
) -> Case:  # fmt: skip
    a, b = numbers(m, k, dtype=dtype), numbers(k, n, dtype=dtype, seed=1)
    out = dtypes.int32 if dtypes.is_int(dtype) else dtypes.float32
    ast = kernels.matmul(m, n, k, target, dtype, out, warps, tile, tf32)
    c = np.zeros((m, n), np.int32 if dtypes.is_int(dtype) else np.float32)
    return Case(ast, [c, a, b], [a.astype(np.float64) @ b.astype(np.float64)], tolerance)


def softmax(target: str, rows: int = 70, columns: int = 150, warps: int = 4) -> Case:
    x = numbers(rows, columns) * 4
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    ast = kernels.softmax(rows, columns, target, warps=warps, width=32)
    return Case(ast, [np.zeros_like(x), x], [e / e.sum(1, keepdims=True)], 1e-5)


def layer_norm(target: str, rows: int = 70, columns: int = 150, warps: int = 4) -> Case:
    x, w, b = numbers(rows, columns) + 3, numbers(columns, seed=1), numbers(columns, seed=2)
    wide = x.astype(np.float64)
    scale = np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    want = (wide - wide.mean(1, keepdims=True)) / scale * w + b
    ast = kernels.layer_norm(rows, columns, target, warps=warps, width=32)
    return Case(ast, [np.zeros_like(x), x, w, b], [want], 1e-4)


@dataclass(frozen=True)
class Attention:
    """Attention and its gradients in float64."""

    q: Array
    k: Array
    v: Array
    do: Array
    causal: bool

    @property
    def probabilities(self) -> tuple[Array, Array]:
        """(softmax of scores, logarithms to base 2 of the sums of powers)."""
        n, size = self.q.shape[-2:]
        keys = self.k.shape[-2]
        s = self.q.astype(np.float64) @ self.k.swapaxes(-1, -2) / np.sqrt(size)
        if self.causal:
            s = np.where(np.tril(np.ones((n, keys), bool)), s, -np.inf)
        most = s.max(-1, keepdims=True)
        e = np.exp(s - most)
        total = e.sum(-1, keepdims=True)
        return e / total, (np.log2(total) + most * LOG2E).swapaxes(-1, -2)

    @property
    def output(self) -> Array:
        return self.probabilities[0] @ self.v

    @property
    def delta(self) -> Array:
        return (self.output * self.do).sum(-1, keepdims=True).swapaxes(-1, -2)

    @property
    def gradients(self) -> tuple[Array, Array, Array]:
        """(dq, dk, dv)."""
        p, _ = self.probabilities
        ds = p * (self.do @ self.v.swapaxes(-1, -2) - self.delta.swapaxes(-1, -2))
        scale = 1 / np.sqrt(self.q.shape[-1])
        across = ds.swapaxes(-1, -2) @ self.q * scale
        return ds @ self.k * scale, across, p.swapaxes(-1, -2) @ self.do


def problem(shape: AttentionShape) -> Attention:
    q, k, v, do = (
        numbers(*s, dtype=shape.dtype, seed=i)
        for i, s in enumerate(
            (shape.of_queries(), shape.of_keys(), shape.of_keys(), shape.of_queries())
        )
    )
    return Attention(q, k, v, do, shape.causal)


def attention(target: str, length: int, size: int, causal: bool, tolerance: float = 4e-3,
              **more: Any) -> Case:  # fmt: skip
    shape = AttentionShape(1, 2, length, size, causal, **more)
    p = problem(shape)
    _, sums = p.probabilities
    return Case(
        kernels.attention(shape, target),
        [np.zeros_like(p.q), np.zeros_like(sums), p.q, p.k, p.v], [p.output, sums], tolerance,
    )  # fmt: skip


def attention_backward(
    target: str, length: int, size: int, causal: bool, **more: Any
) -> tuple[Case, Case, Case]:
    shape = AttentionShape(1, 2, length, size, causal, **more)
    p, made = problem(shape), kernels.attention_backward(shape, target)
    out, (_, sums), delta = p.output, p.probabilities, p.delta
    dq, dk, dv = p.gradients
    rest = [p.q, p.k, p.v, p.do, sums, delta]
    of_queries, of_keys = np.zeros_like(p.q), np.zeros_like(p.k)
    return (
        Case(made.delta, [np.zeros_like(delta), out, p.do], [delta], 1e-2),
        Case(made.keys, [of_keys, of_keys, *rest], [dk, dv], 8e-3),
        Case(made.queries, [of_queries, *rest], [dq], 8e-3),
    )
