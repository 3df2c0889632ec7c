"""Quotients and remainders; those of floats are exact, however large the quotient.

Integers divide as `IDIV` and `MOD` do, corrected to Python's rounding down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.dtype import dtypes
from core.errors import DTypeError
from core.tensor.elements import remainder as floats
from core.tensor.elements.elementwise import (
    as_float,
    binary,
    meet,
    plus,
    unary,
    with_derivatives,
)
from core.tensor.state.base import Number, tensor_of
from core.uop.ops import Ops
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor


def div(
    self: Tensor, x: Tensor | Number, reverse: bool = False, rounding_mode: str | None = None
) -> Tensor:
    """self / x, a float; or rounded to a whole number: "trunc" toward zero, "floor" down.

    Raises DTypeError for any other rounding mode.
    """
    a, b = meet(self, x)
    if reverse:
        a, b = b, a
    exact = dtypes.is_int(a.dtype)
    if rounding_mode == "floor":
        return _floor_divide(a, b)
    if rounding_mode == "trunc":
        return binary(a, Ops.IDIV, b) if exact else unary(a.div(b), Ops.TRUNC)
    if rounding_mode is not None:
        raise DTypeError(
            f"unknown rounding mode {rounding_mode!r}", hint='use None, "trunc" or "floor"'
        )
    return binary(as_float(a), Ops.FDIV, as_float(b))


def floor_divide(self: Tensor, x: Tensor | Number) -> Tensor:
    """self / x rounded down: `//`."""
    return self.div(x, rounding_mode="floor")


def addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """self + value * tensor1 / tensor2"""
    return plus(self, value, lambda b, c: b.div(c), tensor1, tensor2)


def idiv(self: Tensor, x: Tensor | Number) -> Tensor:
    """Integer division that truncates toward zero. Raises DTypeError for floats."""
    a, b = meet(self, x)
    if not dtypes.is_int(a.dtype):
        raise DTypeError(f"idiv of {a.dtype}", hint='use div(rounding_mode="trunc")')
    return binary(a, Ops.IDIV, b)


def mod(self: Tensor, x: Tensor | Number, reverse: bool = False) -> Tensor:
    """The remainder with the sign of the divisor, as in Python; exact up to one rounding."""
    a, b = meet(self, x)
    if reverse:
        a, b = b, a
    if dtypes.is_float(a.dtype):
        # d(a mod b) = da - floor(a / b) db
        quotient = _floor_divide(a, b)
        one = tensor_of(type(self), a.uop.const_like(1))
        return with_derivatives(
            _wide_pair(a, b, floats.python_remainder), (a, one), (b, quotient.neg())
        )
    if dtypes.is_bool(a.dtype):
        raise DTypeError("remainder of bools", hint="cast to int")
    remainder = binary(a, Ops.MOD, b)
    if dtypes.is_unsigned(a.dtype):
        return remainder
    return _wrong_side(remainder, b).where(remainder.add(b), remainder)


def remainder(self: Tensor, x: Tensor | Number) -> Tensor:
    """`mod`."""
    return self.mod(x)


def fmod(self: Tensor, x: Tensor | Number) -> Tensor:
    """The remainder with the sign of this, as in C; exact. Raises DTypeError for bools."""
    a, b = meet(self, x)
    if dtypes.is_bool(a.dtype):
        raise DTypeError("remainder of bools", hint="cast to int")
    if dtypes.is_int(a.dtype):
        return binary(a, Ops.MOD, b)
    rest = _wide_pair(a, b, floats.remainder)
    one = tensor_of(type(self), a.uop.const_like(1))
    return with_derivatives(rest, (a, one), (b, rest.sub(a).detach().div(b)))


def _floor_divide(self: Tensor, b: Tensor) -> Tensor:
    if not dtypes.is_int(self.dtype):
        return _wide_pair(as_float(self), as_float(b), floats.floor_quotient)
    quotient = binary(self, Ops.IDIV, b)
    if dtypes.is_unsigned(self.dtype):
        return quotient
    # where b is 0, the quotient is 0, and what remains has any sign
    down = binary(_wrong_side(binary(self, Ops.MOD, b), b), Ops.AND, b.ne(0))
    return quotient.sub(down.cast(self.dtype))


def _wrong_side(self: Tensor, divisor: Tensor) -> Tensor:
    """Whether this, a C remainder, has another sign than Python's remainder."""
    return binary(self.ne(0), Ops.AND, binary(self, Ops.XOR, divisor).lt(0))


def _wide_pair(self: Tensor, other: Tensor, function: Callable[[UOp, UOp], UOp]) -> Tensor:
    """`function` of two floats; in float32 for narrower ones."""
    wide = self.dtype if self.dtype.bits >= 32 else dtypes.float32
    return tensor_of(
        type(self), function(self.uop.cast(wide), other.uop.cast(wide)).cast(self.dtype)
    )
