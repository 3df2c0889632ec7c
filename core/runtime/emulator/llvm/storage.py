"""Addresses, loads and stores of LLVM IR for the machine, and where variables lie.

Space 3 is a work group's memory and 5 a work item's; both begin at address 0. Addresses of 1 and 4
are the device's, those of 0 may lead anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import numpy as np

from core.runtime.emulator.llvm.builder import Builder
from core.runtime.emulator.llvm.compute.meaning import kind_of, signed_kind
from core.runtime.emulator.llvm.registers import Registers, signed
from core.runtime.emulator.llvm.text.lexer import refuse
from core.runtime.emulator.llvm.text.module import Instruction, Module
from core.runtime.emulator.llvm.text.types import (
    I1,
    Array,
    Pointer,
    Type,
    Vector,
    scalar_of,
    size_of,
)
from core.runtime.emulator.program import Const, Load, Operand, Space, Store
from core.runtime.numeric import Array as Values

SPACES: Final[Mapping[int, Space]] = {
    0: Space.GENERIC,
    1: Space.GLOBAL,
    3: Space.SHARED,
    4: Space.GLOBAL,
    5: Space.LOCAL,
}
"""The machine's memories by LLVM's numbers (LLVM, "User Guide for AMDGPU Backend")."""
MAX_BYTES: Final = 1 << 18
"""Most bytes of memory that a work group, or a work item, may have of its own."""


class Layout:
    """Places variables one after the other. `names` says which begins where."""

    def __init__(self, text: str) -> None:
        self.text, self.size = text, 0
        self.names: dict[int, str] = {}

    def add(self, name: str, type_: Type, align: int, line: int) -> Values:
        """The address of a new variable, as a constant of the machine. Raises CompileError where
        the memory is full."""
        align = max(align, natural_align(type_))
        begin = -(-self.size // align) * align
        self.size = begin + size_of(type_)
        if self.size > MAX_BYTES:
            refuse(f"more than {MAX_BYTES:,} bytes of memory of its own", self.text, line)
        self.names[begin] = name
        return np.array([begin], np.uint32)


def natural_align(type_: Type) -> int:
    """What a type is aligned to where the text does not say (data layout of AMDGPU: a vector to
    its size)."""
    return natural_align(type_.element) if isinstance(type_, Array) else max(1, size_of(type_))


def shared_layout(module: Module) -> tuple[Layout, dict[str, Values]]:
    """Where the variables of a work group lie, and their addresses by name."""
    layout = Layout(module.text)
    return layout, {
        v.name: layout.add(f"@{v.name}", v.type, v.align, v.line) for v in module.variables
    }


def stack_layout(module: Module) -> tuple[Layout, dict[str, Values]]:
    """Where the memory lies that a work item reserves, and the addresses by the names of the
    instructions. Raises CompileError for an alloca after the first block: it would take new memory
    each time."""
    layout = Layout(module.text)
    found: dict[str, Values] = {}
    for number, block in enumerate(module.function.blocks):
        for i in block.body:
            if i.op != "alloca":
                continue
            if number or i.type != Pointer(5):
                refuse(
                    "memory is reserved in the first block, in addrspace(5)", module.text, i.line
                )
            found[i.result] = layout.add(f"%{i.result}", i.element, i.align, i.line)
    return layout, found


def address(r: Registers, b: Builder, i: Instruction) -> None:
    """getelementptr: the first index counts whole elements, others go into them. Indices have a
    sign; the address wraps around. An address that leaves its memory is a fault where it is used,
    not here."""
    base, *indices = (r.operands(o, i.line)[0] for o in i.operands)
    type_, step = i.element, size_of(i.element)
    offset, parts = 0, list[tuple[Operand, int]]()
    for index in indices:
        if isinstance(index, Const):
            offset += int(index.value.view(signed_kind(index.value.dtype))[0]) * step
        else:
            parts.append((signed(index), step))
        if isinstance(type_, Array | Vector):
            type_ = type_.element
        step = size_of(type_)
    word = kind_of(Pointer(i.type.space if isinstance(i.type, Pointer) else 0))
    moved = _moved(word, offset, [step for _, step in parts])
    if isinstance(base, Const) and not parts:
        r.bind(i.result, (Const(moved(base.value)),))
    elif not parts and not offset:
        r.bind(i.result, (base,))
    else:
        b.compute(moved, [base, *(o for o, _ in parts)], r.new(i.result, i.type))


def _moved(word: np.dtype[np.generic], offset: int, steps: Iterable[int]) -> Callable[..., Values]:
    """base + offset + the sum of indices times their steps, modulo the size of addresses."""
    wide = signed_kind(word)
    start = np.array(offset % (1 << 8 * word.itemsize), np.uint64).astype(word)
    factors = [wide.type(step) for step in steps]

    def moved(base: Values, *indices: Values) -> Values:
        total = base + start if offset else base
        for index, factor in zip(indices, factors, strict=True):
            distance = index.astype(wide)
            total = total + (distance if factor == 1 else distance * factor).view(word)
        return total

    return moved


def load(r: Registers, b: Builder, i: Instruction) -> None:
    """A load of one or several scalars next to each other."""
    (place,) = r.operands(i.operands[0], i.line)
    scalar = scalar_of(i.type)
    assert scalar is not None
    flag = scalar == I1
    b.add(
        Load(
            line=i.line,
            name=b.name,
            space=_space(r, i, i.operands[0].type),
            address=place,
            offset=0,
            item=np.dtype(np.uint8) if flag else kind_of(scalar),
            results=r.new(i.result, i.type),
            extend=_flag if flag else None,
            align=i.align or natural_align(i.type),
        )
    )


def store(r: Registers, b: Builder, i: Instruction) -> None:
    """A store of one or several scalars next to each other."""
    value, pointer = i.operands
    (place,) = r.operands(pointer, i.line)
    scalar = scalar_of(value.type)
    assert scalar is not None
    flag = scalar == I1
    b.add(
        Store(
            line=i.line,
            name=b.name,
            space=_space(r, i, pointer.type),
            address=place,
            offset=0,
            item=np.dtype(np.uint8) if flag else kind_of(scalar),
            values=r.operands(value, i.line),
            narrow=_byte if flag else None,
            align=i.align or natural_align(value.type),
        )
    )


def _space(r: Registers, i: Instruction, pointer: Type) -> Space:
    if "atomic" in i.flags:
        refuse("an atomic access is not emulated", r.text, i.line)
    return SPACES[pointer.space if isinstance(pointer, Pointer) else 0]


def _flag(a: Values) -> Values:
    return (a & np.uint8(1)) != 0


def _byte(a: Values) -> Values:
    return a.astype(np.uint8)
