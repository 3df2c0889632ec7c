"""Types and constants of WGSL.

An integer of 8 or 16 bits is one of 32; a narrow float is its bits, a u32; an integer of 64 bits is
two words. Never computes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from core.dtype import ConstType, DType, dtypes
from core.uop.bits import to_bits

TYPES: Final[Mapping[DType, str]] = MappingProxyType(
    {
        dtypes.bool: "bool",
        **dict.fromkeys((dtypes.int8, dtypes.int16, dtypes.int32), "i32"),
        **dict.fromkeys((dtypes.uint8, dtypes.uint16, dtypes.uint32), "u32"),
        **dict.fromkeys((dtypes.int64, dtypes.uint64), "vec2<u32>"),
        dtypes.float32: "f32",
        **dict.fromkeys((dtypes.float16, dtypes.bfloat16, *dtypes.fp8s), "u32"),
    }
)
"""What a value of a dtype is; what is missing has no text."""

NOT_FINITE: Final = "infinity_bits"
"""The variable that holds the bits of infinity: a constant expression may not be infinite."""
_SMALLEST: Final = 2.0**-126


def literal(dtype: DType, value: ConstType) -> str:
    """The exact text of one constant element."""
    dtype = dtype.scalar()
    if dtypes.is_bool(dtype):
        return "true" if value else "false"
    if dtype is dtypes.float32:
        return _float(float(value))
    if dtypes.is_float(dtype):
        return f"{to_bits(value, dtype)}u"
    number = int(value)
    if dtype.bits == 64:
        return f"vec2<u32>({number & 0xFFFFFFFF}u, {number >> 32 & 0xFFFFFFFF}u)"
    if dtypes.is_unsigned(dtype):
        return f"{number}u"
    if number == dtypes.min(dtypes.int32):
        return "i32(-2147483648)"
    return f"{number}" if number >= 0 else f"({number})"


def _float(value: float) -> str:
    if math.isnan(value):
        return f"bitcast<f32>({NOT_FINITE} | 0x400000u)"
    if math.isinf(value):
        sign = "" if value > 0 else "-"
        return f"({sign}bitcast<f32>({NOT_FINITE}))" if sign else f"bitcast<f32>({NOT_FINITE})"
    if value and abs(value) < _SMALLEST:  # a literal may be flushed to 0
        return f"bitcast<f32>({to_bits(value, dtypes.float32)}u)"
    text = f"{value!r}f"
    return f"({text})" if text.startswith("-") else text
