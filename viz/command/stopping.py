"""Ctrl-C, a closed terminal and a request to end, as exceptions, so that running code cleans up. A
file to be written is complete or absent. Independent of what runs.
"""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType
from typing import Any, Final

_AGAIN: Final = 2.0
"""Seconds for cleaning up, in which repeated signals are ignored: people press Ctrl-C twice."""
_SIGNALS: Final = ("SIGINT", "SIGTERM", "SIGHUP")


class Stopping:
    """In the block, a signal that would end the process raises KeyboardInterrupt (Ctrl-C) or
    SystemExit. Where exceptions are swallowed, as by SQLite in callbacks, `code` still tells that
    it came."""

    def __init__(self) -> None:
        self.number = 0
        """The signal that came; 0 for none."""
        self._came = 0.0
        self._before: dict[int, Any] = {}

    @property
    def code(self) -> int:
        """The exit code that says which signal came, as shells have it; 0 for none."""
        return 128 + self.number if self.number else 0

    def __enter__(self) -> Stopping:
        if threading.current_thread() is threading.main_thread():
            for name in _SIGNALS:
                number = getattr(signal, name, None)  # Windows has not all of them
                # what is ignored stays so, as after nohup
                if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self.number and time.monotonic() - self._came < _AGAIN:
            return
        self.number, self._came = number, time.monotonic()
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(self.code)
