"""`Meaning`: what an instruction computes, and what it must not be asked to compute.

Functions take one array per operand and work element by element; `lanewise` makes of them those
of vectors, which are one register per scalar.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from core.runtime.emulator.llvm.text.types import FLOAT_BITS, Float, Int, Scalar
from core.runtime.emulator.program import Precondition
from core.runtime.numeric import Array

Function = Callable[..., Any]

_FLOATS: Final = {"half": "float16", "bfloat": "uint16", "float": "float32", "double": "float64"}
assert _FLOATS.keys() == FLOAT_BITS.keys()


@dataclass(frozen=True, slots=True)
class Meaning:
    """`function(*operands)` is the result. With `signed`, integers come as signed ones.
    `preconditions` say for which operands LLVM leaves the result open (poison), or all that
    follows."""

    function: Function
    signed: bool = False
    preconditions: tuple[Precondition, ...] = ()


def of_one(
    function: Callable[[Array], Array], signed: bool = False, *preconditions: Precondition
) -> Meaning:
    """The meaning of an instruction of one operand."""
    return Meaning(function, signed, preconditions)


def of_two(
    function: Callable[[Array, Array], Array], signed: bool = False, *preconditions: Precondition
) -> Meaning:
    """The meaning of an instruction of two operands."""
    return Meaning(function, signed, preconditions)


def one_operand(what: str, broken: Callable[[Array], Array]) -> Precondition:
    """A precondition of an instruction of one operand."""
    return Precondition(what, broken)


def two_operands(what: str, broken: Callable[[Array, Array], Array]) -> Precondition:
    """A precondition of an instruction of two operands."""
    return Precondition(what, broken)


def kind_of(scalar: Scalar) -> np.dtype[Any]:
    """How registers hold a scalar: integers and addresses without a sign, bfloat by its bits."""
    if isinstance(scalar, Float):
        return np.dtype(_FLOATS[scalar.name])
    if isinstance(scalar, Int) and scalar.bits == 1:
        return np.dtype(np.bool_)
    return np.dtype(f"uint{scalar.bits}")


def signed_kind(kind: np.dtype[Any]) -> np.dtype[Any]:
    """The signed integers of the same size; other kinds are left alone."""
    return np.dtype(f"int{kind.itemsize * 8}") if kind.kind == "u" else kind


def lanewise(function: Function, count: int) -> Function:
    """The function of `count` times as many arrays: first operand by lane, second by lane, and so
    on. It returns a tuple."""
    if count == 1:
        return function

    def every_lane(*arrays: Array) -> tuple[Any, ...]:
        return tuple(function(*arrays[lane::count]) for lane in range(count))

    return every_lane


def any_lane(precondition: Precondition, count: int) -> Precondition:
    """The precondition of `count` lanes: broken where one of them breaks it."""
    if count == 1:
        return precondition

    def broken(*arrays: Array) -> Array:
        found = precondition.broken(*arrays[0::count])
        for lane in range(1, count):
            found = found | precondition.broken(*arrays[lane::count])
        return found

    return Precondition(precondition.what, broken)
