"""Numbers as bit patterns and back, for every scalar dtype.

Never rounds: the value given must be one that the dtype holds.
"""

from __future__ import annotations

import math
import struct
from functools import cache

from core.dtype import ConstType, DType, dtypes

_wide = {"float64": ("<d", "<Q"), "float32": ("<f", "<I"), "float16": ("<e", "<H")}


def to_bits(value: ConstType, dtype: DType) -> int:
    """The bits of `value` as an unsigned integer. NaN becomes the quiet NaN."""
    if not dtypes.is_float(dtype):
        return int(value) & ((1 << dtype.bits) - 1)
    number = float(value)
    if dtype.name in _wide:
        number_format, word = _wide[dtype.name]
        return int(struct.unpack(word, struct.pack(number_format, number))[0])
    if dtype.name == "bfloat16":  # the upper half of a float32
        return to_bits(number, dtypes.float32) >> 16
    if dtype.name == "fp8e5m2":  # the upper half of a float16
        return to_bits(number, dtypes.float16) >> 8
    sign = 0x80 if math.copysign(1.0, number) < 0 else 0
    return 0x7F | sign if math.isnan(number) else _e4m3_codes()[abs(number)] | sign


def from_bits(bits: int, dtype: DType) -> ConstType:
    """The value whose bits are `bits`; a bool is true unless all of them are 0."""
    if dtypes.is_bool(dtype):
        return bits != 0
    if dtypes.is_int(dtype):
        negative = not dtypes.is_unsigned(dtype) and bits >> (dtype.bits - 1)
        return bits - (1 << dtype.bits) if negative else bits
    if dtype.name in _wide:
        number_format, word = _wide[dtype.name]
        return float(struct.unpack(number_format, struct.pack(word, bits))[0])
    if dtype.name == "bfloat16":
        return from_bits(bits << 16, dtypes.float32)
    if dtype.name == "fp8e5m2":
        return from_bits(bits << 8, dtypes.float16)
    return math.copysign(_e4m3(bits & 0x7F), -1.0 if bits & 0x80 else 1.0)


def _e4m3(code: int) -> float:
    """OCP 8-bit floating point specification 1.0, E4M3: bias 7, no infinities, one NaN."""
    exponent, mantissa = code >> 3, code & 7
    if code == 0x7F:
        return math.nan
    if exponent == 0:
        return math.ldexp(mantissa, -9)
    return math.ldexp(8 + mantissa, exponent - 10)


@cache
def _e4m3_codes() -> dict[float, int]:
    return {_e4m3(code): code for code in range(0x7F)}
