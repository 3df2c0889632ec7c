"""Activation functions of neural networks.

Compositions of `mathematics.py`. Where the composition would lose the derivative (the two halves of
softplus meet at 0, gelu's argument overflows), the derivative is given.
"""

from __future__ import annotations

import math
from typing import Self

from core.errors import DTypeError, ShapeError
from core.tensor.calls.origin import here
from core.tensor.elements.mathematics import Mathematics


class Activation(Mathematics):
    """Elementwise non-linearities. Shapes stay; integers become floats where needed."""

    __slots__ = ()

    def relu(self) -> Self:
        """max(x, 0), with gradient 0 at 0; NaN stays."""
        return (self <= 0).where(0, self)

    def relu6(self) -> Self:
        """min(max(x, 0), 6)"""
        return self.hardtanh(0, 6)

    def hardtanh(self, min_val: float = -1, max_val: float = 1) -> Self:
        """x between `min_val` and `max_val`, with gradient 0 at both ends. Raises DTypeError where
        those are in the other order."""
        if min_val > max_val:
            raise DTypeError(
                f"hardtanh between {min_val} and {max_val}",
                where=here(),
                hint="give the smaller limit first",
            )
        x = (self <= min_val).where(min_val, self)
        return (x >= max_val).where(max_val, x)

    def hardsigmoid(self, alpha: float = 1 / 6, beta: float = 0.5) -> Self:
        """alpha x + beta, between 0 and 1, with gradient 0 at both ends"""

        def line(x: Self) -> Self:
            ends = sorted((-beta / alpha, (1 - beta) / alpha)) if alpha else (0.0, 0.0)
            slope = ((x > ends[0]) & (x < ends[1])).where(x._make(x.uop.const_like(alpha)), 0)
            return (x * alpha + beta).hardtanh(0, 1)._with_derivatives((x, slope))

        return self._wide(line)

    def logsigmoid(self) -> Self:
        """ln(sigmoid(x)) = -softplus(-x)"""
        return 0 - (-self).softplus()

    def silu(self) -> Self:
        """x sigmoid(x), https://arxiv.org/abs/1702.03118"""
        return self * self.sigmoid()

    def swish(self) -> Self:
        """`silu`."""
        return self.silu()

    def hardswish(self) -> Self:
        """x relu6(x + 3) / 6, https://arxiv.org/abs/1905.02244"""

        def curve(x: Self) -> Self:
            slope = (x <= -3).where(0, (x < 3).where(x * (1 / 3) + 0.5, 1))
            return (x * ((x + 3).relu6() * (1 / 6)))._with_derivatives((x, slope))

        return self._wide(curve)

    def gelu(self, approximate: str = "tanh") -> Self:
        """x (1 + tanh(u)) / 2 = x sigmoid(2 u), u = sqrt(2/pi) (x + 0.044715 x ** 3); for
        `approximate` "none" x (1 + erf(x / sqrt(2))) / 2. Raises DTypeError for other names.

        https://arxiv.org/abs/1606.08415
        """
        if approximate == "none":
            return self * ((self * math.sqrt(0.5)).erf() + 1) * 0.5
        if approximate != "tanh":
            raise DTypeError(
                f"gelu by {approximate!r}", where=here(), hint='approximate is "tanh" or "none"'
            )

        def gate(x: Self) -> Self:
            inner = x.clamp(-100, 100)  # beyond that, sigmoid has long been 0 or 1
            square = inner * inner
            factor = 2 * math.sqrt(2 / math.pi)
            share, other = (factor * inner * (1 + 0.044715 * square))._logistic()
            slope = share + inner * (share * other) * (factor * (1 + 0.134145 * square))
            return (x * share)._with_derivatives((x, slope))

        return self._wide(gate)

    def quick_gelu(self) -> Self:
        """x sigmoid(1.702 x)"""
        return self * (self * 1.702).sigmoid()

    def _not_positive(self) -> Self:
        """min(x, 0), with gradient 1 at 0."""
        return (self > 0).where(0, self)

    def glu(self, dim: int = -1) -> Self:
        """The first half of an axis times the sigmoid of the second. Raises ShapeError for an axis
        of odd length. https://arxiv.org/abs/1612.08083"""
        axis = self._own_axis("glu", dim)
        if self.shape[axis] % 2:
            raise ShapeError(
                f"glu along an axis of length {self.shape[axis]}", where=here(),
                hint="it takes halves",
            )  # fmt: skip
        half = self.shape[axis] // 2
        return self._part(axis, 0, half) * self._part(axis, half, 2 * half).sigmoid()

    def elu(self, alpha: float = 1.0) -> Self:
        """x for x > 0, else alpha (e ** x - 1), https://arxiv.org/abs/1511.07289"""
        return (self > 0).where(self, alpha * self._not_positive().expm1())

    def celu(self, alpha: float = 1.0) -> Self:
        """x for x > 0, else alpha (e ** (x / alpha) - 1), https://arxiv.org/abs/1704.07483

        Raises DTypeError for alpha 0.
        """
        if alpha == 0:
            raise DTypeError("celu with alpha 0", where=here(), hint="1 is the default")
        return (self > 0).where(self, alpha * (self._not_positive() / alpha).expm1())

    def selu(self, alpha: float = 1.6732632423543772, gamma: float = 1.0507009873554805) -> Self:
        """gamma elu(x, alpha), https://arxiv.org/abs/1706.02515"""
        return gamma * self.elu(alpha)

    def leaky_relu(self, neg_slope: float = 0.01) -> Self:
        """x for x > 0, else neg_slope x"""
        return (self > 0).where(self, neg_slope * self)

    def prelu(self, weight: Self) -> Self:
        """x for x > 0, else weight x, with one weight or one for each place along axis 1. Raises
        ShapeError for another number. https://arxiv.org/abs/1502.01852"""
        count = weight.shape[0] if weight.ndim == 1 else 1
        if weight.ndim > 1 or (count > 1 and (self.ndim < 2 or self.shape[1] != count)):
            raise ShapeError(
                f"prelu of {self.shape} with weights of {weight.shape}",
                where=here(),
                hint="give one weight, or a vector of one for each place along axis 1",
            )
        shape = [count if i == 1 else 1 for i in range(self.ndim)]
        return (self > 0).where(self, weight.reshape(shape) * self)

    def threshold(self, threshold: float, value: float) -> Self:
        """x for x > threshold, else `value`."""
        return (self <= threshold).where(value, self)

    def hardshrink(self, lambd: float = 0.5) -> Self:
        """0 between -lambd and lambd, else x."""
        return ((self >= -lambd) & (self <= lambd)).where(0, self)

    def softshrink(self, lambd: float = 0.5) -> Self:
        """0 between -lambd and lambd, else x moved towards 0 by lambd. Raises DTypeError for a
        negative lambd."""
        if lambd < 0:
            raise DTypeError(f"softshrink by {lambd}", where=here(), hint="give 0 or more")
        moved = (self > 0).where(self - lambd, self + lambd)
        return ((self >= -lambd) & (self <= lambd)).where(0, moved)

    def tanhshrink(self) -> Self:
        """x - tanh(x)"""

        def difference(x: Self) -> Self:
            square, tanh = x * x, x.tanh()
            # x cosh x - sinh x, all of whose terms have one sign
            near = x * square * square._series(_SHRUNK[:9], _SHRUNK) / x.cosh()
            value = (x.abs() < 2).where(near, x - tanh)
            return value._with_derivatives((x, tanh * tanh))

        return self._wide(difference)

    def softplus(self, beta: float = 1.0) -> Self:
        """ln(1 + e ** (beta x)) / beta"""

        def smooth(x: Self) -> Self:
            scaled = x * beta
            value = scaled.relu() + (-scaled.abs()).exp().log1p()
            return (value / beta)._with_derivatives((x, scaled.sigmoid()))

        return self._wide(smooth)

    def mish(self) -> Self:
        """x tanh(softplus(x)), https://arxiv.org/abs/1908.08681

        tanh(ln(1 + u)) is n / (n + 2) with n = u (u + 2), here for u = e ** x.
        """

        def gate(x: Self) -> Self:
            e = (-x.abs()).exp()
            top, rest = (x < 0).where(e * (e + 2), 1 + 2 * e), (x < 0).where(2, 2 * e * e)
            share, other = top / (top + rest), rest / (top + rest)
            slope = share + x * (other * (1 + share)) * x._logistic()[0]
            return (x * share)._with_derivatives((x, slope))

        return self._wide(gate)

    def softsign(self) -> Self:
        """x / (1 + |x|)"""

        def squash(x: Self) -> Self:
            inverse = (1 + x.abs()).reciprocal()
            return (x / (1 + x.abs()))._with_derivatives((x, inverse * inverse))

        return self._wide(squash)


_SHRUNK = tuple(2 * k / math.factorial(2 * k + 1) for k in range(1, 16))
"""Taylor coefficients of (x cosh x - sinh x) / x ** 3 in x ** 2, for |x| < 2."""
