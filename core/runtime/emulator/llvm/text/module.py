"""A module of LLVM IR as data: one function of blocks of instructions, and its global variables.

Every name is resolved by name only: `check.py` says whether what is here fits together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.runtime.emulator.llvm.text.types import VOID, Type


@dataclass(frozen=True, slots=True)
class Local:
    """The value called %name."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Global:
    """The address of the variable called @name."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Constant:
    """The bits of each scalar of a value; None for one that is undef or poison."""

    type: Type
    bits: tuple[int | None, ...]


Value = Local | Global | Constant


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction. `result` is the name of its value, or "" where it has none, and `type` the
    type of that value.

    `labels` are the blocks that a branch goes to (a switch: first the default, then one for each
    constant in `operands[1:]`) and that a phi's operands come from. `detail` is what `op` alone
    does not say: the predicate of a comparison, the function that is called, the operation of an
    atomicrmw. `element` is the type that an address is computed or memory reserved for. `flags`
    are words such as nsw and nnan.
    """

    op: str
    line: int
    result: str = ""
    type: Type = VOID
    operands: tuple[Value, ...] = ()
    labels: tuple[str, ...] = ()
    detail: str = ""
    element: Type = VOID
    align: int = 0
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Block:
    """Phis, then other instructions, the last of which leaves the block."""

    name: str
    line: int
    phis: tuple[Instruction, ...]
    body: tuple[Instruction, ...]
    end: Instruction


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of the kernel. `align`: bytes that a pointer is a multiple of, 0 where the text
    does not say; `read_only`: nothing is written through it."""

    name: str
    type: Type
    align: int = 0
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """Memory with a name, of the kind that `space` says; uninitialised."""

    name: str
    type: Type
    space: int
    align: int
    line: int


@dataclass(frozen=True, slots=True)
class Function:
    """The kernel. `blocks[0]` is where it begins. `attributes` are those that are texts."""

    name: str
    line: int
    parameters: tuple[Parameter, ...]
    blocks: tuple[Block, ...]
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Module:
    """What a text defines."""

    text: str
    triple: str
    variables: tuple[Variable, ...]
    function: Function
