"""Collects the machine's instructions, with branches to names that are resolved at the end.

Knows nothing of LLVM IR but its lines.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

from core.runtime.emulator.llvm.compute.meaning import Meaning, any_lane, lanewise
from core.runtime.emulator.llvm.registers import signed
from core.runtime.emulator.program import Branch, Compute, Guard, Instruction, Operand, Reg
from core.runtime.numeric import Array


class Builder:
    """Instructions in order. `at` is the line that they come from, `name` what people call them."""

    def __init__(self) -> None:
        self.at, self.name = 0, ""
        self._instructions: list[Instruction] = []
        self._places: dict[Hashable, int] = {}
        self._targets: dict[int, Hashable] = {}

    def add(self, instruction: Instruction) -> None:
        """One instruction."""
        self._instructions.append(instruction)

    def compute(
        self, function: Callable[..., Any], operands: Sequence[Operand], results: Sequence[Reg]
    ) -> None:
        """results = function(*operands)."""
        self.add(Compute(line=self.at, name=self.name, function=function,
                         operands=tuple(operands), results=tuple(results)))  # fmt: skip

    def meaning(
        self, meaning: Meaning, operands: Sequence[Sequence[Operand]], results: Sequence[Reg]
    ) -> None:
        """A meaning of vectors: `operands[n]` are the scalars of the nth, as many as results; one
        each where there is no result."""
        count = max(1, len(results))
        flat = [signed(o) if meaning.signed else o for lanes in operands for o in lanes]
        self.add(
            Compute(
                line=self.at,
                name=self.name,
                function=lanewise(meaning.function, count),
                operands=tuple(flat),
                results=tuple(results),
                preconditions=tuple(any_lane(p, count) for p in meaning.preconditions),
            )
        )

    def copy(self, operands: Sequence[Operand], results: Sequence[Reg]) -> None:
        """results = operands, all at once; registers copied to themselves are left out."""
        pairs = [
            (o, r)
            for o, r in zip(operands, results, strict=True)
            if not (isinstance(o, Reg) and o.number == r.number)
        ]
        if pairs:
            self.compute(_same, [o for o, _ in pairs], [r for _, r in pairs])

    def place(self, name: Hashable) -> None:
        """Branches to `name` go here."""
        self._places[name] = len(self._instructions)

    def branch(self, name: Hashable, guard: Guard | None = None) -> None:
        """To the place `name`; with a guard, for the threads for which it holds."""
        self._targets[len(self._instructions)] = name
        self.add(Branch(line=self.at, name=self.name, guard=guard, target=0))

    def finish(self) -> tuple[Instruction, ...]:
        """All instructions, with the places that branches go to."""
        found = list(self._instructions)
        for index, name in self._targets.items():
            branch = found[index]
            assert isinstance(branch, Branch)
            found[index] = replace(branch, target=self._places[name])
        return tuple(found)


def _same(*arrays: Array) -> Any:
    return arrays[0] if len(arrays) == 1 else arrays
