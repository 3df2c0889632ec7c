"""Activation functions of neural networks.

Compositions of `mathematics.py`. Where the composition would lose the derivative (the two halves of
softplus meet at 0, gelu's argument overflows), the derivative is given. Shapes stay; integers
become floats where needed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from core.dtype import dtypes
from core.errors import DTypeError, ShapeError
from core.tensor.elements.elementwise import (
    as_float,
    compute_wide,
    in_wide_floats,
    with_derivatives,
)
from core.tensor.elements.exponential import logistic_pair, series_of
from core.tensor.state.base import make, own_axis
from core.tensor.views.movement import part_of

if TYPE_CHECKING:
    from core.tensor import Tensor


def relu(self: Tensor) -> Tensor:
    """max(x, 0), with gradient 0 at 0; NaN stays."""
    return (self <= 0).where(0, self)


def relu6(self: Tensor) -> Tensor:
    """min(max(x, 0), 6)"""
    return self.hardtanh(0, 6)


def hardtanh(self: Tensor, min_val: float = -1, max_val: float = 1) -> Tensor:
    """x between `min_val` and `max_val`, with gradient 0 at both ends. Raises DTypeError where
    those are in the other order, and for a negative one of unsigned integers."""
    if dtypes.is_unsigned(self.dtype) and min(min_val, max_val) < 0:
        raise DTypeError(
            f"hardtanh of {self.dtype} between {min_val} and {max_val}",
            hint="unsigned integers take limits of at least 0",
        )
    if min_val > max_val:
        raise DTypeError(
            f"hardtanh between {min_val} and {max_val}", hint="give the smaller limit first"
        )
    x = (self <= min_val).where(min_val, self)
    return (x >= max_val).where(max_val, x)


@in_wide_floats
def hardsigmoid(self: Tensor, alpha: float = 1 / 6, beta: float = 0.5) -> Tensor:
    """alpha x + beta, between 0 and 1, with gradient 0 at both ends"""
    ends = sorted((-beta / alpha, (1 - beta) / alpha)) if alpha else (0.0, 0.0)
    slope = ((self > ends[0]) & (self < ends[1])).where(make(self, self.uop.const_like(alpha)), 0)
    return with_derivatives((self * alpha + beta).hardtanh(0, 1), (self, slope))


def logsigmoid(self: Tensor) -> Tensor:
    """ln(sigmoid(x)) = -softplus(-x)"""
    return 0 - (-as_float(self)).softplus()


def silu(self: Tensor) -> Tensor:
    """x sigmoid(x), https://arxiv.org/abs/1702.03118"""
    return self * self.sigmoid()


def swish(self: Tensor) -> Tensor:
    """`silu`."""
    return self.silu()


@in_wide_floats
def hardswish(self: Tensor) -> Tensor:
    """x relu6(x + 3) / 6, https://arxiv.org/abs/1905.02244"""
    slope = (self <= -3).where(0, (self < 3).where(self * (1 / 3) + 0.5, 1))
    return with_derivatives(self * ((self + 3).relu6() * (1 / 6)), (self, slope))


def gelu(self: Tensor, approximate: str = "tanh") -> Tensor:
    """x (1 + tanh(u)) / 2 = x sigmoid(2 u), u = sqrt(2/pi) (x + 0.044715 x ** 3); for
    `approximate` "none" x (1 + erf(x / sqrt(2))) / 2. Raises DTypeError for other names.

    https://arxiv.org/abs/1606.08415
    """
    if approximate == "none":
        return self * ((self * math.sqrt(0.5)).erf() + 1) * 0.5
    if approximate != "tanh":
        raise DTypeError(f"gelu by {approximate!r}", hint='approximate is "tanh" or "none"')

    def gate(x: Tensor) -> Tensor:
        inner = x.clamp(-100, 100)  # beyond that, sigmoid has long been 0 or 1
        square = inner * inner
        factor = 2 * math.sqrt(2 / math.pi)
        share, other = logistic_pair(factor * inner * (1 + 0.044715 * square))
        slope = share + inner * (share * other) * (factor * (1 + 0.134145 * square))
        return with_derivatives(x * share, (x, slope))

    return compute_wide(self, gate)


def quick_gelu(self: Tensor) -> Tensor:
    """x sigmoid(1.702 x)"""
    return self * (self * 1.702).sigmoid()


def _not_positive(self: Tensor) -> Tensor:
    """min(x, 0), with gradient 1 at 0."""
    return (self > 0).where(0, self)


