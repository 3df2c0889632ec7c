"""Rounding, signs, clamping and classification (NaN, infinite, finite) of single elements.

Signed zeros, infinities and NaN are as in IEEE 754, gradients as PyTorch has them.
"""

from __future__ import annotations

import math
from typing import Self

from core.dtype import DType, dtypes
from core.errors import DTypeError
from core.tensor.calls.origin import here
from core.tensor.elements.operators import Operators
from core.tensor.state.base import Number
from core.uop.ops import Ops
from core.uop.uop import UOp

_words: dict[int, DType] = {
    8: dtypes.int8,
    16: dtypes.int16,
    32: dtypes.int32,
    64: dtypes.int64,
}


class Rounding(Operators):
    """Rounding, sign and classification."""

    __slots__ = ()

    def trunc(self) -> Self:
        """Rounded toward zero."""
        return self._unary(Ops.TRUNC) if dtypes.is_float(self.dtype) else self._same_value()

    def floor(self) -> Self:
        """Rounded down."""
        if not dtypes.is_float(self.dtype):
            return self._same_value()
        down = self._unary(Ops.TRUNC)
        return (self < down).where(down - 1, down)

    def ceil(self) -> Self:
        """Rounded up."""
        if not dtypes.is_float(self.dtype):
            return self._same_value()
        up = self._unary(Ops.TRUNC)
        return (self > up).where(up + 1, up)

    def frac(self) -> Self:
        """What `trunc` takes away. Raises DTypeError for integers."""
        if not dtypes.is_float(self.dtype):
            raise DTypeError(
                f"frac of {self.dtype}", where=here(), hint="integers have no fraction"
            )
        return self - self.trunc()

    def round(self) -> Self:
        """Rounded to the nearest integer, halves to the even one."""
        if not dtypes.is_float(self.dtype):
            return self._same_value()
        whole = self._unary(Ops.TRUNC)
        part = (self - whole).abs()
        odd = (whole * 0.5)._unary(Ops.TRUNC) * 2 != whole
        away = (part > 0.5) | ((part == 0.5) & odd)
        # what is next to zero keeps its sign
        return away.where(whole + self._sign(), whole)

    def _sign(self) -> Self:
        positive = (self > 0).cast(self.dtype)
        if dtypes.is_unsigned(self.dtype):
            return positive
        return positive - (self < 0).cast(self.dtype)

    def sign(self) -> Self:
        """-1, 0 or 1; 0 for NaN."""
        return self._same_value() if dtypes.is_bool(self.dtype) else self._sign()

    def _negative(self) -> Self:
        """Whether the sign bit of a float is set."""
        word = _words[self.dtype.bits]
        return self._new(self.uop.bitcast(word) < 0, False)

    def abs(self) -> Self:
        """Without sign, with gradient 0 at 0."""
        if dtypes.is_bool(self.dtype) or dtypes.is_unsigned(self.dtype):
            return self._same_value()
        if dtypes.is_int(self.dtype):
            return (self < 0).where(-self, self)
        # 0 - x, not -x: it is 0 for both zeros
        return (self > 0).where(self, 0 - self)._with_derivatives((self, self._sign()))

    def __abs__(self) -> Self:
        return self.abs()

    def copysign(self, other: Self | Number) -> Self:
        """The magnitude of this with the sign of `other`, where -0.0 and NaN have signs too."""
        a, b = self._meet(other)
        a, b = a._as_float(), b._as_float()
        return b._negative().where(-a.abs(), a.abs())

    def clamp(self, min_: Self | Number | None = None, max_: Self | Number | None = None) -> Self:
        """Not less than `min_`, not greater than `max_`; None for no limit. Raises DTypeError
        without a limit."""
        if min_ is None and max_ is None:
            raise DTypeError("clamp without limits", where=here(), hint="give min_ or max_")
        x = self
        if min_ is not None:
            x = (x < min_).where(min_, x)
        if max_ is not None:
            x = (x > max_).where(max_, x)
        return x

    def clip(self, min_: Self | Number | None = None, max_: Self | Number | None = None) -> Self:
        """`clamp`."""
        return self.clamp(min_, max_)

    def clamp_min(self, min_: Self | Number) -> Self:
        """Not less than `min_`."""
        return self.clamp(min_)

    def clamp_max(self, max_: Self | Number) -> Self:
        """Not greater than `max_`."""
        return self.clamp(max_=max_)

    def nan_to_num(
        self, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
    ) -> Self:
        """Numbers in place of NaN and infinities: by default 0, and the largest and the least of
        the dtype."""
        if not dtypes.is_float(self.dtype):
            return self._same_value()
        most = dtypes.finfo(self.dtype).max
        x = self.isnan().where(nan, self)
        x = (x == math.inf).where(most if posinf is None else posinf, x)
        return (x == -math.inf).where(-most if neginf is None else neginf, x)

    def lerp(self, end: Self, weight: Self | Number) -> Self:
        """self + (end - self) * weight"""
        return self._wide_with(end, lambda a, b: a + (b - a) * weight)

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
