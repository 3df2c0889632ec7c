"""`ROWS`: every arithmetic instruction of PTX that the emulator has, one row for each form.

A row says which types an instruction takes, which modifiers it must and may have, and what it
computes. Edge values are those of the manual, section "Instruction Set"; approximations
(`.approx`) are rounded correctly, which no GPU does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from core.runtime.emulator.alu import floats, fused, integers, rounding
from core.runtime.emulator.ptx.types import KINDS
from core.runtime.numeric import Array

Function: TypeAlias = "Callable[..., Array]"
Unary: TypeAlias = "Callable[[Array], Array]"

INTS: Final = "u16 s16 u32 s32 u64 s64"
BITS: Final = "b16 b32 b64"
WIDER: Final = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}


@dataclass(frozen=True)
class Row:
    """One form of an instruction.

    `required` modifiers must be there, `optional` ones may. `function` of the operands in the
    instruction's type, except where `sources` names others ("wide" is that of twice the width);
    `result` likewise.
    """

    name: str
    types: frozenset[str]
    function: Function
    count: int
    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    sources: tuple[str, ...] = ()
    result: str = ""

    def source(self, at: int, kind: str) -> str:
        """The type of an operand."""
        named = self.sources[at] if at < len(self.sources) else ""
        return WIDER[kind] if named == "wide" else named or kind

    def target(self, kind: str) -> str:
        """The type of the result."""
        return WIDER[kind] if self.result == "wide" else self.result or kind


def _row(
    name: str,
    types: str,
    function: Function,
    count: int,
    required: str = "",
    optional: str = "",
    sources: Sequence[str] = (),
    result: str = "",
) -> Row:
    return Row(
        name,
        frozenset(types.split()),
        function,
        count,
        frozenset(required.split()),
        frozenset(optional.split()),
        tuple(sources),
        result,
    )


def flushed(function: Function) -> Function:
    """A function of float32 with subnormal operands and results replaced by zeros of their
    sign."""

    def evaluate(*values: Array) -> Array:
        return flush(function(*map(flush, values)))

    return evaluate


def flush(x: Array) -> Array:
    """Subnormal float32 as zeros of their sign; other dtypes unchanged."""
    if x.dtype != np.float32:
        return x
    small = np.abs(x) < np.float32(2.0**-126)
    return np.where(small, floats.copy_sign(x, np.zeros(1, np.float32)), x)


def on_pairs(function: Function, kind: str) -> Function:
    """A function of 16-bit elements on the two halves of 32-bit words."""

    def pairs(*words: Array) -> Array:
        same = np.broadcast_arrays(*words)
        halves = [np.ascontiguousarray(w).view(KINDS[kind]) for w in same]
        return np.ascontiguousarray(function(*halves)).view(np.uint32)

    return pairs


def _mad(product: Function) -> Function:
    def mad(a: Array, b: Array, c: Array) -> Array:
        return product(a, b) + c

    return mad


def _wide_mad(a: Array, b: Array, c: Array) -> Array:
    return integers.multiply_wide(a, b) + c


def _xor(mask: np.unsignedinteger[Any]) -> Unary:
    return lambda x: x ^ mask


def _clear_signs(x: Array) -> Array:
    return x & np.uint32(0x7FFF7FFF)


def _is_zero(x: Array) -> Array:
    return (x == 0).astype(x.dtype)


def _select(a: Array, b: Array, p: Array) -> Array:
    return np.where(p, a, b)


def _halves(name: str, function: Function, count: int, optional: str = "") -> Iterable[Row]:
    """The forms of a float32 function that rounds once on f16 and bf16, and on pairs of them."""
    narrow = floats.on_bf16(function)
    yield _row(name, "f16", function, count, optional=optional)
    yield _row(name, "bf16", narrow, count, optional=optional)
    yield _row(name, "f16x2", on_pairs(function, "f16"), count, optional=optional)
    yield _row(name, "bf16x2", on_pairs(narrow, "bf16"), count, optional=optional)


def _extremes(name: str, plain: Function, nan: Function) -> Iterable[Row]:
    """min and max of floats, which pass NaN on or not."""
    yield _row(name, "f32 f64", plain, 2, optional="ftz")
    yield _row(name, "f32", nan, 2, "NaN", "ftz")
    for kind, lift in (("f16", _same), ("bf16", floats.on_bf16)):
        yield _row(name, kind, lift(plain), 2)
        yield _row(name, kind, lift(nan), 2, "NaN")
        yield _row(name, kind + "x2", on_pairs(lift(plain), kind), 2)
        yield _row(name, kind + "x2", on_pairs(lift(nan), kind), 2, "NaN")


def _same(function: Function) -> Function:
    return function


_arithmetic: Final = (
    _row("add", INTS, np.add, 2),
    _row("add", "f32 f64", np.add, 2, optional="rn ftz sat"),
    *_halves("add", np.add, 2, "rn"),
    _row("sub", INTS, np.subtract, 2),
    _row("sub", "f32 f64", np.subtract, 2, optional="rn ftz sat"),
    *_halves("sub", np.subtract, 2, "rn"),
    _row("mul", INTS, np.multiply, 2, "lo"),
    _row("mul", INTS, integers.multiply_high, 2, "hi"),
    _row("mul", "u16 s16 u32 s32", integers.multiply_wide, 2, "wide", result="wide"),
    _row("mul", "f32 f64", np.multiply, 2, optional="rn ftz sat"),
    *_halves("mul", np.multiply, 2, "rn"),
    _row("mad", INTS, _mad(np.multiply), 3, "lo"),
    _row("mad", INTS, _mad(integers.multiply_high), 3, "hi"),
    _row("mad", "u16 s16 u32 s32", _wide_mad, 3, "wide", sources=("", "", "wide"), result="wide"),
    _row("fma", "f32", fused.fma32, 3, "rn", "ftz sat"),
    _row("fma", "f64", fused.fma64, 3, "rn"),
    _row("fma", "f16", fused.fma16, 3, "rn"),
    _row("fma", "bf16", floats.fma_bf16, 3, "rn"),
    _row("fma", "f16x2", on_pairs(fused.fma16, "f16"), 3, "rn"),
    _row("fma", "bf16x2", on_pairs(floats.fma_bf16, "bf16"), 3, "rn"),
    _row("mad", "f32", fused.fma32, 3, "rn", "ftz sat"),
    _row("mad", "f64", fused.fma64, 3, "rn"),
    _row("div", INTS, integers.divide, 2),
    _row("div", "f32 f64", np.divide, 2, "rn", "ftz"),
    _row("div", "f32", np.divide, 2, "full", "ftz"),
    _row("div", "f32", np.divide, 2, "approx", "ftz"),
    _row("rem", INTS, integers.remainder, 2),
    _row("abs", "s16 s32 s64", integers.absolute, 1),
    _row("abs", "f16 f32 f64", floats.absolute, 1, optional="ftz"),
    _row("abs", "bf16", floats.on_bf16(floats.absolute), 1),
    _row("neg", "s16 s32 s64", np.negative, 1),
    _row("neg", "f16 f32 f64", floats.negate, 1, optional="ftz"),
    _row("neg", "bf16", _xor(np.uint16(0x8000)), 1),
    _row("neg", "f16x2 bf16x2", _xor(np.uint32(0x80008000)), 1),
    _row("abs", "f16x2 bf16x2", _clear_signs, 1),
    *(_row("add", f"{kind}x2", on_pairs(np.add, kind), 2) for kind in ("u16", "s16")),
    *(_row("min", f"{kind}x2", on_pairs(np.minimum, kind), 2) for kind in ("u16", "s16")),
    *(_row("max", f"{kind}x2", on_pairs(np.maximum, kind), 2) for kind in ("u16", "s16")),
    _row("min", INTS, np.minimum, 2),
    _row("max", INTS, np.maximum, 2),
    *_extremes("min", floats.minimum, floats.minimum_nan),
    *_extremes("max", floats.maximum, floats.maximum_nan),
    _row("copysign", "f32 f64", floats.copy_sign, 2),
)

_functions: Final = (
    _row("sqrt", "f32 f64", np.sqrt, 1, "rn", "ftz"),
    _row("sqrt", "f32", np.sqrt, 1, "approx", "ftz"),
    _row("rcp", "f32 f64", floats.reciprocal, 1, "rn", "ftz"),
    _row("rcp", "f32", floats.reciprocal, 1, "approx", "ftz"),
    _row("rsqrt", "f32", floats.reciprocal_root, 1, "approx", "ftz"),
    _row("ex2", "f32", floats.exp2, 1, "approx", "ftz"),
    _row("ex2", "f16", floats.exp2, 1, "approx"),
    _row("lg2", "f32", floats.log2, 1, "approx", "ftz"),
    _row("sin", "f32", floats.sin, 1, "approx", "ftz"),
    _row("cos", "f32", floats.cos, 1, "approx", "ftz"),
    _row("tanh", "f32 f16", floats.tanh, 1, "approx"),
)

_bits: Final = (
    _row("and", BITS + " pred", np.bitwise_and, 2),
    _row("or", BITS + " pred", np.bitwise_or, 2),
    _row("xor", BITS + " pred", np.bitwise_xor, 2),
    _row("not", BITS + " pred", np.invert, 1),
    _row("cnot", BITS, _is_zero, 1),
    _row("shl", BITS, integers.shift_left, 2, sources=("", "u32")),
    _row("shr", BITS + " " + INTS, integers.shift_right, 2, sources=("", "u32")),
    _row("popc", "b32 b64", integers.population, 1, result="u32"),
    _row("clz", "b32 b64", integers.leading_zeros, 1, result="u32"),
    _row("brev", "b32 b64", integers.reverse_bits, 1),
    _row("bfe", "u32 s32 u64 s64", integers.bit_field, 3, sources=("", "u32", "u32")),
    _row("bfi", "b32 b64", integers.insert_bits, 4, sources=("", "", "u32", "u32")),
    _row("prmt", "b32", integers.permute_bytes, 3),
    _row("selp", f"{BITS} {INTS} f16 bf16 f32 f64", _select, 3, sources=("", "", "pred")),
)


def _funnel(left: bool, wrap: bool) -> Row:
    def shift(low: Array, high: Array, count: Array) -> Array:
        return integers.funnel_shift(low, high, count, left, wrap)

    required = f"{'l' if left else 'r'} {'wrap' if wrap else 'clamp'}"
    return _row("shf", "b32", shift, 3, required, sources=("", "", "u32"))


_funnels: Final = tuple(_funnel(left, wrap) for left in (True, False) for wrap in (True, False))

ROWS: Final[tuple[Row, ...]] = (*_arithmetic, *_functions, *_bits, *_funnels)
"""Every form; of one instruction at most one fits."""


def with_modifiers(row: Row, modifiers: frozenset[str], kind: str) -> Function:
    """What a form computes: .ftz and .sat wrap its function."""
    function = row.function
    if "sat" in modifiers:
        function = _saturating(function)
    if "ftz" in modifiers and kind == "f32":
        function = flushed(function)
    return function


def _saturating(function: Function) -> Function:
    def saturate(*values: Array) -> Array:
        return floats.saturated(function(*values))

    return saturate


def conversion(target: str, source: str, rounding_mode: str, saturate: bool) -> Unary | None:
    """What `cvt` of a form computes; None where there is no such form.

    `rounding_mode` is "" or one of rn rz rm rp, or one of rni rzi rmi rpi.
    """
    to, of = KINDS[target], KINDS[source]
    if "bf16" in (target, source):
        return _bf16_conversion(target, source, rounding_mode)
    whole, mode = rounding_mode.endswith("i"), rounding_mode[1:2] or "n"
    if of.kind == "f" and to.kind == "f":
        if target == source and whole:
            return rounding.TO_INTEGER[mode]
        if whole or (to.itemsize < of.itemsize) != bool(rounding_mode):
            return None
        if saturate:
            return lambda x: floats.saturated(rounding.narrow(x, to, mode))
        return lambda x: rounding.narrow(x, to, mode)
    if of.kind == "f":
        if not whole:
            return None
        bits = 8 * to.itemsize
        nan = 0 if source != "f64" and bits < 64 else 1 << (bits - 1)
        return lambda x: rounding.to_int(x, to, mode, nan)
    if to.kind == "f":
        if not rounding_mode or whole:
            return None
        return lambda x: rounding.from_int(x, to, mode)
    if rounding_mode:
        return None
    if saturate:
        return lambda x: _saturated_int(x, to)
    return lambda x: integers.narrowed(x, to)


def _saturated_int(x: Array, kind: np.dtype[Any]) -> Array:
    limits, own = np.iinfo(kind), np.iinfo(x.dtype)
    low, high = max(limits.min, own.min), min(limits.max, own.max)
    return np.clip(x, x.dtype.type(low), x.dtype.type(high)).astype(kind)


def _bf16_conversion(target: str, source: str, mode: str) -> Unary | None:
    if source == "bf16" and target == "f32" and not mode:
        return floats.widen_bf16
    if source == "f32" and target == "bf16" and mode == "rn":
        return floats.narrow_bf16
    if source == "f32" and target == "bf16" and mode == "rz":
        return _truncate_bf16
    if source == "bf16" and target == "bf16" and mode.endswith("i"):
        return floats.on_bf16(rounding.TO_INTEGER[mode[1]])
    if source == "bf16" and mode.endswith("i") and KINDS[target].kind in "iu":
        bits = 8 * KINDS[target].itemsize
        nan = 0 if bits < 64 else 1 << 63
        return lambda x: rounding.to_int(floats.widen_bf16(x), KINDS[target], mode[1], nan)
    if target == "bf16" and mode == "rn" and KINDS[source].kind in "iu":
        return lambda x: floats.narrow_bf16(odd_from_int(x))
    return None


def _truncate_bf16(x: Array) -> Array:
    upper = x.view(np.uint32) >> np.uint32(16)
    return np.where(np.isnan(x), np.uint32(0x7FFF), upper).astype(np.uint16)


def odd_from_int(x: Array) -> Array:
    """Integers as float32 rounded to odd, so that rounding to bfloat16 is right."""
    return fused.odd_float32(rounding.odd_double(x))
