"""What LLVM's instructions on integers and addresses compute, and where they are left open.

Results wrap around (LLVM language reference, "Binary Operations" and "Bitwise Binary Operations").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from core.runtime.emulator.alu.integers import (
    divide,
    remainder,
    shift_left,
    shift_right,
    unsigned,
)
from core.runtime.emulator.llvm.compute.meaning import Meaning, two_operands
from core.runtime.emulator.program import Precondition
from core.runtime.numeric import Array

DIVISION_BY_ZERO: Final = two_operands("a division by zero", lambda a, b: b == 0)


def _lowest(a: Array) -> Array:
    return a == np.iinfo(a.dtype).min


DIVISION_OVERFLOW: Final = two_operands(
    "the lowest number divided by -1, which does not fit", lambda a, b: _lowest(a) & (b == -1)
)
SHIFT: Final = two_operands(
    "a shift by as many bits as the number has, or more",
    lambda a, b: unsigned(b) >= a.itemsize * 8,
)


def _arithmetic_right(a: Array, b: Array) -> Array:
    return shift_right(a, unsigned(b))


def _amount(a: Array, b: Array) -> Array:
    return b & b.dtype.type(a.itemsize * 8 - 1)


_signed_division: Final = (DIVISION_BY_ZERO, DIVISION_OVERFLOW)
BINARY: Final[Mapping[str, Meaning]] = {
    "add": Meaning(np.add),
    "sub": Meaning(np.subtract),
    "mul": Meaning(np.multiply),
    "and": Meaning(np.bitwise_and),
    "or": Meaning(np.bitwise_or),
    "xor": Meaning(np.bitwise_xor),
    "udiv": Meaning(divide, preconditions=(DIVISION_BY_ZERO,)),
    "urem": Meaning(remainder, preconditions=(DIVISION_BY_ZERO,)),
    "sdiv": Meaning(divide, True, _signed_division),
    "srem": Meaning(remainder, True, _signed_division),
    "shl": Meaning(shift_left, preconditions=(SHIFT,)),
    "lshr": Meaning(shift_right, preconditions=(SHIFT,)),
    "ashr": Meaning(_arithmetic_right, True, (SHIFT,)),
}  # fmt: skip
"""Instructions on integers of 8 bits and more."""

BINARY_I1: Final[Mapping[str, Meaning]] = {
    **dict.fromkeys(("add", "sub", "xor"), Meaning(np.logical_xor)),
    **dict.fromkeys(("mul", "and"), Meaning(np.logical_and)),
    "or": Meaning(np.logical_or),
}
"""Instructions on i1, which registers hold as bool."""


def _as_signed(a: Array) -> Array:
    return a.view(f"i{a.itemsize}")


def _add_overflows(a: Array, b: Array) -> Array:
    total = a + b
    return _as_signed((a ^ total) & (b ^ total)) < 0


def _sub_overflows(a: Array, b: Array) -> Array:
    return _as_signed((a ^ b) & (a ^ (a - b))) < 0


def _mul_overflows(a: Array, b: Array) -> Array:
    x, y = _as_signed(a), _as_signed(b)
    if a.itemsize < 8:
        product = x.astype(np.int64) * y.astype(np.int64)
        return product != product.astype(x.dtype)
    lowest = (_lowest(x) & (y == -1)) | (_lowest(y) & (x == -1))
    return lowest | ((x != 0) & (divide(x * y, x) != y))


def _mul_wraps(a: Array, b: Array) -> Array:
    if a.itemsize < 8:
        product = a.astype(np.uint64) * b.astype(np.uint64)
        return product != product.astype(a.dtype)
    return (a != 0) & (divide(a * b, a) != b)


def _shift_loses(a: Array, b: Array) -> Array:
    amount = _amount(a, b)
    return np.right_shift(np.left_shift(a, amount), amount) != a


def _shift_loses_sign(a: Array, b: Array) -> Array:
    amount = _amount(a, b)
    back = np.right_shift(_as_signed(np.left_shift(a, amount)), _as_signed(amount))
    return back != _as_signed(a)


def _lost_right(a: Array, b: Array) -> Array:
    amount = _amount(a, b)
    return np.left_shift(np.right_shift(a, amount), amount) != a


_SIGNED_WRAP: Final = "a signed result that does not fit, where the text says nsw"
_UNSIGNED_WRAP: Final = "an unsigned result that does not fit, where the text says nuw"
_INEXACT: Final = "a remainder, where the text says exact"
FLAGS: Final[Mapping[tuple[str, str], Precondition]] = {
    ("add", "nsw"): two_operands(_SIGNED_WRAP, _add_overflows),
    ("sub", "nsw"): two_operands(_SIGNED_WRAP, _sub_overflows),
    ("mul", "nsw"): two_operands(_SIGNED_WRAP, _mul_overflows),
    ("shl", "nsw"): two_operands(_SIGNED_WRAP, _shift_loses_sign),
    ("add", "nuw"): two_operands(_UNSIGNED_WRAP, lambda a, b: a + b < a),
    ("sub", "nuw"): two_operands(_UNSIGNED_WRAP, lambda a, b: a < b),
    ("mul", "nuw"): two_operands(_UNSIGNED_WRAP, _mul_wraps),
    ("shl", "nuw"): two_operands(_UNSIGNED_WRAP, _shift_loses),
    ("udiv", "exact"): two_operands(_INEXACT, lambda a, b: remainder(a, b) != 0),
    ("sdiv", "exact"): two_operands(_INEXACT, lambda a, b: remainder(a, b) != 0),
    ("lshr", "exact"): two_operands(_INEXACT, _lost_right),
    ("ashr", "exact"): two_operands(_INEXACT, _lost_right),
    ("or", "disjoint"): two_operands(
        "common bits, where the text says disjoint", lambda a, b: a & b != 0
    ),
}
"""What flags promise of an instruction's operands, which have the sign that `BINARY` says."""


COMPARE: Final[Mapping[str, Meaning]] = {
    "eq": Meaning(np.equal),
    "ne": Meaning(np.not_equal),
    "ugt": Meaning(np.greater),
    "uge": Meaning(np.greater_equal),
    "ult": Meaning(np.less),
    "ule": Meaning(np.less_equal),
    "sgt": Meaning(np.greater, True),
    "sge": Meaning(np.greater_equal, True),
    "slt": Meaning(np.less, True),
    "sle": Meaning(np.less_equal, True),
}
"""icmp by its predicate."""

COMPARE_I1: Final[Mapping[str, Meaning]] = {
    **{name: COMPARE[name] for name in ("eq", "ne", "ugt", "uge", "ult", "ule")},
    "sgt": COMPARE["ult"],
    "sge": COMPARE["ule"],
    "slt": COMPARE["ugt"],
    "sle": COMPARE["uge"],
}
"""icmp of i1: as a signed number, true is -1."""
