"""Normalisation and dropout, and layers in a row.

Random parts act only while `Tensor.training`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from core.errors import DTypeError
from core.helpers import TRAINING
from core.tensor.axes.creation import cut_alike
from core.tensor.axes.reduction import Axes, axes_of
from core.tensor.state.base import make, same_value

if TYPE_CHECKING:
    from core.tensor import Tensor


def sequential(self: Tensor, layers: Sequence[Callable[[Tensor], Tensor]]) -> Tensor:
    """The layers applied one after the other."""
    x = self
    for layer in layers:
        x = layer(x)
    return x


def layernorm(self: Tensor, axis: Axes = -1, eps: float = 1e-5) -> Tensor:
    """(x - mean) / sqrt(var + eps) over the axes, https://arxiv.org/abs/1607.06450"""
    centered = self - self.mean(axis, keepdim=True)
    return centered * (centered.square().mean(axis, keepdim=True) + eps).rsqrt()


def batchnorm(
    self: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    invstd: Tensor,
    axis: int | Sequence[int] = 1,
) -> Tensor:
    """(x - mean) * invstd * weight + bias, with those four along `axis`.

    https://arxiv.org/abs/1502.03167
    """
    axes = axes_of(self, axis)
    shape = [n if i in axes else 1 for i, n in enumerate(self.shape)]
    x = self - mean.reshape(shape)
    if weight is not None:
        x = x * weight.reshape(shape)
    result = x * (invstd.reshape(shape) if invstd.ndim == len(axes) else invstd)
    return result if bias is None else result + bias.reshape(shape)


def dropout(self: Tensor, p: float = 0.5) -> Tensor:
    """While training: 0 with probability p, else x / (1 - p). Otherwise x."""
    if not 0 <= p <= 1:
        raise DTypeError(f"dropout with probability {p}", hint="give 0 to 1")
    if not TRAINING or p == 0:
        return same_value(self)
    if p == 1:
        return make(self, self.uop.const_like(0))
    drawn = type(self).rand(self.shape, device=self.device, contiguous=False)
    kept = (cut_alike(self, drawn) >= p).contiguous()
    return kept.where(self, 0) / (1 - p)
