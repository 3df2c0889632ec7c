"""log2 from arithmetic, to 1 ulp in float32 and float64.

x = m * 2 ** e with m in [sqrt(1/2), sqrt(2)); with t = m - 1 and s = t / (2 + t), log(1 + t) is
t - t*t/2 + s * (t*t/2 + R(s*s)), R the rest of the series of 2 * atanh(s). The product with
1 / ln 2 is done in two parts whose leading one is exact. The arrangement is that of log2 in
FreeBSD's msun (S. G. Kargl and others); the coefficients here are those of the series.
"""

from __future__ import annotations

import math
from fractions import Fraction

from core.dtype import DType, dtypes, round_float
from core.passes.decompose.bits import layout, polynomial, same_bits
from core.uop import UOp

_terms = {dtypes.float32: 5, dtypes.float64: 11}
_low_bits = {dtypes.float32: 12, dtypes.float64: 32}
"""Bits cleared at the end of a leading part, so that its products are exact."""

# 1 / ln 2 to 40 digits (OEIS A007525)
_INVERSE_LN2 = Fraction(14426950408889634073599246810018921374266, 10**40)


def _inverse_ln2(dtype: DType) -> tuple[float, float]:
    """1 / ln 2 as a part with few bits and the rest."""
    bits = 11 if dtype is dtypes.float32 else 30
    high = Fraction(round(_INVERSE_LN2 * (1 << bits)), 1 << bits)
    return float(high), round_float(float(_INVERSE_LN2 - high), dtype)


def log2(x: UOp) -> UOp:
    """The logarithm to base 2: -inf at 0, NaN below; subnormal numbers are fine."""
    value = log2_in_parts(x)[0]
    value = x.eq(0.0).where(x.const_like(-math.inf), value)
    value = (x < 0.0).where(x.const_like(math.nan), value)
    return (x.ne(x) | x.eq(math.inf)).where(x, value)


def log2_in_parts(x: UOp) -> tuple[UOp, UOp]:
    """The logarithm to base 2 of a positive finite number, and its rounding error."""
    dtype, parts = x.dtype.scalar(), layout(x)
    tiny = x < math.ldexp(1.0, 1 - parts.bias)
    raised = parts.mantissa + 1
    bits = same_bits(tiny.where(x * math.ldexp(1.0, raised), x), parts.bits)
    exponent = (bits >> parts.mantissa) & parts.exponent_mask
    fraction = bits & parts.fraction_mask
    m = same_bits(fraction | (parts.bias << parts.mantissa), dtype)
    upper = m > math.sqrt(2)
    m = upper.where(m * 0.5, m)
    shift = tiny.where(exponent.const_like(parts.bias + raised), exponent.const_like(parts.bias))
    e = (exponent - shift + upper.cast(parts.bits)).cast(dtype)
    t = m - 1.0
    s = t / (t + 2.0)
    z = s * s
    rest = z * polynomial(z, [2 / (2 * k + 3) for k in range(_terms[dtype])])
    half_square = t * t * 0.5
    correction = s * (half_square + rest)
    keep = ~((1 << _low_bits[dtype]) - 1)
    leading = same_bits(same_bits(t - half_square, parts.bits) & keep, dtype)
    trailing = (t - leading) - half_square + correction
    inverse, inverse_rest = _inverse_ln2(dtype)
    high = leading * inverse
    low = (trailing + leading) * inverse_rest + trailing * inverse
    total = e + high
    rest = ((e - total) + high) + low
    value = rest + total
    return value, (total - value) + rest