def glu(self: Tensor, dim: int = -1) -> Tensor:
    """The first half of an axis times the sigmoid of the second. Raises ShapeError for an axis
    of odd length. https://arxiv.org/abs/1612.08083"""
    axis = own_axis(self, "glu", dim)
    if self.shape[axis] % 2:
        raise ShapeError(f"glu along an axis of length {self.shape[axis]}", hint="it takes halves")
    half = self.shape[axis] // 2
    return part_of(self, axis, 0, half) * part_of(self, axis, half, 2 * half).sigmoid()


def elu(self: Tensor, alpha: float = 1.0) -> Tensor:
    """x for x > 0, else alpha (e ** x - 1), https://arxiv.org/abs/1511.07289"""
    return (self > 0).where(self, alpha * _not_positive(self).expm1())


def celu(self: Tensor, alpha: float = 1.0) -> Tensor:
    """x for x > 0, else alpha (e ** (x / alpha) - 1), https://arxiv.org/abs/1704.07483

    Raises DTypeError for alpha 0.
    """
    if alpha == 0:
        raise DTypeError("celu with alpha 0", hint="1 is the default")
    return (self > 0).where(self, alpha * (_not_positive(self) / alpha).expm1())


def selu(
    self: Tensor, alpha: float = 1.6732632423543772, gamma: float = 1.0507009873554805
) -> Tensor:
    """gamma elu(x, alpha), https://arxiv.org/abs/1706.02515"""
    return gamma * self.elu(alpha)


def leaky_relu(self: Tensor, neg_slope: float = 0.01) -> Tensor:
    """x for x > 0, else neg_slope x"""
    return (self > 0).where(self, neg_slope * self)


def prelu(self: Tensor, weight: Tensor) -> Tensor:
    """x for x > 0, else weight x, with one weight or one for each place along axis 1. Raises
    ShapeError for another number. https://arxiv.org/abs/1502.01852"""
    count = weight.shape[0] if weight.ndim == 1 else 1
    if weight.ndim > 1 or (count > 1 and (self.ndim < 2 or self.shape[1] != count)):
        raise ShapeError(
            f"prelu of {self.shape} with weights of {weight.shape}",
            hint="give one weight, or a vector of one for each place along axis 1",
        )
    shape = [count if i == 1 else 1 for i in range(self.ndim)]
    return (self > 0).where(self, weight.reshape(shape) * self)


def threshold(self: Tensor, threshold: float, value: float) -> Tensor:
    """x for x > threshold, else `value`."""
    return (self <= threshold).where(value, self)


def hardshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    """0 between -lambd and lambd, else x."""
    return ((self >= -lambd) & (self <= lambd)).where(0, self)


def softshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    """0 between -lambd and lambd, else x moved towards 0 by lambd. Raises DTypeError for a
    negative lambd."""
    if lambd < 0:
        raise DTypeError(f"softshrink by {lambd}", hint="give 0 or more")
    moved = (self > 0).where(self - lambd, self + lambd)
    return ((self >= -lambd) & (self <= lambd)).where(0, moved)


@in_wide_floats
def tanhshrink(self: Tensor) -> Tensor:
    """x - tanh(x)"""
    square, tanh = self * self, self.tanh()
    # x cosh x - sinh x, all of whose terms have one sign
    near = self * square * series_of(square, _SHRUNK[:9], _SHRUNK) / self.cosh()
    value = (self.abs() < 2).where(near, self - tanh)
    return with_derivatives(value, (self, tanh * tanh))


@in_wide_floats
def softplus(self: Tensor, beta: float = 1.0) -> Tensor:
    """ln(1 + e ** (beta x)) / beta"""
    scaled = self * beta
    value = scaled.relu() + (-scaled.abs()).exp().log1p()
    return with_derivatives(value / beta, (self, scaled.sigmoid()))


@in_wide_floats
def mish(self: Tensor) -> Tensor:
    """x tanh(softplus(x)), https://arxiv.org/abs/1908.08681

    tanh(ln(1 + u)) is n / (n + 2) with n = u (u + 2), here for u = e ** x.
    """
    e = (-self.abs()).exp()
    top, rest = (self < 0).where(e * (e + 2), 1 + 2 * e), (self < 0).where(2, 2 * e * e)
    share, other = top / (top + rest), rest / (top + rest)
    slope = share + self * (other * (1 + share)) * logistic_pair(self)[0]
    return with_derivatives(self * share, (self, slope))


@in_wide_floats
def softsign(self: Tensor) -> Tensor:
    """x / (1 + |x|)"""
    inverse = (1 + self.abs()).reciprocal()
    return with_derivatives(self / (1 + self.abs()), (self, inverse * inverse))


_SHRUNK = tuple(2 * k / math.factorial(2 * k + 1) for k in range(1, 16))
"""Taylor coefficients of (x cosh x - sinh x) / x ** 3 in x ** 2, for |x| < 2."""
