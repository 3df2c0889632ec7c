"""One connection of a client: its end where it takes too long to ask, and the headers of what the
server refuses before any route is reached.

Any program of this machine can connect, with no token. So a connection that only waits may be
closed for a new one: many of them are no reason to let the page wait.
"""

from __future__ import annotations

import time
from typing import Any, Final

from waitress.channel import HTTPChannel
from waitress.task import ErrorTask

from viz.server.security import HEADERS

ASKING: Final = 10.0
"""Seconds in which a request with its body, at most 1 MiB, must have come."""
IDLE: Final = 60.0
"""Seconds after which a connection without a request is closed."""
MOST: Final = 256
"""Connections; a further one takes the place of one that waits."""


class Refusal(ErrorTask):
    """What is answered to a request that is none, or too large."""

    def execute(self) -> None:
        """Sends it."""
        self.response_headers = [*self.response_headers, *HEADERS]
        super().execute()


class Channel(HTTPChannel):
    """A connection."""

    error_task_class = Refusal
    _began = 0.0

    def __init__(self, server: Any, *arguments: Any, **named: Any) -> None:
        waiting = [c for c in server.active_channels.values() if c.waits()]
        for channel in waiting[: max(0, len(server.active_channels) - MOST + 1)]:
            channel.handle_close()
        super().__init__(server, *arguments, **named)

    def waits(self) -> bool:
        """Whether nothing is being answered here."""
        return not self.requests and not self.total_outbufs_len

    def received(self, data: bytes) -> bool:
        """Takes what has come."""
        if self.request is None:
            self._began = time.time()
        return bool(super().received(data))

    def readable(self) -> bool:
        """Whether more may come; asked at least once a second."""
        now = time.time()
        if self.waits():
            since, most = (self.last_activity, IDLE)
            if self.request is not None:
                since, most = (self._began, ASKING)
            if now - since > most:
                self.will_close = True
        return bool(super().readable())
