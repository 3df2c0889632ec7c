"""What the functions compute that are part of LLVM: one table for those of floats, one for those
of integers.

Functions that touch memory, or other work items, are not here: see `calls.py`. Transcendental
ones are computed in double and rounded once; hardware is off by some units in the last place
(LLVM, "User Guide for AMDGPU Backend", "Floating-point operations").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from core.runtime.emulator.alu import floats, fused, integers
from core.runtime.emulator.llvm.compute.meaning import Function, Meaning, of_one
from core.runtime.numeric import Array

_TURN: Final = 2 * np.pi


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """A function of `arity` arguments that all have the type of its result."""

    arity: int
    meaning: Meaning


def _in_double(function: Function) -> Function:
    """Computed in double, rounded to the type of the arguments."""

    def rounded(*arrays: Array) -> Array:
        wide = (a.astype(np.float64) for a in arrays)
        return np.asarray(function(*wide)).astype(arrays[0].dtype)

    return rounded


def _round_away(a: Array) -> Array:
    """To the nearest integer, halves away from zero."""
    whole = np.trunc(a)
    return np.copysign(np.where(np.abs(a - whole) >= 0.5, whole + np.copysign(1, a), whole), a)


_FUSED: Final = {2: fused.fma16, 4: fused.fma32, 8: fused.fma64}


def _fma(a: Array, b: Array, c: Array) -> Array:
    return _FUSED[a.itemsize](a, b, c)


def _copy_sign(a: Array, sign: Array) -> Array:
    return floats.copy_sign(sign, a)


def _sin_of_turns(a: Array) -> Array:
    return np.sin(a * _TURN)


def _cos_of_turns(a: Array) -> Array:
    return np.cos(a * _TURN)


def _fraction(a: Array) -> Array:
    return a - np.floor(a)


def _float(arity: int, function: Function) -> Intrinsic:
    return Intrinsic(arity, Meaning(function))


FLOATS: Final[Mapping[str, Intrinsic]] = {
    "llvm.sqrt": _float(1, np.sqrt),
    "llvm.fabs": _float(1, floats.absolute),
    "llvm.floor": _float(1, np.floor),
    "llvm.ceil": _float(1, np.ceil),
    "llvm.trunc": _float(1, np.trunc),
    **dict.fromkeys(("llvm.rint", "llvm.nearbyint", "llvm.roundeven"), _float(1, np.rint)),
    "llvm.round": _float(1, _round_away),
    "llvm.canonicalize": _float(1, np.positive),
    "llvm.copysign": _float(2, _copy_sign),
    "llvm.minnum": _float(2, floats.minimum),
    "llvm.maxnum": _float(2, floats.maximum),
    "llvm.minimumnum": _float(2, floats.minimum),
    "llvm.maximumnum": _float(2, floats.maximum),
    "llvm.minimum": _float(2, floats.minimum_nan),
    "llvm.maximum": _float(2, floats.maximum_nan),
    "llvm.fma": _float(3, _fma),
    "llvm.fmuladd": _float(3, _fma),
    "llvm.exp2": _float(1, floats.exp2),
    "llvm.exp": _float(1, _in_double(np.exp)),
    "llvm.log2": _float(1, floats.log2),
    "llvm.log": _float(1, _in_double(np.log)),
    "llvm.log10": _float(1, _in_double(np.log10)),
    "llvm.sin": _float(1, floats.sin),
    "llvm.cos": _float(1, floats.cos),
    "llvm.tanh": _float(1, floats.tanh),
    "llvm.pow": _float(2, _in_double(np.power)),
    "llvm.amdgcn.rcp": _float(1, floats.reciprocal),
    "llvm.amdgcn.rsq": _float(1, floats.reciprocal_root),
    "llvm.amdgcn.sqrt": _float(1, np.sqrt),
    "llvm.amdgcn.exp2": _float(1, floats.exp2),
    "llvm.amdgcn.log": _float(1, floats.log2),
    "llvm.amdgcn.sin": _float(1, floats.in_double(_sin_of_turns)),
    "llvm.amdgcn.cos": _float(1, floats.in_double(_cos_of_turns)),
    "llvm.amdgcn.fract": _float(1, _fraction),
}
"""By name, without the type at its end."""


def _as_operand(function: Function) -> Function:
    """A count as wide as its operand."""

    def counted(a: Array) -> Array:
        return function(a).astype(a.dtype)

    return counted


def _bits(a: Array) -> int:
    return a.itemsize * 8


def _funnel(left: bool) -> Function:
    """`a` above `b`, shifted; the upper word of it, or the lower one."""

    def shifted(a: Array, b: Array, amount: Array) -> Array:
        width = a.dtype.type(_bits(a))
        n = amount % width
        other = (width - n) % width
        if left:
            return np.where(n == 0, a, a << n | b >> other)
        return np.where(n == 0, b, a << other | b >> n)

    return shifted


INTEGERS: Final[Mapping[str, Intrinsic]] = {
    "llvm.smin": Intrinsic(2, Meaning(np.minimum, True)),
    "llvm.smax": Intrinsic(2, Meaning(np.maximum, True)),
    "llvm.umin": Intrinsic(2, Meaning(np.minimum)),
    "llvm.umax": Intrinsic(2, Meaning(np.maximum)),
    "llvm.ctpop": Intrinsic(1, Meaning(_as_operand(integers.population))),
    "llvm.bswap": Intrinsic(1, of_one(lambda a: a.byteswap())),
    "llvm.bitreverse": Intrinsic(1, Meaning(integers.reverse_bits)),
    "llvm.fshl": Intrinsic(3, Meaning(_funnel(True))),
    "llvm.fshr": Intrinsic(3, Meaning(_funnel(False))),
}
"""By name, without the type at its end. Of i8 and wider."""

WITH_FLAG: Final[Mapping[str, Meaning]] = {
    "llvm.abs": Meaning(np.abs, True),
    "llvm.ctlz": Meaning(_as_operand(integers.leading_zeros)),
    "llvm.cttz": Meaning(_as_operand(integers.trailing_zeros)),
}
"""Functions of an integer and a constant i1: whether there is no result for the lowest number
(abs), or for zero."""
