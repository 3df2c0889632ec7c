"""Losses of values: how far numbers, or the distributions that they describe, are from targets.

Each is a function of one element and its target, reduced; targets broadcast. `reduction` is "mean",
"sum" or "none".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from core.errors import DTypeError, ShapeError
from core.tensor.axes.reduction import count_of
from core.tensor.elements.elementwise import operand, wide_with
from core.tensor.neural.losses import reduced, times_weight
from core.tensor.state.base import Number
from core.tensor.views.movement import broadcast

if TYPE_CHECKING:
    from core.tensor import Tensor


def _loss(
    self: Tensor,
    target: Tensor,
    reduction: str,
    function: Callable[[Tensor, Tensor], Tensor],
    weight: Tensor | None = None,
) -> Tensor:
    return reduced(times_weight(wide_with(self, target, function), weight), reduction)


def l1_loss(
    self: Tensor, target: Tensor, reduction: str = "mean", weight: Tensor | None = None
) -> Tensor:
    """|x - y|, times `weight`"""
    return _loss(self, target, reduction, lambda x, y: (x - y).abs(), weight)


def mse_loss(
    self: Tensor, target: Tensor, reduction: str = "mean", weight: Tensor | None = None
) -> Tensor:
    """(x - y) ** 2, times `weight`"""
    return _loss(self, target, reduction, lambda x, y: (x - y).square(), weight)


def huber_loss(
    self: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """d ** 2 / 2 for distances d up to delta, then delta (d - delta / 2); times `weight`.
    Raises DTypeError for a delta that is not positive.

    P. Huber, Robust estimation of a location parameter (1964).
    """
    if not delta > 0:
        raise DTypeError(f"huber_loss with delta {delta}", hint="1 is the default")

    def losses(x: Tensor, y: Tensor) -> Tensor:
        distance = (x - y).abs()
        return (distance <= delta).where(distance.square() * 0.5, (distance - 0.5 * delta) * delta)

    return _loss(self, target, reduction, losses, weight)


def smooth_l1_loss(
    self: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """`huber_loss` divided by its delta, here beta; for beta 0 `l1_loss`. Raises DTypeError for
    a negative beta. https://arxiv.org/abs/1504.08083"""
    if not beta >= 0:
        raise DTypeError(f"smooth_l1_loss with beta {beta}", hint="give 0 or more")
    if beta == 0:
        return self.l1_loss(target, reduction)

    def losses(x: Tensor, y: Tensor) -> Tensor:
        distance = (x - y).abs()
        return (distance < beta).where(distance.square() * (0.5 / beta), distance - 0.5 * beta)

    return _loss(self, target, reduction, losses)


def kl_div(
    self: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """q (ln(q) - x) of logarithms of probabilities x and probabilities q, or with `log_target`
    logarithms of these. `reduction` may also be "batchmean": the sum divided by the length of
    the first axis, which is the divergence."""

    def losses(x: Tensor, y: Tensor) -> Tensor:
        return y.exp() * (y - x) if log_target else y.xlogy(y) - y * x

    if reduction != "batchmean":
        return _loss(self, target, reduction, losses)
    if not self.ndim:
        raise ShapeError("kl_div with batchmean without axes", hint="the first is the batch")
    return _loss(self, target, "sum", losses) / count_of(self, (0,))


def poisson_nll_loss(
    self: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """e ** x - y x, the negated logarithm of the chance of y under a Poisson distribution whose
    mean has the logarithm x; or of the mean x, x - y ln(x + eps). `full` adds Stirling's
    y ln(y) - y + ln(2 pi y) / 2 for y > 1."""

    def losses(x: Tensor, y: Tensor) -> Tensor:
        value = x.exp() - y * x if log_input else x - y * (x + eps).log()
        if not full:
            return value
        large = (y > 1).where(y, 1)
        more = large * large.log() - large + (large * (2 * math.pi)).log() * 0.5
        return value + (y > 1).where(more, 0)

    return _loss(self, target, reduction, losses)


def gaussian_nll_loss(
    self: Tensor,
    target: Tensor,
    var: Tensor | Number,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """(ln(v) + (x - y) ** 2 / v) / 2, the negated logarithm of the density of y under a normal
    distribution of mean x and variance v: `var`, but at least `eps`. `full` adds ln(2 pi) / 2.

    Variances have the shape of x, or one for each row along the last axis: without that axis,
    or with length 1. Raises ShapeError for other shapes. The gradient passes `eps`.
    """
    v = operand(self, var)
    if v.ndim and v.shape == self.shape[:-1] != self.shape:
        v = v.unsqueeze(-1)
    if v.ndim and v.shape not in (self.shape, (*self.shape[:-1], 1)):
        raise ShapeError(
            f"variances of {v.shape} for {self.shape}",
            hint="give one for each element, or one for each row along the last axis",
        )
    least = (v < eps).where(eps - v, 0).detach()

    def losses(x: Tensor, y: Tensor) -> Tensor:
        v_ = broadcast((v + least).cast(x.dtype), x.shape)
        value = (v_.log() + (x - y).square() / v_) * 0.5
        return value + 0.5 * math.log(2 * math.pi) if full else value

    return _loss(self, target, reduction, losses)
