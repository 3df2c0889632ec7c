"""The kernels of a run as one table: those that are equal in one row, heaviest first.

What a kernel weighs is the time of its launches; in a run without any, the time of compiling it;
and where a trace has no times at all, its steps. Never reads the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from core.origintext import split_origin
from viz.budget import take
from viz.format.cells import as_text
from viz.read.records import Context
from viz.views.overview.launches import Launched, bounded, spread_of
from viz.views.overview.programs import MAX_NAME, Program
from viz.views.runs.process import Process
from viz.views.tree import Row

MAX_ROWS: Final = 1000
"""Rows in an answer; the page shows a dozen, and the others when it is asked to."""
MAX_CALLS_TEXT: Final = 200
MAX_DEVICES: Final = 8
_ROW: Final = 2500
_KERNEL: Final = 900
RowOf = Callable[[int], Row | None]
Data = dict[str, Any]


@dataclass
class Kernel:
    """Equal kernels: of the same name, target, calls and work."""

    program: Program
    contexts: list[int]
    """Their numbers in the run; none where only launches were recorded."""
    row: Row | None
    compile_us: float = 0.0
    launched: list[Launched] = field(default_factory=list[Launched])
    us: float = 0.0
    launches: int = 0

    def add(self, launched: Sequence[Launched]) -> None:
        """Launches of it on further devices, or in further processes."""
        self.launched += launched
        self.us += sum(one.total for one in launched)
        self.launches += sum(len(one.us) for one in launched)

    @property
    def devices(self) -> list[str]:
        """What it ran on."""
        return [as_text(d, MAX_NAME) for d in dict.fromkeys(one.device for one in self.launched)]

    def spread(self) -> Data | None:
        """How its times are distributed; None where it was not launched."""
        if len(self.launched) == 1:
            return self.launched[0].spread()
        times = [np.array(launched.us) for launched in self.launched]
        return spread_of(np.concatenate(times)) if times else None


@dataclass
class Table:
    """All kernels, heaviest first; `by` says what `weight` is: "run", "compile" or "steps"."""

    kernels: list[Kernel]
    by: str
    whole: float

    def weight(self, kernel: Kernel) -> float:
        """What a kernel weighs."""
        if self.by == "steps":
            return kernel.row.steps if kernel.row is not None else 0
        return kernel.us if self.by == "run" else kernel.compile_us

    def share(self, kernel: Kernel) -> float:
        """The same as a share of all kernels, 0 to 1."""
        return self.weight(kernel) / self.whole if self.whole > 0 else 0.0


def table_of(processes: Sequence[Process], row_of: RowOf) -> Table:
    """The kernels of all processes. Raises BudgetError."""
    found: dict[tuple[object, ...], Kernel] = {}
    for process in processes:
        process.launches.refresh()
        process.programs.refresh()
        told: set[tuple[str, str]] = set()
        contexts = [c for c in [*process.file.contexts.values()] if c.role == "kernel"]
        take(4 * len(contexts), _KERNEL * len(contexts))
        for context in contexts:
            _enter(found, process, context, told, row_of(process.id(context.id)))
        for name, devices in process.launches.named.items():
            # compiled before the recording began, left out of it, or a copy
            untold = [one for device, one in devices.items() if (name, device) not in told]
            if untold:
                take(4, _KERNEL)
                program = Program(name[:MAX_NAME], "", untold[0].device, 0, 0, ())
                found[process.number, name] = kernel = Kernel(program, [], None)
                kernel.add(untold)
    kernels = [*found.values()]
    made = Table(kernels, "steps", 0.0)
    if any(kernel.us > 0 for kernel in kernels):
        made.by = "run"
    elif any(kernel.compile_us > 0 for kernel in kernels):
        made.by = "compile"
    kernels.sort(key=lambda kernel: -made.weight(kernel))
    made.whole = sum(map(made.weight, kernels))
    return made


def _enter(
    found: dict[tuple[object, ...], Kernel],
    process: Process,
    context: Context,
    told: set[tuple[str, str]],
    row: Row | None,
) -> None:
    """Adds a kernel; `told` are the names and devices whose launches a kernel of this process
    has already."""
    program = process.programs.of(context)
    steps = row.steps if row is not None else 0
    work = program.flops, program.bytes, steps
    key = program.name, program.target, program.calls, work, context.error is None
    kernel = found.setdefault(key, Kernel(program, [], row))
    kernel.contexts.append(process.id(context.id))
    kernel.compile_us += bounded(context.us or 0)
    devices = process.launches.named.get(program.name, {})
    may_run = process.dialect.dialect.may_run
    ran = [
        launched
        for device, launched in devices.items()
        if (program.name, device) not in told and may_run(device, program.target)
    ]
    told.update((program.name, launched.device) for launched in ran)
    kernel.add(ran)


def rows_data(table: Table, place: Callable[[str], str]) -> list[Data]:
    """The rows of the heaviest kernels in the form `KernelLine` of the page. Raises BudgetError."""
    listed = table.kernels[:MAX_ROWS]
    take(4 * len(listed), _ROW * len(listed))
    return [_row(table, kernel, place) for kernel in listed]


def _row(table: Table, kernel: Kernel, place: Callable[[str], str]) -> Data:
    program, row = kernel.program, kernel.row
    devices = kernel.devices[:MAX_DEVICES]
    return {
        "context": kernel.contexts[0] if kernel.contexts else -1,
        "name": program.name,
        "equal": len(kernel.contexts),
        "calls": row.calls[:MAX_CALLS_TEXT] if row is not None else "",
        "place": place(split_origin(program.calls[0])[0]) if program.calls else "",
        "target": program.target,
        "device": program.device or next(iter(devices), ""),
        "devices": devices,
        "launches": kernel.launches,
        "us": kernel.us,
        "share": table.share(kernel),
        "spread": kernel.spread(),
        "flops": program.flops,
        "bytes": program.bytes,
        "registers": [{"target": target, "value": value} for target, value in program.registers],
        "steps": row.steps if row is not None else 0,
        "compileUs": kernel.compile_us,
        "status": row.status if row is not None else "ok",
    }
