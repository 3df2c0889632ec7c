"""The recorder's own thread: all work on a trace is done here, and the thread that asks for it
waits.

So that no work is ever cut in two: Python runs the handlers of signals, and with them whatever
Ctrl-C raises, in the main thread only, between any two instructions. Here nothing comes in between.
An exception in a thread that waits ends its waiting; what it asked for is done all the same.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Final

_PATIENCE: Final = 1.0
"""Seconds after which who waits looks whether the thread is still there."""


class Worker:
    """Does pieces of work one after the other, and `due` whenever `left` says that no seconds are
    left until then; None ends the thread."""

    def __init__(self, due: Callable[[], None], left: Callable[[], float | None]) -> None:
        self._due, self._left = due, left
        self._asked: SimpleQueue[tuple[Callable[[], None], threading.Lock]] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._working = threading.RLock()
        """Held while a piece of work is done, and by who forks: see `hold`."""
        self._at_work = 0
        """The thread that does one."""

    def begin(self) -> None:
        """Starts the thread, if that has not been done. Two of them do no harm; none, at the end of
        the interpreter or where the system gives no more threads, does not either: who asks for
        work then does it itself."""
        if self._thread is None or not self._thread.is_alive():
            with suppress(RuntimeError):
                thread = threading.Thread(target=self._run, name="uopviz recorder", daemon=True)
                thread.start()
                self._thread = thread

    def do(self, work: Callable[[], None]) -> None:
        """Has a piece of work done, and waits for it. Work asks for none itself: that is left
        undone. Work never raises."""
        if self._at_work == threading.get_ident():
            return
        done = threading.Lock()
        done.acquire()
        self._asked.put((work, done))
        while not done.acquire(timeout=_PATIENCE if self._is_there() else 0):
            if not self._is_there():
                self._next()

    def hold(self) -> None:
        """Nothing is done until `release`, by the same thread."""
        self._working.acquire()

    def release(self) -> None:
        """Ends `hold`; nothing where an interrupt came before that."""
        with suppress(RuntimeError):
            self._working.release()

    def _is_there(self) -> bool:
        thread = self._thread
        return thread is not None and thread.is_alive() and not sys.is_finalizing()

    def _run(self) -> None:
        while (seconds := self._left()) is not None:
            if seconds > 0:
                self._next(seconds)
            else:
                self._work(self._due)

    def _next(self, seconds: float = 0.0) -> None:
        """Does the next piece of work, if one comes in so many seconds."""
        with suppress(Empty):
            work, done = self._asked.get(timeout=seconds)
            try:
                self._work(work)
            finally:
                done.release()

    def _work(self, work: Callable[[], None]) -> None:
        with self._working:
            self._at_work = threading.get_ident()
            try:
                work()
            finally:
                self._at_work = 0
