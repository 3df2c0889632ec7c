"""Worker threads that run parts of CPU kernels, for as long as the process lives.

A launch is a row of words (`native.ENTRY`); a list of launches runs as one call of machine code,
which releases the interpreter lock. Never decides which kernels are worth dividing.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from collections.abc import Sequence
from typing import Final

from core.helpers import ceildiv
from core.runtime.cpu import native

PIECES: Final = 4
"""Pieces of a divided kernel for each thread: faster threads take more of them."""
_LINE: Final = 64


class Workers:
    """The worker threads of a process, and the memory that they share with launches."""

    def __init__(self) -> None:
        self._memory = ctypes.create_string_buffer(native.STATE + _LINE)
        start = ctypes.addressof(self._memory)
        self.address = start + -start % _LINE
        self._words = (ctypes.c_int32 * (native.STATE // 4)).from_address(self.address)
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def grow(self, count: int) -> None:
        """Starts threads until there are `count`."""
        if len(self._threads) >= count:
            return
        with self._lock:
            for number in range(len(self._threads), count):
                thread = threading.Thread(
                    target=native.worker(),
                    args=(self.address, number),
                    name=f"uopviz-cpu-{number}",
                    daemon=True,
                )
                thread.start()
                self._threads.append(thread)

    def end(self) -> None:
        """Ends the threads: the code that they run is freed with the interpreter."""
        if self._threads:
            self._words[native.OPEN] = native.CLOSED
            self._words[native.GENERATION] += 1
            native.wake(self.address, len(self._threads))
            for thread in self._threads:
                thread.join(1)


class _One:
    workers: Workers | None = None
    lock = threading.Lock()


def workers() -> Workers:
    """The workers of this process."""
    own = _One.workers
    if own is None:
        with _One.lock:
            own = _One.workers
            if own is None:
                own = _One.workers = Workers()
    return own


def _end() -> None:
    if _One.workers is not None:
        _One.workers.end()


def _forget() -> None:
    """A forked process has no threads but the one that forked."""
    _One.workers, _One.lock = None, threading.Lock()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def shares(iterations: int, threads: int) -> tuple[int, int]:
    """(iterations of a piece, workers) for a kernel on at most `threads` threads."""
    used = min(threads, iterations)
    if used < 2:
        return iterations, 0
    return ceildiv(iterations, used * PIECES), used - 1


class Launches:
    """Launches that run one after the other as one call. `words` are their arguments, those of each
    from `places` on; they may be changed between calls."""

    def __init__(
        self,
        calls: Sequence[tuple[int, int]],
        arguments: Sequence[Sequence[int]],
        shared: Sequence[tuple[int, int, int]],
    ) -> None:
        """By launch: the addresses of what calls the kernel and of the kernel, its arguments, and
        (iterations to divide, iterations of a piece, workers)."""
        self.words = (ctypes.c_int64 * max(1, sum(map(len, arguments))))()
        self.places: list[int] = []
        self._count = len(calls)
        self._list = (ctypes.c_int64 * (native.ENTRY * self._count))()
        start, at = ctypes.addressof(self.words), 0
        for i, (call, given, share) in enumerate(zip(calls, arguments, shared, strict=True)):
            self.places.append(at)
            self.words[at : at + len(given)] = [*given]
            row = (*call, start + 8 * at, *share)
            self._list[native.ENTRY * i : native.ENTRY * (i + 1)] = row
            at += len(given)
        self._most = max((share[2] for share in shared), default=0)
        self._workers: Workers | None = None
        self._address = ctypes.addressof(self._list)
        self._run = native.run()

    def __call__(self) -> None:
        """Runs the launches."""
        own = workers()
        if own is not self._workers:  # the first time, and in a process that was forked
            own.grow(self._most)
            self._workers = own
        self._run(self._address, self._count, own.address)
