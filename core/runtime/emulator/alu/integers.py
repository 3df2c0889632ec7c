"""Integers of 8 to 64 bits: wrap-around arithmetic, and what NumPy has no function for."""

from __future__ import annotations

from typing import Any, Final, cast

import numpy as np

from core.runtime.numeric import Array

_half: Final[dict[int, type[np.unsignedinteger[Any]]]] = {
    1: np.uint8,
    2: np.uint16,
    4: np.uint32,
    8: np.uint64,
}


def unsigned(x: Array) -> Array:
    """The same bits as unsigned integers."""
    return x.view(_half[x.dtype.itemsize])


def multiply_high(x: Array, y: Array) -> Array:
    """The upper half of the product, signed or unsigned as the operands are."""
    if x.dtype.itemsize < 8:
        return narrowed(multiply_wide(x, y) >> (8 * x.dtype.itemsize), x.dtype)
    a, b = x.view(np.uint64), y.view(np.uint64)
    low, by = np.uint64(0xFFFFFFFF), np.uint64(32)
    a0, a1, b0, b1 = a & low, a >> by, b & low, b >> by
    middle = a1 * b0 + (a0 * b0 >> by)
    high = a1 * b1 + (middle >> by) + ((a0 * b1 + (middle & low)) >> by)
    if x.dtype.kind == "u":
        return high
    high = high - np.where(x < 0, b, np.uint64(0)) - np.where(y < 0, a, np.uint64(0))
    return high.view(np.int64)


def multiply_wide(x: Array, y: Array) -> Array:
    """The whole product, of twice the width; at most 32 bits times 32 bits."""
    wide = np.dtype(f"{x.dtype.kind}{2 * x.dtype.itemsize}")
    return x.astype(wide) * y.astype(wide)


def narrowed(x: Array, kind: np.dtype[Any]) -> Array:
    """The low bits of `x`, or `x` extended as its own sign says, as integers of `kind`."""
    return x.astype(kind, copy=False)


