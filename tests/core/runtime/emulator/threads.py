"""One thread after the other through a `Code`: the meaning of control flow without masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.runtime.emulator.program import (
    Branch,
    Code,
    Compute,
    Const,
    Exit,
    Guard,
    Operand,
    Reg,
    Special,
    Store,
)

LIMIT = 20_000


def run_thread(code: Code, specials: dict[str, int], memory: dict[int, int]) -> int:
    """Runs one thread: arithmetic, jumps, and stores of 32 bits to `memory`; the number of
    instructions that it ran."""
    registers: dict[int, Any] = {}
    at = count = 0
    while at < len(code.instructions):
        count += 1
        assert count < LIMIT
        instruction = code.instructions[at]
        at += 1
        if not _holds(instruction.guard, registers):
            count -= 1 if not isinstance(instruction, Branch | Exit) else 0
            continue
        match instruction:
            case Branch():
                at = instruction.target
            case Exit():
                return count
            case Compute():
                values = [_value(o, registers, specials) for o in instruction.operands]
                with np.errstate(all="ignore"):
                    found = instruction.function(*values)
                results: Sequence[Any] = found if isinstance(found, tuple) else (found,)
                for register, value in zip(instruction.results, results, strict=True):
                    registers[register.number] = value
            case Store():
                address = int(_value(instruction.address, registers, specials)[0])
                value = _value(instruction.values[0], registers, specials)
                memory[address + instruction.offset] = int(value.view(np.uint32)[0])
            case _:
                raise AssertionError(instruction)
    return count


def _holds(guard: Guard | None, registers: dict[int, Any]) -> bool:
    return guard is None or bool(registers[guard.number][0]) == guard.wanted


def _value(operand: Operand, registers: dict[int, Any], specials: dict[str, int]) -> Any:
    match operand:
        case Const():
            return operand.value
        case Special():
            return np.array([specials[operand.name]], np.uint32)
        case Reg():
            return registers[operand.number].view(operand.kind)
