"""Rounding, signs, clamping and classification (NaN, infinite, finite) of single elements.

Signed zeros, infinities and NaN are as in IEEE 754, gradients as PyTorch has them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from core.dtype import DType, dtypes
from core.errors import DTypeError
from core.tensor.elements.elementwise import as_float, meet, unary, wide_with, with_derivatives
from core.tensor.state.base import Number, make, same_value, tensor_of
from core.uop.ops import Ops
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor

_words: dict[int, DType] = {
    8: dtypes.int8,
    16: dtypes.int16,
    32: dtypes.int32,
    64: dtypes.int64,
}


def trunc(self: Tensor) -> Tensor:
    """Rounded toward zero."""
    return unary(self, Ops.TRUNC) if dtypes.is_float(self.dtype) else same_value(self)


def floor(self: Tensor) -> Tensor:
    """Rounded down."""
    if not dtypes.is_float(self.dtype):
        return same_value(self)
    down = unary(self, Ops.TRUNC)
    return (self < down).where(down - 1, down)


def ceil(self: Tensor) -> Tensor:
    """Rounded up."""
    if not dtypes.is_float(self.dtype):
        return same_value(self)
    up = unary(self, Ops.TRUNC)
    return (self > up).where(up + 1, up)


def frac(self: Tensor) -> Tensor:
    """What `trunc` takes away. Raises DTypeError for integers."""
    if not dtypes.is_float(self.dtype):
        raise DTypeError(f"frac of {self.dtype}", hint="integers have no fraction")
    return self - self.trunc()


def round(self: Tensor) -> Tensor:
    """Rounded to the nearest integer, halves to the even one."""
    if not dtypes.is_float(self.dtype):
        return same_value(self)
    whole = unary(self, Ops.TRUNC)
    part = (self - whole).abs()
    odd = unary(whole * 0.5, Ops.TRUNC) * 2 != whole
    away = (part > 0.5) | ((part == 0.5) & odd)
    # what is next to zero keeps its sign
    return away.where(whole + _sign(self), whole)


def _sign(self: Tensor) -> Tensor:
    positive = (self > 0).cast(self.dtype)
    if dtypes.is_unsigned(self.dtype):
        return positive
    return positive - (self < 0).cast(self.dtype)


def sign(self: Tensor) -> Tensor:
    """-1, 0 or 1; 0 for NaN."""
    return same_value(self) if dtypes.is_bool(self.dtype) else _sign(self)


def sign_bit(self: Tensor) -> Tensor:
    """Whether the sign bit of a float is set."""
    word = _words[self.dtype.bits]
    return tensor_of(type(self), self.uop.bitcast(word) < 0, False)


def abs(self: Tensor) -> Tensor:
    """Without sign, with gradient 0 at 0."""
    if dtypes.is_bool(self.dtype) or dtypes.is_unsigned(self.dtype):
        return same_value(self)
    if dtypes.is_int(self.dtype):
        return (self < 0).where(-self, self)
    # 0 - x, not -x: it is 0 for both zeros
    return with_derivatives((self > 0).where(self, 0 - self), (self, _sign(self)))


def copysign(self: Tensor, other: Tensor | Number) -> Tensor:
    """The magnitude of this with the sign of `other`, where -0.0 and NaN have signs too."""
    a, b = meet(self, other)
    a, b = as_float(a), as_float(b)
    return sign_bit(b).where(-a.abs(), a.abs())


def clamp(
    self: Tensor, min_: Tensor | Number | None = None, max_: Tensor | Number | None = None
) -> Tensor:
    """Not less than `min_`, not greater than `max_`; None for no limit. Raises DTypeError
    without a limit."""
    if min_ is None and max_ is None:
        raise DTypeError("clamp without limits", hint="give min_ or max_")
    x = self
    if min_ is not None:
        x = (x < min_).where(min_, x)
    if max_ is not None:
        x = (x > max_).where(max_, x)
    return x


def clip(
    self: Tensor, min_: Tensor | Number | None = None, max_: Tensor | Number | None = None
) -> Tensor:
    """`clamp`."""
    return self.clamp(min_, max_)


def clamp_min(self: Tensor, min_: Tensor | Number) -> Tensor:
    """Not less than `min_`."""
    return self.clamp(min_)


def clamp_max(self: Tensor, max_: Tensor | Number) -> Tensor:
    """Not greater than `max_`."""
    return self.clamp(max_=max_)


def nan_to_num(
    self: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Numbers in place of NaN and infinities: by default 0, and the largest and the least of
    the dtype."""
    if not dtypes.is_float(self.dtype):
        return same_value(self)
    most = dtypes.finfo(self.dtype).max
    x = self.isnan().where(nan, self)
    x = (x == math.inf).where(most if posinf is None else posinf, x)
    return (x == -math.inf).where(-most if neginf is None else neginf, x)


def lerp(self: Tensor, end: Tensor, weight: Tensor | Number) -> Tensor:
    """self + (end - self) * weight"""
    return wide_with(self, end, lambda a, b: a + (b - a) * weight)


def isnan(self: Tensor) -> Tensor:
    """Whether NaN."""
    return self != self


def isinf(self: Tensor, detect_positive: bool = True, detect_negative: bool = True) -> Tensor:
    """Whether infinite, of either sign."""
    if not dtypes.is_float(self.dtype):
        return make(self, UOp.full(self.shape, False, dtypes.bool, self.device))
    positive, negative = self == math.inf, self == -math.inf
    return (positive & detect_positive) | (negative & detect_negative)


def isfinite(self: Tensor) -> Tensor:
    """Whether neither infinite nor NaN."""
    return (self.isinf() | self.isnan()).logical_not()


def isclose(
    self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """|self - other| <= atol + rtol |other|; equal infinities are close, NaN only if asked."""
    near = (self - other).abs() <= atol + rtol * other.abs()
    close = (self.isfinite() & other.isfinite() & near) | (self == other)
    return close | (self.isnan() & other.isnan() & equal_nan)
