"""`translate`: the text of LLVM IR as a `Code` for the machine.

Blocks that nothing reaches are left out. A phi is a copy on each way into its block, of all phis
of the block at once. Vectors are one register per scalar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final, NoReturn

import numpy as np

from core.runtime.emulator.alu.floats import negate, widen_bf16
from core.runtime.emulator.llvm.builder import Builder
from core.runtime.emulator.llvm.calls import call, no_result
from core.runtime.emulator.llvm.compute import conversions, floats, integers
from core.runtime.emulator.llvm.compute.meaning import Meaning, kind_of, of_two
from core.runtime.emulator.llvm.matrix import matrix_calls, product
from core.runtime.emulator.llvm.registers import Registers, seen_as
from core.runtime.emulator.llvm.storage import address, load, shared_layout, stack_layout, store
from core.runtime.emulator.llvm.text.check import check_fences, reverse_postorder
from core.runtime.emulator.llvm.text.lexer import refuse
from core.runtime.emulator.llvm.text.module import (
    Block,
    Constant,
    Instruction,
    Local,
    Module,
    Value,
)
from core.runtime.emulator.llvm.text.parser import parse_module
from core.runtime.emulator.llvm.text.types import I1, VOID, Float, Pointer, count_of, scalar_of
from core.runtime.emulator.program import (
    Code,
    Const,
    Exit,
    Guard,
    Load,
    Operand,
    Parameter,
    Precondition,
    Reg,
    Space,
)
from core.target import Target

BFLOAT: Final = Float("bfloat")
Handler = Callable[["_Translation", Instruction], None]


def translate(text: str, name: str, target: Target) -> Code:
    """The kernel called `name`, for an AMD target. Raises CompileError with "line 3: the line" for
    what is not LLVM IR, is not emulated, or defines another kernel."""
    module = parse_module(text)
    if module.function.name != name:
        refuse(f"it defines @{module.function.name}, not @{name}", text, module.function.line)
    if not module.triple.startswith("amdgcn"):
        refuse(f"it is not for AMD GPUs, but for {module.triple!r}", text, 1,
               'begin with: target triple = "amdgcn-amd-amdhsa"')  # fmt: skip
    return _Translation(module, target).run()


class _Translation:
    def __init__(self, module: Module, target: Target) -> None:
        self.module, self.target = module, target
        self.matrices = matrix_calls(target)
        self.shared, addresses = shared_layout(module)
        self.stack, self.reserved = stack_layout(module)
        self.registers = Registers(module.text, addresses)
        self.builder = Builder()

    def run(self) -> Code:
        """Arguments, then all blocks."""
        function = self.module.function
        parameters = self._parameters()
        blocks = {block.name: block for block in function.blocks}
        order = [blocks[name] for name in reverse_postorder(function)]
        for block in order:
            check_fences(self.module.text, block)
            for phi in block.phis:
                self.registers.new(phi.result, phi.type)
        for number, block in enumerate(order):
            self.builder.place(block.name)
            for i in block.body:
                self._instruction(i)
            after = order[number + 1] if number + 1 < len(order) else None
            self._end(block, blocks, after)
        return Code(
            name=function.name,
            text=self.module.text,
            language="llvm",
            instructions=self.builder.finish(),
            registers=tuple(self.registers.names),
            parameters=parameters,
            shared_bytes=self.shared.size,
            local_bytes=self.stack.size,
            shared_names=self.shared.names,
            local_names=self.stack.names,
            width=self.target.wave,
        )

    def _parameters(self) -> tuple[Parameter, ...]:
        """Where each argument is, and a load of it. Arguments are aligned to their size (LLVM,
        "User Guide for AMDGPU Backend", "Kernel Arguments")."""
        function, end = self.module.function, 0
        found: list[Parameter] = []
        for p in function.parameters:
            scalar = scalar_of(p.type)
            assert scalar is not None
            kind = kind_of(scalar)
            if count_of(p.type) != 1 or kind.kind == "b":
                refuse(f"an argument of type {p.type} is not emulated", self.module.text,
                       function.line)  # fmt: skip
            begin = -(-end // kind.itemsize) * kind.itemsize
            end = begin + kind.itemsize
            found.append(Parameter(p.name, begin, kind.itemsize, isinstance(scalar, Pointer)))
            self.builder.add(
                Load(
                    line=function.line,
                    name="argument",
                    space=Space.PARAM,
                    address=Const(np.array([0], np.uint32)),
                    offset=begin,
                    item=kind,
                    results=self.registers.new(p.name, p.type),
                )
            )
        return tuple(found)

    def _instruction(self, i: Instruction) -> None:
        self.builder.at, self.builder.name = i.line, _title(i)
        HANDLERS[i.op](self, i)

    def refuse(self, what: str, i: Instruction) -> NoReturn:
        """Raises CompileError for an instruction's line."""
        refuse(what, self.module.text, i.line)

    def means(self, meaning: Meaning, i: Instruction) -> None:
        """The instruction computes a meaning of all its operands."""
        operands = [self.registers.operands(o, i.line) for o in i.operands]
        self.builder.meaning(meaning, operands, self.registers.new(i.result, i.type))

    # leaving blocks

    def _end(self, block: Block, blocks: Mapping[str, Block], after: Block | None) -> None:
        """Branches; the copies of phis stand on the way that they belong to, on the first phi's
        line."""
        i, b = block.end, self.builder
        b.at, b.name = i.line, i.op
        if i.op in ("ret", "unreachable"):
            if i.op == "unreachable":
                b.meaning(Meaning(no_result, preconditions=(_REACHED,)), [(_TRUE,)], ())
            b.add(Exit(line=i.line, name=i.op))
            return
        detours: list[str] = []
        for guard, name in self._choices(i):
            target = blocks[name]
            if guard is None:
                self._copies(block, target)
                if target is not after or detours:
                    b.branch(name)
                break
            if target.phis:
                detours.append(name)
            b.branch((block.name, name) if target.phis else name, guard)
        for name in dict.fromkeys(detours):
            b.place((block.name, name))
            self._copies(block, blocks[name])
            b.branch(name)

    def _choices(self, i: Instruction) -> list[tuple[Guard | None, str]]:
        """(guard, block) in the order in which they are tried; the last has no guard."""
        if len(i.labels) == 1:
            return [(None, i.labels[0])]
        (chosen,) = self.registers.operands(i.operands[0], i.line)
        if i.op == "br":
            if isinstance(chosen, Const):
                return [(None, i.labels[0 if chosen.value[0] else 1])]
            assert isinstance(chosen, Reg)
            return [(Guard(chosen.number), i.labels[0]), (None, i.labels[1])]
        found: list[tuple[Guard | None, str]] = []
        for case, label in zip(i.operands[1:], i.labels[1:], strict=True):
            equal = self.registers.fresh("_", I1)
            self.builder.compute(
                np.equal, (chosen, *self.registers.operands(case, i.line)), (equal,)
            )
            found.append((Guard(equal.number), label))
        return [*found, (None, i.labels[0])]

    def _copies(self, block: Block, target: Block) -> None:
        if not target.phis:
            return
        b = self.builder
        b.at, b.name = target.phis[0].line, "phi"
        operands: list[Operand] = []
        results: list[Reg] = []
        for phi in target.phis:
            operands += self.registers.filled(phi.operands[phi.labels.index(block.name)])
            results += [r for r in self.registers.lanes(_local(phi)) if isinstance(r, Reg)]
        b.copy(operands, results)
        b.name = block.end.op


