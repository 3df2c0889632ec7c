"""pow from exp2, log2 and multiplication.

Of floats: 2 ** (y * log2 |x|) in float64, with the sign and the special cases of IEEE 754-2019,
9.2.1; exact to the last bit or so in float32, to about 1e-13 in float64. Of integers: products of
squares, with wraparound.
"""

from __future__ import annotations

from core.dtype import dtypes
from core.passes.decompose.bits import same_bits
from core.passes.decompose.exponential import exp2
from core.passes.decompose.logarithm import log2
from core.uop import UOp


def float_power(x: UOp, y: UOp) -> UOp:
    """x ** y of floats."""
    dtype = x.dtype.scalar()
    x, y = x.cast(dtypes.float64), y.cast(dtypes.float64)
    negative = same_bits(x, dtypes.int64) < 0
    size = negative.where(x * -1.0, x)
    value = exp2(log2(size) * y)
    # 1 ** y is 1 even where y is not finite, where the product above is NaN
    value = (size.eq(1.0) & y.eq(y)).where(x.const_like(1.0), value)
    whole = y.trunc().eq(y)
    odd = whole & (y * 0.5).trunc().ne(y * 0.5)
    value = (negative & odd).where(value * -1.0, value)
    wrong = (x < 0.0) & whole.logical_not() & size.ne(float("inf"))
    value = (wrong | x.ne(x)).where(x.const_like(float("nan")), value)
    value = (y.eq(0.0) | x.eq(1.0)).where(x.const_like(1.0), value)
    return value.cast(dtype)


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
