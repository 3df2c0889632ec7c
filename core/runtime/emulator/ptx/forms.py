"""Instructions of PTX as instructions of the machine: operands, modifiers, and the forms that are
more than a row: comparisons, conversions, jumps, barriers.

`Form` is one instruction as it stands in the text. An instruction or a modifier that nothing here
knows is a CompileError that names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from core.errors import CompileError
from core.runtime.emulator.alu import floats, integers
from core.runtime.emulator.program import (
    Barrier,
    Branch,
    Compute,
    Const,
    Exit,
    Guard,
    Instruction,
    Operand,
    Reg,
    Special,
)
from core.runtime.emulator.ptx.names import Names
from core.runtime.emulator.ptx.rows import ROWS, Row, conversion, flush, flushed, with_modifiers
from core.runtime.emulator.ptx.text import Item, Name, Number, Pair, Reader
from core.runtime.emulator.ptx.types import KINDS, bits_of, constant
from core.runtime.numeric import Array

SPECIALS: Final[Mapping[str, str]] = {
    **{f"%{kind}.{axis}": f"{kind}.{axis}"
       for kind in ("tid", "ctaid", "ntid", "nctaid") for axis in "xyz"},
    "%laneid": "laneid", "%warpid": "warpid", "%nwarpid": "nwarpid", "WARP_SZ": "warpsize",
}  # fmt: skip
"""Special registers, and what the machine calls them."""


@dataclass
class Form:
    """One instruction: `opcode` as it stands, `name` its first part, `modifiers` and `types` the
    others in order."""

    names: Names
    reader: Reader
    opcode: str
    guard: Guard | None
    items: Sequence[Item]
    label: Callable[[str], int]

    def __post_init__(self) -> None:
        self.name, *rest = self.opcode.split(".")
        self.types = [part for part in rest if part in KINDS]
        self.modifiers = [part for part in rest if part not in KINDS]

    @property
    def line(self) -> int:
        """Its line in the text, from 1."""
        return self.reader.line

    def unknown(self) -> CompileError:
        """The error for a form that the emulator does not have."""
        return self.reader.error(
            f"the emulator has no instruction {self.opcode}",
            "docs/emulator.md lists what it executes",
        )

    def error(self, what: str) -> CompileError:
        """An error about this instruction."""
        return self.reader.error(f"{self.opcode}: {what}")

    def count(self, *allowed: int) -> None:
        """Raises CompileError for another number of operands."""
        if len(self.items) not in allowed:
            raise self.error(f"{len(self.items)} operands instead of {allowed[0]}")

    def only(self, *modifiers: str) -> None:
        """Raises CompileError for a modifier that is not one of these."""
        if not set(self.modifiers) <= set(modifiers):
            raise self.unknown()

    def reg(self, item: Item, kind: str, wider: bool = False) -> Reg:
        """A register as one of `kind`; with `wider`, one of more bits is seen whole. "_" is a
        register that nothing reads."""
        if not isinstance(item, Name):
            raise self.error("a register is wanted here")
        if item.text == "_":
            return Reg(self.names.unread(), KINDS[kind])
        found = self.names.register(item.text)
        if found is None:
            raise self.error(f"{item.text} is not declared")
        if found.bits == bits_of(kind):
            return Reg(found.number, KINDS[kind])
        if wider and found.bits > bits_of(kind) > 1:
            letter = "i" if kind[0] == "s" else "u"
            return Reg(found.number, np.dtype(f"{letter}{found.bits // 8}"))
        have = "a predicate" if found.bits == 1 else f"{found.bits} bits"
        raise self.error(f"{item.text} has {have}, which is not a .{kind}")

    def operand(self, item: Item, kind: str, wider: bool = False) -> Operand:
        """A source operand of type `kind`."""
        if isinstance(item, Number):
            found = constant(item, kind)
            if found is None:
                raise self.error(f"a .{kind} cannot be given as {item.value}")
            return found
        if isinstance(item, Name) and item.text in SPECIALS:
            if bits_of(kind) != 32:
                raise self.error(f"{item.text} has 32 bits, which is not a .{kind}")
            return Special(SPECIALS[item.text])
        if isinstance(item, Name) and item.text in self.names.variables:
            return Const(np.array([self.names.variables[item.text].address],
                                  f"u{bits_of(kind) // 8}"))  # fmt: skip
        if isinstance(item, Name) and item.negated and kind != "pred":
            raise self.error("only predicates can be negated")
        return self.reg(item, kind, wider)

    def compute(
        self, function: Callable[..., Any], operands: Sequence[Operand], *results: Reg
    ) -> list[Instruction]:
        """The machine's instruction."""
        return [
            Compute(
                line=self.line,
                name=self.opcode,
                guard=self.guard,
                function=function,
                operands=tuple(operands),
                results=results,
            )
        ]


