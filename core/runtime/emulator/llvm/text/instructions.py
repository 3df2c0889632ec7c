"""One instruction of LLVM IR: from tokens to `module.Instruction`.

`FORMS` has a row for each instruction that is emulated. What an instruction does is said by
`integers.py` and its neighbours, never here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from core.runtime.emulator.llvm.text.attributes import (
    CONVENTIONS,
    FAST,
    attachments,
    attributes,
    few,
    require,
)
from core.runtime.emulator.llvm.text.cursor import Cursor
from core.runtime.emulator.llvm.text.memory_forms import MEMORY_FORMS, Form
from core.runtime.emulator.llvm.text.module import Instruction, Value
from core.runtime.emulator.llvm.text.operands import (
    parse_constant,
    parse_type,
    parse_value,
    typed_value,
    value_type,
)
from core.runtime.emulator.llvm.text.types import (
    I1,
    Array,
    Float,
    Int,
    Pointer,
    Void,
    count_of,
    scalar_of,
    with_scalar,
)

INT_PREDICATES: Final = ("eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle")
FLOAT_PREDICATES: Final = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule",
    "une", "uno", "true",
)  # fmt: skip


def parse_instruction(c: Cursor, result: str) -> Instruction:
    """The instruction that comes next, whose value is called `result`. Raises CompileError for one
    that is not emulated and for a form that it does not have."""
    line = c.token.line
    if c.token.kind != "word":
        c.expected("an instruction")
    op = c.token.text
    if op in ("tail", "musttail", "notail"):
        c.take()
        op = c.token.text
    form = FORMS.get(op)
    if form is None:
        known = ", ".join(sorted(FORMS))
        c.fail(f"the instruction {op!r} is not emulated", hint=f"those emulated: {known}")
    c.take()
    found = form(c, op, line, result)
    attachments(c)
    if isinstance(found.type, Void) != (not result):
        said = "has no value, but is given" if result else "has a value that needs"
        c.fail(f"{op} {said} a name", line)
    return found


def _same(*kinds: type, flags: frozenset[str]) -> Form:
    """`op type a, b` with a result of the same type."""

    def form(c: Cursor, op: str, line: int, result: str) -> Instruction:
        taken = c.words(flags)
        type_ = value_type(c)
        require(c, type_, kinds, op)
        a = parse_value(c, type_)
        c.expect(",")
        b = parse_value(c, type_)
        return Instruction(op, line, result, type_, (a, b), flags=taken)

    return form


def _negation(c: Cursor, op: str, line: int, result: str) -> Instruction:
    flags = c.words(FAST)
    value = typed_value(c)
    require(c, value.type, (Float,), op)
    return Instruction(op, line, result, value.type, (value,), flags=flags)


def _comparison(c: Cursor, op: str, line: int, result: str) -> Instruction:
    flags = c.words(FAST | {"samesign"})
    predicates = INT_PREDICATES if op == "icmp" else FLOAT_PREDICATES
    predicate = c.word("a comparison")
    if predicate not in predicates:
        c.fail(f"{op} has no comparison {predicate!r}", line, f"one of {', '.join(predicates)}")
    type_ = value_type(c)
    require(c, type_, (Int, Pointer) if op == "icmp" else (Float,), op)
    a = parse_value(c, type_)
    c.expect(",")
    b = parse_value(c, type_)
    to = with_scalar(type_, I1)
    return Instruction(op, line, result, to, (a, b), detail=predicate, flags=flags)


def _narrower(source: int, target: int) -> bool:
    return target < source


def _wider(source: int, target: int) -> bool:
    return target > source


def _equal(source: int, target: int) -> bool:
    return target == source


def _any(source: int, target: int) -> bool:
    return True


_CASTS: Final = {
    "trunc": (Int, Int, _narrower),
    "zext": (Int, Int, _wider),
    "sext": (Int, Int, _wider),
    "fptrunc": (Float, Float, _narrower),
    "fpext": (Float, Float, _wider),
    "fptosi": (Float, Int, _any),
    "fptoui": (Float, Int, _any),
    "sitofp": (Int, Float, _any),
    "uitofp": (Int, Float, _any),
    "bitcast": ((Int, Float), (Int, Float), _equal),
}
"""Kinds of the operand and of the result, and how their widths compare."""


def _cast(c: Cursor, op: str, line: int, result: str) -> Instruction:
    flags = c.words(FAST | {"nuw", "nsw", "nneg"})
    value = typed_value(c)
    c.expect("to")
    to = value_type(c)
    sources, targets, fits = _CASTS[op]
    a, b = scalar_of(value.type), scalar_of(to)
    if not isinstance(a, sources) or not isinstance(b, targets):
        c.fail(f"{op} from {value.type} to {to} does not exist", line)
    lanes, wanted = count_of(value.type), count_of(to)
    whole = op == "bitcast"
    widths = (a.bits * lanes, b.bits * wanted) if whole else (a.bits, b.bits)
    if not fits(*widths) or (lanes != wanted and not whole):
        c.fail(f"{op} from {value.type} to {to} does not exist", line)
    return Instruction(op, line, result, to, (value,), flags=flags)


def _select(c: Cursor, op: str, line: int, result: str) -> Instruction:
    flags = c.words(FAST)
    condition = typed_value(c)
    c.expect(",")
    a = typed_value(c)
    c.expect(",")
    b = typed_value(c)
    lanes = count_of(condition.type)
    if scalar_of(condition.type) != I1 or lanes not in (1, count_of(a.type)) or a.type != b.type:
        c.fail(f"select {condition.type} of {a.type} and {b.type} does not exist", line)
    return Instruction(op, line, result, a.type, (condition, a, b), flags=flags)


def _phi(c: Cursor, op: str, line: int, result: str) -> Instruction:
    flags = c.words(FAST)
    type_ = value_type(c)
    values: list[Value] = []
    labels: list[str] = []
    while True:
        c.expect("[")
        values.append(parse_value(c, type_))
        c.expect(",")
        labels.append(c.of_kind("local", "the block that the value comes from"))
        c.expect("]")
        few(c, len(values))
        if not (c.sees(",") and c.after().text == "["):
            break
        c.take()
    return Instruction(op, line, result, type_, tuple(values), tuple(labels), flags=flags)


def _branch(c: Cursor, op: str, line: int, result: str) -> Instruction:
    if c.accept("label"):
        return Instruction(op, line, result, labels=(c.of_kind("local", "a block"),))
    condition = typed_value(c)
    if condition.type != I1:
        c.fail(f"br on {condition.type} does not exist", line, "a condition is an i1")
    labels: list[str] = []
    for _ in range(2):
        c.expect(",", "label")
        labels.append(c.of_kind("local", "a block"))
    return Instruction(op, line, result, operands=(condition,), labels=tuple(labels))


def _switch(c: Cursor, op: str, line: int, result: str) -> Instruction:
    operands: list[Value] = [typed_value(c)]
    type_ = operands[0].type
    if not isinstance(type_, Int):
        c.fail(f"switch on {type_} does not exist", line)
    c.expect(",", "label")
    labels = [c.of_kind("local", "a block")]
    c.expect("[")
    while not c.accept("]"):
        found = value_type(c)
        if found != type_:
            c.fail(f"a case of type {found} in a switch on {type_}")
        case = parse_constant(c, type_)
        if case.bits[0] is None or case in operands:
            c.fail("a case that is undefined, or there twice")
        operands.append(case)
        c.expect(",", "label")
        labels.append(c.of_kind("local", "a block"))
        few(c, len(operands))
    return Instruction(op, line, result, operands=tuple(operands), labels=tuple(labels))


def _return(c: Cursor, op: str, line: int, result: str) -> Instruction:
    if not c.accept("void"):
        c.fail("a kernel returns void", line)
    return Instruction(op, line, result)


def _nothing(_: Cursor, op: str, line: int, result: str) -> Instruction:
    return Instruction(op, line, result)


def _call(c: Cursor, op: str, line: int, result: str) -> Instruction:
    flags = c.words(FAST)
    c.words(CONVENTIONS)
    attributes(c)
    type_ = parse_type(c)
    if isinstance(type_, Array):
        c.fail(f"a call that gives {type_} is not emulated", line)
    if c.sees("("):
        c.skip_brackets()  # the function's type, which a call may repeat
    name = c.of_kind("global", "the function that is called")
    c.expect("(")
    operands: list[Value] = []
    while not c.accept(")"):
        if operands:
            c.expect(",")
        argument = value_type(c)
        attributes(c)
        operands.append(parse_value(c, argument))
        few(c, len(operands))
    attributes(c)
    return Instruction(op, line, result, type_, tuple(operands), detail=name, flags=flags)


def _freeze(c: Cursor, op: str, line: int, result: str) -> Instruction:
    value = typed_value(c)
    return Instruction(op, line, result, value.type, (value,))


_wraps: Final = frozenset({"nuw", "nsw"})
_none: Final = frozenset[str]()
FORMS: Final[Mapping[str, Form]] = {
    **dict.fromkeys(("add", "sub", "mul", "shl"), _same(Int, flags=_wraps)),
    **dict.fromkeys(("udiv", "sdiv", "lshr", "ashr"), _same(Int, flags=frozenset({"exact"}))),
    **dict.fromkeys(("urem", "srem", "and", "xor"), _same(Int, flags=_none)),
    "or": _same(Int, flags=frozenset({"disjoint"})),
    **dict.fromkeys(("fadd", "fsub", "fmul", "fdiv", "frem"), _same(Float, flags=FAST)),
    "fneg": _negation,
    "icmp": _comparison,
    "fcmp": _comparison,
    **dict.fromkeys(_CASTS, _cast),
    "select": _select,
    "phi": _phi,
    **MEMORY_FORMS,
    "br": _branch,
    "switch": _switch,
    "ret": _return,
    "unreachable": _nothing,
    "call": _call,
    "freeze": _freeze,
}
"""How each instruction is written, by its name."""
