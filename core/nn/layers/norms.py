"""Normalising layers: batch, group, instance, layer and root-mean-square.

Their scale and shift are parameters in memory of their own. Only batch norm keeps running figures,
and changes them only while training.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.dtype import dtypes
from core.errors import ShapeError
from core.helpers import TRAINING
from core.tensor import Tensor


def _ones(*shape: int) -> Tensor:
    return Tensor.ones(*shape).contiguous()


def _zeros(*shape: int) -> Tensor:
    return Tensor.zeros(*shape).contiguous()


class BatchNorm:
    """Normalises each channel (axis 1) over all other axes, https://arxiv.org/abs/1502.03167

    While training by the batch's own mean and variance, which also move the running ones by
    `momentum`; otherwise by the running ones.
    """

    def __init__(
        self,
        sz: int,
        eps: float = 1e-5,
        affine: bool = True,
        track_running_stats: bool = True,
        momentum: float = 0.1,
    ) -> None:
        self.eps, self.momentum, self.track_running_stats = eps, momentum, track_running_stats
        self.weight = _ones(sz) if affine else None
        self.bias = _zeros(sz) if affine else None
        self.num_batches_tracked = Tensor.zeros((), dtype=dtypes.int64).contiguous()
        self.running_mean, self.running_var = _zeros(sz), _ones(sz)
        for counted in (self.num_batches_tracked, self.running_mean, self.running_var):
            counted.requires_grad = False

    def calc_stats(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(mean, variance) per channel to normalise with."""
        if self.track_running_stats and not TRAINING:
            return self.running_mean, self.running_var
        axes = tuple(i for i in range(x.ndim) if i != 1)
        mean = x.mean(axes)
        shape = [x.shape[1] if i == 1 else 1 for i in range(x.ndim)]
        return mean, (x - mean.reshape(shape)).square().mean(axes)

    def __call__(self, x: Tensor) -> Tensor:
        channels = self.running_mean.shape[0]
        if x.ndim < 2 or x.shape[1] != channels:
            raise ShapeError(
                f"batch norm of {channels} channels for a Tensor of {x.shape}",
                hint="axis 1 holds the channels",
            )
        mean, var = self.calc_stats(x)
        if self.track_running_stats and TRAINING:
            self._track(mean, var, x.numel() // max(1, x.shape[1]))
        return x.batchnorm(self.weight, self.bias, mean, (var + self.eps).rsqrt())

    def _track(self, mean: Tensor, var: Tensor, count: int) -> None:
        keep, unbiased = 1 - self.momentum, count / max(1, count - 1)
        for running, seen in ((self.running_mean, mean), (self.running_var, var * unbiased)):
            moved = running * keep + seen.detach() * self.momentum
            running.assign(moved.cast(running.dtype))
        self.num_batches_tracked.assign(self.num_batches_tracked + 1)


class GroupNorm:
    """Normalises each group of channels of each sample, https://arxiv.org/abs/1803.08494"""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True
    ) -> None:
        if num_channels % num_groups:
            raise ShapeError(
                f"{num_groups} groups of {num_channels} channels", hint="they must divide evenly"
            )
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.weight = _ones(num_channels) if affine else None
        self.bias = _zeros(num_channels) if affine else None

    def __call__(self, x: Tensor) -> Tensor:
        groups = x.reshape(x.shape[0], self.num_groups, -1).layernorm(-1, self.eps)
        return _affine(groups.reshape(x.shape), self.weight, self.bias)


class InstanceNorm(GroupNorm):
    """Normalises each channel of each sample, https://arxiv.org/abs/1607.08022"""

    def __init__(self, num_features: int, eps: float = 1e-5, affine: bool = True) -> None:
        super().__init__(num_features, num_features, eps, affine)


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    shape = [1, -1] + [1] * (x.ndim - 2)
    x = x if weight is None else x * weight.reshape(shape)
    return x if bias is None else x + bias.reshape(shape)


class LayerNorm:
    """Normalises over the last axes, which are `normalized_shape`, https://arxiv.org/abs/1607.06450"""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
    ) -> None:
        given = normalized_shape
        self.normalized_shape = (given,) if isinstance(given, int) else tuple(given)
        self.axis = tuple(range(-len(self.normalized_shape), 0))
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.weight = _ones(*self.normalized_shape) if elementwise_affine else None
        self.bias = _zeros(*self.normalized_shape) if elementwise_affine else None

    def __call__(self, x: Tensor) -> Tensor:
        if x.shape[-len(self.normalized_shape) :] != self.normalized_shape:
            raise ShapeError(
                f"layer norm over {self.normalized_shape} of a Tensor of {x.shape}",
                hint="the last axes must be the normalized shape",
            )
        x = x.layernorm(self.axis, self.eps)
        x = x if self.weight is None else x * self.weight
        return x if self.bias is None else x + self.bias


class LayerNorm2d(LayerNorm):
    """`LayerNorm` of (batch, channels, height, width) over the channels of each place."""

    def __call__(self, x: Tensor) -> Tensor:
        return super().__call__(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class RMSNorm:
    """x / sqrt(mean(x ** 2) + eps) over the last axis, https://arxiv.org/abs/1910.07467"""

    def __init__(self, dim: int, eps: float = 1e-6, elementwise_affine: bool = True) -> None:
        self.eps = eps
        self.weight = _ones(dim) if elementwise_affine else None

    def __call__(self, x: Tensor) -> Tensor:
        wide = x.cast(dtypes.float32) if x.dtype.bits < 32 else x
        scaled = wide * (wide.square().mean(-1, keepdim=True) + self.eps).rsqrt()
        scaled = scaled.cast(x.dtype)
        return scaled if self.weight is None else scaled * self.weight