def by_row(form: Form) -> list[Instruction]:
    """An instruction of the table. Raises CompileError where no row fits."""
    modifiers = frozenset(form.modifiers)
    kind = form.types[-1] if form.types else ""
    for row in BY_NAME.get(form.name, ()):
        extra = modifiers - row.required
        if kind in row.types and row.required <= modifiers and extra <= row.optional:
            return _computed(form, row, modifiers, kind)
    raise form.unknown()


def _computed(form: Form, row: Row, modifiers: frozenset[str], kind: str) -> list[Instruction]:
    if len(form.types) > 1:
        raise form.unknown()
    form.count(row.count + 1)
    target, *sources = form.items
    operands = [form.operand(item, row.source(i, kind)) for i, item in enumerate(sources)]
    function = _negations(with_modifiers(row, modifiers, kind), sources)
    return form.compute(function, operands, form.reg(target, row.target(kind)))


def _negations(function: Callable[..., Any], items: Sequence[Item]) -> Callable[..., Any]:
    """`function` with the predicates negated that the text negates."""
    marks = [isinstance(item, Name) and item.negated for item in items]
    if not any(marks):
        return function
    return lambda *values: function(*(~v if m else v for v, m in zip(values, marks, strict=True)))


BY_NAME: Final[dict[str, list[Row]]] = {}
for _known in ROWS:
    BY_NAME.setdefault(_known.name, []).append(_known)

