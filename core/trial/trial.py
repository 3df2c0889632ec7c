"""`Trial`: the arguments of a kernel on a device, and the programs that run on them.

Never judges a result: `difference.py` does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from core.errors import RunError
from core.runtime.base import Runner
from core.runtime.buffer import Buffer
from core.runtime.emulator.device import EmulatorRunner
from core.runtime.gpu.launch import GpuRunner
from core.runtime.numeric import Array
from core.uop.kernels import stores_of
from core.uop.ops import Ops
from core.uop.pointer import pointer_of
from core.uop.uop import UOp


def arguments(ast: UOp) -> list[UOp]:
    """The buffers of a kernel in order. Raises RunError where they are not numbered from 0."""
    found = {u.arg: u for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL}
    if sorted(found) != list(range(len(found))):
        raise RunError("the arguments of this kernel are not numbered from 0")
    return [found[i] for i in range(len(found))]


def outputs_of(ast: UOp) -> list[int]:
    """The numbers of the arguments that a kernel stores to."""
    return sorted({int(pointer_of(store.src[0]).arg) for store in stores_of(ast)})


def largest_variables(ast: UOp) -> dict[str, int]:
    """The largest value of each variable of a kernel."""
    return {u.arg[0]: int(u.arg[2]) for u in ast.toposort() if u.op is Ops.DEFINE_VAR}


class Trial:
    """The arguments of a kernel in memory of `device`: `values`, where they are given. Variables
    that are not in `variables` have their largest value."""

    def __init__(
        self,
        ast: UOp,
        device: str,
        values: Sequence[Array] | None = None,
        variables: Mapping[str, int] | None = None,
    ) -> None:
        self.variables: Mapping[str, int] = largest_variables(ast) | dict(variables or {})
        self.buffers = [
            Buffer(device, int(cast("Any", u.dtype).size), u.dtype.held).allocate()
            for u in arguments(ast)
        ]
        self.instructions: int | None = None
        """Those that all threads of the last launch ran, on an emulated device."""
        if values is not None:
            self.fill(values)

    def fill(self, values: Sequence[Array]) -> None:
        """Puts values into the memory of the arguments."""
        for buffer, held in zip(self.buffers, values, strict=True):
            buffer.copyin(np.ascontiguousarray(held).view(np.uint8).data)

    def launch(self, runner: Runner) -> float:
        """Runs a program once; the seconds that it took."""
        if isinstance(runner, EmulatorRunner):
            self.instructions, seconds = runner.counted(self.buffers, self.variables)
            return seconds
        begun = time.perf_counter()
        measured = runner(self.buffers, self.variables, wait=True)
        return time.perf_counter() - begun if measured is None else measured

    def times(
        self,
        runner: Runner,
        count: int,
        until: float = float("inf"),
        progress: Callable[[int], None] | None = None,
    ) -> list[float]:
        """Microseconds of each of `count` launches; of fewer, once `time.monotonic()` is past
        `until`. `progress` is told now and then how many there were."""
        times: list[float] = []
        shown = time.monotonic()
        for _ in range(count):
            times.append(1e6 * self.launch(runner))
            now = time.monotonic()
            if now > until:
                break
            if progress is not None and now - shown > 0.2:
                shown = now
                progress(len(times))
        return times

    def arrays(self) -> list[Array]:
        """What is in the memory of the arguments."""
        return [buffer.as_array() for buffer in self.buffers]


def resources_of(runner: Runner) -> dict[str, str]:
    """What the loaded code of a kernel takes on a GPU; nothing of other devices."""
    if not isinstance(runner, GpuRunner):
        return {}
    needs = runner.loaded.resources
    return {
        "registers": str(needs.registers),
        "shared bytes": str(needs.shared),
        "local bytes": str(needs.local),
        "occupancy": f"{needs.blocks} blocks of a processor",
    }
