"""Exponentials, logarithms, roots and powers of single elements.

Integers become floats. Floats narrower than 32 bits are computed in float32 and rounded once. A
function that is computed differently in parts of its domain gives its derivative itself, so that
gradients are right where the parts meet and where intermediate values overflow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.dtype import ConstType, dtypes
from core.errors import DTypeError
from core.tensor.elements.elementwise import (
    as_float,
    binary,
    compute_wide,
    in_wide_floats,
    meet,
    scalar_dtype,
    unary,
    wide_with,
    with_derivatives,
)
from core.tensor.state.base import Number, make, same_value, tensor_of
from core.uop.ops import Ops

if TYPE_CHECKING:
    from core.tensor import Tensor


def series_of(self: Tensor, narrow: Sequence[float], wide: Sequence[float]) -> Tensor:
    """c[0] + c[1] x + ... + c[n] x ** n by Horner's scheme, with the coefficients for float32
    or those for float64."""
    coefficients = wide if self.dtype is dtypes.float64 else narrow
    value = self * coefficients[-1] + coefficients[-2]
    for c in reversed(coefficients[:-2]):
        value = value * self + c
    return value


def polynomial(self: Tensor, coefficients: Sequence[float]) -> Tensor:
    """c[0] x ** n + ... + c[n], by Horner's scheme."""
    value = make(self, self.uop.const_like(coefficients[0]))
    for k, c in enumerate(coefficients[1:]):
        value = (value * self if k else self * coefficients[0]) + c
    return value


@in_wide_floats
def exp2(self: Tensor) -> Tensor:
    """2 ** x"""
    return unary(self, Ops.EXP2)


@in_wide_floats
def exp(self: Tensor) -> Tensor:
    """e ** x = 2 ** (x / ln 2)"""
    value = _exponential(self)
    return with_derivatives(value, (self, value))


def _exponential(self: Tensor) -> Tensor:
    """e ** x, without derivative. 2 ** p with p = x / ln 2 would be off by half a unit in the
    last place of p, which is much for large p; so what p lacks is computed, too."""
    word, mask, high, low = _SPLIT[self.dtype]
    leading = tensor_of(type(self), (self.uop.bitcast(word) & mask).bitcast(self.dtype))
    p = self * (1 / math.log(2))
    rest = (leading * high - p) + (self - leading) * high + self * low
    factor = (p * p < 2.0**22).where(rest * math.log(2) + 1, 1)
    return unary(p, Ops.EXP2) * factor


@in_wide_floats
def expm1(self: Tensor) -> Tensor:
    """e ** x - 1, to full precision also where that is close to 0."""
    near = self * series_of(self, _EXPM1[:8], _EXPM1)
    value = (self.abs() < 0.35).where(near, self.exp() - 1)
    return with_derivatives(value, (self, self.exp()))


@in_wide_floats
def log2(self: Tensor) -> Tensor:
    """Logarithm to base 2; NaN for negative numbers, -inf for 0."""
    return unary(self, Ops.LOG2)


@in_wide_floats
def log(self: Tensor) -> Tensor:
    """Natural logarithm."""
    return with_derivatives(unary(self, Ops.LOG2) * math.log(2), (self, self.reciprocal()))


@in_wide_floats
def log10(self: Tensor) -> Tensor:
    """Logarithm to base 10."""
    return with_derivatives(unary(self, Ops.LOG2) * math.log10(2), (self, 1 / math.log(10) / self))


@in_wide_floats
def log1p(self: Tensor) -> Tensor:
    """Natural logarithm of 1 + x, to full precision also where that is close to 0."""
    s = self / (2 + self)  # ln(1 + x) = 2 atanh(s)
    near = s * series_of(s * s, _LOG1P[:7], _LOG1P)
    value = ((self > -0.3) & (self < 0.42)).where(near, (1 + self).log())
    value = (self.abs() < 1e-20).where(self, value)
    return with_derivatives(value, (self, (1 + self).reciprocal()))


def logaddexp(self: Tensor, other: Tensor | Number) -> Tensor:
    """ln(e ** self + e ** other), without overflow."""

    def logarithm(a: Tensor, b: Tensor) -> Tensor:
        apart = (a == b).where(0, a - b)  # equal infinities are no distance apart
        value = a.maximum(b) + (-apart.abs()).exp().log1p()
        share, rest = logistic_pair(apart)
        return with_derivatives(value, (a, share), (b, rest))

    return wide_with(self, other, logarithm)


def sqrt(self: Tensor) -> Tensor:
    """Square root; NaN for negative numbers."""
    return unary(as_float(self), Ops.SQRT)


@in_wide_floats
def rsqrt(self: Tensor) -> Tensor:
    """1 / sqrt(x)"""
    value = unary(unary(self, Ops.SQRT), Ops.RECIPROCAL)
    return with_derivatives(value, (self, value * -0.5 * value * value))


def reciprocal(self: Tensor) -> Tensor:
    """1 / x"""
    return unary(as_float(self), Ops.RECIPROCAL)


def square(self: Tensor) -> Tensor:
    """x * x"""
    return self * self


@in_wide_floats
def sigmoid(self: Tensor) -> Tensor:
    """1 / (1 + e ** -x)"""
    value, other = logistic_pair(self)
    return with_derivatives(value, (self, value * other))


