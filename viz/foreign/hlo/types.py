"""Types of HLO: arrays of a dtype and of dimensions, with the order in which these lie in memory,
and tuples of types. How a dtype is held in NumPy.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from viz.foreign.hlo.errors import CannotError

Values = np.ndarray[Any, Any]

_ARRAY: Final = re.compile(r"([a-z]\w*)\[([\d,\s]*)\](?:\{([\d,\s]*)((?::[^{}]*)?)\})?$")
_DEEPEST: Final = 8
_INTEGERS: Final = ("s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64")
STORED: Final[dict[str, np.dtype[Any]]] = {
    "pred": np.dtype(bool),
    **{name: np.dtype(f"{name[0].replace('s', 'i')}{int(name[1:]) // 8}") for name in _INTEGERS},
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(np.float32),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "c64": np.dtype(np.complex64),
    "c128": np.dtype(np.complex128),
}
"""A bf16 is a float32 whose lower half is 0."""
FLOATS: Final = ("f16", "bf16", "f32", "f64")
COMPLEX: Final = ("c64", "c128")


@dataclass(frozen=True)
class ArrayType:
    """`layout`: dimensions from the one that lies closest in memory; None for the usual one.
    `tiled`: memory is divided in a way that is not looked at."""

    dtype: str
    dims: tuple[int, ...]
    layout: tuple[int, ...] | None = None
    tiled: bool = False

    @property
    def size(self) -> int:
        """Elements."""
        return math.prod(self.dims)

    @property
    def kind(self) -> str:
        """What numbers it is of."""
        if self.dtype in FLOATS:
            return "float"
        if self.dtype in COMPLEX:
            return "complex"
        return "pred" if self.dtype == "pred" else "integer"

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.dims))}]"


@dataclass(frozen=True)
class TupleType:
    """Types of the parts of a tuple."""

    parts: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parts))})"


Type = ArrayType | TupleType


def parse_type(text: str, depth: int = 0) -> Type:
    """Raises CannotError for a type without a meaning here."""
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        if depth > _DEEPEST:
            raise CannotError("tuples are nested too deeply")
        parts = [part for part in split(text[1:-1]) if part]
        return TupleType(tuple(parse_type(part, depth + 1) for part in parts))
    found = _ARRAY.match(text)
    if found is None:
        raise CannotError(f"the type {text[:40]} has no meaning here")
    dims, layout = ([int(n) for n in (found[at] or "").split(",") if n.strip()] for at in (2, 3))
    if layout and sorted(layout) != list(range(len(dims))):
        raise CannotError(f"the layout of {text[:40]} has no meaning here")
    usual = list(range(len(dims)))[::-1]
    order = None if not layout or layout == usual else tuple(layout)
    return ArrayType(found[1], tuple(dims), order, "T" in (found[4] or ""))


def split(text: str) -> list[str]:
    """The parts of a text between commas that stand in no bracket and no string."""
    parts: list[str] = []
    depth, begin, quoted, at = 0, 0, False, 0
    while at < len(text):
        c = text[at]
        if quoted:
            at += c == "\\"
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    rest = text[begin:].strip()
    return [*parts, rest] if rest or parts else []


def stored(dtype: str, wide: bool) -> np.dtype[Any]:
    """How values of a dtype are held; `wide`: floats are float64. Raises CannotError."""
    found = STORED.get(dtype)
    if found is None:
        raise CannotError(f"values of {dtype} have no meaning here")
    if wide and dtype in FLOATS:
        return np.dtype(np.float64)
    return np.dtype(np.complex128) if wide and dtype in COMPLEX else found


def rounded(values: Values, dtype: str, wide: bool) -> Values:
    """Numbers as values of a dtype: those that it has none for are rounded. Raises CannotError."""
    kept = stored(dtype, wide)
    if kept.kind in "iu" and values.dtype.kind in "fc":
        return _to_integers(values.real, kept)
    if kept.kind == "f" and values.dtype.kind == "c":
        values = values.real
    made = values.astype(kept, copy=False)
    return _to_bfloat16(made) if dtype == "bf16" and not wide else made


def _to_integers(values: Values, kept: np.dtype[Any]) -> Values:
    """Toward zero; what is out of range becomes the next in it, and NaN 0."""
    limits = np.iinfo(kept)
    whole = np.trunc(np.nan_to_num(values.astype(np.float64), nan=0.0))
    inside = (whole > float(limits.min)) & (whole < float(limits.max))
    made = np.where(inside, whole, 0.0).astype(kept)
    made = np.where(whole >= float(limits.max), np.asarray(limits.max, kept), made)
    return np.where(whole <= float(limits.min), np.asarray(limits.min, kept), made)


def _to_bfloat16(values: Values) -> Values:
    """Ties to even."""
    bits = np.ascontiguousarray(values).view(np.uint32).astype(np.uint64)
    made = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32)
    return np.where(np.isnan(values), values, made.view(np.float32).reshape(values.shape))
