"""Calls: functions that are part of LLVM, by name. What arithmetic ones compute is in
`intrinsics.py`.

A name ends in the types that it is for, and these must be those of the arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

import numpy as np

from core.runtime.emulator.llvm.builder import Builder
from core.runtime.emulator.llvm.compute.conversions import saturated
from core.runtime.emulator.llvm.compute.intrinsics import FLOATS, INTEGERS, WITH_FLAG
from core.runtime.emulator.llvm.compute.meaning import Meaning, kind_of, one_operand
from core.runtime.emulator.llvm.registers import Registers
from core.runtime.emulator.llvm.storage import SPACES
from core.runtime.emulator.llvm.text.lexer import refuse
from core.runtime.emulator.llvm.text.module import Constant, Instruction
from core.runtime.emulator.llvm.text.types import (
    I1,
    VOID,
    Float,
    Int,
    Pointer,
    Type,
    Vector,
    count_of,
    scalar_of,
    with_scalar,
)
from core.runtime.emulator.program import (
    Barrier,
    Const,
    Guard,
    Load,
    Precondition,
    Reg,
    Special,
    Warp,
)
from core.runtime.numeric import Array

_SUFFIX: Final = re.compile(r"((?:\.(?:v\d+)?(?:f16|bf16|f32|f64|i\d+|p\d+))*)", re.ASCII)
_SHORT: Final = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}
_I32: Final = Int(32)


@dataclass(frozen=True, slots=True)
class Call:
    """A call to translate: `base` is the function's name without types."""

    registers: Registers
    builder: Builder
    instruction: Instruction
    base: str

    def fail(self, what: str) -> NoReturn:
        """Raises CompileError for the call's line."""
        refuse(what, self.registers.text, self.instruction.line)

    def expect(
        self, result: Type, arguments: tuple[Type, ...], overloaded: tuple[Type, ...]
    ) -> None:
        """Raises CompileError unless the call has these types, and a name that ends in those that
        it is overloaded for."""
        i = self.instruction
        given = tuple(o.type for o in i.operands)
        if i.type != result or given != arguments:
            wanted = ", ".join(map(str, arguments))
            self.fail(f"@{self.base} gives {result} for ({wanted})")
        name = ".".join((self.base, *map(mangled, overloaded)))
        if i.detail != name:
            self.fail(f"@{i.detail} has other types in its name: it would be @{name}")

    def means(self, meaning: Meaning, count: int) -> None:
        """Its first `count` arguments are those of a meaning."""
        i = self.instruction
        operands = [self.registers.operands(o, i.line) for o in i.operands[:count]]
        results = self.registers.new(i.result, i.type) if i.result else ()
        self.builder.meaning(meaning, operands, results)


def mangled(type_: Type) -> str:
    """A type as names of functions have it: v4f32 for <4 x float>."""
    scalar = scalar_of(type_)
    lanes = f"v{type_.count}" if isinstance(type_, Vector) else ""
    if isinstance(scalar, Float):
        return lanes + _SHORT[scalar.name]
    return lanes + (f"p{scalar.space}" if isinstance(scalar, Pointer) else str(scalar))


def call(r: Registers, b: Builder, i: Instruction) -> None:
    """Translates a call. Raises CompileError for a function that is not emulated."""
    base = _base(i.detail)
    handler = _HANDLERS.get(base)
    if handler is None:
        refuse(f"the function @{i.detail} is not emulated", r.text, i.line,
               f"those emulated: {', '.join(sorted(_HANDLERS))}")  # fmt: skip
    handler(Call(r, b, i, base))


def _base(name: str) -> str:
    """The name without the types at its end."""
    parts = name.split(".")
    while parts and _SUFFIX.fullmatch("." + parts[-1]):
        parts.pop()
    return ".".join(parts)


def _of_floats(c: Call) -> None:
    found, type_ = FLOATS[c.base], c.instruction.type
    scalar = scalar_of(type_)
    if not isinstance(scalar, Float) or scalar.name == "bfloat":
        c.fail(f"@{c.base} of {type_} is not emulated")
    c.expect(type_, (type_,) * found.arity, (type_,))
    c.means(found.meaning, found.arity)


def _of_integers(c: Call) -> None:
    found, type_ = INTEGERS[c.base], c.instruction.type
    if not isinstance(scalar_of(type_), Int) or scalar_of(type_) == I1:
        c.fail(f"@{c.base} of {type_} is not emulated")
    c.expect(type_, (type_,) * found.arity, (type_,))
    c.means(found.meaning, found.arity)


def _with_flag(c: Call) -> None:
    type_ = c.instruction.type
    if not isinstance(scalar_of(type_), Int) or scalar_of(type_) == I1:
        c.fail(f"@{c.base} of {type_} is not emulated")
    c.expect(type_, (type_, I1), (type_,))
    flag = c.instruction.operands[1]
    if not isinstance(flag, Constant):
        c.fail(f"the second argument of @{c.base} is true or false")
    meaning = WITH_FLAG[c.base]
    if flag.bits[0]:
        meaning = Meaning(meaning.function, meaning.signed, (_UNDEFINED[c.base],))
    c.means(meaning, 1)


_UNDEFINED: Final = {
    "llvm.abs": one_operand("the absolute value of the lowest number, which does not fit",
                      lambda a: a == np.iinfo(a.dtype).min),
    "llvm.ctlz": one_operand("zero bits counted in zero", lambda a: a == 0),
    "llvm.cttz": one_operand("zero bits counted in zero", lambda a: a == 0),
}  # fmt: skip


