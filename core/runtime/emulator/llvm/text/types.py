"""The types of LLVM IR that kernels use: what a value or an element of memory is.

Plain data. Computes nothing on values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Void:
    """The type of what has no value."""

    def __str__(self) -> str:
        return "void"


@dataclass(frozen=True, slots=True)
class Int:
    """An integer of 1, 8, 16, 32 or 64 bits, without a sign of its own."""

    bits: int

    def __str__(self) -> str:
        return f"i{self.bits}"


@dataclass(frozen=True, slots=True)
class Float:
    """half, bfloat, float or double."""

    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def bits(self) -> int:
        """Bits of a value."""
        return FLOAT_BITS[self.name]


@dataclass(frozen=True, slots=True)
class Pointer:
    """An address. `space`: 0 flat, 1 global, 3 shared by a work group, 5 of one work item."""

    space: int

    def __str__(self) -> str:
        return f"ptr addrspace({self.space})" if self.space else "ptr"

    @property
    def bits(self) -> int:
        """Bits of an address (LLVM, "User Guide for AMDGPU Backend", address spaces)."""
        return 32 if self.space in (2, 3, 5, 6) else 64


Scalar = Int | Float | Pointer


@dataclass(frozen=True, slots=True)
class Vector:
    """`count` scalars."""

    element: Scalar
    count: int

    def __str__(self) -> str:
        return f"<{self.count} x {self.element}>"


@dataclass(frozen=True, slots=True)
class Array:
    """`count` elements, one after the other in memory; never the type of a value."""

    element: Type
    count: int

    def __str__(self) -> str:
        return f"[{self.count} x {self.element}]"


Type = Void | Int | Float | Pointer | Vector | Array

FLOAT_BITS: Final = {"half": 16, "bfloat": 16, "float": 32, "double": 64}
"""Bits of each float type."""
INT_BITS: Final = (1, 8, 16, 32, 64)
"""Widths of integers."""
VOID: Final = Void()
I1: Final = Int(1)


def scalar_of(type_: Type) -> Scalar | None:
    """The scalar of which a value of this type has one or several; None where it is no value's."""
    if isinstance(type_, Vector):
        return type_.element
    return None if isinstance(type_, Void | Array) else type_


def count_of(type_: Type) -> int:
    """How many scalars a value has."""
    return type_.count if isinstance(type_, Vector) else 1


def with_scalar(type_: Type, scalar: Scalar) -> Type:
    """The type with as many scalars as `type_`, of type `scalar`."""
    return Vector(scalar, type_.count) if isinstance(type_, Vector) else scalar


def size_of(type_: Type) -> int:
    """Bytes from one element of this type to the next in memory."""
    if isinstance(type_, Void):
        return 0
    if isinstance(type_, Array):
        return size_of(type_.element) * type_.count
    if isinstance(type_, Vector):  # aligned to its size, so three take the room of four
        return size_of(type_.element) * (1 << (type_.count - 1).bit_length())
    return max(1, type_.bits // 8)
