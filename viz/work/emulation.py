"""A kernel on an emulated GPU, watched: what each line did, and what one warp did step by step.

Everything is bounded by time: what was not emulated is said, never guessed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from core.dtype import DType, dtypes
from core.errors import FaultError, RunError
from core.helpers import prod
from core.isolation.worker import random_arguments
from core.runtime.device import Device
from core.runtime.emulator.counters import Counters, Profile
from core.runtime.emulator.device import EmulatorDevice, launch_of, located
from core.runtime.emulator.machine import Machine, batches
from core.runtime.emulator.memory.banks import Served
from core.runtime.emulator.prepare import Prepared
from core.runtime.emulator.program import reads, writes
from core.runtime.emulator.session import Session
from core.runtime.emulator.state import Launch
from core.runtime.emulator.walk import Reached, Stored, Walk, Written, walk
from core.runtime.numeric import from_memory, memory_dtype
from core.toolchain.program import Program
from core.trial.trial import Trial
from core.uop import UOp
from viz.jobs.lines import progress
from viz.work.change import Change
from viz.work.opts import opts_text

COUNTED: Final = (
    "threads",
    "lanes",
    "warps",
    "divergent",
    "sectors",
    "least",
    "conflicts",
    "ways",
)
"""Fields of `LineCounters` that the page gets as columns."""
SECONDS: Final = 8.0
"""For the counters; and as many for the steps."""
_EXACT: Final = 1 << 53
"""Integers below this are numbers in a page."""


def emulate(
    ast: UOp,
    device: str,
    block: int = 0,
    warp: int = 0,
    change: Change | None = None,
) -> dict[str, Any]:
    """`Emulation` of the page: counters of all blocks, or of those that SECONDS were enough for;
    the steps of one warp. Arguments are random, the same each time.

    Raises UopvizError for a kernel that does not compile, a device that is no emulated one, or a
    block or warp that is not there."""
    name = Device.canonicalize(device)
    found = Device[name]
    if not isinstance(found, EmulatorDevice) or found.target is None:
        raise RunError(f"{name} is no emulated device", hint="such as PTX:EMU")
    progress(f"compiling for {found.target.name}")
    change = change or Change()
    program = change.compiled(ast, found.target, name)
    runner = found.load(program)
    trial = Trial(ast, name, random_arguments(ast))
    prepared = runner.prepared()
    launch = launch_of(program, runner.code, trial.buffers, trial.variables)
    blocks = prod(launch.grid)
    if not 0 <= block < blocks:
        raise RunError(f"there is no block {block}", hint=f"blocks are numbered up to {blocks - 1}")
    progress(f"stepping through warp {warp} of block {block}")
    until = time.monotonic() + SECONDS
    walked = walk(Session(prepared, launch, block), warp, stop=lambda: time.monotonic() > until)
    counters, done, fault = _counted(prepared, launch, blocks)
    return {
        "device": name,
        "target": found.target.name,
        "opts": None if change.opts is None else opts_text(change.opts),
        "source": None if change.text is None else change.text.kind,
        "kind": program.source.kind,
        "text": program.source.text,
        "grid": launch.grid,
        "threads": program.local_size,
        "blocks": [done, blocks],
        "counters": _columns(counters),
        "fault": None if fault is None else _said(fault, program),
        "walk": _walked(walked, prepared, program),
    }


def _counted(
    kernel: Prepared, launch: Launch, blocks: int
) -> tuple[Counters, int, FaultError | None]:
    """The counters of a launch, how many blocks ended in them, and what ended it early."""
    profile, done, until = Profile(kernel), 0, time.monotonic() + SECONDS
    for state in batches(kernel, launch):
        progress(f"emulating block {done} of {blocks}")
        state.profile = profile
        machine = Machine(kernel, state)
        try:
            with np.errstate(all="ignore"):
                machine.run(stop=lambda: time.monotonic() > until)
        except FaultError as fault:
            return profile.counters(), done, fault
        profile.finish(state)
        done += state.blocks if machine.done else 0
        if time.monotonic() > until:
            break
    return profile.counters(), done, None


def _columns(counters: Counters) -> dict[str, Any]:
    rows = list(counters.lines.items())
    columns: dict[str, Any] = {"line": [number for number, _ in rows]}
    for name in COUNTED:
        columns[name] = [getattr(row, name) for _, row in rows]
    columns["loaded"] = [dict(row.loaded) for _, row in rows]
    columns["stored"] = [dict(row.stored) for _, row in rows]
    return {"lines": columns, "kinds": dict(counters.kinds), "total": counters.threads}


def _said(error: FaultError, program: Program) -> dict[str, Any]:
    error = located(error, program)
    return {"what": error.what, "where": error.where, "hint": error.hint, "line": error.line}


def _walked(found: Walk, kernel: Prepared, program: Program) -> dict[str, Any]:
    registers: list[list[Any]] = []
    memory: list[list[Any]] = []
    accesses: list[list[Any]] = []
    served: dict[Served, int] = {}
    kinds = {f"data{a.number}": a.dtype for a in program.arguments}
    for step, moment in enumerate(found.moments):
        registers += [[step, w.register, w.kind, _values(w)] for w in moment.registers]
        memory += [[step, *_stored(m, kinds.get(m.region))] for m in moment.memory]
        accesses += [[step, *_reached(r, served)] for r in moment.accesses]
    return {
        "block": found.block,
        "warp": found.warp,
        "first": found.warp * found.width,
        "width": found.threads,
        "names": list(kernel.code.registers),
        "line": [moment.line for moment in found.moments],
        "active": [f"{moment.active:x}" for moment in found.moments],
        "registers": registers,
        "memory": memory,
        "accesses": accesses,
        "served": [_served(s) for s in served],
        "uses": _uses(kernel),
        "known": found.known,
        "arguments": [
            [f"data{a.number}", a.dtype.name, a.size, a.dtype.itemsize] for a in program.arguments
        ],
        "fault": None if found.fault is None else _said(found.fault, program),
        "more": found.more,
    }


def _reached(reached: Reached, served: dict[Served, int]) -> list[Any]:
    """A row of the page's `accesses`; equal ways of being served are listed once."""
    number = -1
    if reached.served is not None:
        number = served.setdefault(reached.served, len(served))
    place = [reached.space, reached.region, reached.stores, reached.nbytes]
    return [*place, list(reached.lanes), list(reached.at), number]


