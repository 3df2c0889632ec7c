"""Quotients and remainders; those of floats are exact, however large the quotient.

Integers divide as `IDIV` and `MOD` do, corrected to Python's rounding down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from core.dtype import dtypes
from core.errors import DTypeError
from core.tensor.calls.origin import here
from core.tensor.elements.elementwise import Elementwise
from core.tensor.elements.remainder import floor_quotient, python_remainder, remainder
from core.tensor.state.base import Number
from core.uop.ops import Ops
from core.uop.uop import UOp


class Division(Elementwise):
    """Quotients and remainders of elements at the same place."""

    __slots__ = ()

    def div(
        self, x: Self | Number, reverse: bool = False, rounding_mode: str | None = None
    ) -> Self:
        """self / x, a float; or rounded to a whole number: "trunc" toward zero, "floor" down.

        Raises DTypeError for any other rounding mode.
        """
        a, b = self._meet(x)
        if reverse:
            a, b = b, a
        exact = dtypes.is_int(a.dtype)
        if rounding_mode == "floor":
            return a._floor_divide(b)
        if rounding_mode == "trunc":
            return a._binary(Ops.IDIV, b) if exact else a.div(b)._unary(Ops.TRUNC)
        if rounding_mode is not None:
            raise DTypeError(
                f"unknown rounding mode {rounding_mode!r}",
                where=here(),
                hint='use None, "trunc" or "floor"',
            )
        return a._as_float()._binary(Ops.FDIV, b._as_float())

    def floor_divide(self, x: Self | Number) -> Self:
        """self / x rounded down: `//`."""
        return self.div(x, rounding_mode="floor")

    def addcdiv(self, tensor1: Self, tensor2: Self, *, value: Number = 1) -> Self:
        """self + value * tensor1 / tensor2"""
        return self._plus(value, lambda b, c: b.div(c), tensor1, tensor2)

    def idiv(self, x: Self | Number) -> Self:
        """Integer division that truncates toward zero. Raises DTypeError for floats."""
        a, b = self._meet(x)
        if not dtypes.is_int(a.dtype):
            raise DTypeError(
                f"idiv of {a.dtype}", where=here(), hint='use div(rounding_mode="trunc")'
            )
        return a._binary(Ops.IDIV, b)

    def mod(self, x: Self | Number, reverse: bool = False) -> Self:
        """The remainder with the sign of the divisor, as in Python; exact up to one rounding."""
        a, b = self._meet(x)
        if reverse:
            a, b = b, a
        if dtypes.is_float(a.dtype):
            # d(a mod b) = da - floor(a / b) db
            quotient = a._floor_divide(b)
            one = self._new(a.uop.const_like(1))
            return a._wide_pair(b, python_remainder)._with_derivatives(
                (a, one), (b, quotient.neg())
            )
        if dtypes.is_bool(a.dtype):
            raise DTypeError("remainder of bools", where=here(), hint="cast to int")
        remainder = a._binary(Ops.MOD, b)
        if dtypes.is_unsigned(a.dtype):
            return remainder
        return remainder._wrong_side(b).where(remainder.add(b), remainder)

    def remainder(self, x: Self | Number) -> Self:
        """`mod`."""
        return self.mod(x)

    def fmod(self, x: Self | Number) -> Self:
        """The remainder with the sign of this, as in C; exact. Raises DTypeError for bools."""
        a, b = self._meet(x)
        if dtypes.is_bool(a.dtype):
            raise DTypeError("remainder of bools", where=here(), hint="cast to int")
        if dtypes.is_int(a.dtype):
            return a._binary(Ops.MOD, b)
        rest = a._wide_pair(b, remainder)
        one = self._new(a.uop.const_like(1))
        return rest._with_derivatives((a, one), (b, rest.sub(a).detach().div(b)))

    def _floor_divide(self, b: Self) -> Self:
        if not dtypes.is_int(self.dtype):
            return self._as_float()._wide_pair(b._as_float(), floor_quotient)
        quotient = self._binary(Ops.IDIV, b)
        if dtypes.is_unsigned(self.dtype):
            return quotient
        # where b is 0, the quotient is 0, and what remains has any sign
        down = self._binary(Ops.MOD, b)._wrong_side(b)._binary(Ops.AND, b.ne(0))
        return quotient.sub(down.cast(self.dtype))

    def _wrong_side(self, divisor: Self) -> Self:
        """Whether this, a C remainder, has another sign than Python's remainder."""
        return self.ne(0)._binary(Ops.AND, self._binary(Ops.XOR, divisor).lt(0))

    def _wide_pair(self, other: Self, function: Callable[[UOp, UOp], UOp]) -> Self:
        """`function` of two floats; in float32 for narrower ones."""
        wide = self.dtype if self.dtype.bits >= 32 else dtypes.float32
        return self._new(function(self.uop.cast(wide), other.uop.cast(wide)).cast(self.dtype))
