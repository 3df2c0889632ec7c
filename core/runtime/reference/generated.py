"""Arguments of a kernel that are the same numbers everywhere: element i of argument n is a hash of
both, so that nothing has to be stored or sent.

`viz/web/src/webgpu/values/generated.ts` makes the same bytes in a browser; one table tests both.
The hash is "lowbias32" (Chris Wellons, "Prospecting for Hash Functions", 2018): a bijection of 32
bits whose outputs look random. Runs nothing.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from core.dtype import DType, dtypes
from core.runtime.numeric import Array, memory_dtype, to_memory
from core.runtime.reference.spans import Span

_GOLDEN: Final = 0x9E3779B9
_MOST: Final = (1 << 32) - 1
_NORMAL: Final = 24
"""Floats of at least that many digits are near the standard normal distribution."""


def mix(x: Array) -> Array:
    """The hash of each of an array of uint32."""
    x = x ^ (x >> np.uint32(16))
    x = x * np.uint32(0x7FEB352D)
    x = x ^ (x >> np.uint32(15))
    x = x * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def generated(number: int, dtype: DType, size: int, span: Span | None) -> Array:
    """What argument `number` of a kernel holds, in memory.

    float32 and wider: the sum of four parts of 16 bits, centred and scaled to a deviation of 1.15,
    exact in float32. Narrower floats: from -2 to 2, in steps that their significand holds.
    Integers: 0 to 9, or all of `span`, where they are indices. Booleans: either.
    """
    key = mix(np.array([_GOLDEN * (number + 1) & _MOST], np.uint32))
    x = mix(np.arange(size, dtype=np.uint32) ^ key)
    if dtypes.is_float(dtype):
        digits = significand(dtype)
        if digits >= _NORMAL:
            y = mix(x + np.uint32(_GOLDEN))
            parts = sum((p & 0xFFFF).astype(np.int64) + (p >> 16).astype(np.int64) for p in (x, y))
            return to_memory((np.asarray(parts) - 131070) / 32768, dtype)
        most = 1 << digits
        steps = (x % np.uint32(2 * most + 1)).astype(np.int64) - most
        return to_memory(steps / (most / 2), dtype)
    low, high = bounds_of(dtype, span)
    count = min(high - low + 1, _MOST)
    return (low + (x % np.uint32(count)).astype(np.int64)).astype(memory_dtype(dtype))


def significand(dtype: DType) -> int:
    """Bits of the significand of a float dtype, with the one that is not stored."""
    return 1 - int(np.log2(dtypes.finfo(dtype).eps)) if dtypes.is_float(dtype) else 0


def bounds_of(dtype: DType, span: Span | None) -> tuple[int, int]:
    """The smallest and the largest integer that are generated of a dtype."""
    if dtypes.is_bool(dtype):
        return 0, 1
    if span is None:
        return 0, 9
    least, most = int(dtypes.min(dtype)), int(dtypes.max(dtype))
    low = max(span.low, least, -(1 << 31))
    return low, max(low, min(span.high, most, (1 << 31) - 1))