def _ldexp(c: Call) -> None:
    type_ = c.instruction.type
    exponent = with_scalar(type_, _I32)
    c.expect(type_, (type_, exponent), (type_, exponent))
    c.means(Meaning(_scaled, True), 2)


def _scaled(a: Array, exponent: Array) -> Array:
    """a * 2 ** exponent, rounded once."""
    return np.ldexp(a.astype(np.float64), exponent.clip(-5000, 5000)).astype(a.dtype)


def _saturated(c: Call) -> None:
    i = c.instruction
    source, target = (scalar_of(t) for t in (i.operands[0].type if i.operands else VOID, i.type))
    if not isinstance(source, Float) or not isinstance(target, Int) or target == I1:
        c.fail(f"@{c.base} with these types is not emulated")
    if source.name == "bfloat":
        c.fail(f"@{c.base} of bfloat is not emulated")
    argument = with_scalar(i.type, source)
    c.expect(i.type, (argument,), (i.type, argument))
    c.means(Meaning(saturated(target, "fptosi" in c.base)), 1)


def _special(name: str) -> Callable[[Call], None]:
    def handler(c: Call) -> None:
        c.expect(_I32, (), ())
        results = c.registers.new(c.instruction.result, _I32)
        c.builder.compute(np.positive, (Special(name),), results)

    return handler


def _barrier(c: Call) -> None:
    c.expect(VOID, (), ())
    c.builder.add(Barrier(line=c.instruction.line, name=c.builder.name))


def _lanes_before(first: int) -> Callable[[Call], None]:
    """How many of the lanes from `first` on, of 32, lie below a thread's own and have their bit set
    in the first argument, plus the second."""

    def count(active: Array, mask: Array, more: Array) -> Array:
        below = np.clip(np.arange(active.shape[1], dtype=np.int64) - first, 0, 32)
        kept = mask.astype(np.int64) & ((np.int64(1) << below) - 1)
        return (np.bitwise_count(kept) + more).astype(np.uint32)

    return _of_warp(count)


def _permuted(_: Array, place: Array, value: Array) -> Array:
    """The value of the lane at an address of 4 bytes for each lane."""
    return np.take_along_axis(value, place // 4 % value.shape[1], axis=1)


def _of_warp(function: Callable[..., Array]) -> Callable[[Call], None]:
    """A function of two words of 32 bits that the lanes of a warp compute together."""

    def handler(c: Call) -> None:
        i, r = c.instruction, c.registers
        c.expect(_I32, (_I32, _I32), ())
        operands = tuple(o for value in i.operands for o in r.operands(value, i.line))
        results = r.new(i.result, _I32)
        c.builder.add(
            Warp(line=i.line, name=c.builder.name, function=function, operands=operands,
                 results=results)
        )  # fmt: skip

    return handler


def _assume(c: Call) -> None:
    c.expect(VOID, (I1,), ())
    c.means(
        Meaning(
            no_result,
            preconditions=(Precondition("an assumption that does not hold", np.logical_not),),
        ),
        1,
    )


def no_result(*_: Array) -> tuple[()]:
    """What an instruction computes that gives nothing."""
    return ()


def _masked_load(c: Call) -> None:
    """One load for each lane whose flag is set; others keep what the last argument has."""
    i, r, b = c.instruction, c.registers, c.builder
    count = count_of(i.type)
    pointer = i.operands[0].type if i.operands else VOID
    flags = with_scalar(i.type, I1)
    c.expect(i.type, (pointer, _I32, flags, i.type), (i.type, pointer))
    scalar = scalar_of(i.type)
    if not isinstance(pointer, Pointer) or scalar is None or scalar == I1:
        c.fail(f"@{c.base} of {i.type} is not emulated")
    (place,) = r.operands(i.operands[0], i.line)
    wanted, other = r.operands(i.operands[2], i.line), r.filled(i.operands[3])
    results = r.new(i.result, i.type)
    b.copy(other, results)
    kind = kind_of(scalar)
    for lane in range(count):
        flag = wanted[lane]
        if isinstance(flag, Const) and not flag.value[0]:
            continue
        b.add(
            Load(
                line=i.line,
                name=b.name,
                guard=Guard(flag.number) if isinstance(flag, Reg) else None,
                space=SPACES[pointer.space],
                address=place,
                offset=lane * kind.itemsize,
                item=kind,
                results=(results[lane],),
            )
        )


_HANDLERS: Final[Mapping[str, Callable[[Call], None]]] = {
    **dict.fromkeys(FLOATS, _of_floats),
    **dict.fromkeys(INTEGERS, _of_integers),
    **dict.fromkeys(WITH_FLAG, _with_flag),
    "llvm.ldexp": _ldexp,
    "llvm.fptosi.sat": _saturated,
    "llvm.fptoui.sat": _saturated,
    "llvm.masked.load": _masked_load,
    "llvm.assume": _assume,
    "llvm.amdgcn.s.barrier": _barrier,
    "llvm.amdgcn.mbcnt.lo": _lanes_before(0),
    "llvm.amdgcn.mbcnt.hi": _lanes_before(32),
    "llvm.amdgcn.ds.bpermute": _of_warp(_permuted),
    **{f"llvm.amdgcn.workgroup.id.{axis}": _special(f"ctaid.{axis}") for axis in "xyz"},
    **{f"llvm.amdgcn.workitem.id.{axis}": _special(f"tid.{axis}") for axis in "xyz"},
}
"""How each function is translated, by its name without types."""
