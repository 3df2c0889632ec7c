"""What LLVM's conversions compute, each rounded once, and the numbers that they have no result for.

A float that does not fit an integer has none (LLVM language reference, "fptosi"); `saturated` is
the intrinsic that gives the nearest integer instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np

from core.runtime.emulator.alu.floats import narrow_bf16, widen_bf16
from core.runtime.emulator.alu.rounding import to_int
from core.runtime.emulator.llvm.compute.meaning import (
    Function,
    Meaning,
    kind_of,
    of_one,
    signed_kind,
)
from core.runtime.emulator.llvm.text.types import Float, Int, Scalar
from core.runtime.emulator.program import Precondition
from core.runtime.numeric import Array

Kind = np.dtype[Any]


def _truncated(source: Kind, target: Kind) -> Meaning:
    if target.kind == "b":
        return of_one(lambda a: (a & a.dtype.type(1)) != 0)
    return of_one(lambda a: a.astype(target))


def _zero_extended(source: Kind, target: Kind) -> Meaning:
    return of_one(lambda a: a.astype(target))


def _sign_extended(source: Kind, target: Kind) -> Meaning:
    wide = signed_kind(target)
    if source.kind == "b":
        return of_one(lambda a: _sign_or_one(a, wide))
    return of_one(lambda a: a.astype(wide), True)


def _sign_or_one(a: Array, kind: Kind) -> Array:
    """i1 as an integer: true is -1 where integers have a sign, else 1."""
    return np.negative(a.astype(kind)) if kind.kind == "i" else a.astype(kind)


def _to_float(signed: bool) -> Callable[[Kind, Kind], Meaning]:
    def made(source: Kind, target: Kind) -> Meaning:
        if source.kind == "b":
            bits = np.dtype(np.int8 if signed else np.uint8)
            return of_one(lambda a: _sign_or_one(a, bits).astype(target))
        return of_one(lambda a: a.astype(target), signed)

    return made


def _to_integer(signed: bool) -> Callable[[Kind, Kind], Meaning]:
    def made(source: Kind, target: Kind) -> Meaning:
        low, high = _limits(target, signed)

        def wrong(a: Array) -> Array:
            whole = np.trunc(a.astype(np.float64))
            return ~((whole >= low) & (whole < high + 1.0))

        what = f"a float that does not fit {'a signed' if signed else 'an unsigned'} integer"
        to = signed_kind(target) if signed else target
        return of_one(lambda a: np.trunc(a).astype(to), False, Precondition(what, wrong))

    return made


def _limits(target: Kind, signed: bool) -> tuple[int, int]:
    bits = 1 if target.kind == "b" else target.itemsize * 8
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def saturated(target: Int, signed: bool) -> Function:
    """A float toward zero; what does not fit becomes the nearest integer, and NaN zero. Of i8 and
    wider."""
    kind = signed_kind(kind_of(target)) if signed else kind_of(target)

    def function(a: Array) -> Array:
        return to_int(a, kind, "z", 0)

    return function


_TABLE: Final[Mapping[str, Callable[[Kind, Kind], Meaning]]] = {
    "trunc": _truncated,
    "zext": _zero_extended,
    "sext": _sign_extended,
    "fptrunc": _zero_extended,
    "fpext": _zero_extended,
    "sitofp": _to_float(True),
    "uitofp": _to_float(False),
    "fptosi": _to_integer(True),
    "fptoui": _to_integer(False),
}


def conversion(op: str, source: Scalar, target: Scalar) -> Meaning | None:
    """The meaning of a conversion between scalars; None for one that is not emulated: bfloat is
    converted from float and to any float only."""
    if source == Float("bfloat"):
        if not isinstance(target, Float):
            return None
        kind = kind_of(target)
        return of_one(lambda a: widen_bf16(a).astype(kind))
    if target == Float("bfloat"):
        return Meaning(narrow_bf16) if source == Float("float") else None
    return _TABLE[op](kind_of(source), kind_of(target))


def regrouped(kind: Kind, count: int) -> Function:
    """The bytes of arrays, next to each other, as `count` arrays of another kind: the lowest bytes
    first."""

    def function(*arrays: Array) -> Any:
        whole = np.stack(np.broadcast_arrays(*arrays), axis=-1)
        found = np.ascontiguousarray(whole).view(kind)
        return found[..., 0] if count == 1 else tuple(found[..., n] for n in range(count))

    return function


_MISFIT: Final = "a number that does not fit, where the text says that it does"


def promised(
    op: str, flags: Iterable[str], source: Scalar, target: Scalar
) -> tuple[Precondition, ...]:
    """What flags of a conversion promise of its operand."""
    if not isinstance(source, Int):
        return ()
    found: list[Precondition] = []
    for flag in sorted(flags):
        if flag == "nneg" and op in ("zext", "uitofp"):
            found.append(Precondition("a negative number, where the text says nneg", _is_negative))
        elif op == "trunc" and isinstance(target, Int):
            found.append(Precondition(_MISFIT, _not_within(target.bits, flag == "nsw")))
    return tuple(found)


def _is_negative(a: Array) -> Array:
    return a.copy() if a.dtype.kind == "b" else a.view(signed_kind(a.dtype)) < 0


def _not_within(bits: int, signed: bool) -> Function:
    """Whether an integer is more than `bits` bits hold."""

    def wrong(a: Array) -> Array:
        if not signed:
            return a >> a.dtype.type(bits) != 0
        sign = a.view(signed_kind(a.dtype)) >> (bits - 1)
        return (sign != 0) & (sign != -1)

    return wrong


NAMES: Final = tuple(_TABLE)
"""The conversions, without bitcast."""
