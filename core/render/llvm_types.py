"""LLVM's names for dtypes, and exact text for constants.

Writes no instruction.
"""

from __future__ import annotations

import math
import struct
from typing import Final

from core.dtype import ConstType, DType, dtypes
from core.uop.bits import to_bits

_types: Final = {
    "void": "void", "bool": "i1", "int8": "i8", "uint8": "i8", "int16": "i16", "uint16": "i16",
    "int32": "i32", "uint32": "i32", "int64": "i64", "uint64": "i64", "fp8e4m3": "i8",
    "fp8e5m2": "i8", "float16": "half", "bfloat16": "bfloat", "float32": "float",
    "float64": "double",
}  # fmt: skip


def lanes(text: str, count: int) -> str:
    """The vector type of `count` times `text`."""
    return text if count == 1 else f"<{count} x {text}>"


def type_of(dtype: DType) -> str:
    """The type of a value in registers."""
    return lanes(_types[dtype.name], dtype.count)


def memory_type(dtype: DType) -> str:
    """The type of a value in memory, where bool takes a byte."""
    return lanes("i8", dtype.count) if dtypes.is_bool(dtype) else type_of(dtype)


def scalar_constant(dtype: DType, value: ConstType) -> str:
    """The exact text of one element. `value` must already be rounded to `dtype`."""
    if dtypes.is_bool(dtype):
        return "true" if value else "false"
    if dtype.name in ("fp8e4m3", "fp8e5m2"):
        return str(to_bits(value, dtype))
    if not dtypes.is_float(dtype):
        return str(int(value))
    value = float(value)
    if dtype.name == "float16":
        return f"0xH{to_bits(value, dtype):04X}"
    if dtype.name == "bfloat16":
        return f"0xR{to_bits(value, dtype):04X}"
    short = f"{value:e}"
    if math.isfinite(value) and float(short) == value:
        return short
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def constant(dtype: DType, value: ConstType | tuple[ConstType, ...]) -> str:
    """The exact text of a constant of any dtype; a vector gets `value` in each lane or its own."""
    scalar = dtype.scalar()
    if isinstance(value, tuple):
        items = (f"{type_of(scalar)} {scalar_constant(scalar, v)}" for v in value)
        return f"<{', '.join(items)}>"
    text = scalar_constant(scalar, value)
    return text if dtype.count == 1 else f"splat ({type_of(scalar)} {text})"
