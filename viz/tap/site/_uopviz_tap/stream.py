"""The stream of one process: lines of JSON in a file of its own, as docs/stream.md describes.

Written with the first event after a fifth of a second, when an outermost pass begins or an
outermost group ends, and when the process ends or forks; a process that is killed loses what came
since. Where the file cannot be written, the stream ends and the program goes on.
"""

from __future__ import annotations

import atexit
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from typing import Any

VERSION = 1
_MOST = 1 << 16
"""Characters that wait to be written, at most."""
_OFTEN = 200_000_000
"""ns after which they are written."""
encode = json.JSONEncoder(separators=(",", ":"), default=str, check_circular=False).encode


class Stream:
    """Events of this process, into the folder `folder`. The file is made with the first event."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.generation = 0
        """Counts the processes that this one was forked from: numbers told in another one are not
        known here."""
        self._last: list[Callable[[], object]] = []
        self._reset()
        atexit.register(self.end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self.flush, after_in_child=self._forked)

    def _reset(self) -> None:
        self._file = -1
        self.is_open = True
        """Whether events are still taken."""
        self._lines: list[str] = []
        self._size = 0
        self._start = time.perf_counter_ns()
        self._written = self._start

    def _forked(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._reset()
        self.generation += 1

    def now(self) -> int:
        """Microseconds since the start of the stream."""
        return (time.perf_counter_ns() - self._start) // 1000

    def since(self, counter_us: float) -> int:
        """Microseconds from the start of the stream to a time of `time.perf_counter`; 0 for one
        before it."""
        return max(0, round(counter_us - self._start / 1000))

    def at_end(self, tell: Callable[[], object]) -> None:
        """`tell` is called before the stream ends; it raises nothing."""
        self._last.append(tell)

    def put(self, *event: Any) -> None:
        """Tells an event: its kind, and what docs/stream.md lists for it."""
        self.line(encode(event))

    def line(self, line: str) -> None:
        """The same of an event that is JSON already: most are nodes and matches."""
        self._lines.append(line)
        self._size += len(line)
        if self._size > _MOST or time.perf_counter_ns() - self._written > _OFTEN:
            self.flush()

    def problem(self, what: str, where: str = "", hint: str = "") -> None:
        """Tells what is missing, and why."""
        self.put("problem", what, where, hint)
        self.flush()

    def flush(self) -> None:
        """Writes what waits."""
        self._written = time.perf_counter_ns()
        lines, self._lines, self._size = self._lines, [], 0
        if not lines or not self.is_open:
            return
        try:
            if self._file < 0:
                self._file = self._made()
                lines.insert(0, self._head())
            data = memoryview(("\n".join(lines) + "\n").encode("utf-8", "replace"))
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:
            self.is_open = False  # the reader has gone, or the disk is full

    def end(self) -> None:
        """The process ends."""
        for tell in self._last:
            tell()
        if self._file >= 0 or self._lines:
            self.put("end", self.now())
            self.flush()

    def _made(self) -> int:
        name = f"{os.getpid()}-{time.time_ns()}.jsonl"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
        return os.open(os.path.join(self._folder, name), flags, 0o600)

    def _head(self) -> str:
        known = {
            "process": os.getpid(),
            "parent": os.getppid(),
            "command": [*getattr(sys, "orig_argv", sys.argv)],
            "cwd": os.getcwd(),
            "python": platform.python_version(),
            "started": time.time() - (time.perf_counter_ns() - self._start) / 1e9,
        }
        return encode(["stream", VERSION, known])
