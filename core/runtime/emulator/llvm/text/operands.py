"""Types and operands of LLVM IR: from tokens to `types` and `module.Value`.

Constants are kept as bits, so that none is rounded twice. Constant expressions are refused.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping
from typing import Final

from core.runtime.emulator.llvm.text.cursor import Cursor
from core.runtime.emulator.llvm.text.module import Constant, Global, Local, Value
from core.runtime.emulator.llvm.text.types import (
    FLOAT_BITS,
    INT_BITS,
    VOID,
    Array,
    Float,
    Int,
    Pointer,
    Scalar,
    Type,
    Vector,
    Void,
    count_of,
    scalar_of,
)

MAX_LANES: Final = 64
"""Scalars of a vector."""
MAX_ELEMENTS: Final = 1 << 24
"""Elements of an array."""
MAX_NESTING: Final = 4
"""Arrays in arrays."""
_INT: Final = re.compile(r"i([1-9]\d{0,7})", re.ASCII)
_NAN_BITS: Final = {"half": 0x7E00, "bfloat": 0x7FC0}


def parse_type(c: Cursor, nesting: int = 0) -> Type:
    """The type that comes next. Raises CompileError for one that kernels do not use."""
    if nesting > MAX_NESTING:
        c.fail("types nested too deeply", hint=f"at most {MAX_NESTING} arrays in each other")
    if c.accept("<"):
        count = c.natural("how many scalars a vector has", MAX_LANES)
        c.expect("x")
        element = scalar_of(_named_type(c))
        c.expect(">")
        if element is None or not count:
            c.fail("a vector is of one or more numbers or addresses")
        return Vector(element, count)
    if c.accept("["):
        count = c.natural("how many elements an array has", MAX_ELEMENTS)
        c.expect("x")
        inner = parse_type(c, nesting + 1)
        c.expect("]")
        return Array(inner, count)
    return _named_type(c)


def _named_type(c: Cursor) -> Type:
    token = c.token
    if token.kind == "word":
        integer = _INT.fullmatch(token.text)
        if integer is not None:
            if int(integer[1]) not in INT_BITS:
                widths = ", ".join(f"i{n}" for n in INT_BITS)
                c.fail(f"the type {token.text} is not emulated", hint=f"use {widths}")
            c.take()
            return Int(int(integer[1]))
        if token.text in FLOAT_BITS or token.text in ("void", "ptr"):
            c.take()
            if token.text == "ptr":
                return Pointer(address_space(c))
            return VOID if token.text == "void" else Float(token.text)
    c.expected("a type that is emulated")


def address_space(c: Cursor) -> int:
    """The number in `addrspace(n)`, or 0 where it does not come next."""
    if not c.accept("addrspace"):
        return 0
    c.expect("(")
    number = c.natural("an address space", 9)
    c.expect(")")
    if number not in (0, 1, 3, 4, 5):
        c.fail(f"address space {number} is not emulated", hint="use 0, 1, 3, 4 or 5")
    return number


def parse_value(c: Cursor, type_: Type) -> Value:
    """The operand of this type that comes next."""
    if c.token.kind == "local":
        return Local(c.take().text, type_)
    if c.token.kind == "global":
        return Global(c.take().text, type_)
    return parse_constant(c, type_)


def typed_value(c: Cursor) -> Value:
    """A type and an operand."""
    return parse_value(c, value_type(c))


def value_type(c: Cursor) -> Type:
    """The type of a value: neither void nor an array."""
    type_ = parse_type(c)
    if isinstance(type_, Void | Array):
        c.fail(f"a value of type {type_} is not emulated")
    return type_


def parse_constant(c: Cursor, type_: Type) -> Constant:
    """The constant of this type that comes next."""
    count, scalar = count_of(type_), scalar_of(type_)
    if scalar is None:
        c.fail(f"a constant of type {type_} is not emulated")
    word = c.token.text if c.token.kind == "word" else ""
    if word in ("undef", "poison", "zeroinitializer"):
        c.take()
        return Constant(type_, (0 if word == "zeroinitializer" else None,) * count)
    if isinstance(type_, Vector):
        return Constant(type_, _lanes(c, type_))
    if word in _CALLED:
        c.fail(f"a constant expression is not emulated: {word}",
               hint="compute it in an instruction of its own")  # fmt: skip
    return Constant(type_, (_scalar_constant(c, scalar),))


_CALLED: Final = frozenset(
    {"getelementptr", "addrspacecast", "ptrtoint", "inttoptr", "bitcast", "trunc", "add", "sub",
     "mul", "xor", "blockaddress", "dso_local_equivalent", "no_cfi", "asm", "ptrauth"}
)  # fmt: skip


def _lanes(c: Cursor, type_: Vector) -> tuple[int | None, ...]:
    if c.accept("splat"):
        c.expect("(")
        bits = _lane(c, type_)
        c.expect(")")
        return (bits,) * type_.count
    c.expect("<")
    bits = [_lane(c, type_)]
    while c.accept(","):
        bits.append(_lane(c, type_))
    c.expect(">")
    if len(bits) != type_.count:
        c.fail(f"{len(bits)} scalars for {type_}")
    return tuple(bits)


def _lane(c: Cursor, type_: Vector) -> int | None:
    found = parse_type(c)
    if found != type_.element:
        c.fail(f"a scalar of type {found} in {type_}")
    return parse_constant(c, found).bits[0]


def _scalar_constant(c: Cursor, scalar: Scalar) -> int:
    text = c.token.text
    if isinstance(scalar, Pointer):
        c.expect("null")
        return 0
    if isinstance(scalar, Int):
        return _integer(c, scalar)
    if c.token.kind != "number":
        c.expected(f"a constant of type {scalar}")
    c.take()
    if text.startswith("0x"):
        return _hexadecimal(c, text, scalar)
    if "." not in text:
        c.fail(f"{text} is not a float", hint=f"write {text}.0")
    value = float(text)
    if math.isinf(value):
        c.fail(f"{text} is too large for a float")
    return _FROM_DOUBLE[scalar.name](c, value)


def _integer(c: Cursor, type_: Int) -> int:
    text = c.token.text
    if type_.bits == 1 and c.token.kind == "word" and text in ("true", "false"):
        c.take()
        return int(text == "true")
    if c.token.kind != "number" or len(text) > 24 or not re.fullmatch(r"-?\d+", text):
        c.expected(f"a constant of type {type_}")
    c.take()
    value = int(text)
    if not -(1 << type_.bits - 1) <= value < 1 << type_.bits:
        c.fail(f"{text} does not fit {type_}")
    return value & (1 << type_.bits) - 1


def _hexadecimal(c: Cursor, text: str, type_: Float) -> int:
    """0xH and four digits for a half, 0xR and four for a bfloat; else the sixteen of a double,
    for floats too (LLVM language reference, "Simple Constants")."""
    letter, digits = (text[2], text[3:]) if text[2] in "HRKLM" else ("", text[2:])
    wanted = {"half": "H", "bfloat": "R"}.get(type_.name, "")
    if letter != wanted or len(digits) > (4 if wanted else 16) or not digits:
        c.fail(f"{text} is not a constant of type {type_}")
    bits = int(digits, 16)
    if wanted:
        return bits
    return _FROM_DOUBLE[type_.name](c, struct.unpack("<d", struct.pack("<Q", bits))[0], bits)


def _double(_: Cursor, value: float, bits: int = -1) -> int:
    return bits if bits >= 0 else int(struct.unpack("<Q", struct.pack("<d", value))[0])


def _single(c: Cursor, value: float, bits: int = -1) -> int:
    if math.isnan(value) and bits >= 0:
        return bits >> 32 & 0x80000000 | 0x7F800000 | bits >> 29 & 0x7FFFFF
    return _exactly(c, value, "f", "I", "float")


def _half(c: Cursor, value: float, bits: int = -1) -> int:
    return _NAN_BITS["half"] if math.isnan(value) else _exactly(c, value, "e", "H", "half")


def _bfloat(c: Cursor, value: float, bits: int = -1) -> int:
    bits = _NAN_BITS["bfloat"] << 16 if math.isnan(value) else _exactly(c, value, "f", "I", "float")
    if bits & 0xFFFF:
        c.fail(f"{value!r} is not a bfloat")
    return bits >> 16


_FROM_DOUBLE: Final[Mapping[str, Callable[..., int]]] = {
    "double": _double,
    "float": _single,
    "half": _half,
    "bfloat": _bfloat,
}


def _exactly(c: Cursor, value: float, kind: str, word: str, name: str) -> int:
    try:
        packed = struct.pack(f"<{kind}", value)
    except OverflowError:
        packed = b""
    if not packed or struct.unpack(f"<{kind}", packed)[0] != value:
        c.fail(f"{value!r} is not a {name}", hint="write its bits in hexadecimal")
    return int(struct.unpack(f"<{word}", packed)[0])