def logistic_pair(self: Tensor) -> tuple[Tensor, Tensor]:
    """1 / (1 + e ** -x) and 1 / (1 + e ** x), each to full relative precision where it is close
    to 0. No derivatives."""
    e = (-self.abs()).exp()
    negative, total = self < 0, 1 + e
    return negative.where(e, 1) / total, negative.where(1, e) / total


@in_wide_floats
def logit(self: Tensor, eps: float | None = None) -> Tensor:
    """ln(x / (1 - x)); of x between `eps` and 1 - `eps`, where that is given."""
    self = self if eps is None else self.clamp(eps, 1 - eps)
    rest = 1 - self
    # near 1 / 2, where the logarithms of both cancel, 2 x - 1 is exact
    value = (self < 0.25).where((self / rest).log(), ((2 * self - 1) / rest).log1p())
    slope = ((self < 0) | (self > 1)).where(math.nan, 1 / self / rest)
    return with_derivatives(value, (self, slope))


def xlogy(self: Tensor, x: Tensor | Number) -> Tensor:
    """self * ln(x), 0 where this is 0 and x is not NaN."""

    def product(a: Tensor, b: Tensor) -> Tensor:
        value = ((a == 0) & b.isnan().logical_not()).where(0, a * b.log())
        slope = ((a == 0) & (b <= 0)).where(0, b.log())
        return with_derivatives(value, (a, slope), (b, a / b))

    return wide_with(self, x, product)


# powers


def pow(self: Tensor, x: Tensor | Number, reverse: bool = False) -> Tensor:
    """self ** x. Integers wrap around, as their products do; a Tensor of negative powers gives
    what is left after truncation, a negative number as power raises DTypeError."""
    if isinstance(x, bool | int | float) and not reverse:
        return _pow_number(self, x)
    base, exponent = meet(self, x)
    if reverse:
        base, exponent = exponent, base
    if dtypes.is_float(base.dtype):
        power = exponent.cast(dtypes.float32) if base.dtype.bits < 32 else exponent
        return compute_wide(base, lambda b: binary(b, Ops.POW, power))
    if dtypes.is_bool(base.dtype):
        return base | exponent.logical_not()
    return binary(base, Ops.POW, exponent)


def _pow_number(self: Tensor, x: ConstType) -> Tensor:
    dtype = scalar_dtype(x, self.dtype)
    if dtype is not self.dtype and dtypes.is_float(dtype):
        return _pow_number(self.cast(dtype), x)
    if math.isfinite(x) and x == int(x):
        return _pow_integer(self, int(x))
    if abs(x) == 0.5:
        return compute_wide(self, lambda b: _root_power(b, x))
    return compute_wide(self, lambda b: binary(b, Ops.POW, x))


def _root_power(self: Tensor, x: float) -> Tensor:
    """self ** 0.5 or self ** -0.5. Unlike roots, powers of -0.0 and -inf are positive."""
    root = (self == -math.inf).where(math.inf, unary(self, Ops.SQRT) + 0)
    inverse = unary(root, Ops.RECIPROCAL)
    if x > 0:
        return with_derivatives(root, (self, inverse * 0.5))
    return with_derivatives(inverse, (self, inverse * -0.5 * inverse * inverse))


def _pow_integer(self: Tensor, n: int) -> Tensor:
    """By repeated squaring, which is exact for integers and within rounding for small `n`."""
    if not dtypes.is_float(self.dtype):
        if n < 0:
            raise DTypeError(
                f"{self.dtype} to the power of {n}",
                hint="integer powers are not negative; cast to a float",
            )
        return _squarings(self, n)
    if n in (0, 1):
        return _squarings(self, n)
    if abs(n) > 64:
        return compute_wide(self, lambda b: binary(b, Ops.POW, n))
    return compute_wide(
        self, lambda x: with_derivatives(_signed_power(x, n), (x, _signed_power(x, n - 1) * n))
    )


def _signed_power(self: Tensor, n: int) -> Tensor:
    return _squarings(self, n) if n >= 0 else _squarings(self.reciprocal(), -n)


def _squarings(self: Tensor, n: int) -> Tensor:
    result: Tensor | None = None
    square = self
    while n:
        if n & 1:
            result = square if result is None else result * square
        n >>= 1
        if n:
            square = square * square
    if result is None:
        return make(self, self.uop.const_like(1))
    return same_value(self) if result is self else result


_SPLIT = {
    dtypes.float32: (dtypes.int32, ~0xFFF, 2955 / 2048, -0.00017605286103659264),
    dtypes.float64: (dtypes.int64, ~0x7FFFFFF, 48408813 / 2**25, -1.0542692476429138e-8),
}
"""For 1 / ln 2 = a + b with few bits in a: the integer that reads a float, a mask for the leading
bits, so few that their product with a is exact, a, and b."""
_EXPM1 = tuple(1 / math.factorial(k + 1) for k in range(14))
"""Taylor coefficients of (e ** x - 1) / x. For |x| < 0.35 the rest is below 2 ** -26 of the sum
after 8, and below 2 ** -54 after 14."""
_LOG1P = tuple(2 / (2 * k + 1) for k in range(15))
"""Coefficients of 2 atanh(s) / s in s ** 2, for |s| < 0.18."""
