"""The functions that texts of random programs call, in PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

T = torch.Tensor

Axes = int | tuple[int, ...] | None


class TorchFunctions:
    """See `numpy_functions`. With `wide`, every float is a float64."""

    def __init__(self, wide: bool) -> None:
        self.wide = wide

    def dtype(self, name: str) -> torch.dtype:
        return torch.float64 if self.wide and name.startswith("float") else getattr(torch, name)

    def data(self, values: Any) -> T:
        return torch.from_numpy(np.array(values)).to(self.dtype(values.dtype.name))

    def full(self, shape: Sequence[int], value: Any, dtype: str) -> T:
        return torch.full(tuple(shape), value, dtype=self.dtype(dtype))

    def arange(self, n: int, dtype: str) -> T:
        return torch.arange(n).to(self.dtype(dtype))

    def cast(self, x: T, dtype: str) -> T:
        return x.to(self.dtype(dtype))

    def bitcast(self, x: T, dtype: str) -> T:
        return x.contiguous().view(self.dtype(dtype))

    def through_bfloat16(self, x: T) -> T:
        return x if self.wide else x.to(torch.bfloat16).to(x.dtype)

    # elements

    def exp(self, x: T) -> T:
        return x.exp()

    def sin(self, x: T) -> T:
        return x.sin()

    def tanh(self, x: T) -> T:
        return x.tanh()

    def sqrt(self, x: T) -> T:
        return x.sqrt()

    def log(self, x: T) -> T:
        return x.log()

    def sigmoid(self, x: T) -> T:
        return x.sigmoid()

    def silu(self, x: T) -> T:
        return F.silu(x)

    def softplus(self, x: T) -> T:
        return torch.logaddexp(x, torch.zeros_like(x))

    def erf(self, x: T) -> T:
        return x.erf()

    def elu(self, x: T) -> T:
        return F.elu(x)

    def relu(self, x: T) -> T:
        return x.relu()

    def abs(self, x: T) -> T:
        return x.abs()

    def sign(self, x: T) -> T:
        return x.sign()

    def floor(self, x: T) -> T:
        return x.floor()

    def ceil(self, x: T) -> T:
        return x.ceil()

    def trunc(self, x: T) -> T:
        return x.trunc()

    def round(self, x: T) -> T:
        return x.round()

    def invert(self, x: T) -> T:
        return ~x

    def neg(self, x: T) -> T:
        return -x

    def logical_not(self, x: T) -> T:
        return x == 0

    def clip(self, x: T, low: Any, high: Any) -> T:
        return x.clip(low, high)

    def logaddexp(self, x: T, y: T) -> T:
        return torch.logaddexp(x, y)

    def maximum(self, x: T, y: T) -> T:
        return torch.maximum(x, y)

    def minimum(self, x: T, y: T) -> T:
        return torch.minimum(x, y)

    def where(self, c: T, x: T, y: T) -> T:
        return torch.where(c, x, y)

    def _divided(self, x: T, y: T, mode: str) -> T:
        """0 where the divisor is 0, which PyTorch refuses."""
        quotient = torch.div(x, torch.where(y == 0, 1, y), rounding_mode=mode)
        return torch.where(y == 0, 0, quotient).to(x.dtype)

    def floor_divide(self, x: T, y: T) -> T:
        return self._divided(x, y, "floor")

    def truncated_quotient(self, x: T, y: T) -> T:
        return self._divided(x, y, "trunc")

    def remainder(self, x: T, y: T) -> T:
        return torch.where(y == 0, x, torch.remainder(x, torch.where(y == 0, 1, y))).to(x.dtype)

    # movement

    def reshape(self, x: T, shape: Sequence[int]) -> T:
        return x.reshape(tuple(shape))

    def permute(self, x: T, order: Sequence[int]) -> T:
        return x.permute(tuple(order))

    def flip(self, x: T, axes: tuple[int, ...]) -> T:
        return x.flip(axes)

    def expand(self, x: T, shape: Sequence[int]) -> T:
        return x.expand(tuple(shape))

    def cut(self, x: T, key: tuple[Any, ...]) -> T:
        """PyTorch has no negative steps: the positions are picked."""
        at = np.arange(x.numel()).reshape(tuple(x.shape))[key]
        picked = x.reshape(-1)[torch.from_numpy(np.array(at).reshape(-1))]
        return picked.reshape(np.asarray(at).shape)

    def pad(self, x: T, widths: Sequence[tuple[int, int]], value: Any) -> T:
        inside = x.new_full([n + a + b for n, (a, b) in zip(x.shape, widths, strict=True)], value)
        part = tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, widths, strict=True))
        return inside.index_put(np_ix(inside, part), x)

    def pad_mode(self, x: T, widths: Sequence[tuple[int, int]], mode: str) -> T:
        names: Any = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
        for axis, width in enumerate(widths):
            at = np.pad(np.arange(x.shape[axis]), width, names[mode])
            x = x.index_select(axis, torch.from_numpy(at))
        return x

    def repeat(self, x: T, times: Sequence[int]) -> T:
        return x.repeat(tuple(times))

    def repeat_interleave(self, x: T, times: int, axis: int) -> T:
        return x.repeat_interleave(times, axis)

    def roll(self, x: T, by: int, axis: int) -> T:
        return x.roll(by, axis)

    def diagonal(self, x: T, offset: int) -> T:
        return x.diagonal(offset)

    def tril(self, x: T, k: int) -> T:
        return x.tril(k)

    def triu(self, x: T, k: int) -> T:
        return x.triu(k)

    def cat(self, parts: Sequence[T], axis: int) -> T:
        return torch.cat(list(parts), axis)

    def stack(self, parts: Sequence[T], axis: int) -> T:
        return torch.stack(list(parts), axis)

    # reduces

    def wider(self, x: T) -> T:
        narrow = {torch.bool: torch.int32, torch.int8: torch.int32, torch.int16: torch.int32,
                  torch.uint8: torch.int64, torch.float16: torch.float32}  # fmt: skip
        return x.to(narrow.get(x.dtype, x.dtype))

    def rounded(self, total: T, x: T) -> T:
        return total.to(x.dtype) if x.dtype.is_floating_point else total.to(self.wider(x).dtype)

    def axes(self, x: T, axis: Axes) -> tuple[int, ...]:
        every = tuple(range(x.ndim))
        return every if axis is None else (axis,) if isinstance(axis, int) else axis

    def sum(self, x: T, axis: Axes, keep: bool) -> T:
        if not x.ndim:
            return self.rounded(self.wider(x), x)
        return self.rounded(self.wider(x).sum(self.axes(x, axis), keep), x)

    def prod(self, x: T, axis: Axes, keep: bool) -> T:
        total = self.wider(x)
        for k in sorted((a % x.ndim for a in self.axes(x, axis)), reverse=True):
            total = total.prod(k, keep)
        return self.rounded(total, x)

    def max(self, x: T, axis: Axes, keep: bool) -> T:
        return x.amax(self.axes(x, axis), keep) if x.ndim else x

    def min(self, x: T, axis: Axes, keep: bool) -> T:
        return x.amin(self.axes(x, axis), keep) if x.ndim else x

    def any(self, x: T, axis: Axes, keep: bool) -> T:
        found = x != 0
        return found.to(torch.int32).sum(self.axes(x, axis), keep) > 0 if x.ndim else found

    def all(self, x: T, axis: Axes, keep: bool) -> T:
        return ~self.any(x == 0, axis, keep)

    def mean(self, x: T, axis: Axes, keep: bool) -> T:
        return self.rounded(self.wider(x).mean(self.axes(x, axis), keep), x) if x.ndim else x

    def var(self, x: T, axis: Axes, keep: bool) -> T:
        if not x.ndim:
            return x * 0
        wide = self.wider(x)
        return self.rounded(wide.var(self.axes(x, axis), correction=0, keepdim=keep), x)

    def argmax(self, x: T, axis: int, keep: bool) -> T:
        """The first of equals, which PyTorch does not promise."""
        own = x.to(torch.int32) if x.dtype == torch.bool else x
        is_best = (own == own.amax(axis, True)).to(torch.int32)
        n = x.shape[axis]
        shape = [n if i == axis % x.ndim else 1 for i in range(x.ndim)]
        back = (n - torch.arange(n)).reshape(shape)
        return (n - (is_best * back).amax(axis, keep)).to(torch.int32)

    def argmin(self, x: T, axis: int, keep: bool) -> T:
        own = x.to(torch.int64) if not x.dtype.is_floating_point else x
        return self.argmax(-1 - own if not own.dtype.is_floating_point else -own, axis, keep)

    def logsumexp(self, x: T, axis: int, keep: bool) -> T:
        return x.logsumexp(axis, keep)

    def softmax(self, x: T, axis: int) -> T:
        return x.softmax(axis)

    def log_softmax(self, x: T, axis: int) -> T:
        return x.log_softmax(axis)

    def layernorm(self, x: T) -> T:
        return F.layer_norm(x, (x.shape[-1],), eps=0.5)

    def cumsum(self, x: T, axis: int) -> T:
        return self.rounded(self.wider(x).cumsum(axis), x)

    def cumprod(self, x: T, axis: int) -> T:
        return self.rounded(self.wider(x).cumprod(axis), x)

    def cummax(self, x: T, axis: int) -> T:
        return x.cummax(axis)[0]

    def cummin(self, x: T, axis: int) -> T:
        return x.cummin(axis)[0]

    def cummin_at(self, x: T, axis: int) -> T:
        return x.cummin(axis)[1].to(torch.int32)

    def logcumsumexp(self, x: T, axis: int) -> T:
        return x.logcumsumexp(axis)

    # order

    def sort(self, x: T, axis: int, descending: bool) -> T:
        return x.sort(dim=axis, descending=descending, stable=True)[0]

    def argsort(self, x: T, axis: int, descending: bool) -> T:
        return x.sort(dim=axis, descending=descending, stable=True)[1].to(torch.int32)

    def top(self, x: T, k: int, axis: int, largest: bool) -> T:
        return self.sort(x, axis, largest).narrow(axis, 0, k)

    # picking and placing

    def rows(self, x: T, index: T) -> T:
        return x[index.to(torch.int64)]

    def gather(self, x: T, axis: int, index: T) -> T:
        return x.gather(axis, index.to(torch.int64))

    def one_hot(self, x: T, classes: int) -> T:
        return F.one_hot(x.to(torch.int64), classes).to(torch.int32)

    def scatter(self, x: T, axis: int, index: T, src: T, how: str) -> T:
        if how == "set":
            return x.scatter(axis, index, src)
        names = {"add": "sum"}
        return x.scatter_reduce(axis, index, src, names.get(how, how))

    def stored(self, x: T, key: Any, y: T) -> T:
        result = x.clone(memory_format=torch.contiguous_format)
        if isinstance(key, tuple):
            at = np.arange(x.numel()).reshape(tuple(x.shape))[key]
            flat, shape = torch.from_numpy(np.array(at).reshape(-1)), np.asarray(at).shape
            result.view(-1)[flat] = y.expand(shape).reshape(-1)
        else:
            result[key] = y
        return result

    def stored_where(self, x: T, mask: T, value: Any) -> T:
        return torch.where(mask, torch.tensor(value, dtype=x.dtype), x)

    # sums of products

    def matmul(self, x: T, y: T) -> T:
        return (self.wider(x) @ self.wider(y)).to(x.dtype)

    def einsum(self, formula: str, x: T, y: T) -> T:
        # of narrower integers, it sums in int64 and then asks for the narrower dtype
        floats = x.dtype.is_floating_point
        wide = [self.wider(t) if floats else t.to(torch.int64) for t in (x, y)]
        return torch.einsum(formula, *wide).to(x.dtype)

    def conv(self, x: T, w: T, padding: int, stride: int, dilation: int) -> T:
        run = F.conv1d if x.ndim == 3 else F.conv2d
        own = x.dtype if x.dtype.is_floating_point else torch.float64
        wide = [self.wider(t) if t.dtype.is_floating_point else t.to(own) for t in (x, w)]
        return (
            run(wide[0], wide[1], None, stride, padding, dilation)
            .to(torch.int64 if own != x.dtype else x.dtype)
            .to(x.dtype)
        )

    def max_pool(self, x: T, size: int, stride: int, dilation: int) -> T:
        own = x.to(torch.float64) if not x.dtype.is_floating_point else x
        return F.max_pool2d(own, size, stride, 0, dilation).to(x.dtype)

    def avg_pool(self, x: T, size: int, stride: int, padding: int) -> T:
        return self.rounded(F.avg_pool2d(self.wider(x), size, stride, padding), x)


def np_ix(x: T, part: tuple[slice, ...]) -> tuple[T, ...]:
    """The positions of a part of `x`, as index Tensors that broadcast."""
    ends = [torch.arange(x.shape[i])[s] for i, s in enumerate(part)]
    return tuple(
        e.reshape([-1 if i == k else 1 for k in range(x.ndim)]) for i, e in enumerate(ends)
    )