def _local(phi: Instruction) -> Local:
    return Local(phi.result, phi.type)


def _title(i: Instruction) -> str:
    """What people call an instruction, and what counters group by: fadd <4 x float>."""
    if i.op == "call":
        return i.detail
    type_ = i.operands[0].type if i.operands and i.op in ("icmp", "fcmp", "store") else i.type
    return " ".join(filter(None, (i.op, i.detail, str(type_) if type_ != VOID else "")))


_TRUE: Final = Const(np.array([True]))
_REACHED: Final = Precondition("a place that the text says is never reached", np.copy)


# instructions


def _integer(t: _Translation, i: Instruction) -> None:
    small = scalar_of(i.type) == I1
    table = integers.BINARY_I1 if small else integers.BINARY
    if i.op not in table:
        t.refuse(f"{i.op} of {i.type} is not emulated", i)
    preconditions = [integers.FLAGS[i.op, flag] for flag in sorted(i.flags) if not small]
    t.means(_promising(table[i.op], preconditions), i)


def _promising(meaning: Meaning, preconditions: Iterable[Precondition]) -> Meaning:
    return replace(meaning, preconditions=(*meaning.preconditions, *preconditions))


def _float(t: _Translation, i: Instruction) -> None:
    short = scalar_of(i.type) == BFLOAT
    t.means(Meaning((floats.BINARY_BFLOAT if short else floats.BINARY)[i.op]), i)


