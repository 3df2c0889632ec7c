"""Trigonometric and hyperbolic functions, their inverses, and the error function, of single
elements.

Each is computed to a few units in the last place over its whole domain, relative to its value also
near its zeros. Derivatives are given, not derived from the computation. Integers become floats;
floats narrower than 32 bits are computed in float32 and rounded once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from core.dtype import dtypes
from core.tensor.elements.elementwise import (
    in_wide_floats,
    unary,
    wide_with,
    with_derivatives,
)
from core.tensor.elements.exponential import series_of
from core.tensor.elements.rounding import sign_bit
from core.tensor.state.base import Number, tensor_of
from core.uop.ops import Ops

if TYPE_CHECKING:
    from core.tensor import Tensor


@in_wide_floats
def sin(self: Tensor) -> Tensor:
    """Sine of radians."""
    return unary(self, Ops.SIN)


@in_wide_floats
def cos(self: Tensor) -> Tensor:
    """Cosine of radians."""
    return unary(self, Ops.COS)


@in_wide_floats
def tan(self: Tensor) -> Tensor:
    """Tangent of radians."""
    value = unary(self, Ops.SIN) / unary(self, Ops.COS)
    return with_derivatives(value, (self, value * value + 1))


@in_wide_floats
def sinh(self: Tensor) -> Tensor:
    """(e ** x - e ** -x) / 2"""
    near = self * series_of(self * self, _SINH[:6], _SINH)
    value = (self.abs() < 1).where(near, _halves(self, -1))
    return with_derivatives(value, (self, _halves(self, 1)))


@in_wide_floats
def cosh(self: Tensor) -> Tensor:
    """(e ** x + e ** -x) / 2"""
    return with_derivatives(_halves(self, 1), (self, self.sinh()))


def _halves(self: Tensor, sign: int) -> Tensor:
    """(e ** |x| + sign e ** -|x|) / 2, with the sign of x where `sign` is -1. Powers of half of
    x do not overflow before the result does."""
    h = (self.abs() * 0.5).exp()
    large, small = h * 0.5 * h, 0.5 / h / h
    return large + small if sign > 0 else (self < 0).where(small - large, large - small)


@in_wide_floats
def tanh(self: Tensor) -> Tensor:
    """(e ** x - e ** -x) / (e ** x + e ** -x)"""
    e = (self.abs() * -2).expm1()
    size = -e / (2 + e)
    value = (self > 0).where(size, (self == 0).where(self, -size))
    return with_derivatives(value, (self, 1 - value * value))


@in_wide_floats
def asinh(self: Tensor) -> Tensor:
    """ln(x + sqrt(x ** 2 + 1))"""
    a = self.abs()
    large = a > _large(self)
    near = (a + a * a / (1 + (a * a + 1).sqrt())).log1p()
    size = large.where(a.log() + math.log(2), near)
    value = (self > 0).where(size, (self == 0).where(self, -size))
    slope = large.where(a.reciprocal(), (self * self + 1).rsqrt())
    return with_derivatives(value, (self, slope))


@in_wide_floats
def acosh(self: Tensor) -> Tensor:
    """ln(x + sqrt(x ** 2 - 1)), NaN below 1"""
    t = self - 1
    near = (t + t.sqrt() * (self + 1).sqrt()).log1p()
    value = (self > _large(self)).where(self.log() + math.log(2), near)
    slope = (self.abs() > _large(self)).where(self.abs().reciprocal(), (t * (self + 1) + 0).rsqrt())
    return with_derivatives(value, (self, slope))


@in_wide_floats
def atanh(self: Tensor) -> Tensor:
    """ln((1 + x) / (1 - x)) / 2"""
    a = self.abs()
    size = (a * 2 / (1 - a)).log1p() * 0.5
    value = (self > 0).where(size, (self == 0).where(self, -size))
    return with_derivatives(value, (self, 1 / (1 - self) / (1 + self)))


@in_wide_floats
def asin(self: Tensor) -> Tensor:
    """Arc sine: 2 atan(x / (1 + sqrt(1 - x ** 2)))."""
    root = ((1 - self) * (1 + self)).sqrt()
    value = _arc_tangent(self / (1 + root)) * 2
    return with_derivatives(value, (self, root.reciprocal()))


@in_wide_floats
def acos(self: Tensor) -> Tensor:
    """Arc cosine: 2 atan(sqrt((1 - x) / (1 + x)))."""
    value = _arc_tangent(((1 - self) / (1 + self)).sqrt()) * 2
    return with_derivatives(value, (self, -((1 - self) * (1 + self)).rsqrt()))


@in_wide_floats
def atan(self: Tensor) -> Tensor:
    """Arc tangent."""
    a = self.abs()
    slope = (a > 1).where(1 / a / (a + 1 / a), 1 / (1 + self * self))
    return with_derivatives(_arc_tangent(self), (self, slope))


def _arc_tangent(self: Tensor) -> Tensor:
    """atan x = atan c + atan((x - c) / (1 + x c)) for c in 0, 1, infinity. No derivative."""
    a = self.abs()
    middle, far = a > math.tan(math.pi / 8), a > math.tan(3 * math.pi / 8)
    top = far.where(-1, middle.where(a - 1, a))
    rest = top / far.where(a, middle.where(a + 1, 1))
    series = rest * series_of(rest * rest, _ATAN[:9], _ATAN)
    zero = tensor_of(type(self), self.uop.const_like(0.0))
    high, low = (far.where(p / 2, middle.where(p / 4, zero)) for p in _pi(self))
    size = high + (series + low)
    return (self > 0).where(size, (self == 0).where(self, -size))


def atan2(self: Tensor, x: Tensor | Number) -> Tensor:
    """The angle from the first axis to the point (x, self), between -pi and pi; signs of zeros
    count."""

    def angle(b: Tensor, a: Tensor) -> Tensor:
        size, other = a.abs(), b.abs()
        steep = other > size
        low, high = steep.where(size, other), steep.where(other, size)
        same = (low == high) & (high > 0)
        part = same.where(1, low / (high == 0).where(1, high)).atan()
        part = steep.where(math.pi / 2 - part, part)
        part = sign_bit(a).where(math.pi - part, part)
        part = (a.isnan() | b.isnan()).where(math.nan, part).copysign(b)
        # both are at most `high`; where it is small, in a larger unit, which loses nothing
        unit = tensor_of(
            type(a), a.uop.const_like(2.0 ** (1000 if a.dtype is dtypes.float64 else 100))
        )
        unit = (high < 1).where(unit, 1)
        share, scale = low / high, high * unit
        by_b, by_a = (x * unit / high / (share * share + 1) / scale for x in (a, -b))
        return with_derivatives(part, (b, by_b), (a, by_a))

    return wide_with(self, x, angle)


def hypot(self: Tensor, x: Tensor | Number) -> Tensor:
    """sqrt(self ** 2 + x ** 2), without overflow."""

    def length(a: Tensor, b: Tensor) -> Tensor:
        most, least = a.abs().maximum(b.abs()), a.abs().minimum(b.abs())
        share = least / (most == 0).where(1, most)
        root = (share * share + 1).sqrt()
        infinite = (a.abs() == math.inf) | (b.abs() == math.inf)
        size = infinite.where(math.inf, most * root)
        return with_derivatives(size, (a, a / most / root), (b, b / most / root))

    return wide_with(self, x, length)


@in_wide_floats
def erf(self: Tensor) -> Tensor:
    """Error function: 2 / sqrt(pi) times the integral of e ** -t**2 from 0 to x.

    For |x| < 1 the Taylor series, then 1 - e ** -x**2 p(t), t = (|x| - 2.5) / (|x| + 2.5), with
    a polynomial that interpolates e ** x**2 erfc(x) in Chebyshev points for 1 <= x <= 6.
    """
    a = self.abs()
    density = (-(self * self)).exp()
    near = self * series_of(self * self, _ERF[:11], _ERF)
    t = (a - 2.5) / (a + 2.5)
    size = 1 - density * series_of(t, _ERFC_NARROW, _ERFC)
    size = (a > 6).where(1, size)
    value = (a < 1).where(near, (self < 0).where(-size, size))
    return with_derivatives(value, (self, density * (2 / math.sqrt(math.pi))))


def _large(x: Tensor) -> float:
    """Above this, x ** 2 + 1 and x ** 2 - 1 are x ** 2."""
    return 1e9 if x.dtype is dtypes.float64 else 1e5


def _pi(x: Tensor) -> tuple[float, float]:
    """pi, and what it lacks, as numbers of the dtype of `x` (OEIS A000796)."""
    if x.dtype is dtypes.float64:
        return math.pi, 1.2246467991473532e-16
    return 3.1415927410125732, -8.742277657347586e-08


_SINH = tuple(1 / math.factorial(2 * k + 1) for k in range(10))
"""Taylor coefficients of sinh(x) / x in x ** 2."""
_ATAN = tuple((-1) ** k / (2 * k + 1) for k in range(21))
"""Taylor coefficients of atan(x) / x in x ** 2, for |x| <= tan(pi / 8)."""
_ERF = tuple(
    2 / math.sqrt(math.pi) * (-1) ** k / (math.factorial(k) * (2 * k + 1)) for k in range(19)
)
"""Taylor coefficients of erf(x) / x in x ** 2."""
_ERFC_NARROW = (
    0.2108063624,
    -0.3717367279,
    0.2517134965,
    -0.1250335105,
    0.03991397109,
    -0.003984992458,
    -0.002564259321,
    0.0008172640611,
)
"""Of e ** x**2 erfc(x) in t, error below 2.1e-9."""
_ERFC = (
    0.210806364061143581,
    -0.371736733948973352,
    0.251713193217449305,
    -0.125033052378829315,
    0.0399225390755847592,
    -0.00399370116585823804,
    -0.00264236596429740316,
    0.000875915450133760759,
    0.000228380378908600814,
    -0.000128877171331295698,
    -0.0000341822381333152309,
    0.0000186144575520800054,
    7.55259432313950232e-6,
    -2.29811025197359551e-6,
    -1.80200386534476086e-6,
    7.77333159740478531e-8,
    3.44189246129556545e-7,
    6.96119156022916801e-8,
)
"""The same, error below 1e-19."""
