"""sin and cos from arithmetic, for every finite argument, to 1 ulp in float32, 3 in float64.

The argument is reduced to r in about [-pi/4, pi/4] and a quadrant q with x = q * pi/2 + r. Small
arguments take pi/2 in three parts whose products with q are exact (W. J. Cody, W. Waite, "Software
Manual for the Elementary Functions", 1980); large ones multiply the integer mantissa with the bits
of 2/pi that matter at their exponent (M. Payne, R. Hanek, "Radian reduction for trigonometric
functions", SIGNUM 18, 1983). All is done in float64, whatever the dtype of the argument.
"""

from __future__ import annotations

import math
from fractions import Fraction

from core.dtype import DType, dtypes
from core.passes.decompose.bits import layout, polynomial, round_half_away, same_bits
from core.uop import UOp

# pi to 60 digits (OEIS A000796); 2/pi from it would be too short for large exponents
_PI = Fraction(3141592653589793238462643383279502884197169399375105820974944, 10**60)

SMALL = 2.0**20
"""Arguments below this take the three parts of pi/2: q has 20 bits, each part 33."""


def _parts_of_half_pi() -> tuple[float, float, float]:
    rest, parts = _PI / 2, list[float]()
    for bits in (32, 65):
        part = Fraction(int(rest * (1 << bits)), 1 << bits)
        parts.append(float(part))
        rest -= part
    return parts[0], parts[1], float(rest)


def two_over_pi_words(count: int) -> tuple[int, ...]:
    """The first 32-bit words of the fraction of 2/pi, most significant first.

    pi to that many bits is Machin's 16 atan(1/5) - 4 atan(1/239), in integers.
    """
    bits = 32 * count + 64
    one = 1 << (2 * bits)

    def inverse_atan(n: int) -> int:
        total, power, k = 0, one // n, 1
        while power:
            total += power // k if k % 4 == 1 else -(power // k)
            power //= n * n
            k += 2
        return total

    pi = 16 * inverse_atan(5) - 4 * inverse_atan(239)
    fraction = (2 * one << bits) // pi >> (bits - 32 * count)
    return tuple(fraction >> (32 * (count - 1 - i)) & 0xFFFFFFFF for i in range(count))


def _reduce_small(x: UOp) -> tuple[UOp, UOp]:
    q = round_half_away(x * (2 / math.pi))
    for part in _parts_of_half_pi():
        x = x - q * part
    return q.cast(dtypes.int32), x


def _reduce_large(x: UOp, exponents: int) -> tuple[UOp, UOp]:
    """For 2 ** 20 <= |x| < 2 ** exponents, from the bits of x. With x = m * 2 ** e, m an integer of
    53 bits: the bits of 2/pi that are multiples of 4 after the product are left out, 192 that
    follow are kept."""
    parts = layout(x)
    bits = same_bits(x, parts.bits)
    e = ((bits >> parts.mantissa) & parts.exponent_mask) - (parts.bias + parts.mantissa)
    m = ((bits & parts.fraction_mask) | (1 << parts.mantissa)).cast(dtypes.uint64)
    # multiples of 4 are the bits before position e - 2; e >= -32, so words 0, 0 stand before 2/pi
    start = (e + (64 - 2)).cast(dtypes.int32)
    index, shift = start >> 5, (start & 31).cast(dtypes.uint64)
    last = (exponents - 1 - parts.mantissa + 62) >> 5
    words = (0, 0, *two_over_pi_words(last + 7))
    raw = [word_at(words[k : k + last + 1], index, dtypes.uint64) for k in range(7)]
    window = [
        ((raw[k] << shift) | (raw[k + 1] >> (shift.const_like(32) - shift))) & 0xFFFFFFFF
        for k in range(6)
    ]
    low, high = m & 0xFFFFFFFF, m >> 32
    # product modulo 2 ** 192, in words: m has two, the window six
    carry, product = m.const_like(0), list[UOp]()
    for k in reversed(range(6)):
        first = window[k] * low
        second = window[k + 1] * high if k < 5 else m.const_like(0)
        total = (first & 0xFFFFFFFF) + (second & 0xFFFFFFFF) + carry
        product.append(total & 0xFFFFFFFF)
        carry = (total >> 32) + (first >> 32) + (second >> 32)
    words_out = product[::-1]
    top = (words_out[0] << 32) | words_out[1]
    rest = (words_out[2] << 32) | words_out[3]
    q = (top + (1 << 61)) >> 62
    signed = same_bits(top - (q << 62), dtypes.int64).cast(dtypes.float64)
    scale = math.pi / 2 * 2.0**-62
    r = (signed + rest.cast(dtypes.float64) * 2.0**-64) * scale
    negative = bits < 0
    q = q.cast(dtypes.int32)
    return negative.where(q * -1, q), negative.where(r * -1.0, r)


def word_at(words: tuple[int, ...], index: UOp, dtype: DType) -> UOp:
    """words[index] as an integer of `dtype`, by halving."""
    if len(set(words)) == 1:
        return UOp.const(dtype.vec(index.dtype.count), words[0])
    half = 1 << ((len(words) - 1).bit_length() - 1)
    upper = (index & half).ne(0)
    return upper.where(word_at(words[half:], index, dtype), word_at(words[:half], index, dtype))


def sin(x: UOp) -> UOp:
    """The sine; NaN for infinities and NaN."""
    wide = x.cast(dtypes.float64)
    value = wide.eq(0.0).where(wide, _quarter(x, 0))  # sin(-0.0) is -0.0
    return _finite(x, value)


def cos(x: UOp) -> UOp:
    """The cosine, the sine a quarter turn later; NaN for infinities and NaN."""
    return _finite(x, _quarter(x, 1))


def _finite(x: UOp, value: UOp) -> UOp:
    wide = x.cast(dtypes.float64)
    finite = (wide - wide).eq(0.0)
    return finite.where(value, wide.const_like(math.nan)).cast(x.dtype.scalar())


def _quarter(x: UOp, turns: int) -> UOp:
    """sin(x + turns * pi/2) of a finite x, in float64."""
    wide = x.cast(dtypes.float64)
    small = (wide < SMALL) & (wide > -SMALL)
    q, r = _reduce_small(small.where(wide, wide.const_like(0.0)))
    q2, r2 = _reduce_large(wide, 128 if x.dtype.scalar() is dtypes.float32 else 1024)
    q, r = small.where(q, q2), small.where(r, r2)
    q = q + turns if turns else q
    z = r * r
    odd = [(-1) ** k / math.factorial(2 * k + 1) for k in range(1, 9)]
    even = [(-1) ** k / math.factorial(2 * k) for k in range(2, 10)]
    sine = r + r * z * polynomial(z, odd)
    half = z * 0.5
    most = half.const_like(1.0) - half
    cosine = most + (((most.const_like(1.0) - most) - half) + z * z * polynomial(z, even))
    value = (q & 1).ne(0).where(cosine, sine)
    return (q & 2).ne(0).where(value * -1.0, value)
