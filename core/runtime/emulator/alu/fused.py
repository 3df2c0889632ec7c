"""a * b + c with one rounding, for every float dtype.

float32 is computed in float64, where the product is exact. The sum is rounded there, and once more
to float32; that goes wrong only where the float64 is exactly half way between two float32 and was
itself rounded, or where the result is subnormal. Those elements are rounded to odd first, which
makes the second rounding right. float64 needs the error of its product too.
Source: S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms
using rounding to odd", IEEE Transactions on Computers 57(4), 2008.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np

from core.runtime.numeric import Array

_TAIL: Final = np.uint64((1 << 29) - 1)
_HALF: Final = np.uint64(1 << 28)
_MAGNITUDE: Final = np.uint32(0x7FFFFFFF)
_SMALLEST_NORMAL: Final = 0x00800000
_SPLIT: Final = float((1 << 27) + 1)
_SAFE_HIGH, _SAFE_LOW = 2.0**480, 2.0**-480


def fma32(a: Array, b: Array, c: Array) -> Array:
    """float32."""
    product = a.astype(np.float64) * b.astype(np.float64)
    total = product + c.astype(np.float64)
    found = total.astype(np.float32)
    doubt = (total.view(np.uint64) & _TAIL) == _HALF
    magnitude = found.view(np.uint32) & _MAGNITUDE
    if int(magnitude.min()) <= _SMALLEST_NORMAL:
        # subnormal results have a shorter fraction: any but zero may be half way
        doubt |= (magnitude <= _SMALLEST_NORMAL) & (total != 0)
    if doubt.any():
        at = np.flatnonzero(doubt)
        addend = np.broadcast_to(c, total.shape)[at].astype(np.float64)
        parts = np.broadcast_to(product, total.shape)[at]
        found[at] = to_odd(parts, addend, total[at]).astype(np.float32)
    return found


def to_odd(x: Array, y: Array, total: Array) -> Array:
    """x + y of float64, rounded to odd: the last bit is set where the sum is not exact. `total` is
    x + y rounded to nearest."""
    back = total - x
    error = (x - (total - back)) + (y - back)
    bits = total.view(np.int64)
    inexact = (error != 0) & np.isfinite(error) & (bits & 1 == 0)
    away = (error > 0) == (total > 0)
    return np.where(inexact, bits + np.where(away, 1, -1), bits).view(np.float64)


def fma16(a: Array, b: Array, c: Array) -> Array:
    """float16."""
    product, addend = a.astype(np.float64) * b, c.astype(np.float64)
    return to_odd(product, addend, product + addend).astype(np.float16)


def fma_narrow(a: Array, b: Array, c: Array) -> Array:
    """float32 operands that have at most 12 significant bits, as those of bfloat16: the sum as
    float32, rounded to odd, so that rounding it again to a narrower dtype is right."""
    product, addend = a.astype(np.float64) * b, c.astype(np.float64)
    return odd_float32(to_odd(product, addend, product + addend))


def odd_float32(x: Array) -> Array:
    """float64 as float32, rounded to odd."""
    near = x.astype(np.float32)
    bits = near.view(np.int32)
    inexact = (near != x) & np.isfinite(x) & (bits & 1 == 0)
    over = np.abs(near.astype(np.float64)) > np.abs(x)
    return np.where(inexact, bits + np.where(over, np.int32(-1), np.int32(1)), bits).view(
        np.float32
    )


def fma64(a: Array, b: Array, c: Array) -> Array:
    """float64: error-free transformations where nothing can overflow or underflow in them, exact
    fractions elsewhere."""
    a, b, c = np.broadcast_arrays(a, b, c)
    rough = a * b + c
    sizes = np.abs(np.stack((a, b, c, a * b)))
    safe = ((sizes < _SAFE_HIGH) & (sizes > _SAFE_LOW)).all(axis=0)
    high = a * b
    low = _product_error(a, b, high)
    upper = c + low
    lower = _sum_error(c, low, upper)
    total = high + upper
    rest = _sum_error(high, upper, total)
    tail = lower + rest
    found = total + to_odd(lower, rest, tail)
    result = np.where(safe, found, rough)
    special = ~np.isfinite(a) | ~np.isfinite(b) | ~np.isfinite(c)
    plain = (a == 0) | (b == 0) | ((c == 0) & (sizes[3] > _SAFE_LOW))  # one operation rounds
    for i in np.flatnonzero(~safe & ~special & ~plain):
        result[i] = _exact(float(a[i]), float(b[i]), float(c[i]))
    return result


def _product_error(a: Array, b: Array, product: Array) -> Array:
    """a * b - product, exactly. Source: T. Dekker, Numerische Mathematik 18, 1971."""
    a_high = _SPLIT * a - (_SPLIT * a - a)
    b_high = _SPLIT * b - (_SPLIT * b - b)
    a_low, b_low = a - a_high, b - b_high
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _sum_error(x: Array, y: Array, total: Array) -> Array:
    """x + y - total, exactly. Source: D. Knuth, The Art of Computer Programming 2, 4.2.2."""
    back = total - x
    return (x - (total - back)) + (y - back)


def _exact(a: float, b: float, c: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:  # the sign of a sum of zeros, or of numbers that cancel
        return a * b + c if a * b == 0 or c == 0 else 0.0
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