def divide(x: Array, y: Array) -> Array:
    """The quotient, toward zero. By zero it is all ones; the smallest integer by -1 is itself."""
    if x.dtype.kind == "u":
        return np.where(y == 0, _all_ones(x.dtype), x // y)
    found = x // y  # toward minus infinity
    inexact = (found * y != x) & ((x < 0) != (y < 0))
    return np.where(y == 0, np.array([-1], x.dtype), found + inexact)


def remainder(x: Array, y: Array) -> Array:
    """What `divide` leaves, with the sign of `x`. By zero it is `x`."""
    return x - divide(x, y) * y


def shift_left(x: Array, count: Array) -> Array:
    """`x` shifted by an unsigned count; 0 for counts of the width or more."""
    return np.left_shift(x, _count(x, count))


def shift_right(x: Array, count: Array) -> Array:
    """`x` shifted by an unsigned count, filled as its sign says; nothing but that for counts of
    the width or more."""
    return np.right_shift(x, _count(x, count))


def _count(x: Array, count: Array) -> Array:
    """A count in the dtype of `x`, at most the width, with which NumPy shifts everything out."""
    if count.dtype.itemsize <= x.dtype.itemsize and x.dtype.itemsize > 1:
        return np.minimum(count, count.dtype.type(8 * x.dtype.itemsize)).astype(x.dtype, copy=False)
    return np.minimum(count, 8 * x.dtype.itemsize).astype(x.dtype)


def absolute(x: Array) -> Array:
    """The absolute value; the smallest integer is itself."""
    return np.absolute(x)


def population(x: Array) -> Array:
    """How many bits are set, as uint32."""
    return np.bitwise_count(unsigned(x)).astype(np.uint32)


def leading_zeros(x: Array) -> Array:
    """Zeros above the highest bit that is set, as uint32; the width for 0."""
    bits = unsigned(x).copy()
    width = 8 * x.dtype.itemsize
    step = 1
    while step < width:  # fill everything below the highest bit
        bits |= bits >> bits.dtype.type(step)
        step *= 2
    return (width - np.bitwise_count(bits).astype(np.uint32)).astype(np.uint32)


def trailing_zeros(x: Array) -> Array:
    """Zeros below the lowest bit that is set, as uint32; the width for 0."""
    bits = unsigned(x)
    return np.bitwise_count((bits & (~bits + bits.dtype.type(1))) - bits.dtype.type(1)).astype(
        np.uint32
    )


def reverse_bits(x: Array) -> Array:
    """Bit 0 becomes the highest one, and so on."""
    bits = unsigned(x)
    size = bits.dtype.itemsize
    octets = np.ascontiguousarray(bits).view(np.uint8).reshape(-1, size)
    table = np.packbits(np.unpackbits(octets, axis=1, bitorder="little"), axis=1, bitorder="big")
    return np.ascontiguousarray(table[:, ::-1]).view(bits.dtype).reshape(x.shape).view(x.dtype)


def bit_field(x: Array, start: Array, length: Array) -> Array:
    """`length` bits of `x` from bit `start`; both are uint32, of which 8 bits count. Signed: filled
    with the field's highest bit that there is."""
    width = 8 * x.dtype.itemsize
    first = np.minimum(start & np.uint32(255), np.uint32(width))
    count = np.minimum(length & np.uint32(255), np.uint32(width))
    bits = unsigned(x)
    field = shift_right(bits, first) & ones(bits.dtype, count)
    if x.dtype.kind == "u":
        return field
    last = np.minimum(np.maximum(first + count, np.uint32(1)) - np.uint32(1), np.uint32(width - 1))
    sign = (shift_right(bits, last) & bits.dtype.type(1)).astype(np.bool_) & (count > 0)
    there = np.minimum(count, np.uint32(width) - first)
    return np.where(sign, field | ~ones(bits.dtype, there), field).view(x.dtype)


def insert_bits(field: Array, into: Array, start: Array, length: Array) -> Array:
    """`into` with `length` bits from bit `start` on taken from the low bits of `field`."""
    width = 8 * into.dtype.itemsize
    first = np.minimum(start & np.uint32(255), np.uint32(width))
    count = np.minimum(length & np.uint32(255), np.uint32(width))
    mask = shift_left(ones(into.dtype, count), first)
    return (into & ~mask) | (shift_left(field, first) & mask)


def _all_ones(kind: np.dtype[Any]) -> Array:
    return ~cast("Array", np.zeros(1, kind))


def ones(kind: np.dtype[Any], count: Array) -> Array:
    """Integers of which the low `count` bits are set."""
    return ~shift_left(_all_ones(kind), count)


def permute_bytes(low: Array, high: Array, select: Array) -> Array:
    """Four of the eight bytes of two uint32, by the four hexadecimal digits of `select`; a digit of
    8 or more repeats the sign of its byte."""
    both = high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)
    found = np.zeros(1, np.uint32)
    for i in range(4):
        digit = select >> np.uint32(4 * i)
        byte = both >> ((digit & np.uint32(7)).astype(np.uint64) * np.uint64(8)) & np.uint64(255)
        sign = np.where(byte & np.uint64(128), np.uint32(255), np.uint32(0))
        chosen = np.where(digit & np.uint32(8), sign, byte.astype(np.uint32))
        found = found | chosen << np.uint32(8 * i)
    return found


def funnel_shift(low: Array, high: Array, count: Array, left: bool, wrap: bool) -> Array:
    """The upper (left) or lower half of the 64 bits of two uint32 shifted by a count, of which 5
    bits count (`wrap`), or which is at most 32."""
    shift = count & np.uint32(31) if wrap else np.minimum(count, np.uint32(32))
    both = high.astype(np.uint64) << np.uint64(32) | low.astype(np.uint64)
    wide = shift.astype(np.uint64)
    found = (both << wide) >> np.uint64(32) if left else both >> wide
    return (found & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def logic3(a: Array, b: Array, c: Array, table: int) -> Array:
    """Any function of three bits: bit 4 * a + 2 * b + c of `table`."""
    found = cast("Array", np.zeros(1, a.dtype))
    for i in range(8):
        if table >> i & 1:
            term = (a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c)
            found = found | term
    return found
