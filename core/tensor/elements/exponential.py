"""Exponentials, logarithms, roots and powers of single elements.

Integers become floats. Floats narrower than 32 bits are computed in float32 and rounded once. A
function that is computed differently in parts of its domain gives its derivative itself, so that
gradients are right where the parts meet and where intermediate values overflow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

from core.dtype import ConstType, dtypes
from core.errors import DTypeError
from core.tensor.calls.origin import here
from core.tensor.elements.elementwise import scalar_dtype
from core.tensor.elements.rounding import Rounding
from core.tensor.state.base import Number
from core.uop.ops import Ops


class Exponential(Rounding):
    """Powers of numbers and their inverses."""

    __slots__ = ()

    def _series(self, narrow: Sequence[float], wide: Sequence[float]) -> Self:
        """c[0] + c[1] x + ... + c[n] x ** n by Horner's scheme, with the coefficients for float32
        or those for float64."""
        coefficients = wide if self.dtype is dtypes.float64 else narrow
        value = self * coefficients[-1] + coefficients[-2]
        for c in reversed(coefficients[:-2]):
            value = value * self + c
        return value

    def polynomial(self, coefficients: Sequence[float]) -> Self:
        """c[0] x ** n + ... + c[n], by Horner's scheme."""
        value = self._make(self.uop.const_like(coefficients[0]))
        for k, c in enumerate(coefficients[1:]):
            value = (value * self if k else self * coefficients[0]) + c
        return value

    def exp2(self) -> Self:
        """2 ** x"""
        return self._wide(lambda x: x._unary(Ops.EXP2))

    def exp(self) -> Self:
        """e ** x = 2 ** (x / ln 2)"""

        def power(x: Self) -> Self:
            value = x._exponential()
            return value._with_derivatives((x, value))

        return self._wide(power)

    def _exponential(self) -> Self:
        """e ** x, without derivative. 2 ** p with p = x / ln 2 would be off by half a unit in the
        last place of p, which is much for large p; so what p lacks is computed, too."""
        word, mask, high, low = _SPLIT[self.dtype]
        leading = self._new((self.uop.bitcast(word) & mask).bitcast(self.dtype))
        p = self * (1 / math.log(2))
        rest = (leading * high - p) + (self - leading) * high + self * low
        factor = (p * p < 2.0**22).where(rest * math.log(2) + 1, 1)
        return p._unary(Ops.EXP2) * factor

    def expm1(self) -> Self:
        """e ** x - 1, to full precision also where that is close to 0."""

        def power(x: Self) -> Self:
            near = x * x._series(_EXPM1[:8], _EXPM1)
            value = (x.abs() < 0.35).where(near, x.exp() - 1)
            return value._with_derivatives((x, x.exp()))

        return self._wide(power)

    def log2(self) -> Self:
        """Logarithm to base 2; NaN for negative numbers, -inf for 0."""
        return self._wide(lambda x: x._unary(Ops.LOG2))

    def log(self) -> Self:
        """Natural logarithm."""
        return self._wide(
            lambda x: (x._unary(Ops.LOG2) * math.log(2))._with_derivatives((x, x.reciprocal()))
        )

    def log10(self) -> Self:
        """Logarithm to base 10."""
        return self._wide(
            lambda x: (x._unary(Ops.LOG2) * math.log10(2))._with_derivatives(
                (x, 1 / math.log(10) / x)
            )
        )

    def log1p(self) -> Self:
        """Natural logarithm of 1 + x, to full precision also where that is close to 0."""

        def logarithm(x: Self) -> Self:
            s = x / (2 + x)  # ln(1 + x) = 2 atanh(s)
            near = s * (s * s)._series(_LOG1P[:7], _LOG1P)
            value = ((x > -0.3) & (x < 0.42)).where(near, (1 + x).log())
            value = (x.abs() < 1e-20).where(x, value)
            return value._with_derivatives((x, (1 + x).reciprocal()))

        return self._wide(logarithm)

    def logaddexp(self, other: Self | Number) -> Self:
        """ln(e ** self + e ** other), without overflow."""

        def logarithm(a: Self, b: Self) -> Self:
            apart = (a == b).where(0, a - b)  # equal infinities are no distance apart
            value = a.maximum(b) + (-apart.abs()).exp().log1p()
            share, rest = apart._logistic()
            return value._with_derivatives((a, share), (b, rest))

        return self._wide_with(other, logarithm)

    def sqrt(self) -> Self:
        """Square root; NaN for negative numbers."""
        return self._as_float()._unary(Ops.SQRT)

    def rsqrt(self) -> Self:
        """1 / sqrt(x)"""

        def root(x: Self) -> Self:
            value = x._unary(Ops.SQRT)._unary(Ops.RECIPROCAL)
            return value._with_derivatives((x, value * -0.5 * value * value))

        return self._wide(root)

    def reciprocal(self) -> Self:
        """1 / x"""
        return self._as_float()._unary(Ops.RECIPROCAL)

    def square(self) -> Self:
        """x * x"""
        return self * self

    def sigmoid(self) -> Self:
        """1 / (1 + e ** -x)"""

        def logistic(x: Self) -> Self:
            value, other = x._logistic()
            return value._with_derivatives((x, value * other))

        return self._wide(logistic)

    def _logistic(self) -> tuple[Self, Self]:
        """1 / (1 + e ** -x) and 1 / (1 + e ** x), each to full relative precision where it is close
        to 0. No derivatives."""
        e = (-self.abs()).exp()
        negative, total = self < 0, 1 + e
        return negative.where(e, 1) / total, negative.where(1, e) / total

    def logit(self, eps: float | None = None) -> Self:
        """ln(x / (1 - x)); of x between `eps` and 1 - `eps`, where that is given."""

        def odds(x: Self) -> Self:
            x = x if eps is None else x.clamp(eps, 1 - eps)
            rest = 1 - x
            # near 1 / 2, where the logarithms of both cancel, 2 x - 1 is exact
            value = (x < 0.25).where((x / rest).log(), ((2 * x - 1) / rest).log1p())
            slope = ((x < 0) | (x > 1)).where(math.nan, 1 / x / rest)
            return value._with_derivatives((x, slope))

        return self._wide(odds)

    def xlogy(self, x: Self | Number) -> Self:
        """self * ln(x), 0 where this is 0 and x is not NaN."""

        def product(a: Self, b: Self) -> Self:
            value = ((a == 0) & b.isnan().logical_not()).where(0, a * b.log())
            slope = ((a == 0) & (b <= 0)).where(0, b.log())
            return value._with_derivatives((a, slope), (b, a / b))

        return self._wide_with(x, product)

    # powers

    def pow(self, x: Self | Number, reverse: bool = False) -> Self:
        """self ** x. Integers wrap around, as their products do; a Tensor of negative powers gives
        what is left after truncation, a negative number as power raises DTypeError."""
        if isinstance(x, bool | int | float) and not reverse:
            return self._pow_number(x)
        base, exponent = self._meet(x)
        if reverse:
            base, exponent = exponent, base
        if dtypes.is_float(base.dtype):
            power = exponent.cast(dtypes.float32) if base.dtype.bits < 32 else exponent
            return base._wide(lambda b: b._binary(Ops.POW, power))
        if dtypes.is_bool(base.dtype):
            return base | exponent.logical_not()
        return base._binary(Ops.POW, exponent)

    def _pow_number(self, x: ConstType) -> Self:
        dtype = scalar_dtype(x, self.dtype)
        if dtype is not self.dtype and dtypes.is_float(dtype):
            return self.cast(dtype)._pow_number(x)
        if math.isfinite(x) and x == int(x):
            return self._pow_integer(int(x))
        if abs(x) == 0.5:
            return self._wide(lambda b: b._root_power(x))
        return self._wide(lambda b: b._binary(Ops.POW, x))

    def _root_power(self, x: float) -> Self:
        """self ** 0.5 or self ** -0.5. Unlike roots, powers of -0.0 and -inf are positive."""
        root = (self == -math.inf).where(math.inf, self._unary(Ops.SQRT) + 0)
        inverse = root._unary(Ops.RECIPROCAL)
        if x > 0:
            return root._with_derivatives((self, inverse * 0.5))
        return inverse._with_derivatives((self, inverse * -0.5 * inverse * inverse))

    def _pow_integer(self, n: int) -> Self:
        """By repeated squaring, which is exact for integers and within rounding for small `n`."""
        if not dtypes.is_float(self.dtype):
            if n < 0:
                raise DTypeError(
                    f"{self.dtype} to the power of {n}",
                    where=here(),
                    hint="integer powers are not negative; cast to a float",
                )
            return self._squarings(n)
        if n in (0, 1):
            return self._squarings(n)
        if abs(n) > 64:
            return self._wide(lambda b: b._binary(Ops.POW, n))
        return self._wide(
            lambda x: x._signed_power(n)._with_derivatives((x, x._signed_power(n - 1) * n))
        )

    def _signed_power(self, n: int) -> Self:
        return self._squarings(n) if n >= 0 else self.reciprocal()._squarings(-n)

    def _squarings(self, n: int) -> Self:
        result: Self | None = None
        square = self
        while n:
            if n & 1:
                result = square if result is None else result * square
            n >>= 1
            if n:
                square = square * square
        if result is None:
            return self._make(self.uop.const_like(1))
        return self._same_value() if result is self else result

    def __pow__(self, x: Self | Number) -> Self:
        return self.pow(x)

    def __rpow__(self, x: Self | Number) -> Self:
        return self.pow(x, reverse=True)

    def __ipow__(self, x: Self | Number) -> Self:
        return self._take_result(self.pow(x))


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
