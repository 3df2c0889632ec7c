"""Values of LLVM IR as registers of the machine: one per scalar.

A value is a tuple of operands; what is undef or poison in it is None, which nothing may compute
with. Taking vectors apart, putting them together and bitcasts between scalars give other names to
registers and cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from core.runtime.emulator.llvm.compute.meaning import kind_of, signed_kind
from core.runtime.emulator.llvm.text.lexer import refuse
from core.runtime.emulator.llvm.text.module import Constant, Global, Value
from core.runtime.emulator.llvm.text.types import Scalar, Type, count_of, scalar_of
from core.runtime.emulator.program import Const, Operand, Reg
from core.runtime.numeric import Array

Lanes: TypeAlias = tuple[Operand | None, ...]


def constant(bits: int, scalar: Scalar) -> Const:
    """A constant of the machine, from its bits."""
    kind = kind_of(scalar)
    if kind.kind == "b":
        return Const(np.array([bits != 0]))
    return Const(np.array([bits], f"uint{kind.itemsize * 8}").view(kind))


def seen_as(operand: Operand, kind: np.dtype[np.generic]) -> Operand:
    """An operand read by its bits as another kind of the same size."""
    if isinstance(operand, Reg):
        return Reg(operand.number, kind)
    return Const(operand.value.view(kind)) if isinstance(operand, Const) else operand


def signed(operand: Operand) -> Operand:
    """An operand read as a signed integer."""
    if isinstance(operand, Reg):
        return Reg(operand.number, signed_kind(operand.kind))
    if isinstance(operand, Const):
        return Const(operand.value.view(signed_kind(operand.value.dtype)))
    return operand


class Registers:
    """Gives registers to values by name. `variables`: the addresses of variables in memory."""

    def __init__(self, text: str, variables: Mapping[str, Array]) -> None:
        self.text, self.variables = text, variables
        self.names: list[str] = []
        self._values: dict[str, Lanes] = {}

    def fresh(self, name: str, scalar: Scalar) -> Reg:
        """A register of its own."""
        self.names.append(name)
        return Reg(len(self.names) - 1, kind_of(scalar))

    def new(self, name: str, type_: Type) -> tuple[Reg, ...]:
        """Registers for the value %name, which it now has."""
        scalar, count = scalar_of(type_), count_of(type_)
        assert scalar is not None
        label = f"%{name}" if count == 1 else f"%{name}[{{}}]"
        found = tuple(self.fresh(label.format(lane), scalar) for lane in range(count))
        self._values[name] = found
        return found

    def bind(self, name: str, lanes: Lanes) -> None:
        """The value %name is what these operands hold."""
        self._values[name] = lanes

    def lanes(self, value: Value) -> Lanes:
        """The operands of a value, None for those that are undef or poison."""
        if isinstance(value, Constant):
            scalar = scalar_of(value.type)
            assert scalar is not None
            return tuple(None if b is None else constant(b, scalar) for b in value.bits)
        if isinstance(value, Global):
            return (Const(self.variables[value.name]),)
        return self._values[value.name]

    def operands(self, value: Value, line: int) -> tuple[Operand, ...]:
        """The operands of a value. Raises CompileError where one is undef or poison."""
        found = self.lanes(value)
        if None in found:
            refuse("it computes with a value that is undef or poison", self.text, line,
                   "give it a value")  # fmt: skip
        return tuple(o for o in found if o is not None)

    def filled(self, value: Value) -> tuple[Operand, ...]:
        """The operands of a value; zero for those that are undef or poison, which may be passed on
        as anything."""
        scalar = scalar_of(value.type)
        assert scalar is not None
        return tuple(constant(0, scalar) if o is None else o for o in self.lanes(value))