_integer: Final[dict[str, Callable[[Array, Array], Array]]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "lo": np.less, "ls": np.less_equal, "hi": np.greater,
    "hs": np.greater_equal,
}  # fmt: skip
_joins: Final[dict[str, Callable[[Array, Array], Array]]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def compare(form: Form) -> list[Instruction]:
    """setp: comparisons, joined with a predicate or not, into one predicate or two."""
    if not form.modifiers or len(form.types) != 1:
        raise form.unknown()
    kind, modifiers = form.types[0], list(form.modifiers)
    ftz = "ftz" in modifiers
    modifiers = [m for m in modifiers if m != "ftz"]
    test = _comparison(modifiers[0], kind)
    join = _joins.get(modifiers[1]) if len(modifiers) == 2 else None
    if test is None or len(modifiers) > 2 or (len(modifiers) == 2 and join is None):
        raise form.unknown()
    if ftz and kind == "f32":
        test = _flushed_test(test)
    form.count(4 if join else 3)
    target, *sources = form.items
    operands = [form.operand(item, kind) for item in sources[:2]]
    if join is not None:
        operands.append(form.operand(sources[2], "pred"))
    negated = len(sources) > 2 and isinstance(sources[2], Name) and sources[2].negated

    def evaluate(a: Array, b: Array, p: Array | None = None) -> Any:
        found = test(a, b)
        if join is None or p is None:
            return (found, ~found) if isinstance(target, Pair) else found
        p = ~p if negated else p
        first = join(found, p)
        return (first, join(~found, p)) if isinstance(target, Pair) else first

    if isinstance(target, Pair):
        return form.compute(
            evaluate, operands, form.reg(target.first, "pred"), form.reg(target.second, "pred")
        )
    return form.compute(evaluate, operands, form.reg(target, "pred"))


def _flushed_test(test: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda a, b: test(flush(a), flush(b))


def _comparison(name: str, kind: str) -> Callable[[Array, Array], Array] | None:
    if kind == "bf16":
        plain = _comparison(name, "f32")
        if plain is None:
            return None
        return lambda a, b: plain(floats.widen_bf16(a), floats.widen_bf16(b))
    if KINDS[kind].kind != "f":
        if kind[0] == "s" and name in ("lo", "ls", "hi", "hs"):
            return None
        return _integer.get(name) if kind != "pred" else None
    if name in floats.ORDERED:
        return floats.ORDERED[name]
    if name.endswith("u") and name[:-1] in floats.UNORDERED:
        return floats.UNORDERED[name[:-1]]
    return {"num": floats.ordered, "nan": floats.unordered}.get(name)


_ROUNDINGS: Final = ("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi")


def convert(form: Form) -> list[Instruction]:
    """cvt: between any two types; two float32 into a pair of halves."""
    if len(form.types) != 2:
        raise form.unknown()
    target, source = form.types
    form.only(*_ROUNDINGS, "ftz", "sat", "relu")
    modes = [m for m in form.modifiers if m in _ROUNDINGS]
    if len(modes) > 1 or "relu" in form.modifiers:
        raise form.unknown()
    mode, saturate = modes[0] if modes else "", "sat" in form.modifiers
    if target in ("f16x2", "bf16x2") and source == "f32":
        return _convert_pair(form, target.removesuffix("x2"), mode)
    function = conversion(target, source, mode, saturate)
    if function is None:
        raise form.unknown()
    if "ftz" in form.modifiers:
        if "f32" not in (target, source):
            raise form.unknown()
        function = flushed(function)
    form.count(2)
    operand = form.operand(form.items[1], source, wider=True)
    result = form.reg(form.items[0], target, wider=True)
    return form.compute(
        fitted(function, operand, KINDS[source], result, KINDS[target]), [operand], result
    )


def fitted(
    function: Callable[[Array], Array],
    operand: Operand,
    source: np.dtype[Any],
    result: Reg,
    target: np.dtype[Any],
) -> Callable[[Array], Array]:
    """`function` on the low bits of a wider register, its result extended to a wider one."""
    have = operand.kind if isinstance(operand, Reg) else source
    taken = _on_low_bits(function, source) if have.itemsize > source.itemsize else function
    if result.kind.itemsize > target.itemsize:
        return lambda x: widened(taken(x), result.kind)
    return taken


def _on_low_bits(
    function: Callable[[Array], Array], kind: np.dtype[Any]
) -> Callable[[Array], Array]:
    bits = np.dtype(f"u{kind.itemsize}")
    return lambda x: function(x.astype(bits).view(kind))


def widened(x: Array, kind: np.dtype[Any]) -> Array:
    """Elements in a wider register: extended by their sign where they are signed integers, else
    with zeros."""
    if x.dtype.kind == "i":
        return x.astype(f"i{kind.itemsize}").view(kind)
    return x.view(f"u{x.dtype.itemsize}").astype(f"u{kind.itemsize}").view(kind)


def _convert_pair(form: Form, half: str, mode: str) -> list[Instruction]:
    narrow = conversion(half, "f32", mode, False)
    if narrow is None:
        raise form.unknown()
    form.count(3)
    high, low = (form.operand(item, "f32") for item in form.items[1:])

    def pack(a: Array, b: Array) -> Array:
        upper, lower = narrow(a).view(np.uint16), narrow(b).view(np.uint16)
        return upper.astype(np.uint32) << np.uint32(16) | lower

    return form.compute(pack, [high, low], form.reg(form.items[0], "b32"))


def logic(form: Form) -> list[Instruction]:
    """lop3.b32: any function of three bits, whose table is a literal."""
    if form.types != ["b32"] or form.modifiers:
        raise form.unknown()
    form.count(5)
    table = form.items[4]
    if not isinstance(table, Number):
        raise form.error("the table is a number")
    operands = [form.operand(item, "b32") for item in form.items[1:4]]

    def evaluate(a: Array, b: Array, c: Array) -> Array:
        return integers.logic3(a, b, c, table.value)

    return form.compute(evaluate, operands, form.reg(form.items[0], "b32"))


def branch(form: Form) -> list[Instruction]:
    """bra: to a label."""
    form.only("uni")
    form.count(1)
    (target,) = form.items
    if not isinstance(target, Name):
        raise form.error("a label is wanted here")
    at = form.label(target.text)
    return [Branch(line=form.line, name=form.opcode, guard=form.guard, target=at)]


def leave(form: Form) -> list[Instruction]:
    """ret and exit: the thread ends."""
    form.only("uni")
    form.count(0)
    return [Exit(line=form.line, name=form.opcode, guard=form.guard)]


def barrier(form: Form) -> list[Instruction]:
    """bar.sync 0 and its newer spellings, of all threads of the block."""
    form.only("sync", "cta", "aligned")
    if "sync" not in form.modifiers:
        raise form.unknown()
    form.count(1)
    (number,) = form.items
    if not isinstance(number, Number) or not 0 <= number.value < 16:
        raise form.error("a barrier's number is 0 to 15")
    return [Barrier(line=form.line, name=form.opcode, guard=form.guard)]


def nothing(_: Form) -> list[Instruction]:
    """Fences: threads in lockstep see each other's writes at once."""
    return []
