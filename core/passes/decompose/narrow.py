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
class Fp8:
    """One 8-bit format: fraction bits, smallest normal exponent, codes."""

    fraction: int
    smallest: int
    largest: int
    """Code of the largest finite number."""
    overflow: int
    """What larger numbers become."""


_NAN = 0x7F
_formats = {
    dtypes.fp8e4m3: Fp8(3, -6, 0x7E, _NAN),
    dtypes.fp8e5m2: Fp8(2, -14, 0x7B, 0x7C),
}


def widen(x: UOp) -> UOp:
    """A bfloat16 or 8-bit float as float32."""
    dtype = x.dtype.scalar()
    if dtype is dtypes.bfloat16:
        return same_bits(same_bits(x, dtypes.uint16).cast(dtypes.uint32) << 16, dtypes.float32)
    fmt = _formats[dtype]
    code = same_bits(x, dtypes.uint8).cast(dtypes.uint32)
    size, sign = code & 0x7F, (code & 0x80) << 24
    shift = 23 - fmt.fraction
    normal = same_bits((size << shift) + ((fmt.smallest + 126) << 23), dtypes.float32)
    tiny = size.cast(dtypes.float32) * 2.0 ** (fmt.smallest - fmt.fraction)
    value = (size < (1 << fmt.fraction)).where(tiny, normal)
    if fmt.overflow != _NAN:
        value = size.eq(fmt.overflow).where(value.const_like(float("inf")), value)
    value = (size > max(fmt.overflow, fmt.largest)).where(value.const_like(float("nan")), value)
    if fmt.overflow == _NAN:
        value = size.eq(_NAN).where(value.const_like(float("nan")), value)
    return same_bits(same_bits(value, dtypes.uint32) | sign, dtypes.float32)


def round_bfloat16(x: UOp) -> UOp:
    """A float32 as the nearest bfloat16, ties to even."""
    bits = same_bits(x, dtypes.uint32)
    nearest = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    quiet = (bits >> 16) | 0x40
    return same_bits(x.ne(x).where(quiet, nearest).cast(dtypes.uint16), dtypes.bfloat16)


def round_fp8(x: UOp, dtype: DType) -> UOp:
    """A float32 as the nearest 8-bit float, ties to even."""
    fmt = _formats[dtype]
    bits = same_bits(x, dtypes.uint32)
    sign, size = (bits >> 24) & 0x80, bits & 0x7FFFFFFF
    exponent = (size >> 23).cast(dtypes.int32) - 127
    low = exponent < fmt.smallest
    exponent = low.where(exponent.const_like(fmt.smallest), exponent)
    # below 2 ** 14 all is exact; larger numbers overflow anyway
    capped = exponent > 20
    exponent = capped.where(exponent.const_like(20), exponent)
    scale = same_bits((exponent * -1 + (127 + fmt.fraction)) << 23, dtypes.float32)
    units = same_bits(size, dtypes.float32) * scale
    nearest = (units + 2.0**23) - 2.0**23
    nearest = capped.where(nearest.const_like(1.0), nearest)
    code = ((exponent - fmt.smallest) << fmt.fraction) + nearest.cast(dtypes.int32)
    code = (code > fmt.largest).where(code.const_like(fmt.overflow), code)
    code = x.ne(x).where(code.const_like(_NAN), code).cast(dtypes.uint32)
    return same_bits((code | sign).cast(dtypes.uint8), dtype)
