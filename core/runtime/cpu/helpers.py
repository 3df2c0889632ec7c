"""Threads that help to run kernels of the CPU, for as long as the process lives.

A launch is a row of words (`native.ENTRY`); a list of them runs as one call of machine code, which
lets go of the interpreter lock. Never decides which kernels are worth sharing out.
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
"""Pieces of a shared kernel for each thread: who is late leaves them to others."""
_LINE: Final = 64


class Helpers:
    """What launches and the threads that help them have in common. There is one in a process."""

    def __init__(self) -> None:
        self._memory = ctypes.create_string_buffer(native.STATE + _LINE)
        start = ctypes.addressof(self._memory)
        self.address = start + -start % _LINE
        self._words = (ctypes.c_int32 * (native.STATE // 4)).from_address(self.address)
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def grow(self, count: int) -> None:
        """Sees to it that there are so many."""
        if len(self._threads) >= count:
            return
        with self._lock:
            for number in range(len(self._threads), count):
                thread = threading.Thread(
                    target=native.helping(),
                    args=(self.address, number),
                    name=f"uopviz-cpu-{number}",
                    daemon=True,
                )
                thread.start()
                self._threads.append(thread)

    def end(self) -> None:
        """Ends them: the code that they run goes with the interpreter."""
        if self._threads:
            self._words[native.OPEN] = native.CLOSED
            self._words[native.GENERATION] += 1
            native.wake(self.address, len(self._threads))
            for thread in self._threads:
                thread.join(1)


class _One:
    helpers: Helpers | None = None
    lock = threading.Lock()


def helpers() -> Helpers:
    """Those of this process."""
    found = _One.helpers
    if found is None:
        with _One.lock:
            found = _One.helpers
            if found is None:
                found = _One.helpers = Helpers()
    return found


def _end() -> None:
    if _One.helpers is not None:
        _One.helpers.end()


def _forget() -> None:
    """In a process that was forked no helper runs."""
    _One.helpers, _One.lock = None, threading.Lock()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def shares(iterations: int, threads: int) -> tuple[int, int]:
    """(iterations of a piece, helpers) for a kernel on so many threads at most."""
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
        (iterations to share out, those of a piece, helpers)."""
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
        self._helpers: Helpers | None = None
        self._address = ctypes.addressof(self._list)
        self._run = native.run()

    def __call__(self) -> None:
        """Runs them."""
        found = helpers()
        if found is not self._helpers:  # the first time, and in a process that was forked
            found.grow(self._most)
            self._helpers = found
        self._run(self._address, self._count, found.address)
