"""Floats as bits, and polynomials: what the elementary functions are built from.

All helpers work on scalars and vectors alike. Never looks at a target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.dtype import DType, dtypes
from core.uop import UOp


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the parts of a binary float are (IEEE 754-2019, 3.4)."""

    bits: DType
    """The integer of the same width."""
    mantissa: int
    bias: int

    @property
    def exponent_mask(self) -> int:
        """All ones of the exponent field, shifted down."""
        return 2 * self.bias + 1

    @property
    def fraction_mask(self) -> int:
        """All ones of the fraction field."""
        return (1 << self.mantissa) - 1


layouts = {
    dtypes.float32: Layout(dtypes.int32, 23, 127),
    dtypes.float64: Layout(dtypes.int64, 52, 1023),
}


def layout(x: UOp) -> Layout:
    """The layout of the float `x`."""
    return layouts[x.dtype.scalar()]


def same_bits(x: UOp, dtype: DType) -> UOp:
    """`x` read as the scalar `dtype` of the same width, lane by lane."""
    return x.bitcast(dtype.vec(x.dtype.count))


def power_of_two(n: UOp, dtype: DType) -> UOp:
    """2 ** n as the float `dtype`, for integers n within its normal exponents."""
    found = layouts[dtype]
    return same_bits((n.cast(found.bits) + found.bias) << found.mantissa, dtype)


def round_half_away(x: UOp) -> UOp:
    """The integer nearest to `x`, as a float; halves away from zero."""
    half = (x < 0.0).where(x.const_like(-0.5), x.const_like(0.5))
    return (x + half).trunc()


def nearest(x: UOp) -> tuple[UOp, UOp]:
    """The whole number nearest to a float, halves to even, as a float and as an integer of its
    width; of floats up to a quarter of the whole numbers that the dtype can tell apart. The sum
    with a number of a known exponent has the integer in its last bits: a cast takes far longer, as
    it has to heed what is no such float."""
    form = layout(x)
    base = float(3 << form.mantissa - 1)
    bits = (form.bias + form.mantissa << form.mantissa) | (1 << form.mantissa - 1)
    moved = x + base
    return moved - base, same_bits(moved, form.bits) - bits


def polynomial(x: UOp, coefficients: Sequence[float]) -> UOp:
    """sum(coefficients[k] * x ** k), by Horner's rule."""
    value = x.const_like(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value = value * x + c
    return value
