"""The text of an HLO module as computations of instructions. Whatever is not understood raises:
nothing of it is left out, but for what says where it came from.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from viz.foreign.hlo.errors import CannotError
from viz.foreign.hlo.types import Type, parse_type, split
from viz.importers.xla.hlotext import COMPUTATION, INSTRUCTION, OPCODE, TABLES, closing


def names(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_COMMENT: Final = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/')
_TABLE: Final = re.compile(r"\d+\s+\S")
_DEVICES: Final = re.compile(r"\b(?:num_partitions|replica_count)=(\d+)")
_CALLED: Final = names(
    "to_apply calls body condition true_computation false_computation branch_computations "
    "select scatter"
)
_NO_MEANING: Final = names(
    "metadata sharding backend_config frontend_attributes control-predecessors origin statistics "
    "operand_precision parameter_replication result_accuracy original_value"
)
"""Attributes that do not change what an instruction computes."""
MOST: Final = 100_000
"""Instructions."""
_LONGEST: Final = 1 << 22


@dataclass
class Instruction:
    """`inside`: what stands in the brackets of a parameter and of a constant; `attributes`: by
    name, as text; `called`: computations, in their order; `line`: in the text, from 1."""

    name: str
    opcode: str
    type: Type
    operands: tuple[str, ...] = ()
    inside: str = ""
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    called: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)

    def ints(self, name: str) -> tuple[int, ...]:
        """Numbers such as those of `dimensions={0,1}`; none where there is no such attribute."""
        text = self.attributes.get(name, "").strip("{}")
        try:
            return tuple(int(n) for n in text.split(",") if n.strip())
        except ValueError:
            raise CannotError(f"{name}={text[:40]} of {self.opcode} is not understood") from None

    def int(self, name: str, default: int | None = None) -> int:
        """One number."""
        found = self.ints(name)
        if len(found) == 1:
            return found[0]
        if default is None or found:
            raise CannotError(f"{self.opcode} has no number {name}")
        return default


@dataclass
class Computation:
    """Instructions in order, each behind its operands."""

    name: str
    instructions: dict[str, Instruction] = field(default_factory=dict[str, Instruction])
    root: str = ""

    @property
    def parameters(self) -> dict[int, Instruction]:
        """By number."""
        found = [i for i in self.instructions.values() if i.opcode == "parameter"]
        return {number_of(i): i for i in found}


@dataclass
class Module:
    """Computations by name, each behind those that it calls."""

    computations: dict[str, Computation] = field(default_factory=dict[str, Computation])
    entry: str = ""
    devices: int = 1

    def reached(self) -> list[Computation]:
        """The computations that are part of what it computes."""
        seen, stack = {self.entry}, [self.entry]
        while stack:
            for one in self.computations[stack.pop()].instructions.values():
                new = [name for name in one.called if name not in seen]
                seen.update(new)
                stack += new
        return [self.computations[name] for name in self.computations if name in seen]


def number_of(parameter: Instruction) -> int:
    """Which parameter it is."""
    if not parameter.inside.strip().isdecimal():
        raise CannotError(f"parameter {parameter.name} has no number")
    return int(parameter.inside)


def parse(text: str) -> Module:
    """Raises CannotError."""
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), 1):
        reader.take(number, line)
    return reader.end()


class _Reader:
    def __init__(self) -> None:
        self._made = Module()
        self._inside: Computation | None = None
        self._count = 0

    def take(self, number: int, line: str) -> None:
        if len(line) > _LONGEST:
            raise CannotError(f"line {number} is too long")
        text = _COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else "", line).strip()
        if not text or text.startswith("//") or text in TABLES:
            return
        if self._inside is not None:
            if text.startswith("}"):
                self._close()
            else:
                self._instruction(number, text, self._inside)
        elif text.startswith("HloModule "):
            for count in _DEVICES.findall(text):
                self._made.devices = max(self._made.devices, int(count))
        elif (begins := COMPUTATION.match(text)) is not None:
            self._inside = Computation(begins[2])
            if begins[1]:
                self._made.entry = begins[2]
        elif not _TABLE.match(text):
            raise CannotError(f"line {number} is not understood")

    def end(self) -> Module:
        if self._inside is not None or self._made.entry not in self._made.computations:
            raise CannotError("the module is not whole")
        return self._made

    def _close(self) -> None:
        computation = self._inside
        if computation is None or not computation.instructions:
            raise CannotError("a computation is empty")
        computation.root = computation.root or [*computation.instructions][-1]
        self._made.computations[computation.name] = computation
        self._inside = None

    def _instruction(self, number: int, text: str, into: Computation) -> None:
        self._count += 1
        if self._count > MOST:
            raise CannotError(f"the module has more than {MOST:,} instructions")
        begins = INSTRUCTION.match(text)
        kind, rest = _type_of(text[begins.end() :]) if begins else ("", "")
        opcode = OPCODE.match(rest)
        end = closing(rest, opcode.end() - 1) if opcode else 0
        if begins is None or opcode is None or end >= len(rest):
            raise CannotError(f"line {number} is not understood")
        made = Instruction(begins[2], opcode[1], parse_type(kind), line=number)
        inside = rest[opcode.end() : end]
        if made.opcode in ("parameter", "constant"):
            made.inside = inside
        else:
            made.operands = tuple(_name(part) for part in split(inside))
            unknown = [name for name in made.operands if name not in into.instructions]
            if unknown:
                raise CannotError(f"line {number} reads {unknown[0]}, which nothing above it makes")
        for part in split(rest[end + 1 :].lstrip(", ")):
            name, _, value = part.partition("=")
            if name in _CALLED and (name not in ("select", "scatter") or value.startswith("%")):
                made.called += tuple(_name(one) for one in value.strip("{}").split(","))
            if name and name not in _NO_MEANING:
                made.attributes[name] = value
        missing = [name for name in made.called if name not in self._made.computations]
        if missing:
            raise CannotError(f"line {number} calls {missing[0]}, which nothing above it is")
        into.instructions[made.name] = made
        if begins[1]:
            into.root = made.name


def _name(text: str) -> str:
    """Of an operand, with or without its type."""
    words = text.split()
    return words[-1].lstrip("%") if words else ""


def _type_of(text: str) -> tuple[str, str]:
    """The type that a text begins with, and the rest."""
    if text.startswith("("):
        end = closing(text, 0)
        return text[: end + 1], text[end + 1 :]
    kind, _, rest = text.partition(" ")
    return kind, rest