def _negated(t: _Translation, i: Instruction) -> None:
    t.means(Meaning(negate), i)


def _compared(t: _Translation, i: Instruction) -> None:
    scalar = scalar_of(i.operands[0].type)
    if i.op == "fcmp":
        function = floats.COMPARE[i.detail]
        if scalar == BFLOAT:
            t.means(of_two(lambda a, b: function(widen_bf16(a), widen_bf16(b))), i)
        else:
            t.means(Meaning(function), i)
        return
    table = integers.COMPARE_I1 if scalar == I1 else integers.COMPARE
    t.means(table[i.detail], i)


def _converted(t: _Translation, i: Instruction) -> None:
    source, target = scalar_of(i.operands[0].type), scalar_of(i.type)
    assert source is not None
    assert target is not None
    meaning = conversions.conversion(i.op, source, target)
    if meaning is None:
        refuse(f"{i.op} from {source} to {target} is not emulated", t.module.text, i.line,
               "go by way of float")  # fmt: skip
    t.means(_promising(meaning, conversions.promised(i.op, i.flags, source, target)), i)


def _bitcast(t: _Translation, i: Instruction) -> None:
    r = t.registers
    scalar, count = scalar_of(i.type), count_of(i.type)
    assert scalar is not None
    found = r.operands(i.operands[0], i.line)
    kind = kind_of(scalar)
    if len(found) == count:
        r.bind(i.result, tuple(seen_as(o, kind) for o in found))
    elif I1 in (scalar, scalar_of(i.operands[0].type)):
        t.refuse(f"bitcast from {i.operands[0].type} to {i.type} is not emulated", i)
    else:
        t.builder.compute(conversions.regrouped(kind, count), found, r.new(i.result, i.type))


def _selected(t: _Translation, i: Instruction) -> None:
    r = t.registers
    condition = r.operands(i.operands[0], i.line)
    results = r.new(i.result, i.type)
    conditions = condition if len(condition) == len(results) else condition * len(results)
    t.builder.meaning(Meaning(np.where), (conditions, *map(r.filled, i.operands[1:])), results)


def _extracted(t: _Translation, i: Instruction) -> None:
    lane = _constant(i.operands[1])[0] or 0
    t.registers.bind(i.result, (t.registers.lanes(i.operands[0])[lane],))


def _inserted(t: _Translation, i: Instruction) -> None:
    lane = _constant(i.operands[2])[0] or 0
    found = list(t.registers.lanes(i.operands[0]))
    (found[lane],) = t.registers.lanes(i.operands[1])
    t.registers.bind(i.result, tuple(found))


def _shuffled(t: _Translation, i: Instruction) -> None:
    both = (*t.registers.lanes(i.operands[0]), *t.registers.lanes(i.operands[1]))
    lanes = _constant(i.operands[2])
    t.registers.bind(i.result, tuple(None if n is None else both[n] for n in lanes))


def _constant(value: Value) -> tuple[int | None, ...]:
    assert isinstance(value, Constant)
    return value.bits


def _frozen(t: _Translation, i: Instruction) -> None:
    t.registers.bind(i.result, t.registers.filled(i.operands[0]))


def _reserved(t: _Translation, i: Instruction) -> None:
    t.registers.bind(i.result, (Const(t.reserved[i.result]),))


def _fence(t: _Translation, i: Instruction) -> None:
    t.builder.compute(no_result, (), ())


def _called(t: _Translation, i: Instruction) -> None:
    core = t.matrices.get(i.detail)
    if core is None:
        call(t.registers, t.builder, i)
    else:
        product(t.registers, t.builder, i, core)


HANDLERS: Final[Mapping[str, Handler]] = {
    **dict.fromkeys(integers.BINARY, _integer),
    **dict.fromkeys(floats.BINARY, _float),
    **dict.fromkeys(conversions.NAMES, _converted),
    "fneg": _negated,
    "icmp": _compared,
    "fcmp": _compared,
    "bitcast": _bitcast,
    "select": _selected,
    "extractelement": _extracted,
    "insertelement": _inserted,
    "shufflevector": _shuffled,
    "freeze": _frozen,
    "alloca": _reserved,
    "getelementptr": lambda t, i: address(t.registers, t.builder, i),
    "load": lambda t, i: load(t.registers, t.builder, i),
    "store": lambda t, i: store(t.registers, t.builder, i),
    "call": _called,
    "fence": _fence,
}
"""How each instruction within a block is translated."""
