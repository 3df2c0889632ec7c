"""Mathematical functions of single elements, made of the few that devices have.

Integers become floats. Floats narrower than 32 bits are computed in float32 and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

from core.dtype import ConstType, dtypes
from core.errors import DTypeError
from core.tensor.elementwise import scalar_dtype
from core.tensor.operators import Operators
from core.tensor.origin import here
from core.uop.ops import Ops
from core.uop.uop import UOp


class Mathematics(Operators):
    """Powers, exponentials, trigonometry and rounding."""

    __slots__ = ()

    def exp2(self) -> Self:
        """2 ** x"""
        return self._wide(lambda x: x._unary(Ops.EXP2))

    def exp(self) -> Self:
        """e ** x = 2 ** (x / ln 2)"""
        return self._wide(lambda x: (x * (1 / math.log(2)))._unary(Ops.EXP2))

    def expm1(self) -> Self:
        """e ** x - 1"""
        return self._wide(lambda x: x.exp() - 1)

    def log2(self) -> Self:
        """Logarithm to base 2; NaN for negative numbers, -inf for 0."""
        return self._wide(lambda x: x._unary(Ops.LOG2))

    def log(self) -> Self:
        """Natural logarithm."""
        return self._wide(lambda x: x._unary(Ops.LOG2) * math.log(2))

    def log10(self) -> Self:
        """Logarithm to base 10."""
        return self._wide(lambda x: x._unary(Ops.LOG2) * math.log10(2))

    def log1p(self) -> Self:
        """Natural logarithm of 1 + x."""
        return self._wide(lambda x: (x + 1).log())

    def sqrt(self) -> Self:
        """Square root; NaN for negative numbers."""
        return self._as_float()._unary(Ops.SQRT)

    def rsqrt(self) -> Self:
        """1 / sqrt(x)"""
        return self._wide(lambda x: x._unary(Ops.SQRT)._unary(Ops.RECIPROCAL))

    def reciprocal(self) -> Self:
        """1 / x"""
        return self._as_float()._unary(Ops.RECIPROCAL)

    def square(self) -> Self:
        """x * x"""
        return self * self

    def sin(self) -> Self:
        """Sine of radians."""
        return self._wide(lambda x: x._unary(Ops.SIN))

    def cos(self) -> Self:
        """Cosine of radians: sin(pi/2 - x)."""
        return self._wide(lambda x: (math.pi / 2 - x)._unary(Ops.SIN))

    def tan(self) -> Self:
        """Tangent of radians."""
        return self._wide(lambda x: x.sin() / x.cos())

    def sinh(self) -> Self:
        """(e ** x - e ** -x) / 2"""
        return self._wide(lambda x: (x.exp() - (-x).exp()) / 2)

    def cosh(self) -> Self:
        """(e ** x + e ** -x) / 2"""
        return self._wide(lambda x: (x.exp() + (-x).exp()) / 2)

    def tanh(self) -> Self:
        """2 / (1 + e ** -2x) - 1"""
        return self._wide(lambda x: 2 / (1 + (x * -2).exp()) - 1)

    def asinh(self) -> Self:
        """sign(x) ln(|x| + sqrt(x ** 2 + 1))"""
        return self._wide(lambda x: x.sign() * (x.abs() + (x * x + 1).sqrt()).log())

    def acosh(self) -> Self:
        """ln(x + sqrt(x ** 2 - 1)), NaN below 1"""
        return self._wide(lambda x: (x + (x * x - 1).sqrt()).log())

    def atanh(self) -> Self:
        """ln((1 + x) / (1 - x)) / 2"""
        return self._wide(lambda x: ((1 + x) / (1 - x)).log() / 2)

    def asin(self) -> Self:
        """Arc sine: pi/2 - sqrt(1 - x) p(x) for x >= 0, error below 2e-8.

        Polynomial 4.4.46 of Abramowitz and Stegun, Handbook of Mathematical Functions (1964).
        """

        def arc(x: Self) -> Self:
            a = x.abs()
            return x.sign() * (math.pi / 2 - (1 - a).sqrt() * a.polynomial(_ASIN))

        return self._wide(arc)

    def acos(self) -> Self:
        """Arc cosine: pi/2 - asin(x)."""
        return self._wide(lambda x: math.pi / 2 - x.asin())

    def atan(self) -> Self:
        """Arc tangent: asin(x / sqrt(1 + x ** 2))."""
        return self._wide(lambda x: (x / (1 + x * x).sqrt()).asin())

    def erf(self) -> Self:
        """Error function: 1 - t p(t) e ** -x**2, t = 1 / (1 + 0.3275911 |x|), error below 1.5e-7.

        Formula 7.1.26 of Abramowitz and Stegun, Handbook of Mathematical Functions (1964).
        """

        def error(x: Self) -> Self:
            t = 1 / (1 + x.abs() * 0.3275911)
            return x.sign() * (1 - t * t.polynomial(_ERF) * (-(x * x)).exp())

        return self._wide(error)

    def polynomial(self, coefficients: Sequence[float]) -> Self:
        """c[0] x ** n + ... + c[n], by Horner's scheme."""
        value = self * 0 + coefficients[0]
        for c in coefficients[1:]:
            value = value * self + c
        return value

    # powers

    def pow(self, x: Self | ConstType, reverse: bool = False) -> Self:
        """self ** x. Raises DTypeError for integers to a negative integer power."""
        if isinstance(x, bool | int | float) and not reverse:
            return self._pow_number(x)
        base, exponent = self._meet(x)
        if reverse:
            base, exponent = exponent, base
        if dtypes.is_float(base.dtype):
            power = exponent.cast(dtypes.float32) if base.dtype.bits < 32 else exponent
            return base._wide(lambda b: b._binary(Ops.POW, power))
        # exact to 2 ** 53
        return base.cast(dtypes.float64)._binary(Ops.POW, exponent).round().cast(base.dtype)

    def _pow_number(self, x: ConstType) -> Self:
        dtype = scalar_dtype(x, self.dtype)
        if dtype is not self.dtype and dtypes.is_float(dtype):
            return self.cast(dtype)._pow_number(x)
        if x == int(x) if math.isfinite(x) else False:
            return self._pow_integer(int(x))
        if abs(x) == 0.5:
            return self.sqrt() if x > 0 else self.rsqrt()
        return self._wide(lambda b: b._binary(Ops.POW, x))

    def _pow_integer(self, n: int) -> Self:
        """By repeated squaring, which is exact for integers and within rounding for small `n`."""
        if n < 0:
            if not dtypes.is_float(self.dtype):
                raise DTypeError(
                    f"{self.dtype} to the power of {n}",
                    where=here(),
                    hint="integer powers are not negative; cast to a float",
                )
            return self._pow_integer(-n).reciprocal()
        if dtypes.is_float(self.dtype) and n > 64:
            return self._wide(lambda b: b._binary(Ops.POW, n))
        result: Self | None = None
        square = self
        while n:
            if n & 1:
                result = square if result is None else result * square
            n >>= 1
            if n:
                square = square * square
        return self._make(self.uop.const_like(1)) if result is None else result

    def __pow__(self, x: Self | ConstType) -> Self:
        return self.pow(x)

    def __rpow__(self, x: Self | ConstType) -> Self:
        return self.pow(x, reverse=True)

    def __ipow__(self, x: Self | ConstType) -> Self:
        return self._take_result(self.pow(x))

    # rounding, sign and kind

    def trunc(self) -> Self:
        """Rounded toward zero."""
        return self._unary(Ops.TRUNC) if dtypes.is_float(self.dtype) else self._same_value()

    def floor(self) -> Self:
        """Rounded down."""
        return self._floor() if dtypes.is_float(self.dtype) else self._same_value()

    def ceil(self) -> Self:
        """Rounded up."""
        if not dtypes.is_float(self.dtype):
            return self._same_value()
        up = self._unary(Ops.TRUNC)
        return (self > up).where(up + 1, up)

    def round(self) -> Self:
        """Rounded to the nearest integer, halves to the even one."""
        if not dtypes.is_float(self.dtype):
            return self._same_value()
        down = self._floor()
        part = self - down
        odd = (down * 0.5)._floor() * 2 != down
        return ((part > 0.5) | ((part == 0.5) & odd)).where(down + 1, down)

    def _sign(self) -> Self:
        positive = (self > 0).cast(self.dtype)
        return (
            positive if dtypes.is_unsigned(self.dtype) else positive - (self < 0).cast(self.dtype)
        )

    def sign(self) -> Self:
        """-1, 0 or 1; NaN for NaN."""
        if dtypes.is_bool(self.dtype):
            return self._same_value()
        return (
            self.isnan().where(self.detach(), self._sign())
            if dtypes.is_float(self.dtype)
            else self._sign()
        )

    def abs(self) -> Self:
        """Without sign, with gradient 0 at 0."""
        if dtypes.is_bool(self.dtype) or dtypes.is_unsigned(self.dtype):
            return self._same_value()
        return self * self._sign()

    def copysign(self, other: Self | ConstType) -> Self:
        """The magnitude of this with the sign of `other`, where -0.0 is negative."""
        a, b = self._meet(other)
        a, b = a._as_float(), b._as_float()
        negative = (b < 0) | ((b == 0) & (b.reciprocal() < 0))
        return negative.where(-a.abs(), a.abs())

    def clamp(
        self, min_: Self | ConstType | None = None, max_: Self | ConstType | None = None
    ) -> Self:
        """Not less than `min_`, not greater than `max_`; None for no limit."""
        if min_ is None and max_ is None:
            raise DTypeError("clamp without limits", where=here(), hint="give min_ or max_")
        x = self
        if min_ is not None:
            x = (x < min_).where(min_, x)
        if max_ is not None:
            x = (x > max_).where(max_, x)
        return x

    def clip(
        self, min_: Self | ConstType | None = None, max_: Self | ConstType | None = None
    ) -> Self:
        """`clamp`."""
        return self.clamp(min_, max_)

    def lerp(self, end: Self, weight: Self | ConstType) -> Self:
        """self + (end - self) * weight"""
        return self + (end - self) * weight

    def isnan(self) -> Self:
        """Whether NaN."""
        return self != self

    def isinf(self, detect_positive: bool = True, detect_negative: bool = True) -> Self:
        """Whether infinite, of either sign."""
        if not dtypes.is_float(self.dtype):
            return self._make(UOp.full(self.shape, False, dtypes.bool, self.device))
        positive, negative = self == math.inf, self == -math.inf
        return (positive & detect_positive) | (negative & detect_negative)

    def isfinite(self) -> Self:
        """Whether neither infinite nor NaN."""
        return (self.isinf() | self.isnan()).logical_not()

    def isclose(
        self, other: Self, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> Self:
        """|self - other| <= atol + rtol |other|; equal infinities are close, NaN only if asked."""
        near = (self - other).abs() <= atol + rtol * other.abs()
        close = (self.isfinite() & other.isfinite() & near) | (self == other)
        return close | (self.isnan() & other.isnan() & equal_nan)


_ASIN = (
    -0.0012624911,
    0.0066700901,
    -0.0170881256,
    0.0308918810,
    -0.0501743046,
    0.0889789874,
    -0.2145988016,
    1.5707963050,
)
_ERF = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
