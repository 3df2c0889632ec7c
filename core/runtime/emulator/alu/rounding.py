"""Conversions between integers and floats, and of floats to narrower ones, in every rounding mode.

`mode` is "n" (to nearest even), "z" (toward zero), "m" (down) or "p" (up).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from core.runtime.numeric import Array

TO_INTEGER: Final[dict[str, Callable[[Array], Array]]] = {
    "n": np.rint,
    "z": np.trunc,
    "m": np.floor,
    "p": np.ceil,
}
"""Floats to whole floats of the same dtype."""


def to_int(x: Array, kind: np.dtype[Any], mode: str, nan: int) -> Array:
    """Floats as integers of `kind`, at least its smallest and at most its largest; `nan` for
    NaN."""
    whole = TO_INTEGER[mode](x.astype(np.float64))
    limits = np.iinfo(kind)
    below = float(limits.max) if limits.max < 1 << 53 else np.nextafter(float(limits.max), 0.0)
    inside = np.clip(whole, float(limits.min), below)
    found = np.where(np.isnan(x), 0.0, inside).astype(kind)
    found = np.where(whole > below, kind.type(limits.max), found)
    return np.where(np.isnan(x), np.array([nan]).astype(kind), found)


def from_int(x: Array, kind: np.dtype[Any], mode: str = "n") -> Array:
    """Integers as floats of `kind`, rounded once."""
    if mode == "n" and kind.itemsize > 2:
        return x.astype(kind)
    if kind.itemsize == 8 and x.dtype.itemsize == 8:
        return _long_to_double(x, mode)
    return narrow(odd_double(x), kind, mode)


def odd_double(x: Array) -> Array:
    """Integers as float64; where it does not hold them, with the last bit of the fraction set, so
    that a second rounding to at most 51 bits is right."""
    if x.dtype.itemsize < 8:
        return x.astype(np.float64)
    size, lost = _magnitude(x)
    odd = size.astype(np.float64).view(np.uint64) | lost.astype(np.uint64)
    return np.where(x < 0, -odd.view(np.float64), odd.view(np.float64))


def _magnitude(x: Array) -> tuple[Array, Array]:
    """(the absolute values without the bits below the upper 53, whether any of those was set)."""
    size = np.where(x < 0, ~x.view(np.uint64) + np.uint64(1), x.view(np.uint64))
    spare = np.maximum(_length(size), 53) - 53
    kept = size >> spare.astype(np.uint64) << spare.astype(np.uint64)
    return kept, kept != size


def _length(size: Array) -> Array:
    """How many bits an unsigned number has."""
    high = (size >> np.uint64(32)).astype(np.float64)
    low = (size & np.uint64(0xFFFFFFFF)).astype(np.float64)
    return np.where(high > 0, 32 + np.frexp(high)[1], np.frexp(low)[1]).astype(np.int64)


def _long_to_double(x: Array, mode: str) -> Array:
    size, lost = _magnitude(x)
    down = size.astype(np.float64)
    up = np.nextafter(down, np.inf)
    negative = x < 0
    away = lost & (~negative if mode == "p" else negative if mode == "m" else np.bool_(False))
    found = np.where(away, up, down)
    return np.where(negative, -found, found)


def narrow(x: Array, kind: np.dtype[Any], mode: str = "n") -> Array:
    """Floats as floats of `kind`, rounded once."""
    near = x.astype(kind)
    if mode == "n" or x.dtype.itemsize <= kind.itemsize:
        return near
    back = near.astype(x.dtype)
    if mode == "z":
        wrong, toward = np.abs(back) > np.abs(x), kind.type(0)
    elif mode == "m":
        wrong, toward = back > x, kind.type(-np.inf)
    else:
        wrong, toward = back < x, kind.type(np.inf)
    return np.where(wrong, np.nextafter(near, toward), near)
