"""How instructions that name memory, or parts of vectors, are written in LLVM IR.

Reads them only: what they do is in `translate.py` and its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from core.runtime.emulator.llvm.text.attributes import (
    ORDERINGS,
    access,
    alignment,
    few,
    scope,
)
from core.runtime.emulator.llvm.text.cursor import Cursor
from core.runtime.emulator.llvm.text.module import Constant, Instruction, Value
from core.runtime.emulator.llvm.text.operands import (
    address_space,
    parse_type,
    typed_value,
    value_type,
)
from core.runtime.emulator.llvm.text.types import I1, Array, Int, Pointer, Type, Vector

Form = Callable[[Cursor, str, int, str], Instruction]
"""Reads what follows the instruction's name: (cursor, name, line, name of the result)."""


def _pointer(c: Cursor, op: str) -> Value:
    value = typed_value(c)
    if not isinstance(value.type, Pointer):
        c.fail(f"{op} needs an address, not {value.type}")
    return value


def _stored(c: Cursor, type_: Type, line: int) -> None:
    if isinstance(type_, Vector) and type_.element == I1:
        c.fail(f"{type_} in memory is not emulated", line, "keep flags as i8")


def _load(c: Cursor, op: str, line: int, result: str) -> Instruction:
    flags = c.words({"atomic", "volatile"})
    type_ = value_type(c)
    _stored(c, type_, line)
    c.expect(",")
    pointer = _pointer(c, op)
    align, words = access(c)
    return Instruction(op, line, result, type_, (pointer,), align=align, flags=flags | words)


def _store(c: Cursor, op: str, line: int, result: str) -> Instruction:
    flags = c.words({"atomic", "volatile"})
    value = typed_value(c)
    _stored(c, value.type, line)
    c.expect(",")
    pointer = _pointer(c, op)
    align, words = access(c)
    return Instruction(
        op, line, result, operands=(value, pointer), align=align, flags=flags | words
    )


def _fence(c: Cursor, op: str, line: int, result: str) -> Instruction:
    words = scope(c)
    ordering = c.word("an ordering")
    if ordering not in ORDERINGS:
        c.fail(f"a fence has no ordering {ordering!r}", line, f"one of {', '.join(ORDERINGS)}")
    return Instruction(op, line, result, detail=ordering, flags=words)


def _address(c: Cursor, op: str, line: int, result: str) -> Instruction:
    flags = c.words({"inbounds", "nusw", "nuw"})
    element = parse_type(c)
    c.expect(",")
    operands = [_pointer(c, op)]
    inner: Type | None = element
    while c.sees(",") and c.after().kind != "metadata":
        c.take()
        index = typed_value(c)
        if not isinstance(index.type, Int):
            c.fail(f"an index of type {index.type} is not emulated", line)
        if len(operands) > 1:
            inner = inner.element if isinstance(inner, Array | Vector) else None
        if inner is None:
            c.fail(f"{element} has no element for each of the indices", line)
        operands.append(index)
        few(c, len(operands))
    return Instruction(op, line, result, operands[0].type, tuple(operands), element=element,
                       flags=flags)  # fmt: skip


def _alloca(c: Cursor, op: str, line: int, result: str) -> Instruction:
    element, align, space = parse_type(c), 0, 0
    while c.sees(",") and c.after().kind != "metadata":
        c.take()
        if c.accept("align"):
            align = alignment(c)
        elif c.sees("addrspace"):
            space = address_space(c)
        else:
            count = typed_value(c)
            if not isinstance(count, Constant) or count.bits[0] is None:
                c.fail("memory of a size that is not constant is not emulated", line)
            element = Array(element, count.bits[0])
    return Instruction(op, line, result, Pointer(space), element=element, align=align)


def _extract(c: Cursor, op: str, line: int, result: str) -> Instruction:
    vector = typed_value(c)
    if not isinstance(vector.type, Vector):
        c.fail(f"{op} of {vector.type} does not exist", line)
    c.expect(",")
    index = _lane_number(c, vector.type, line)
    return Instruction(op, line, result, vector.type.element, (vector, index))


def _insert(c: Cursor, op: str, line: int, result: str) -> Instruction:
    vector = typed_value(c)
    c.expect(",")
    value = typed_value(c)
    if not isinstance(vector.type, Vector) or vector.type.element != value.type:
        c.fail(f"{op} of {value.type} into {vector.type} does not exist", line)
    c.expect(",")
    index = _lane_number(c, vector.type, line)
    return Instruction(op, line, result, vector.type, (vector, value, index))


def _lane_number(c: Cursor, vector: Vector, line: int) -> Constant:
    index = typed_value(c)
    if not isinstance(index, Constant) or not isinstance(index.type, Int):
        c.fail("a position in a vector that is not constant is not emulated", line)
    if index.bits[0] is None or index.bits[0] >= vector.count:
        c.fail(f"{vector} has no such position", line)
    return index


def _shuffle(c: Cursor, op: str, line: int, result: str) -> Instruction:
    a = typed_value(c)
    c.expect(",")
    b = typed_value(c)
    c.expect(",")
    mask = typed_value(c)
    if not isinstance(a.type, Vector) or a.type != b.type:
        c.fail(f"{op} of {a.type} and {b.type} does not exist", line)
    if not isinstance(mask, Constant) or not isinstance(mask.type, Vector):
        c.fail("the positions that a shufflevector takes are a constant vector", line)
    if any(bits is not None and bits >= 2 * a.type.count for bits in mask.bits):
        c.fail(f"a position that two {a.type} do not have", line)
    to = Vector(a.type.element, mask.type.count)
    return Instruction(op, line, result, to, (a, b, mask))


MEMORY_FORMS: Final[Mapping[str, Form]] = {
    "load": _load,
    "store": _store,
    "fence": _fence,
    "getelementptr": _address,
    "alloca": _alloca,
    "extractelement": _extract,
    "insertelement": _insert,
    "shufflevector": _shuffle,
}
"""By the instruction's name."""
