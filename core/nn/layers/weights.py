"""Layers with weights: linear, convolution, embedding.

They hold parameters and call one Tensor method each; no layer computes anything itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.errors import ShapeError
from core.helpers import prod
from core.tensor import Tensor

Sizes = int | Sequence[int]


def _per_group(inner: int, outer: int, groups: int) -> tuple[int, int]:
    """Channels of one group. Raises ShapeError where the groups do not divide both."""
    if groups < 1 or inner % groups or outer % groups:
        raise ShapeError(
            f"{groups} groups of {inner} and {outer} channels", hint="the groups must divide both"
        )
    return inner // groups, outer // groups


def uniform(shape: Sequence[int], fan_in: int) -> Tensor:
    """Uniform in +-1 / sqrt(fan_in)."""
    bound = 1 / math.sqrt(max(1, fan_in))
    return Tensor.uniform(tuple(shape), low=-bound, high=bound)


class Linear:
    """x @ weight.T + bias for x (..., in_features); weight (out_features, in_features)."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        self.weight = uniform((out_features, in_features), in_features)
        self.bias = uniform((out_features,), in_features) if bias else None

    def __call__(self, x: Tensor) -> Tensor:
        return x.linear(self.weight.transpose(), self.bias)


class _Convolution:
    """What convolutions share: arguments, and the initial bias and weight."""

    axes = 2
    """Over which the window slides."""

    def __init__(
        self,
        weight: Sequence[int],
        channels: int,
        stride: Sizes,
        padding: Sizes | str,
        dilation: Sizes,
        groups: int,
        bias: bool,
    ) -> None:
        self.kernel_size = tuple(weight[2:])
        self.stride, self.dilation, self.groups = stride, dilation, groups
        self.padding = _same(padding, self.kernel_size, stride, dilation)
        fan_in = prod(weight[1:])
        self.weight = uniform(weight, fan_in)
        self.bias = uniform((channels,), fan_in) if bias else None

    def _kernel(self, size: Sizes) -> tuple[int, ...]:
        """The window's length along each axis. Raises ShapeError for another number of axes."""
        kernel = (size,) * self.axes if isinstance(size, int) else tuple(size)
        if len(kernel) != self.axes:
            raise ShapeError(
                f"a kernel of {len(kernel)} axes for {type(self).__name__}",
                hint=f"give one number, or {self.axes}",
            )
        return kernel


def _same(padding: Sizes | str, kernel: Sequence[int], stride: Sizes, dilation: Sizes) -> Sizes:
    """The padding that keeps lengths, for "same" (last axis first); other padding as it is."""
    if not isinstance(padding, str):
        return padding
    if padding == "valid":
        return 0
    if padding != "same":
        raise ShapeError(f"unknown padding {padding!r}", hint='use a number, "same" or "valid"')
    if any(step != 1 for step in ((stride,) if isinstance(stride, int) else stride)):
        raise ShapeError(
            f'padding "same" with stride {stride}',
            hint="only stride 1 keeps lengths: give the padding as numbers",
        )
    spread = (dilation,) * len(kernel) if isinstance(dilation, int) else tuple(dilation)
    total = [d * (k - 1) for d, k in zip(spread, kernel, strict=True)]
    return [side for t in reversed(total) for side in (t // 2, t - t // 2)]


class Conv2d(_Convolution):
    """Convolution of (batch, in_channels, height, width), see `Tensor.conv2d`."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        kernel = self._kernel(kernel_size)
        shape = (out_channels, _per_group(in_channels, out_channels, groups)[0], *kernel)
        super().__init__(shape, out_channels, stride, padding, dilation, groups, bias)

    def __call__(self, x: Tensor) -> Tensor:
        return x.conv2d(
            self.weight, self.bias, self.groups, self.stride, self.dilation, self.padding
        )


class Conv1d(Conv2d):
    """Convolution of (batch, in_channels, length)."""

    axes = 1


class ConvTranspose2d(_Convolution):
    """Transposed convolution of (batch, in_channels, height, width)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        kernel = self._kernel(kernel_size)
        shape = (in_channels, _per_group(in_channels, out_channels, groups)[1], *kernel)
        super().__init__(shape, out_channels, stride, padding, dilation, groups, bias)
        self.output_padding = output_padding

    def __call__(self, x: Tensor) -> Tensor:
        return x.conv_transpose2d(
            self.weight,
            self.bias,
            self.groups,
            self.stride,
            self.dilation,
            self.padding,
            self.output_padding,
        )


class ConvTranspose1d(ConvTranspose2d):
    """Transposed convolution of (batch, in_channels, length)."""

    axes = 1


class Embedding:
    """Rows of a table (vocab_size, embed_size) by integer Tensors of any shape."""

    def __init__(self, vocab_size: int, embed_size: int) -> None:
        self.vocab_size, self.embed_size = vocab_size, embed_size
        self.weight = Tensor.glorot_uniform(vocab_size, embed_size)

    def __call__(self, idx: Tensor) -> Tensor:
        return self.weight[idx]
