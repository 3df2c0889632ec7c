"""How NumPy holds each dtype: in memory by its bits, in computation by a type that NumPy has.

bfloat16 and 8-bit floats are not NumPy's: in memory they are unsigned integers of their bits, in
computation float32 values that are rounded back to the dtype after every operation (by
`core/uop/facts/meaning_arrays.py`, not here).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from core.dtype import DType

Array: TypeAlias = "np.ndarray[Any, Any]"

_memory: Final = {"bool": "bool", "bfloat16": "uint16", "fp8e4m3": "uint8", "fp8e5m2": "uint8"}
# mantissa bits, exponent bias, largest finite value, whether there are infinities
_narrow: Final = {
    "bfloat16": (7, 127, 2.0**127 * (2 - 2.0**-7), True),
    "fp8e4m3": (3, 7, 448.0, False),
    "fp8e5m2": (2, 15, 57344.0, True),
}


def memory_dtype(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype of elements in memory."""
    return np.dtype(_memory.get(dtype.name, dtype.name))


def from_memory(values: Array, dtype: DType) -> Array:
    """Elements in memory as values to compute with."""
    if dtype.name == "bfloat16":
        return (values.astype(np.uint32) << 16).view(np.float32)
    if dtype.name in _narrow:
        return _decoded(dtype.name)[values]
    return values.astype(memory_dtype(dtype), copy=False)  # an image keeps what is read wider


def to_memory(values: Array, dtype: DType) -> Array:
    """Values that are already rounded to `dtype` as elements in memory."""
    if dtype.name == "bfloat16":
        return (np.asarray(values, np.float32, order="C").view(np.uint32) >> 16).astype(np.uint16)
    if dtype.name in _narrow:
        return _encode(np.asarray(values, np.float32), dtype.name)
    return values.astype(memory_dtype(dtype), copy=False)


@lru_cache(maxsize=4)
def _decoded(name: str) -> Array:
    """The value of each of the 256 bit patterns (OCP 8-bit floating point specification, 1.0)."""
    mantissa, bias, largest, has_inf = _narrow[name]
    bits = np.arange(256)
    exponent, fraction = (bits & 0x7F) >> mantissa, bits & ((1 << mantissa) - 1)
    scaled = np.where(exponent == 0, fraction, fraction + (1 << mantissa))
    value = np.ldexp(scaled.astype(np.float64), np.maximum(exponent, 1) - bias - mantissa)
    special = np.where(has_inf & (fraction == 0), np.inf, np.nan)
    value = np.where(value > largest, special, value)
    return np.where(bits & 0x80, -value, value).astype(np.float32)


def _encode(values: Array, name: str) -> Array:
    table = _decoded(name)
    positive = table[:128]
    count = int(np.isfinite(positive).sum())
    at = np.searchsorted(positive[:count], np.abs(values)).astype(np.uint8)
    at = np.where(np.isinf(values), 0x7C if name == "fp8e5m2" else 0x7F, at)
    at = np.where(np.isnan(values), 0x7F, at)
    return (at | np.where(np.signbit(values), 0x80, 0)).astype(np.uint8)
