"""Pooling as layers: of windows that slide over the last axes, or as many as are asked for."""

from __future__ import annotations

from collections.abc import Sequence

from core.tensor import Tensor

Sizes = int | Sequence[int]


def _each(size: Sizes, axes: int) -> tuple[int, ...]:
    return (size,) * axes if isinstance(size, int) else tuple(size)


class MaxPool2d:
    """The largest of each window of (batch, channels, height, width)."""

    axes = 2

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        self.kernel_size, self.stride = _each(kernel_size, self.axes), stride
        self.padding, self.dilation, self.ceil_mode = padding, dilation, ceil_mode
        self.return_indices = return_indices

    def __call__(self, x: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        options = self.kernel_size, self.stride, self.dilation, self.padding, self.ceil_mode
        if self.return_indices:
            return x.max_pool2d(*options, return_indices=True)
        return x.max_pool2d(*options)


class MaxPool1d(MaxPool2d):
    """The largest of each window of (batch, channels, length)."""

    axes = 1


class MaxPool3d(MaxPool2d):
    """The largest of each window over the last three axes."""

    axes = 3


class AvgPool2d:
    """The mean of each window of (batch, channels, height, width)."""

    axes = 2

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        self.kernel_size, self.stride, self.padding = _each(kernel_size, self.axes), stride, padding
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def __call__(self, x: Tensor) -> Tensor:
        return x.avg_pool2d(
            self.kernel_size, self.stride, 1, self.padding, self.ceil_mode, self.count_include_pad
        )


class AvgPool1d(AvgPool2d):
    """The mean of each window of (batch, channels, length)."""

    axes = 1


class AvgPool3d(AvgPool2d):
    """The mean of each window over the last three axes."""

    axes = 3


class AdaptiveAvgPool2d:
    """The means of as many parts of the last two axes as are asked for."""

    axes = 2

    def __init__(self, output_size: int | Sequence[int | None]) -> None:
        given = output_size
        self.output_size = (given,) * self.axes if isinstance(given, int) else tuple(given)

    def __call__(self, x: Tensor) -> Tensor:
        return x.adaptive_avg_pool(self.output_size)


class AdaptiveAvgPool1d(AdaptiveAvgPool2d):
    """The means of as many parts of the last axis as are asked for."""

    axes = 1


class AdaptiveMaxPool2d(AdaptiveAvgPool2d):
    """The largest of as many parts of the last two axes as are asked for."""

    def __call__(self, x: Tensor) -> Tensor:
        return x.adaptive_max_pool(self.output_size)
