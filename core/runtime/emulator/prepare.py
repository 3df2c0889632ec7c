"""From a `Code` to steps: what is done once per kernel, whatever it is launched with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from core.runtime.emulator.flow import Flow, flow_of
from core.runtime.emulator.memory.access import LoadStep, StoreStep
from core.runtime.emulator.memory.copies import CopyStep, commit_step, wait_step
from core.runtime.emulator.memory.matrices import MatrixStep
from core.runtime.emulator.program import (
    Barrier,
    Code,
    Commit,
    Compute,
    Copy,
    Instruction,
    Load,
    MatrixLoad,
    Operand,
    Reg,
    Space,
    Special,
    Store,
    Wait,
    Warp,
    operands_of,
    writes,
)
from core.runtime.emulator.state import Checks
from core.runtime.emulator.steps import (
    Slot,
    Step,
    barrier_step,
    compute_steps,
    warp_step,
    with_checks,
    with_preconditions,
)
from core.runtime.numeric import Array

_WORD: Final = np.dtype(np.uint32)
_BOOL: Final = np.dtype(np.bool_)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A kernel ready to run any number of times.

    For each instruction, its step while all living lanes are active (`full`) and while some are not
    (`partial`); that of a branch does nothing. `extra`: what the slots after the registers
    hold, constants and names of specials. `unsure`: the registers that some path reads unwritten.
    `granule`: bytes of the smallest access to shared memory, at most 4.
    """

    code: Code
    checks: Checks
    flow: Flow
    full: tuple[Step, ...]
    partial: tuple[Step, ...]
    extra: tuple[Array | str, ...]
    unsure: tuple[Reg, ...]
    granule: int


def prepare(code: Code, checks: Checks | None = None) -> Prepared:
    """A kernel ready to run, with `checks` (None: all)."""
    chosen, flow, slots = checks or Checks(), flow_of(code), _Slots(code)
    doubtful: dict[int, list[int]] = {}
    for index, number in sorted(flow.doubtful):
        doubtful.setdefault(index, []).append(number)
    unsure = {number for _, number in flow.doubtful}
    kinds = {r.number: r for i in code.instructions for r in _registers(i)}
    full: list[Step] = []
    partial: list[Step] = []
    for index, instruction in enumerate(code.instructions):
        steps = _steps(index, instruction, slots, flow.kept)
        tracked = [n for n in dict.fromkeys(writes(instruction)) if n in unsure]
        if chosen.initialised and (tracked or index in doubtful):
            suspects = doubtful.get(index, [])
            steps = tuple(with_checks(step, instruction, suspects, tracked) for step in steps)
        full.append(steps[0])
        partial.append(steps[1])
    extra = tuple(slots.order)
    doubted = tuple(kinds[n] for n in sorted(unsure))
    return Prepared(code, chosen, flow, tuple(full), tuple(partial), extra, doubted, _granule(code))


class _Slots:
    """Numbers for constants and specials, after those of the registers."""

    def __init__(self, code: Code) -> None:
        self.order: list[Array | str] = []
        self._first = len(code.registers)
        self._given: dict[tuple[str, bytes], int] = {}

    def of(self, operand: Operand) -> Slot:
        """Where an operand is."""
        if isinstance(operand, Reg):
            return operand.number, operand.kind
        if isinstance(operand, Special):
            return self._slot((operand.name, b""), operand.name), _WORD
        held = operand.value
        return self._slot((held.dtype.str, held.tobytes()), held), held.dtype

    def _slot(self, key: tuple[str, bytes], content: Array | str) -> int:
        if key not in self._given:
            self._given[key] = self._first + len(self.order)
            self.order.append(content)
        return self._given[key]


def _steps(
    index: int, instruction: Instruction, slots: _Slots, kept: frozenset[int]
) -> tuple[Step, Step]:
    match instruction:
        case Compute():
            places = list(map(slots.of, instruction.operands))
            steps = compute_steps(index, instruction, places, kept)
            if not instruction.preconditions:
                return steps
            full, partial = (with_preconditions(index, s, instruction, places) for s in steps)
            return full, partial
        case Load():
            step = LoadStep(index, instruction, slots.of(instruction.address), kept)
        case Store():
            values = list(map(slots.of, instruction.values))
            step = StoreStep(index, instruction, slots.of(instruction.address), values)
        case Warp():
            step = warp_step(index, instruction, list(map(slots.of, instruction.operands)), kept)
        case Barrier():
            step = barrier_step(instruction)
        case MatrixLoad():
            step = MatrixStep(index, instruction, slots.of(instruction.address))
        case Copy():
            step = CopyStep(index, instruction, list(map(slots.of, operands_of(instruction))))
        case Commit():
            step = commit_step(index, instruction)
        case Wait():
            step = wait_step(index, instruction)
        case _:
            step = _nothing
    return step, step


def _nothing(_: object) -> None:
    """A branch or an exit: the machine does it, after checks."""


def _registers(instruction: Instruction) -> Iterator[Reg]:
    """Every use of a register, with its kind."""
    match instruction:
        case Compute() | Warp():
            used = (*instruction.operands, *instruction.results)
        case Load() | MatrixLoad():
            used = (instruction.address, *instruction.results)
        case Store():
            used = (instruction.address, *instruction.values)
        case Copy():
            used = operands_of(instruction)
        case _:
            used = ()
    yield from (u for u in used if isinstance(u, Reg))
    if instruction.guard is not None:
        yield Reg(instruction.guard.number, _BOOL)


def _granule(code: Code) -> int:
    sizes = [
        i.item.itemsize
        for i in code.instructions
        if isinstance(i, Load | Store) and i.space in (Space.SHARED, Space.GENERIC)
    ]
    return min([4, *sizes])
