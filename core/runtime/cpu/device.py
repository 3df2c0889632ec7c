"""The CPU: kernels compiled by LLVM in this process, called through ctypes.

A kernel whose outermost loop is marked THREAD is shared out between cores; ctypes lets go of the
interpreter lock while machine code runs. A long kernel that the main thread asks for runs beside
it, so that Ctrl-C and alarms end the waiting; what comes next waits for the kernel itself.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, Final

from core.dtype import DType
from core.helpers import CPU_THREADS, ceildiv, notice
from core.runtime.base import ComputeDevice, values_of
from core.runtime.buffer import Buffer
from core.runtime.host import HostAllocator
from core.toolchain import llvm_compiler
from core.toolchain.estimates import iterations_of
from core.toolchain.processor import host_target
from core.toolchain.program import Program

_integers = {1: ctypes.c_int8, 2: ctypes.c_int16, 4: ctypes.c_int32, 8: ctypes.c_int64}


def cores() -> int:
    """Cores that kernels may use: CPU_THREADS, or all that this process may run on."""
    if CPU_THREADS.value:
        return CPU_THREADS.value
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


LONG: Final = 1 << 26
"""Iterations of all loops from which on a kernel may take so long that somebody interrupts it."""
PATIENCE: Final = 1.0
"""Seconds after which it is said what is waited for."""
_left: Final[list[tuple[Future[None], Sequence[Buffer]]]] = []
"""Kernels whose waiting was interrupted, with the memory that they use."""


@lru_cache(maxsize=1)
def _beside() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="uopviz-long")


def _wait_beside(run: Callable[[], None], buffers: Sequence[Buffer]) -> None:
    """Runs a kernel to its end in another thread. An exception of a signal's handler ends the
    waiting alone: machine code is not stopped, and its memory stays."""
    running = _beside().submit(run)
    try:
        running.result()
    except BaseException:
        if not running.done():
            _left.append((running, buffers))
        raise


def _wait_for_left() -> None:
    """Returns when kernels whose waiting was interrupted have ended."""
    for kernel in list(_left):
        running = kernel[0]
        wait((running,), PATIENCE)
        if not running.done():
            notice(
                "an interrupted kernel of the CPU runs to its end; what comes next waits for that"
            )
        running.result()
        with suppress(ValueError):  # another thread waited for it, too
            _left.remove(kernel)


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=cores(), thread_name_prefix="uopviz-cpu")


def _argument_type(dtype: DType) -> Any:
    return _integers[dtype.itemsize]


class CpuRunner:
    """A kernel as a C function of pointers, then variables, then first and last iteration."""

    def __init__(self, program: Program) -> None:
        loaded = llvm_compiler.load(program.source.text, program.name)
        self._loaded = loaded
        self._numbers = tuple(a.number for a in program.arguments)
        self._names = tuple(v.arg[0] for v in program.variables)
        self._iterations = program.threads
        self._long = iterations_of(program.uops) >= LONG
        types: list[Any] = [ctypes.c_void_p] * len(self._numbers)
        types += [_argument_type(v.dtype) for v in program.variables]
        types += [ctypes.c_int32] * (2 if program.threads else 0)
        self._function = ctypes.CFUNCTYPE(None, *types)(loaded.address)
        self._name = program.name

    def __call__(
        self, buffers: Sequence[Buffer], variables: Mapping[str, int], wait: bool = False
    ) -> float | None:
        """Runs the kernel to its end. Raises RunError for a variable without a value."""
        args: list[int] = [buffers[number].address for number in self._numbers]
        if self._names:
            args += values_of(self._name, self._names, variables)
        if _left:
            _wait_for_left()
        run = self._shared_out if self._iterations else self._at_once
        start = time.perf_counter()
        if self._long and threading.current_thread() is threading.main_thread():
            _wait_beside(partial(run, args), buffers)
        else:
            run(args)
        return time.perf_counter() - start

    def _at_once(self, args: list[int]) -> None:
        self._function(*args)

    def _shared_out(self, args: list[int]) -> None:
        share = ceildiv(self._iterations, min(cores(), self._iterations))
        parts = [(at, min(at + share, self._iterations))
                 for at in range(0, self._iterations, share)]  # fmt: skip
        waiting = [_pool().submit(self._function, *args, *part) for part in parts[1:]]
        self._function(*args, *parts[0])
        for part in waiting:
            part.result()


class CpuDevice(ComputeDevice):
    """This machine's processor."""

    def __init__(self, name: str) -> None:
        super().__init__(name, host_target(), HostAllocator())

    def load(self, program: Program) -> CpuRunner:
        return CpuRunner(program)

    def synchronize(self) -> None:
        _wait_for_left()
