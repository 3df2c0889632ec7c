"""Values of a module: literals as they are written, random inputs, and how two results differ."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Final

import numpy as np

from viz.foreign.hlo.errors import CannotError
from viz.foreign.hlo.types import ArrayType, TupleType, Type, Values, rounded, stored

Value = Values | tuple["Value", ...]
"""An array, or a tuple of values."""

_NAN: Final = re.compile(r"nan\([^()]*\)")
_PAIR: Final = re.compile(r"\(([^(),]*),([^(),]*)\)")
SAMPLES: Final = 3


def literal(text: str, kind: ArrayType, wide: bool) -> Values:
    """Such as `{ { 1, 2 }, { 3, 4 } }`. Raises CannotError."""
    flat = _NAN.sub("nan", text).replace("{", " ").replace("}", " ")
    stored(kind.dtype, wide)
    try:
        if kind.kind == "complex":
            made = np.array([complex(float(a), float(b)) for a, b in _PAIR.findall(flat)])
        else:
            words = [word.strip() for word in flat.split(",") if word.strip()]
            if kind.kind == "pred":
                made = np.array([{"true": True, "1": True, "false": False, "0": False}[w]
                                 for w in words], bool)  # fmt: skip
            elif kind.kind == "integer":
                made = np.array([int(w) for w in words], stored(kind.dtype, wide))
            else:
                made = np.array([float(w) for w in words], np.float64)
        return rounded(made, kind.dtype, wide).reshape(kind.dims)
    except (ValueError, KeyError, OverflowError):
        raise CannotError(f"the constant {text[:40]} is no {kind}") from None


def random(kind: Type, name: str, sample: int, wide: bool) -> Value:
    """Numbers for an input: the same for the same name, type and sample. Raises CannotError."""
    if isinstance(kind, TupleType):
        parts = enumerate(kind.parts)
        return tuple(random(part, f"{name}.{at}", sample, wide) for at, part in parts)
    if kind.size > 1 << 24:
        raise CannotError("an input is too large")
    kept = stored(kind.dtype, wide)
    numbers = np.random.default_rng(zlib.crc32(f"{name} {kind} {sample}".encode()))
    if kind.kind == "pred":
        return np.asarray(numbers.integers(0, 2, kind.dims)).astype(bool)
    if kind.kind == "integer":
        limits = np.iinfo(kept)
        if sample == 2 and (kind.dims or kept.kind == "u"):
            return np.asarray(
                numbers.integers(limits.min, limits.max, kind.dims, kept, endpoint=True)
            )
        low = -8 if sample == 1 and kept.kind == "i" else 0
        return np.asarray(numbers.integers(low, 8, kind.dims)).astype(kept)
    made = _floats(numbers, kind, sample)
    if kind.kind == "complex":
        made = made + 1j * _floats(numbers, kind, sample)
    return rounded(made, kind.dtype, wide)


def _floats(numbers: np.random.Generator, kind: ArrayType, sample: int) -> Values:
    made = np.asarray(numbers.standard_normal(kind.dims))
    if sample == 1:
        return np.abs(made) + 0.1
    if sample == 2:  # zeros, ones and larger numbers among plain ones
        pick = numbers.integers(0, 8, kind.dims)
        made = np.where(
            pick == 0, 0.0, np.where(pick == 1, 1.0, np.where(pick == 2, 8 * made, made))
        )
    return np.asarray(made)


def difference(before: Value, after: Value, kind: Type, share: float) -> tuple[str, str] | None:
    """The first place where two results differ (floats by more than a share of the largest): both
    values; None if there is none."""
    for name, one, a, b in _arrays(before, after, kind):
        if one.kind in ("float", "complex"):
            finite = np.isfinite(a) & np.isfinite(b)
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            largest = float(np.abs(a[finite]).max()) if bool(finite.any()) else 0.0
            with np.errstate(all="ignore"):
                same |= finite & (np.abs(a - b) <= share * max(largest, 1e-30))
        else:
            same = a == b
        if not bool(np.all(same)):
            at = np.unravel_index(int(np.argmin(same.reshape(-1))), a.shape) if a.shape else ()
            place = f"{name}[{', '.join(str(int(n)) for n in at)}]"
            count = f"{int((~same).sum()):,} of {a.size:,} elements"
            return f"{place} = {_said(a[at])}", f"{_said(b[at])}; {count}"
    return None


def _arrays(
    a: Value, b: Value, kind: Type, name: str = "output"
) -> Iterator[tuple[str, ArrayType, Values, Values]]:
    if isinstance(kind, TupleType):
        for at, part in enumerate(kind.parts):
            if isinstance(a, tuple) and isinstance(b, tuple):
                yield from _arrays(a[at], b[at], part, f"{name} {at}")
    elif isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        yield name, kind, a, b


def _said(value: Values) -> str:
    one = value.item() if hasattr(value, "item") else value
    return f"{one:.9g}" if isinstance(one, float) else str(one)
