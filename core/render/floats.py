"""The bits of float constants, for every float dtype.

Renderers write constants by their bits, so that no decimal conversion can change them.
"""

from __future__ import annotations

import math
import struct

from core.dtype import DType

_formats = {"float16": ("<e", "<H"), "float32": ("<f", "<I"), "float64": ("<d", "<Q")}
_narrow = {"fp8e4m3": (3, 7), "fp8e5m2": (2, 15)}


def float_bits(dtype: DType, value: float) -> int:
    """The bits of `value`, which must already be rounded to the scalar float `dtype`."""
    if dtype.name in _formats:
        pack, unpack = _formats[dtype.name]
        return struct.unpack(unpack, struct.pack(pack, value))[0]
    if dtype.name == "bfloat16":
        return struct.unpack("<I", struct.pack("<f", value))[0] >> 16
    mantissa, bias = _narrow[dtype.name]
    sign = 0x80 if math.copysign(1.0, value) < 0 else 0
    if math.isnan(value):
        return sign | 0x7F
    if math.isinf(value):
        return sign | 0x7C  # of e5m2; e4m3 has no infinity and rounds to NaN before
    if value == 0.0:
        return sign
    exponent = max(math.frexp(value)[1] - 1, 1 - bias)
    scaled = round(math.ldexp(abs(value), mantissa - exponent))
    normal = scaled >> mantissa
    return (
        sign | ((exponent + bias) << mantissa) + scaled - (1 << mantissa)
        if normal
        else sign | scaled
    )