def _served(served: Served) -> dict[str, Any]:
    return {
        "hits": [[hit.place, hit.wavefront, list(hit.lanes)] for hit in served.hits],
        "first": list(served.first),
        "ways": served.ways,
        "extra": served.extra,
        "least": served.least,
    }


def _uses(kernel: Prepared) -> list[list[int]]:
    """[line, registers that its instructions write, then those that they read]."""
    found: dict[int, dict[int, None]] = {}
    for instruction in kernel.code.instructions:
        numbers = (*writes(instruction), *reads(instruction))
        found.setdefault(instruction.line, {}).update(dict.fromkeys(numbers))
    return [[line, *numbers] for line, numbers in sorted(found.items()) if numbers]


def _values(written: Written) -> Any:
    """One value where all threads have the same, else a list."""
    shown = [_value(v, written.kind) for v in written.values]
    return shown[0] if all(v == shown[0] for v in shown) and None not in shown else shown


def _stored(found: Stored, dtype: DType | None) -> list[Any]:
    """A row of the page's `memory`: elements of an argument are of its dtype."""
    item, rows = found.values.dtype, (found.values, found.before)
    if dtype is not None and found.nbytes % dtype.itemsize == 0:
        item = memory_dtype(dtype)
        rows = tuple(np.ascontiguousarray(r).view(np.uint8).view(item) for r in rows)
        if dtypes.is_float(dtype):
            rows = tuple(from_memory(r, dtype) for r in rows)
    values, before = ([[_value(v, row.dtype.name) for v in line] for line in row.tolist()]
                      for row in rows)  # fmt: skip
    space = [found.space, found.region, found.nbytes, item.itemsize]
    return [*space, list(found.threads), list(found.at), values, before]


def _value(value: Any, kind: str) -> Any:
    """What JSON can hold: as a number where a page reads it exactly, else as text."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        return value if kind == "float64" else float(str(np.dtype(kind).type(value)))
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _EXACT:
        return str(value)
    return value


def asked(request: Mapping[str, Any], name: str) -> int:
    """A number of a request that counts from 0. Raises RunError for anything else."""
    value = request.get(name, 0)
    if not isinstance(value, int) or not 0 <= value < 1 << 31:
        raise RunError(f"{value!r} is no {name}", hint="they are numbered from 0")
    return value
