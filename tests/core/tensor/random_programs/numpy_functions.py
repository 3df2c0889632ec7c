"""The functions that model texts of `operations` call, in NumPy. Dtypes are those that the project
documents: sums of narrow integers have 32 bits, float16 is summed in float32 and rounded once.

With `wide`, every float is a float64: the same program with (nearly) no rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Axes = int | tuple[int, ...] | None


class NumpyFunctions:
    """One of two worlds: as the dtypes are, or with every float `wide`."""

    def __init__(self, wide: bool) -> None:
        self.wide = wide

    # making

    def dtype(self, name: str) -> np.dtype[Any]:
        dtype = np.dtype(name)
        return np.dtype(np.float64) if self.wide and dtype.kind == "f" else dtype

    def data(self, values: Array) -> Array:
        return values.astype(self.dtype(values.dtype.name))

    def full(self, shape: Sequence[int], value: Any, dtype: str) -> Array:
        return np.full(shape, value, self.dtype(dtype))

    def arange(self, n: int, dtype: str) -> Array:
        return np.arange(n).astype(self.dtype(dtype))

    def cast(self, x: Array, dtype: str) -> Array:
        to = np.dtype(dtype)
        if x.dtype.kind == "f" and to.kind in "iu":
            low, high = float(np.iinfo(to).min), float(np.iinfo(to).max)
            return np.clip(np.trunc(x).astype(np.float64), low, high).astype(to)
        return x.astype(self.dtype(dtype))

    def bitcast(self, x: Array, dtype: str) -> Array:
        return np.ascontiguousarray(x).view(dtype).reshape(x.shape)

    def through_bfloat16(self, x: Array) -> Array:
        """Rounded to 8 bits of mantissa, ties to even."""
        if self.wide:
            return x
        bits = x.astype(np.float32).view(np.uint32)
        rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
        return (rounded & np.uint32(0xFFFF0000)).view(np.float32).astype(x.dtype)

    # elements

    def through(self, function: Callable[[Array], Array], x: Array) -> Array:
        """A function of floats, in float32 at least."""
        wide = x.astype(np.float32) if x.dtype == np.float16 else x
        return np.asarray(function(wide)).astype(x.dtype)

    def exp(self, x: Array) -> Array:
        return self.through(np.exp, x)

    def sin(self, x: Array) -> Array:
        return self.through(np.sin, x)

    def tanh(self, x: Array) -> Array:
        return self.through(np.tanh, x)

    def sqrt(self, x: Array) -> Array:
        return self.through(np.sqrt, x)

    def log(self, x: Array) -> Array:
        return self.through(np.log, x)

    def sigmoid(self, x: Array) -> Array:
        return self.through(lambda v: 1 / (1 + np.exp(-v)), x)

    def silu(self, x: Array) -> Array:
        return self.through(lambda v: v / (1 + np.exp(-v)), x)

    def softplus(self, x: Array) -> Array:
        return self.through(lambda v: np.logaddexp(v, 0), x)

    def erf(self, x: Array) -> Array:
        return self.through(np.vectorize(math.erf, otypes=[np.float64]), x)

    def elu(self, x: Array) -> Array:
        return self.through(lambda v: np.where(v > 0, v, np.expm1(np.minimum(v, 0))), x)

    def relu(self, x: Array) -> Array:
        return np.maximum(x, x.dtype.type(0))

    def abs(self, x: Array) -> Array:
        return np.abs(x)

    def sign(self, x: Array) -> Array:
        return x if x.dtype.kind == "b" else np.sign(x)

    def floor(self, x: Array) -> Array:
        return np.floor(x)

    def ceil(self, x: Array) -> Array:
        return np.ceil(x)

    def trunc(self, x: Array) -> Array:
        return np.trunc(x)

    def round(self, x: Array) -> Array:
        return np.round(x)

    def invert(self, x: Array) -> Array:
        return ~x

    def neg(self, x: Array) -> Array:
        return -x

    def logical_not(self, x: Array) -> Array:
        return x == 0

    def clip(self, x: Array, low: Any, high: Any) -> Array:
        return np.clip(x, x.dtype.type(low), x.dtype.type(high))

    def logaddexp(self, x: Array, y: Array) -> Array:
        wide = np.float32 if x.dtype == np.float16 else x.dtype
        return np.asarray(np.logaddexp(x.astype(wide), y.astype(wide))).astype(x.dtype)

    def maximum(self, x: Array, y: Array) -> Array:
        return np.maximum(x, y)

    def minimum(self, x: Array, y: Array) -> Array:
        return np.minimum(x, y)

    def where(self, c: Array, x: Array, y: Array) -> Array:
        return np.where(c, x, y)

    def floor_divide(self, x: Array, y: Array) -> Array:
        """Down; 0 where the divisor is 0."""
        safe = np.where(y == 0, y.dtype.type(1), y)
        return np.where(y == 0, x.dtype.type(0), x // safe).astype(x.dtype)

    def remainder(self, x: Array, y: Array) -> Array:
        """With the divisor's sign; x where the divisor is 0."""
        safe = np.where(y == 0, y.dtype.type(1), y)
        return np.where(y == 0, x, x % safe).astype(x.dtype)

    def truncated_quotient(self, x: Array, y: Array) -> Array:
        safe = np.where(y == 0, y.dtype.type(1), y)
        down, left = x // safe, x % safe
        up = (left != 0) & ((x < 0) != (safe < 0))
        return np.where(y == 0, x.dtype.type(0), down + up.astype(x.dtype)).astype(x.dtype)

    # movement

    def reshape(self, x: Array, shape: Sequence[int]) -> Array:
        return x.reshape(shape)

    def permute(self, x: Array, order: Sequence[int]) -> Array:
        return x.transpose(order)

    def flip(self, x: Array, axes: tuple[int, ...]) -> Array:
        return np.flip(x, axes)

    def expand(self, x: Array, shape: Sequence[int]) -> Array:
        return np.broadcast_to(x, shape)

    def cut(self, x: Array, key: Any) -> Array:
        return x[key]

    def pad(self, x: Array, widths: Sequence[tuple[int, int]], value: Any) -> Array:
        return np.pad(x, widths, constant_values=value)

    def pad_mode(self, x: Array, widths: Sequence[tuple[int, int]], mode: Any) -> Array:
        names: Any = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
        return np.pad(x, widths, names[mode])

    def repeat(self, x: Array, times: Sequence[int]) -> Array:
        return np.tile(x, times)

    def repeat_interleave(self, x: Array, times: int, axis: int) -> Array:
        return np.repeat(x, times, axis)

    def roll(self, x: Array, by: int, axis: int) -> Array:
        return np.roll(x, by, axis)

    def diagonal(self, x: Array, offset: int) -> Array:
        return np.diagonal(x, offset)

    def tril(self, x: Array, k: int) -> Array:
        return np.tril(x, k)

    def triu(self, x: Array, k: int) -> Array:
        return np.triu(x, k)

    def cat(self, parts: Sequence[Array], axis: int) -> Array:
        return np.concatenate(parts, axis)

    def stack(self, parts: Sequence[Array], axis: int) -> Array:
        return np.stack(parts, axis)

    # reduces

    def wider(self, x: Array) -> Array:
        """In the dtype that sums accumulate in."""
        names = {"b": "int32", "i": "int32", "u": "uint32", "f": "float32"}
        return x.astype(names[x.dtype.kind]) if x.dtype.itemsize < 4 else x

    def rounded(self, total: Any, x: Array) -> Array:
        return np.asarray(total).astype(x.dtype) if x.dtype.kind == "f" else np.asarray(total)

    def sum(self, x: Array, axis: Axes, keep: bool) -> Array:
        w = self.wider(x)
        return self.rounded(np.sum(w, axis=axis, keepdims=keep, dtype=w.dtype), x)

    def prod(self, x: Array, axis: Axes, keep: bool) -> Array:
        w = self.wider(x)
        return self.rounded(np.prod(w, axis=axis, keepdims=keep, dtype=w.dtype), x)

    def max(self, x: Array, axis: Axes, keep: bool) -> Array:
        return np.asarray(np.max(x, axis=axis, keepdims=keep))

    def min(self, x: Array, axis: Axes, keep: bool) -> Array:
        return np.asarray(np.min(x, axis=axis, keepdims=keep))

    def any(self, x: Array, axis: Axes, keep: bool) -> Array:
        return np.asarray(np.any(x, axis=axis, keepdims=keep))

    def all(self, x: Array, axis: Axes, keep: bool) -> Array:
        return np.asarray(np.all(x, axis=axis, keepdims=keep))

    def mean(self, x: Array, axis: Axes, keep: bool) -> Array:
        return self.rounded(np.mean(self.wider(x), axis=axis, keepdims=keep), x)

    def var(self, x: Array, axis: Axes, keep: bool) -> Array:
        return self.rounded(np.var(self.wider(x), axis=axis, keepdims=keep), x)

    def argmax(self, x: Array, axis: int, keep: bool) -> Array:
        return np.asarray(np.argmax(x, axis=axis, keepdims=keep)).astype(np.int32)

    def argmin(self, x: Array, axis: int, keep: bool) -> Array:
        return np.asarray(np.argmin(x, axis=axis, keepdims=keep)).astype(np.int32)

    def logsumexp(self, x: Array, axis: int, keep: bool) -> Array:
        def log_of_sum(v: Array) -> Array:
            top = v.max(axis=axis, keepdims=True)
            total = np.log(np.sum(np.exp(v - top), axis=axis, keepdims=True)) + top
            return total if keep else total.squeeze(axis)

        return self.through(log_of_sum, x)

    def softmax(self, x: Array, axis: int) -> Array:
        def soft(v: Array) -> Array:
            powers = np.exp(v - v.max(axis=axis, keepdims=True))
            return powers / powers.sum(axis=axis, keepdims=True)

        return self.through(soft, x)

    def log_softmax(self, x: Array, axis: int) -> Array:
        def soft(v: Array) -> Array:
            shifted = v - v.max(axis=axis, keepdims=True)
            return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))

        return self.through(soft, x)

    def layernorm(self, x: Array) -> Array:
        def norm(v: Array) -> Array:
            mean, var = v.mean(-1, keepdims=True), v.var(-1, keepdims=True)
            return (v - mean) / np.sqrt(var + 0.5)

        return self.through(norm, x)

    def cumsum(self, x: Array, axis: int) -> Array:
        w = self.wider(x)
        return self.rounded(np.cumsum(w, axis, dtype=w.dtype), x)

    def cumprod(self, x: Array, axis: int) -> Array:
        w = self.wider(x)
        return self.rounded(np.cumprod(w, axis, dtype=w.dtype), x)

    def cummax(self, x: Array, axis: int) -> Array:
        return np.maximum.accumulate(x, axis)

    def cummin(self, x: Array, axis: int) -> Array:
        return np.minimum.accumulate(x, axis)

    def cummin_at(self, x: Array, axis: int) -> Array:
        shape = [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)]
        places = np.arange(x.shape[axis], dtype=np.int32).reshape(shape)
        found = np.where(x == np.minimum.accumulate(x, axis), places, 0)
        return np.maximum.accumulate(found, axis).astype(np.int32)

    def logcumsumexp(self, x: Array, axis: int) -> Array:
        return self.through(lambda v: np.logaddexp.accumulate(v, axis), x)

    # order

    def sort(self, x: Array, axis: int, descending: bool) -> Array:
        return np.take_along_axis(x, self.argsort(x, axis, descending), axis)

    def argsort(self, x: Array, axis: int, descending: bool) -> Array:
        if not descending:
            return np.argsort(x, axis, kind="stable").astype(np.int32)
        backwards = np.argsort(np.flip(x, axis), axis, kind="stable").astype(np.int32)
        return np.int32(x.shape[axis] - 1) - np.flip(backwards, axis)

    def top(self, x: Array, k: int, axis: int, largest: bool) -> Array:
        return self.sort(x, axis, largest).take(np.arange(k), axis)

    # picking and placing

    def rows(self, x: Array, index: Array) -> Array:
        """Rows of the first axis; out of range gives 0, negative counts from the end."""
        n = len(x)
        at = np.where(index < 0, index + n, index)
        holds = np.asarray((at >= 0) & (at < n)).reshape((*index.shape, *[1] * (x.ndim - 1)))
        found = x[np.clip(at, 0, n - 1)]
        return np.where(holds, found, x.dtype.type(0))

    def gather(self, x: Array, axis: int, index: Array) -> Array:
        at = axis % x.ndim
        part = tuple(slice(None) if i == at else slice(0, n) for i, n in enumerate(index.shape))
        return np.take_along_axis(x[part], index, axis)

    def one_hot(self, x: Array, classes: int) -> Array:
        return (x[..., None] == np.arange(classes)).astype(np.int32)

    def scatter(self, x: Array, axis: int, index: Array, src: Array, how: str) -> Array:
        """`how`: "set" (the last of equals wins), "add", "amax", "amin"."""
        result = x.copy()
        for place in np.ndindex(*index.shape):
            to = (*place[:axis], int(index[place]), *place[axis + 1 :])
            if how == "set":
                result[to] = src[place]
            elif how == "add":
                result[to] = result[to] + src[place]
            else:
                best = max if how == "amax" else min
                result[to] = best(result[to], src[place])
        return result

    def stored(self, x: Array, key: Any, y: Array) -> Array:
        """x with x[key] = y."""
        result = x.copy()
        result[key] = y
        return result

    def stored_where(self, x: Array, mask: Array, value: Any) -> Array:
        result = x.copy()
        result[mask] = value
        return result

    # sums of products

    def matmul(self, x: Array, y: Array) -> Array:
        a, b = self.wider(x), self.wider(y)
        return np.asarray(a @ b).astype(x.dtype)

    def einsum(self, formula: str, x: Array, y: Array) -> Array:
        a, b = self.wider(x), self.wider(y)
        return np.asarray(np.einsum(formula, a, b)).astype(x.dtype)

    def windows(self, x: Array, size: Sequence[int], stride: int, dilation: int) -> Array:
        """(batch, channels, *positions, *size)"""
        n = len(size)
        reach = [dilation * (k - 1) + 1 for k in size]
        seen = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(2, 2 + n)))
        every = [slice(None), slice(None)]
        return seen[(*every, *[slice(None, None, stride)] * n, *[slice(None, None, dilation)] * n)]

    def conv(self, x: Array, w: Array, padding: int, stride: int, dilation: int) -> Array:
        space = x.ndim - 2
        a, b = self.wider(x), self.wider(w)
        a = np.pad(a, [(0, 0), (0, 0)] + [(padding, padding)] * space)
        seen = self.windows(a, w.shape[2:], stride, dilation)
        letters = "pqr"[:space]
        formula = f"nc{letters}{letters.upper()},oc{letters.upper()}->no{letters}"
        return np.asarray(np.einsum(formula, seen, b)).astype(x.dtype)

    def max_pool(self, x: Array, size: int, stride: int, dilation: int) -> Array:
        seen = self.windows(x, [size] * 2, stride, dilation)
        return seen.max((-1, -2))

    def avg_pool(self, x: Array, size: int, stride: int, padding: int) -> Array:
        a = np.pad(self.wider(x), [(0, 0), (0, 0), (padding, padding), (padding, padding)])
        return self.rounded(self.windows(a, [size] * 2, stride, 1).mean((-1, -2)), x)
