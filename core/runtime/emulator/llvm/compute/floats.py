"""What LLVM's instructions on floats compute: IEEE 754, rounded to nearest, ties to even.

Every result is rounded once. Fast-math flags allow other results and never ask for them, so they
are not used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from core.runtime.emulator.alu.floats import ORDERED, UNORDERED, on_bf16, ordered, unordered
from core.runtime.emulator.llvm.compute.meaning import Function
from core.runtime.numeric import Array

BINARY: Final[Mapping[str, Function]] = {
    "fadd": np.add,
    "fsub": np.subtract,
    "fmul": np.multiply,
    "fdiv": np.divide,
    "frem": np.fmod,
}
"""Instructions on half, float and double."""


def _never(a: Array, b: Array) -> Array:
    return unordered(a, b) & np.False_


def _always(a: Array, b: Array) -> Array:
    return unordered(a, b) | np.True_


COMPARE: Final[Mapping[str, Function]] = {
    "false": _never,
    "true": _always,
    "ord": ordered,
    "uno": unordered,
    **{f"o{name}": function for name, function in ORDERED.items()},
    **{f"u{name}": function for name, function in UNORDERED.items()},
}
"""fcmp by its predicate, of half, float and double."""

BINARY_BFLOAT: Final[Mapping[str, Function]] = {name: on_bf16(f) for name, f in BINARY.items()}
"""Instructions on bfloat."""
