"""A kernel loaded on a GPU: checked against the GPU's limits once, then cheap to launch again."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.errors import DriverError, RunError
from core.helpers import prod
from core.runtime.base import values_of
from core.runtime.buffer import Buffer
from core.runtime.gpu.driver import Limits, Loaded
from core.runtime.gpu.queue import Queue
from core.toolchain.program import Program
from core.uop.ops import Ops

_integers: Final = {
    1: ctypes.c_int8, 2: ctypes.c_int16, 4: ctypes.c_int32, 8: ctypes.c_int64,
}  # fmt: skip


class GpuRunner:
    """A kernel whose parameters are pointers, then variables. Raises CompileError where the driver
    rejects the text, and RunError where the launch is over the GPU's limits."""

    def __init__(self, queue: Queue, program: Program, code: str | bytes) -> None:
        self._queue, self._name = queue, program.name
        self._program, self._block = program, program.local_size
        fixed = not any(n.op is Ops.DEFINE_VAR for size in program.grid for n in size.toposort())
        self._grid = program.global_size if fixed else None
        driver = queue.open()
        check_launch(program, driver.limits, queue.name)
        try:
            self._loaded = driver.load(code, program.name, prod(program.local_size))
        except DriverError as error:
            raise queue.explained(error, f"loading kernel {program.name}") from None
        check_resources(program, self._loaded, queue)
        self._numbers = tuple(a.number for a in program.arguments)
        self._variables = tuple(v.arg[0] for v in program.variables)
        self._values: list[Any] = [ctypes.c_uint64() for _ in self._numbers]
        self._values += [_integers[v.dtype.itemsize]() for v in program.variables]
        pointers = (ctypes.addressof(value) for value in self._values)
        self._parameters = (ctypes.c_void_p * max(1, len(self._values)))(*pointers)
        self._address = ctypes.addressof(self._parameters)
        self._lock = threading.Lock()  # the values are written, then read by the driver

    @property
    def loaded(self) -> Loaded:
        """The code on the GPU and what it takes."""
        return self._loaded

    def __call__(
        self, buffers: Sequence[Buffer], variables: Mapping[str, int], wait: bool = False
    ) -> float | None:
        """Asks for one launch; with `wait`, returns when it is done, with its seconds by the GPU's
        own clock. Nothing is launched where a grid of variables has no work group. Raises RunError
        for a variable without a value, DriverError for a fault."""
        grid = self._grid or self._program.groups(variables)
        if not all(grid):
            return 0.0 if wait else None
        queue = self._queue
        driver, stream = queue.open(), queue.stream
        try:
            with self._lock:
                for value, number in zip(self._values, self._numbers, strict=False):
                    value.value = buffers[number].address
                if self._variables:
                    found = values_of(self._name, self._variables, variables)
                    for value, now in zip(self._values[len(self._numbers) :], found, strict=True):
                        value.value = now
                begin = driver.new_event() if wait else None
                if begin is not None:
                    driver.record(begin, stream)
                queue.launched(self._name)
                driver.launch(self._loaded.function, grid, self._block, stream, self._address)
            if begin is None:
                return None
            end = driver.new_event()
            try:
                driver.record(end, stream)
                driver.wait_for(end)
                seconds = driver.elapsed(begin, end)
            finally:
                driver.free_event(begin)
                driver.free_event(end)
        except DriverError as error:
            raise queue.explained(error, f"running kernel {self._name}") from None
        queue.done()
        return seconds

    def __del__(self) -> None:
        self._queue.free(lambda driver: driver.unload(self._loaded.module))


def check_launch(program: Program, limits: Limits, device: str) -> None:
    """Raises RunError where a kernel's blocks or grid are more than the GPU allows."""
    threads = prod(program.local_size)
    over: list[str] = []
    if threads > limits.threads:
        over.append(f"{threads} threads in a block, of at most {limits.threads}")
    for what, sizes, most in (
        ("a block", program.local_size, limits.block),
        ("the grid", program.global_size, limits.grid),
    ):
        over += [
            f"{size} along {axis} of {what}, of at most {limit}"
            for axis, size, limit in zip("xyz", sizes, most, strict=True)
            if size > limit
        ]
    if over:
        raise RunError(
            f"kernel {program.name} is larger than {device} allows: " + "; ".join(over),
            limits.title,
            "apply other opts, or none (NOOPT=1)",
        )


def check_resources(program: Program, loaded: Loaded, queue: Queue) -> None:
    """Raises RunError where the code that the driver made cannot run in blocks of that size."""
    limits, needs, threads = queue.driver.limits, loaded.resources, prod(program.local_size)
    if threads > needs.threads:
        raise RunError(
            f"kernel {program.name} takes {needs.registers} registers, which allows blocks of "
            f"{needs.threads} threads and not of {threads}, on {queue.name}",
            limits.title,
            "apply fewer LOCAL or UPCAST opts",
        )
    if needs.shared > limits.shared:
        raise RunError(
            f"kernel {program.name} takes {needs.shared} bytes of shared memory of the "
            f"{limits.shared} that a block has on {queue.name}",
            limits.title,
            "apply smaller LOCAL or GROUP opts",
        )
