"""trunc from integer conversions and bits, for processors without an instruction for it."""

from __future__ import annotations

from core.passes.decompose.bits import layout, same_bits
from core.uop import UOp


def trunc(x: UOp) -> UOp:
    """`x` without its fraction, toward zero, sign kept; a number that is too large to have a
    fraction, an infinity and NaN are themselves."""
    form = layout(x)
    limit, sign = float(1 << form.mantissa), -(1 << (form.bits.bits - 1))
    bits = same_bits(x, form.bits)
    size = same_bits(bits & ~sign, x.dtype.scalar())
    small = size < limit  # false for NaN
    whole = small.where(size, size.const_like(0.0)).cast(form.bits).cast(x.dtype)
    signed = same_bits(same_bits(whole, form.bits) | (bits & sign), x.dtype.scalar())
    return small.where(signed, x)
