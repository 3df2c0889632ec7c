"""What the server prints in the terminal: little, whatever is requested, and in plain text.

Any program of this machine can connect. It must not fill a log, nor write to the user's terminal.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

MOST: Final = 20
"""Lines of one kind of logger in WINDOW seconds; what is beyond is dropped."""
WINDOW: Final = 60.0


class Quiet(logging.Filter):
    """Lets through MOST records in WINDOW seconds, with control characters as escapes."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._began = -WINDOW
        self._count = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is shown; its text is made harmless."""
        with self._lock:
            now = time.monotonic()
            if now - self._began >= WINDOW:
                self._began, self._count = now, 0
            self._count += 1
            if self._count > MOST:
                return False
        text = record.getMessage()
        record.msg = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
        record.args = ()
        return True


def quieten(logger: logging.Logger) -> None:
    """Limits what a logger says from now on."""
    if not any(isinstance(found, Quiet) for found in logger.filters):
        logger.addFilter(Quiet())
