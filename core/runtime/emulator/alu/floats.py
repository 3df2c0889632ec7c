"""Floats of 16, 32 and 64 bits: minimum and maximum, comparisons, approximations, bfloat16.

Sums, products, quotients and square roots are NumPy's, which rounds each once to nearest even.
The approximations of GPUs are computed in float64 and rounded: more exact than any GPU's.
The payload and sign of a NaN are left open, as they are in float32 arithmetic of GPUs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from core.runtime.emulator.alu.fused import fma_narrow
from core.runtime.emulator.alu.integers import unsigned
from core.runtime.numeric import Array


def maximum(a: Array, b: Array) -> Array:
    """The larger one, or the other one if one is NaN; +0 is larger than -0 (IEEE 754-2019
    maximumNumber)."""
    return np.where(a == b, (unsigned(a) & unsigned(b)).view(a.dtype), np.fmax(a, b))


def minimum(a: Array, b: Array) -> Array:
    """The smaller one, or the other one if one is NaN; -0 is smaller than +0."""
    return np.where(a == b, (unsigned(a) | unsigned(b)).view(a.dtype), np.fmin(a, b))


def maximum_nan(a: Array, b: Array) -> Array:
    """As `maximum`, but NaN where either is NaN."""
    return np.where(np.isnan(a) | np.isnan(b), a.dtype.type(np.nan), maximum(a, b))


def minimum_nan(a: Array, b: Array) -> Array:
    """As `minimum`, but NaN where either is NaN."""
    return np.where(np.isnan(a) | np.isnan(b), a.dtype.type(np.nan), minimum(a, b))


def negate(x: Array) -> Array:
    """The sign bit turned, of NaN too."""
    bits = unsigned(x)
    return (bits ^ bits.dtype.type(1 << (8 * x.dtype.itemsize - 1))).view(x.dtype)


def absolute(x: Array) -> Array:
    """The sign bit cleared, of NaN too."""
    bits = unsigned(x)
    return (bits & bits.dtype.type((1 << (8 * x.dtype.itemsize - 1)) - 1)).view(x.dtype)


def copy_sign(sign: Array, x: Array) -> Array:
    """`x` with the sign of `sign`."""
    bits = unsigned(x)
    mask = bits.dtype.type(1 << (8 * x.dtype.itemsize - 1))
    return (unsigned(sign) & mask | bits & ~mask).view(x.dtype)


def reciprocal(x: Array) -> Array:
    """1 / x, rounded once."""
    return x.dtype.type(1) / x


def saturated(x: Array) -> Array:
    """At least +0 and at most 1; NaN becomes +0."""
    return np.where(x > 0, np.minimum(x, x.dtype.type(1)), x.dtype.type(0))


def in_double(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A function of float64 on any float dtype, rounded once more to that."""

    def rounded(x: Array) -> Array:
        return function(x.astype(np.float64)).astype(x.dtype)

    return rounded


exp2: Final = in_double(np.exp2)
log2: Final = in_double(np.log2)
sin: Final = in_double(np.sin)
cos: Final = in_double(np.cos)
tanh: Final = in_double(np.tanh)
reciprocal_root: Final = in_double(lambda x: 1.0 / np.sqrt(x))


def _either_nan(a: Array, b: Array) -> Array:
    return np.isnan(a) | np.isnan(b)


def _unordered(compare: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """True where `compare` is not, as the opposite of an ordered comparison."""
    return lambda a, b: ~compare(a, b)


ORDERED: Final[dict[str, Callable[[Array, Array], Array]]] = {
    "eq": np.equal,
    "ne": lambda a, b: (a < b) | (a > b),
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
"""Comparisons that are false where either is NaN."""

UNORDERED: Final[dict[str, Callable[[Array, Array], Array]]] = {
    "eq": _unordered(ORDERED["ne"]),
    "ne": np.not_equal,
    "lt": _unordered(np.greater_equal),
    "le": _unordered(np.greater),
    "gt": _unordered(np.less_equal),
    "ge": _unordered(np.less),
}
"""Comparisons that are true where either is NaN."""

unordered: Final = _either_nan
"""Whether either is NaN."""
ordered: Final = _unordered(_either_nan)
"""Whether neither is NaN."""


def widen_bf16(x: Array) -> Array:
    """bfloat16 as float32, exactly."""
    return (x.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)


def narrow_bf16(x: Array) -> Array:
    """float32 as bfloat16, to nearest even; NaN becomes 0x7FFF."""
    bits = x.view(np.uint32)
    even = bits >> np.uint32(16) & np.uint32(1)
    rounded = (bits + (even + np.uint32(0x7FFF))) >> np.uint32(16)
    return np.where(np.isnan(x), np.uint32(0x7FFF), rounded).astype(np.uint16)


def on_bf16(function: Callable[..., Array]) -> Callable[..., Array]:
    """A function of float32 that rounds once, on bfloat16 elements: rounding its result again is
    right, as float32 has more than twice the bits (S. Figueroa, SIGNUM Newsletter 30(3), 1995)."""

    def narrow(*values: Array) -> Array:
        return narrow_bf16(function(*map(widen_bf16, values)))

    return narrow


fma_bf16: Final = on_bf16(fma_narrow)
"""a * b + c of bfloat16, rounded once."""
