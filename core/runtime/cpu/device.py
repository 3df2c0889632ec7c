"""The CPU: kernels compiled by LLVM in this process, called through ctypes.

A kernel whose outermost loop is marked THREAD is shared out between cores; ctypes lets go of the
interpreter lock while machine code runs. What is captured runs as one call. A long kernel that the
main thread asks for runs beside it, so that Ctrl-C and alarms end the waiting; what comes next
waits for the kernel itself.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from typing import Any, Final

from core.dtype import DType
from core.hardware.host import usable_cores
from core.helpers import CPU_THREADS, ceildiv, notice
from core.runtime.base import ComputeDevice, values_of
from core.runtime.buffer import Buffer
from core.runtime.cpu import native
from core.runtime.cpu.workers import Launches, shares, workers
from core.runtime.host import HostAllocator
from core.toolchain import llvm_compiler
from core.toolchain.estimates import iterations_of
from core.toolchain.processor import host_target
from core.toolchain.program import Program

_integers = {1: ctypes.c_int8, 2: ctypes.c_int16, 4: ctypes.c_int32, 8: ctypes.c_int64}


LONG: Final = 1 << 26
"""Iterations of all loops from which on a kernel may take so long that the user interrupts it."""
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
    return ThreadPoolExecutor(max_workers=usable_cores(), thread_name_prefix="uopviz-cpu")


def _forget() -> None:
    """In a process that was forked no thread of the pools runs, nor what was interrupted."""
    _beside.cache_clear()
    _pool.cache_clear()
    _left.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _argument_type(dtype: DType) -> Any:
    return _integers[dtype.itemsize]


class _Capturing(threading.local):
    """What this thread captures at present."""

    launches: list[tuple[CpuRunner, list[int], Sequence[Buffer]]] | None = None


_capturing = _Capturing()


class CpuRunner:
    """A kernel as a C function of pointers, then variables, then first and last iteration."""

    def __init__(self, program: Program) -> None:
        loaded = llvm_compiler.load(program.source.text, program.name)
        self._loaded = loaded
        self.numbers = tuple(a.number for a in program.arguments)
        self.names = tuple(v.arg[0] for v in program.variables)
        self._widths = tuple(8 * v.dtype.itemsize for v in program.variables)
        self._iterations = program.threads
        self.loops = iterations_of(program.uops)
        """Iterations of all its loops in all."""
        types: list[Any] = [ctypes.c_void_p] * len(self.numbers)
        types += [_argument_type(v.dtype) for v in program.variables]
        types += [ctypes.c_int32] * (2 if program.threads else 0)
        self._function = ctypes.CFUNCTYPE(None, *types)(loaded.address)
        self._name = program.name

    def __call__(
        self, buffers: Sequence[Buffer], variables: Mapping[str, int], wait: bool = False
    ) -> float | None:
        """Runs the kernel to its end. Raises RunError for a variable without a value."""
        args: list[int] = [buffers[number].address for number in self.numbers]
        if self.names:
            args += values_of(self._name, self.names, variables)
        if _capturing.launches is not None:
            _capturing.launches.append((self, args, buffers))
            return None
        if _left:
            _wait_for_left()
        run = self._shared_out if self._iterations else self._at_once
        start = time.perf_counter()
        if self.loops >= LONG and threading.current_thread() is threading.main_thread():
            _wait_beside(partial(run, args), buffers)
        else:
            run(args)
        return time.perf_counter() - start

    @cached_property
    def _caller(self) -> llvm_compiler.Loaded:
        return native.calling(len(self.numbers), self._widths, self._iterations > 0)

    @property
    def call(self) -> tuple[int, int]:
        """The addresses of what calls the kernel with words, and of the kernel."""
        return self._caller.address, self._loaded.address

    @property
    def share(self) -> tuple[int, int, int]:
        """(iterations to divide, iterations of a piece, workers)"""
        return (self._iterations, *shares(self._iterations, usable_cores()))

    def _at_once(self, args: list[int]) -> None:
        self._function(*args)

    def _shared_out(self, args: list[int]) -> None:
        iterations, piece, wanted = self.share
        if not wanted:
            self._function(*args, 0, iterations)
        elif native.available():
            words = (ctypes.c_int64 * len(args))(*args)
            launch = (ctypes.c_int64 * native.ENTRY)(
                *self.call, ctypes.addressof(words), iterations, piece, wanted
            )
            own = workers()
            own.grow(wanted)
            native.run()(ctypes.addressof(launch), 1, own.address)
        else:
            self._shared_out_by_python(args)

    def _shared_out_by_python(self, args: list[int]) -> None:
        share = ceildiv(self._iterations, min(usable_cores(), self._iterations))
        parts = [(at, min(at + share, self._iterations))
                 for at in range(0, self._iterations, share)]  # fmt: skip
        waiting = [_pool().submit(self._function, *args, *part) for part in parts[1:]]
        self._function(*args, *parts[0])
        for part in waiting:
            part.result()


class CpuGraph:
    """Launches that were captured, as one call of machine code."""

    def __init__(self, captured: Sequence[tuple[CpuRunner, list[int], Sequence[Buffer]]]) -> None:
        self._runners = [runner for runner, _, _ in captured]
        self._long = sum(runner.loops for runner in self._runners) >= LONG
        self._cores = CPU_THREADS.value
        self._launches = self._made([args for _, args, _ in captured])
        self._memory: dict[Buffer, list[tuple[int, int]]] = {}
        """By a buffer that is no part of another: the words that point into it, and how far."""
        self._values: dict[str, list[int]] = {}
        """By the name of a variable: the words that have its value."""
        for start, (runner, _, buffers) in zip(self._launches.places, captured, strict=True):
            for word, number in enumerate(runner.numbers, start):
                buffer = buffers[number]
                whole = buffer if buffer.base is None else buffer.base
                place = word, buffer.address - whole.address
                self._memory.setdefault(whole, []).append(place)
            for word, name in enumerate(runner.names, start + len(runner.numbers)):
                self._values.setdefault(name, []).append(word)
        self._moved: tuple[Buffer, ...] = ()
        """What it is for, in place of what it was captured with."""

    def _made(self, arguments: Sequence[Sequence[int]]) -> Launches:
        calls = [runner.call for runner in self._runners]
        return Launches(calls, arguments, [runner.share for runner in self._runners])

    def move(self, memory: Mapping[Buffer, Buffer], values: Mapping[str, int]) -> bool:
        """Puts other addresses and values in place, once no interrupted call reads the old ones."""
        if _left:
            _wait_for_left()
        words = self._launches.words
        for old, new in memory.items():
            address = new.address
            for word, offset in self._memory.get(old, ()):
                words[word] = address + offset
        for name, value in values.items():
            for word in self._values.get(name, ()):
                words[word] = value
        self._moved = tuple(memory.values())
        return True

    def __call__(self) -> None:
        """Runs all of them to their end."""
        if _left:
            _wait_for_left()
        if CPU_THREADS.value != self._cores:
            self._cores = CPU_THREADS.value
            ends = [*self._launches.places[1:], len(self._launches.words)]
            held = zip(self._launches.places, ends, strict=True)
            self._launches = self._made([self._launches.words[a:b] for a, b in held])
        if self._long and threading.current_thread() is threading.main_thread():
            _wait_beside(self._launches, (*self._memory, *self._moved))
        else:
            self._launches()


class CpuDevice(ComputeDevice):
    """This machine's processor."""

    graphs_move = True

    def __init__(self, name: str) -> None:
        super().__init__(name, host_target(), HostAllocator())

    def load(self, program: Program) -> CpuRunner:
        return CpuRunner(program)

    def synchronize(self) -> None:
        _wait_for_left()

    def capture(self, commands: Callable[[], None]) -> CpuGraph | None:
        if not native.available():
            return None
        _capturing.launches = captured = []
        try:
            commands()
        finally:
            _capturing.launches = None
        return CpuGraph(captured)
