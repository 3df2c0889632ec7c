"""Narrow floats on targets without arithmetic for them: computed in float32, converted by bits.

float32 holds every float16, bfloat16 and 8-bit float, and is wide enough that rounding twice gives
what rounding once would, for + - * / and sqrt (S. Figueroa, "When is double rounding innocuous?",
SIGNUM 30, 1995). 8-bit formats are those of the OCP 8-bit floating point specification 1.0.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.dtype import DType, dtypes
from core.passes.decompose.bits import same_bits
from core.uop import UOp


@dataclass(frozen=True, slots=True)
class Format:
    """One narrow format: fraction bits, smallest normal exponent, codes without their sign."""

    fraction: int
    smallest: int
    largest: int
    """Code of the largest finite number."""
    overflow: int
    """What larger numbers become."""
    nan: int


_formats = {
    dtypes.fp8e4m3: Format(3, -6, 0x7E, 0x7F, 0x7F),
    dtypes.fp8e5m2: Format(2, -14, 0x7B, 0x7C, 0x7F),
    dtypes.float16: Format(10, -14, 0x7BFF, 0x7C00, 0x7E00),
}
_codes = {1: dtypes.uint8, 2: dtypes.uint16}


def widen(x: UOp) -> UOp:
    """A narrow float as float32."""
    dtype = x.dtype.scalar()
    code = same_bits(x, _codes[dtype.itemsize]).cast(dtypes.uint32)
    if dtype is dtypes.bfloat16:
        return same_bits(code << 16, dtypes.float32)
    fmt = _formats[dtype]
    top = 1 << (dtype.bits - 1)
    size, sign = code & (top - 1), (code & top) << (32 - dtype.bits)
    shift = 23 - fmt.fraction
    normal = same_bits((size << shift) + ((fmt.smallest + 126) << 23), dtypes.float32)
    tiny = size.cast(dtypes.float32) * 2.0 ** (fmt.smallest - fmt.fraction)
    value = (size < (1 << fmt.fraction)).where(tiny, normal)
    if fmt.overflow != fmt.nan:
        value = size.eq(fmt.overflow).where(value.const_like(float("inf")), value)
    is_nan = size.eq(fmt.nan) if fmt.overflow == fmt.nan else size > fmt.overflow
    value = is_nan.where(value.const_like(float("nan")), value)
    return same_bits(same_bits(value, dtypes.uint32) | sign, dtypes.float32)


def narrow(x: UOp, dtype: DType) -> UOp:
    """A float32 as the nearest number of the narrow `dtype`, ties to even."""
    bits = same_bits(x, dtypes.uint32)
    if dtype is dtypes.bfloat16:
        nearest = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        quiet = (bits >> 16) | 0x40
        return same_bits(x.ne(x).where(quiet, nearest).cast(dtypes.uint16), dtype)
    fmt = _formats[dtype]
    sign, size = (bits >> (32 - dtype.bits)) & (1 << (dtype.bits - 1)), bits & 0x7FFFFFFF
    exponent = (size >> 23).cast(dtypes.int32) - 127
    low = exponent < fmt.smallest
    exponent = low.where(exponent.const_like(fmt.smallest), exponent)
    # below 2 ** 16 all is exact; larger numbers overflow anyway
    capped = exponent > 20
    exponent = capped.where(exponent.const_like(20), exponent)
    scale = same_bits((exponent * -1 + (127 + fmt.fraction)) << 23, dtypes.float32)
    units = same_bits(size, dtypes.float32) * scale
    # the sum has the nearest integer as its fraction; subtracting 2 ** 23 from it again is what
    # some compilers of shaders take for nothing
    nearest = (same_bits(units + 2.0**23, dtypes.uint32) & 0x7FFFFF).cast(dtypes.int32)
    nearest = capped.where(nearest.const_like(1), nearest)
    code = ((exponent - fmt.smallest) << fmt.fraction) + nearest
    code = (code > fmt.largest).where(code.const_like(fmt.overflow), code)
    code = x.ne(x).where(code.const_like(fmt.nan), code).cast(dtypes.uint32)
    return same_bits((code | sign).cast(_codes[dtype.itemsize]), dtype)


def fewer_bits(x: UOp) -> UOp:
    """A 64-bit integer as one that float64 holds and that every narrow float rounds alike.

    From 2 ** 53 on, narrow floats and their ties are multiples of 2 ** 12. So there the last 12
    bits are replaced by one that says whether any of them is set.
    """
    last = x & 0xFFF
    large = (x - last) | last.ne(0).where(x.const_like(0x800), x.const_like(0))
    small = x < 1 << 53
    if not dtypes.is_unsigned(x.dtype):
        small = small & (x > -(1 << 53))
    return small.where(x, large)


def round_to_odd(x: UOp) -> UOp:
    """A float64, or an integer of 32 bits or more, as a float32 that, rounded to a narrower float,
    gives what rounding `x` once would.

    What float32 does not hold goes to the neighbour whose last bit is 1, which keeps a tie of the
    narrower float from looking like one where it is none (S. Boldo, G. Melquiond, "Emulation of FMA
    and correctly rounded sums: proved algorithms using rounding to odd", IEEE Transactions on
    Computers 57(4), 2008).
    """
    near = x.cast(dtypes.float32)
    # an integer next to the largest of its dtype may come back as that, of a power of two that is
    # rounded alike
    back, bits = near.cast(x.dtype), same_bits(near, dtypes.uint32)
    away = (x < 0).where(back < x, x < back)
    odd = away.where(bits - 1, bits) | 1
    return same_bits(back.ne(x).where(odd, bits), dtypes.float32)
