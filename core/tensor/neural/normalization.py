"""Normalisation and dropout, and layers in a row.

Random parts act only while `Tensor.training`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from core.errors import DTypeError
from core.helpers import TRAINING
from core.tensor.axes.reduction import Axes
from core.tensor.calls.origin import here
from core.tensor.neural.interpolation import Interpolation


class Normalization(Interpolation):
    """What stands between the layers of a model."""

    __slots__ = ()

    def sequential(self, layers: Sequence[Callable[[Self], Self]]) -> Self:
        """The layers applied one after the other."""
        x = self
        for layer in layers:
            x = layer(x)
        return x

    def layernorm(self, axis: Axes = -1, eps: float = 1e-5) -> Self:
        """(x - mean) / sqrt(var + eps) over the axes, https://arxiv.org/abs/1607.06450"""
        centered = self - self.mean(axis, keepdim=True)
        return centered * (centered.square().mean(axis, keepdim=True) + eps).rsqrt()

    def batchnorm(
        self,
        weight: Self | None,
        bias: Self | None,
        mean: Self,
        invstd: Self,
        axis: int | Sequence[int] = 1,
    ) -> Self:
        """(x - mean) * invstd * weight + bias, with those four along `axis`.

        https://arxiv.org/abs/1502.03167
        """
        axes = self._axes(axis)
        shape = [n if i in axes else 1 for i, n in enumerate(self.shape)]
        x = self - mean.reshape(shape)
        if weight is not None:
            x = x * weight.reshape(shape)
        result = x * (invstd.reshape(shape) if invstd.ndim == len(axes) else invstd)
        return result if bias is None else result + bias.reshape(shape)

    def dropout(self, p: float = 0.5) -> Self:
        """While training: 0 with probability p, else x / (1 - p). Otherwise x."""
        if not 0 <= p <= 1:
            raise DTypeError(f"dropout with probability {p}", where=here(), hint="give 0 to 1")
        if not TRAINING or p == 0:
            return self._same_value()
        if p == 1:
            return self._make(self.uop.const_like(0))
        drawn = type(self).rand(self.shape, device=self.device, contiguous=False)
        kept = (self._cut_alike(drawn) >= p).contiguous()
        return kept.where(self, 0) / (1 - p)
