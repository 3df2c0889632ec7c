"""LLVM's names for dtypes, and exact text for constants.

Narrow floats that a target neither computes with nor converts are `soft`: integers of their bits,
in registers and in memory. LLVM would emit a library call for every operation on their float type,
even for a select. Writes no instruction.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Set
from typing import Final

from core.dtype import ConstType, DType, dtypes
from core.uop.bits import to_bits

_types: Final = {
    "void": "void", "bool": "i1", "int8": "i8", "uint8": "i8", "int16": "i16", "uint16": "i16",
    "int32": "i32", "uint32": "i32", "int64": "i64", "uint64": "i64", "float16": "half",
    "float32": "float", "float64": "double",
}  # fmt: skip


SOFT: Final = frozenset({"fp8e4m3", "fp8e5m2", "bfloat16"})
"""Names of the dtypes that are soft on every target with LLVM."""


def lanes(text: str, count: int) -> str:
    """The vector type of `count` times `text`."""
    return text if count == 1 else f"<{count} x {text}>"


def type_of(dtype: DType, soft: Set[str] = SOFT) -> str:
    """The type of a value in registers."""
    return lanes(f"i{dtype.bits}" if dtype.name in soft else _types[dtype.name], dtype.count)


def memory_type(dtype: DType, soft: Set[str] = SOFT) -> str:
    """The type of a value in memory, where bool takes a byte."""
    return lanes("i8", dtype.count) if dtypes.is_bool(dtype) else type_of(dtype, soft)


def scalar_constant(dtype: DType, value: ConstType, soft: Set[str] = SOFT) -> str:
    """The exact text of one element. `value` must already be rounded to `dtype`."""
    if dtypes.is_bool(dtype):
        return "true" if value else "false"
    if dtype.name in soft:
        return str(to_bits(value, dtype))
    if not dtypes.is_float(dtype):
        return str(int(value))
    value = float(value)
    if dtype.name == "float16":
        return f"0xH{to_bits(value, dtype):04X}"
    short = f"{value:e}"
    if math.isfinite(value) and float(short) == value:
        return short
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def constant(dtype: DType, value: ConstType | tuple[ConstType, ...], soft: Set[str] = SOFT) -> str:
    """The exact text of a constant of any dtype; a vector gets `value` in each lane or its own."""
    scalar = dtype.scalar()
    to = type_of(scalar, soft)
    if isinstance(value, tuple):
        return f"<{', '.join(f'{to} {scalar_constant(scalar, v, soft)}' for v in value)}>"
    text = scalar_constant(scalar, value, soft)
    return text if dtype.count == 1 else f"splat ({to} {text})"
