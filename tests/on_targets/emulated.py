"""Runs a compiled kernel on an emulated device: all of its blocks, or those that there is time for.

What is checked besides the result is all that the emulator checks: bounds, races, memory without
content and so on (docs/emulator.md).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from core.errors import FaultError
from core.helpers import prod
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.emulator.device import launch_of, located
from core.runtime.emulator.machine import Machine, batches
from core.runtime.numeric import Array
from core.target import Target
from core.toolchain.program import Program
from core.trial.trial import arguments
from core.uop import Ops
from tests.on_targets.subject import Subject

KINDS: Final = {"nvidia": "PTX:EMU", "amd": "AMD:EMU"}
_TARGET: Final = re.compile(r"^\.(target|version) .*$", re.MULTILINE)


@dataclass(frozen=True)
class Ran:
    """What a run gave: "" or what is wrong with the result, and how many blocks of how many ran."""

    wrong: str
    done: int
    blocks: int


def same_run(program: Program) -> tuple[str, int]:
    """Equal for programs that an emulator runs alike: the text without the name of its target, and
    the width of a warp where one acts as a whole."""
    text = program.source.text
    together = any(u.op is Ops.WMMA for u in program.uops)
    return _TARGET.sub("", text), program.target.wave if together else 0


def spread(count: int) -> Iterable[int]:
    """0 to count - 1 so that the first few of them are far apart: first, last, middle, ..."""
    seen: set[int] = set()
    parts = 1
    while len(seen) < count:
        for part in range(parts + 1):
            number = (count - 1) * part // parts
            if number not in seen:
                seen.add(number)
                yield number
        parts *= 2


def emulate(subject: Subject, program: Program, target: Target, seconds: float) -> Ran:
    """Runs a kernel on its arguments. After `seconds`, no further blocks are begun. Raises
    FaultError, and what the front ends of the emulators raise."""
    name = f"{KINDS[target.family]}:{target.name}"
    runner: Any = Device[name].load(program)
    buffers = _buffers(subject, name)
    launch = launch_of(program, runner.code, buffers, subject.variables)
    blocks, done, until = prod(program.global_size), 0, time.process_time() + seconds
    order: Callable[[int], Iterable[int]] = spread
    try:
        for state in batches(runner.prepared(), launch, order):
            with np.errstate(all="ignore"):
                Machine(runner.prepared(), state).run()
            done += state.blocks
            if time.process_time() > until:
                break
    except FaultError as error:
        raise located(error, program) from None
    found = [b.as_array() for b in buffers]
    return Ran(
        subject.wrong(found, None if done == blocks else _written(subject, buffers)), done, blocks
    )


def _buffers(subject: Subject, device: str) -> list[Buffer]:
    """The arguments in a device's memory. Those that are not read hold the same bytes as for the
    reference, but count as never written."""
    made: list[Buffer] = []
    for number, (u, values) in enumerate(zip(arguments(subject.ast), subject.before, strict=True)):
        buffer = Buffer(device, values.size, u.dtype.base).allocate()
        if number in subject.loaded:
            buffer.copyin(np.ascontiguousarray(values).view(np.uint8).data)
        else:
            memory: Any = buffer.handle
            memory.content[: values.nbytes] = values.view(np.uint8)
        made.append(buffer)
    return made


def _written(subject: Subject, buffers: list[Buffer]) -> dict[int, Array]:
    """Which elements of each output the blocks that ran have written; of an output that is read as
    well, those that have changed."""
    found: dict[int, Array] = {}
    for number, (buffer, before) in enumerate(zip(buffers, subject.before, strict=True)):
        memory: Any = buffer.handle
        if number in subject.loaded:
            after = buffer.as_array()
            found[number] = (after != before).reshape(-1)
        else:
            found[number] = memory.written[: before.nbytes].reshape(before.size, -1).any(axis=1)
    return found
