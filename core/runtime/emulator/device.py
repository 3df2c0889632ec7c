"""Emulated devices: programs compiled for a GPU, whose text the machine runs.

`PTX:EMU` is an NVIDIA GPU, `AMD:EMU` an AMD one. What is compiled is what a real device would load.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from core.errors import FaultError, RunError
from core.helpers import EMULATOR_CHECKS, prod
from core.runtime.base import ComputeDevice
from core.runtime.buffer import Buffer
from core.runtime.emulated import EMULATED, emulated_target
from core.runtime.emulator.counters import Profile
from core.runtime.emulator.llvm.translate import translate
from core.runtime.emulator.machine import execute
from core.runtime.emulator.memory.allocator import EmulatedMemory, EmulatorAllocator
from core.runtime.emulator.memory.globalmemory import Region
from core.runtime.emulator.prepare import Prepared, prepare
from core.runtime.emulator.program import Code
from core.runtime.emulator.ptx import front as ptx
from core.runtime.emulator.state import Checks, Launch
from core.target import Family, targets
from core.toolchain.program import Program
from core.uop.kernels import stored_in_part


def _read_ptx(program: Program) -> Code:
    return ptx.read(program.source.text, program.name)


def _read_llvm(program: Program) -> Code:
    return translate(program.source.text, program.name, program.target)


READERS: Final[Mapping[Family, Callable[[Program], Code]]] = {
    "nvidia": _read_ptx,
    "amd": _read_llvm,
}
"""The front end for the text that the devices of a family load."""


def checks_now() -> Checks:
    """What EMULATOR_CHECKS says."""
    level = EMULATOR_CHECKS.value
    return Checks(initialised=level >= 1, races=level >= 1, content=level >= 2)


class EmulatorRunner:
    """A kernel that the machine runs."""

    def __init__(self, program: Program, code: Code) -> None:
        self.program, self.code = program, code
        self._prepared: dict[Checks, Prepared] = {}
        self._in_part = stored_in_part(program.ast)

    def __call__(
        self, buffers: Sequence[Buffer], variables: Mapping[str, int], wait: bool = False
    ) -> float | None:
        """Runs the kernel. Its time says nothing about any GPU. Raises FaultError, and RunError
        for a variable without a value."""
        return self._run(buffers, variables, None)

    def counted(self, buffers: Sequence[Buffer], variables: Mapping[str, int]) -> tuple[int, float]:
        """Runs the kernel: (instructions that all of its threads ran together, seconds). Raises as
        a call does."""
        profile = Profile(self.prepared())
        seconds = self._run(buffers, variables, profile)
        return profile.counters().threads, seconds

    def _run(
        self, buffers: Sequence[Buffer], variables: Mapping[str, int], profile: Profile | None
    ) -> float:
        start = time.perf_counter()
        for number in self._in_part:
            _leave_rest(buffers[number])
        launch = launch_of(self.program, self.code, buffers, variables)
        try:
            if prod(launch.grid):
                execute(self.prepared(), launch, profile=profile)
        except FaultError as error:
            raise located(error, self.program) from None
        return time.perf_counter() - start

    def prepared(self) -> Prepared:
        """The kernel ready to run, with the checks that are in force."""
        checks = checks_now()
        if checks not in self._prepared:
            self._prepared[checks] = prepare(self.code, checks)
        return self._prepared[checks]


def _leave_rest(buffer: Buffer) -> None:
    """What is behind a length is anything: to read it is no fault, whatever was there before."""
    memory = cast("EmulatedMemory", buffer.handle)
    memory.written[buffer.address - memory.address :][: buffer.nbytes] = 1


def launch_of(
    program: Program, code: Code, buffers: Sequence[Buffer], variables: Mapping[str, int]
) -> Launch:
    """What a program is started with. Raises RunError for a variable without a value."""
    values = [buffers[a.number].address for a in program.arguments]
    for variable in program.variables:
        name = variable.arg[0]
        if name not in variables:
            raise RunError(f"kernel {program.name} needs a value for {name}", hint="bind it")
        values.append(variables[name])
    params = bytearray(max((p.offset + p.nbytes for p in code.parameters), default=0))
    for parameter, value in zip(code.parameters, values, strict=True):
        bits = value % (1 << 8 * parameter.nbytes)
        end = parameter.offset + parameter.nbytes
        params[parameter.offset : end] = bits.to_bytes(parameter.nbytes, "little")
    regions = _regions(program, buffers)
    return Launch(program.groups(variables), program.local_size, bytes(params), regions)


def _regions(program: Program, buffers: Sequence[Buffer]) -> tuple[Region, ...]:
    """The memory of the arguments; those that overlap are one region."""
    spans: list[tuple[int, int, EmulatedMemory, str, bool]] = []
    for argument in program.arguments:
        buffer = buffers[argument.number]
        memory = cast("EmulatedMemory", buffer.handle)
        name, end = f"data{argument.number}", buffer.address + buffer.nbytes
        spans.append((buffer.address, end, memory, name, argument.written))
    spans.sort(key=lambda span: span[:2])
    merged: list[tuple[int, int, EmulatedMemory, str, bool]] = []
    for span in spans:
        if merged and span[0] < merged[-1][1]:
            low, high, memory, name, written = merged.pop()
            span = (low, max(high, span[1]), memory, f"{name}/{span[3]}", written or span[4])
        merged.append(span)
    found: list[Region] = []
    for low, high, memory, name, written in merged:
        part = slice(low - memory.address, high - memory.address)
        followed = None if memory.complete else memory.written[part]
        found.append(Region(name, low, memory.content[part], followed, written))
    return tuple(found)


def located(error: FaultError, program: Program) -> FaultError:
    """The error with the nodes behind its line, and the user's line where they came from."""
    lines = program.source.lines
    nodes = lines[error.line - 1] if 0 < error.line <= len(lines) else ()
    for u in nodes[:1]:
        origin = f" from {u.origin}" if u.origin else ""
        error.locate(f"{error.where}\nnode {u.op.name} of {u.dtype}{origin}")
    return error


class EmulatorDevice(ComputeDevice):
    """An emulated GPU, by a name such as PTX:EMU or PTX:EMU:SM_75."""

    def __init__(self, name: str) -> None:
        kind = next(k for k in EMULATED if name == k or name.startswith(k + ":"))
        target = emulated_target(kind, name[len(kind) + 1 :])
        super().__init__(name, targets[target], EmulatorAllocator())
        self._read = READERS[EMULATED[kind].family]

    def load(self, program: Program) -> EmulatorRunner:
        return EmulatorRunner(program, self._read(program))
