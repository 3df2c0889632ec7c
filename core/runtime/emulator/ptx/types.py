"""The types of PTX as NumPy dtypes, and literals as constants of them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from core.runtime.emulator.program import Const
from core.runtime.emulator.ptx.text import Number

KINDS: Final[dict[str, np.dtype[Any]]] = {
    "pred": np.dtype(np.bool_),
    **{f"{letter}{bits}": np.dtype(f"{'i' if letter == 's' else 'u'}{bits // 8}")
       for letter in "usb" for bits in (8, 16, 32, 64)},
    "f16": np.dtype(np.float16), "bf16": np.dtype(np.uint16), "tf32": np.dtype(np.uint32),
    "u16x2": np.dtype(np.uint32), "s16x2": np.dtype(np.uint32),
    "f16x2": np.dtype(np.uint32), "bf16x2": np.dtype(np.uint32),
    "f32": np.dtype(np.float32), "f64": np.dtype(np.float64),
    "e4m3": np.dtype(np.uint8), "e5m2": np.dtype(np.uint8),
    "e4m3x2": np.dtype(np.uint16), "e5m2x2": np.dtype(np.uint16),
}  # fmt: skip
"""What the machine holds each type as."""


def bits_of(kind: str) -> int:
    """The width of a type; of a predicate, 1."""
    return 1 if kind == "pred" else 8 * KINDS[kind].itemsize


def constant(number: Number, kind: str) -> Const | None:
    """A literal as a constant of a type; None where the type does not take it."""
    dtype = KINDS[kind]
    if kind == "pred":
        return Const(np.array([number.value != 0]))
    if number.bits == 0:
        if kind in ("f16", "f32", "f64"):
            return None
        return Const(np.array([number.value % (1 << 8 * dtype.itemsize)], f"u{dtype.itemsize}")
                     .view(dtype))  # fmt: skip
    bits = np.array([number.value], f"u{number.bits // 8}")
    if dtype.kind != "f":
        return Const(bits.view(dtype)) if dtype.itemsize * 8 == number.bits else None
    if dtype.itemsize == 2:
        return None
    return Const(bits.view(f"f{number.bits // 8}").astype(dtype))
