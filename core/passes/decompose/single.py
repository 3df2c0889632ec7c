"""sin, cos and pow of float32 for targets that have no float64, from float32 and integers.

Sine and cosine take the remainder of x by pi/2 from the bits of x and of 2/pi, in integers, for
every |x| of at least 1/2: exact but for one rounding, and nothing that a compiler of shaders may
rearrange. pow carries the logarithm and its product in two parts. Errors are below 3 units in the
last place (`docs/numerics.md`).
"""

from __future__ import annotations

import math
from typing import Final

from core.dtype import dtypes
from core.passes.decompose.bits import polynomial, same_bits
from core.passes.decompose.exponential import exp2
from core.passes.decompose.logarithm import log2, log2_in_parts
from core.passes.decompose.power import of_any_sign
from core.passes.decompose.sine import two_over_pi_words, word_at
from core.uop import UOp

_SMALL: Final = 0.5
_INFINITY: Final = 0x7F800000
_MAGNITUDE: Final = 0x7FFFFFFF
_EXPONENTS: Final = 128
_DIGITS: Final = 23


def _remainder(x: UOp) -> tuple[UOp, UOp]:
    """(q modulo 4, r) with x = q * pi/2 + r, for |x| from 1/2 on. With x = m * 2 ** e, m an integer
    of 24 bits: the bits of 2/pi that are multiples of 4 after the product are left out, 96 that
    follow are kept."""
    bits = same_bits(x, dtypes.uint32)
    e = ((bits >> _DIGITS) & 0xFF).cast(dtypes.int32) - (127 + _DIGITS)
    m = ((bits & 0x7FFFFF) | 0x800000).cast(dtypes.uint64)
    # multiples of 4 are the bits before position e - 2; e >= -32, so words 0, 0 stand before 2/pi
    start = e + (64 - 2)
    start = (start < 0).where(start.const_like(0), start)  # of small numbers, which are not used
    index, shift = start >> 5, (start & 31).cast(dtypes.uint32)
    last = (_EXPONENTS - 1 - _DIGITS + 62) >> 5
    words = (0, 0, *two_over_pi_words(last + 4))
    raw = [word_at(words[k : k + last + 1], index, dtypes.uint32) for k in range(4)]
    window = [
        (raw[k] << shift) | ((raw[k + 1] >> 1) >> (shift.const_like(31) - shift)) for k in range(3)
    ]
    first, second, third = (w.cast(dtypes.uint64) * m for w in window)
    middle = second + (third >> 32)
    top = (first << 32) + middle
    q = (top + (1 << 61)) >> 62
    near = same_bits(top - (q << 62), dtypes.int64).cast(dtypes.float32)
    r = near * (math.pi / 2 * 2.0**-62)
    negative = bits > _MAGNITUDE
    turns = q.cast(dtypes.int32)
    return negative.where(turns * -1, turns), negative.where(r * -1.0, r)


def _quarter(x: UOp, turns: int) -> UOp:
    """sin(x + turns * pi/2)."""
    size = same_bits(x, dtypes.uint32) & _MAGNITUDE
    small = same_bits(size, dtypes.float32) < _SMALL
    q, r = _remainder(x)
    q, r = small.where(q.const_like(0), q), small.where(x, r)
    q = q + turns if turns else q
    z = r * r
    odd = [(-1) ** k / math.factorial(2 * k + 1) for k in range(1, 6)]
    even = [(-1) ** k / math.factorial(2 * k) for k in range(2, 7)]
    sine = r + r * (z * polynomial(z, odd))
    half = z * 0.5
    most = half.const_like(1.0) - half
    cosine = most + (((most.const_like(1.0) - most) - half) + z * z * polynomial(z, even))
    value = (q & 1).ne(0).where(cosine, sine)
    value = (q & 2).ne(0).where(value * -1.0, value)
    finite = size < _INFINITY
    return finite.where(value, value.const_like(math.nan))


def sin(x: UOp) -> UOp:
    """The sine of a float32; NaN for infinities and NaN."""
    return x.eq(0.0).where(x, _quarter(x, 0))  # sin(-0.0) is -0.0


def cos(x: UOp) -> UOp:
    """The cosine of a float32, the sine a quarter turn later; NaN for infinities and NaN."""
    return _quarter(x, 1)


def float_power(x: UOp, y: UOp) -> UOp:
    """x ** y of float32."""
    negative = same_bits(x, dtypes.int32) < 0
    size = negative.where(x * -1.0, x)
    value = _corrected(exp2(log2(size) * y, reassociates=True), size, y)
    return of_any_sign(value, x, y)


def _corrected(value: UOp, size: UOp, y: UOp) -> UOp:
    """`value`, 2 ** p with p = log2(size) * y rounded, times 2 ** the rounding error of p."""
    log, rest = log2_in_parts(size)
    p = log * y
    (a, b), (c, d) = _halves(log), _halves(y)
    lost = (a * c - p) + (a * d + b * c) + b * d + rest * y
    finite = (p < 160.0) & (p > -160.0) & (lost < 1.0) & (lost > -1.0)
    factor = finite.where(lost, lost.const_like(0.0)) * math.log(2) + 1.0
    return value * factor


def _halves(x: UOp) -> tuple[UOp, UOp]:
    """A float32 as two with half of its digits each, whose products are exact."""
    leading = same_bits(same_bits(x, dtypes.uint32) & 0xFFFFF000, dtypes.float32)
    return leading, x - leading
