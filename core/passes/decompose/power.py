"""pow from exp2, log2 and multiplication.

Of floats: 2 ** (y * log2 |x|) in float64, with the sign and the special cases of IEEE 754-2019,
9.2.1; exact to the last bit or so in float32. In float64 the logarithm and its product are carried
in two parts, which leaves an error of a few units in the last place. Of integers: products of
squares, with wraparound.
"""

from __future__ import annotations

import math

from core.dtype import dtypes
from core.passes.decompose.bits import layout, same_bits
from core.passes.decompose.exponential import exp2
from core.passes.decompose.logarithm import log2, log2_in_parts
from core.uop import UOp


def float_power(x: UOp, y: UOp) -> UOp:
    """x ** y of floats."""
    dtype = x.dtype.scalar()
    x, y = x.cast(dtypes.float64), y.cast(dtypes.float64)
    negative = same_bits(x, dtypes.int64) < 0
    size = negative.where(x * -1.0, x)
    value = exp2(log2(size) * y)
    if dtype is dtypes.float64:
        value = _corrected(value, size, y)
    return of_any_sign(value, x, y).cast(dtype)


def of_any_sign(value: UOp, x: UOp, y: UOp) -> UOp:
    """x ** y, of which `value` is |x| ** y: its sign, and the special cases of IEEE 754-2019,
    9.2.1."""
    negative = same_bits(x, layout(x).bits) < 0
    size = negative.where(x * -1.0, x)
    # 1 ** y is 1 even where y is not finite, where the product of the logarithm is NaN
    value = (size.eq(1.0) & y.eq(y)).where(x.const_like(1.0), value)
    whole = y.trunc().eq(y)
    odd = whole & (y * 0.5).trunc().ne(y * 0.5)
    value = (negative & odd).where(value * -1.0, value)
    wrong = (x < 0.0) & whole.logical_not() & size.ne(math.inf)
    value = (wrong | x.ne(x)).where(x.const_like(math.nan), value)
    return (y.eq(0.0) | x.eq(1.0)).where(x.const_like(1.0), value)


def _corrected(value: UOp, size: UOp, y: UOp) -> UOp:
    """`value`, 2 ** p with p = log2(size) * y rounded, times 2 ** the rounding error of p."""
    log, rest = log2_in_parts(size)
    p = log * y
    (a, b), (c, d) = _halves(log), _halves(y)
    lost = (a * c - p) + (a * d + b * c) + b * d + rest * y
    finite = (p < 1100.0) & (p > -1100.0) & (lost < 1.0) & (lost > -1.0)
    factor = finite.where(lost, lost.const_like(0.0)) * math.log(2) + 1.0
    return value * factor


def _halves(x: UOp) -> tuple[UOp, UOp]:
    """A float64 as two with half of its digits each, whose products are exact."""
    leading = same_bits(same_bits(x, dtypes.int64) & ~0x7FFFFFF, dtypes.float64)
    return leading, x - leading


def int_power(x: UOp, y: UOp) -> UOp:
    """x ** y of integers; of a negative power, what is left after truncation toward zero."""
    dtype = x.dtype.scalar()
    value, square = x.const_like(1), x
    for k in range(dtype.bits - (not dtypes.is_unsigned(dtype))):
        value = (y & (1 << k)).ne(0).where(value * square, value)
        square = square * square
    if dtypes.is_unsigned(dtype):
        return value
    odd = (y & 1).ne(0)
    unit = x.eq(1) | (x.eq(-1) & odd.logical_not())
    inverse = unit.where(x.const_like(1), x.eq(-1).where(x, x.const_like(0)))
    return (y < 0).where(inverse, value)
