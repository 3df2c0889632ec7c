"""Writes LLVM instructions: names values, tags each instruction with its node, keeps blocks.

Decides nothing about which instruction a node becomes.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.dtype import ConstType, DType
from core.render.listing import Listing, resolve
from core.render.llvm_lines.dialect import Dialect
from core.render.llvm_lines.types import constant, memory_type, type_of
from core.render.rendered import Lines
from core.uop.ops import Ops
from core.uop.uop import UOp


@dataclass(frozen=True)
class Operand:
    """A value with its LLVM type, such as float and %v3."""

    type: str
    text: str

    def __str__(self) -> str:
        return f"{self.type} {self.text}"


class Writer:
    """The body of one function. `at(u)` says which node the following instructions belong to."""

    def __init__(self, listing: Listing, dialect: Dialect) -> None:
        self.listing, self.dialect = listing, dialect
        self.lines = Lines()
        self.entry = Lines()
        self.block = "entry"
        self._values: dict[UOp, Operand] = {}
        self.number = 0
        self.located = {0}
        self._serial = 0

    def at(self, u: UOp) -> None:
        """Instructions from here on belong to `u`."""
        self.number = self.lines.at = self.entry.at = self.listing.position[u]
        self._serial = 0

    @property
    def location(self) -> int:
        """The number of the current node's debug location."""
        self.located.add(self.number)
        return self.number + METADATA

    def type(self, dtype: DType) -> str:
        """The type of a value in registers."""
        return type_of(dtype, self.dialect.soft)

    def stored(self, dtype: DType) -> str:
        """The type of a value in memory."""
        return memory_type(dtype, self.dialect.soft)

    def constant(self, dtype: DType, value: ConstType | tuple[ConstType, ...]) -> str:
        """The text of a constant."""
        return constant(dtype, value, self.dialect.soft)

    def value(self, u: UOp) -> Operand:
        """The operand for the value of `u`. Raises RenderError where nothing has computed it."""
        u = resolve(u)
        if u.op in (Ops.CONST, Ops.VCONST):
            return Operand(self.type(u.dtype), self.constant(u.dtype, u.arg))
        if u not in self._values:
            raise self.listing.error("used before it is computed", u, "check the linear order")
        return self._values[u]

    def bind(self, u: UOp, operand: Operand) -> None:
        """The value of `u` is `operand`."""
        self._values[u] = operand

    def name(self) -> str:
        """A fresh name for a value of the current node."""
        self._serial += 1
        return f"%v{self.number}" + (f".{self._serial}" if self._serial > 1 else "")

    def let(self, type_: str, text: str, name: str = "") -> Operand:
        """`name = text`; the result has type `type_`."""
        name = name or self.name()
        self.do(f"{name} = {text}")
        return Operand(type_, name)

    def do(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.add(f"  {text}, !dbg !{self.location}")

    def label(self, name: str) -> None:
        """A new block starts here."""
        self.lines.add(f"{name}:")
        self.block = name

    def jump(self, name: str) -> None:
        """To block `name`."""
        self.do(f"br label %{name}")

    def branch(self, condition: Operand, yes: str, no: str) -> None:
        """To block `yes` or `no`."""
        self.do(f"br {condition}, label %{yes}, label %{no}")

    def call(self, type_: str, function: str, *args: Operand) -> Operand:
        """Calls an LLVM intrinsic; its types are appended to the name by the caller."""
        return self.let(type_, f"call {type_} @{function}({', '.join(map(str, args))})")


METADATA = 16
"""Metadata numbers below this are the module's own; METADATA + p is the location of node p."""
