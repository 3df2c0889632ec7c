"""One connection of a client: its deadlines, its place among the others, and the headers of what
the server refuses before any route is reached.

Any program of this machine can connect, with no token. So each connection has to get on, with what
it asks and with what it reads; and where there are too many, one that has shown no token goes for
a new one. What a client sends before it has the answer to its last request is not read.
"""

from __future__ import annotations

import time
from contextlib import suppress
from socket import MSG_PEEK
from typing import Any, Final, cast

from waitress.channel import HTTPChannel
from waitress.task import ErrorTask, WSGITask

from viz.server.security import CONNECTION, HEADERS

ASKING: Final = 10.0
"""Seconds in which a request with its body, at most 1 MiB, must have come."""
IDLE: Final = 60.0
"""Seconds after which a connection without a request is closed."""
READING: Final = 30.0
"""Seconds without reading a byte of an answer after which a connection is closed."""
SLOWEST: Final = 1 << 14
"""Bytes per second that a client must read on average, after the first READING seconds."""
MOST: Final = 256
"""Connections; a further one takes the place of the worst."""
MOST_NEW: Final = 2 * MOST
"""Connections where some have yet to ask for anything, and have ASKING seconds to do it."""


class Request(WSGITask):
    """A request on its way to the application, which is told its connection."""

    def get_environment(self) -> dict[str, Any]:
        """The WSGI environment."""
        found: dict[str, Any] = super().get_environment()
        found[CONNECTION] = self.channel
        return found


class Refusal(ErrorTask):
    """What is answered to a request that is none, or too large."""

    def execute(self) -> None:
        """Sends it."""
        self.response_headers = [*self.response_headers, *HEADERS]
        super().execute()


class Channel(HTTPChannel):
    """A connection. The thread that polls closes it; those that answer only write."""

    task_class = Request
    error_task_class = Refusal
    known = False
    """Whether a request of it has shown the token."""
    asked = False
    """Whether a whole request has come."""
    ends = False
    """Whether it has lost its place. It is closed before sockets are next looked at: at once, its
    number could become a new connection's, and what came to the one be taken for the other's."""
    _began = 0.0
    """When the first byte of the request came that is not complete."""
    _answered = 0.0
    """When there was something to read that has not all been read."""
    _read = 0
    """Bytes that the client has read since then."""
    _pipelines = False
    """Whether more has come than a request before its answer: the connection ends with that."""

    def __init__(self, server: Any, *arguments: Any, **named: Any) -> None:
        self._make_room(server)
        super().__init__(server, *arguments, **named)

    @staticmethod
    def _make_room(server: Any) -> None:
        """Ends connections for a new one. Who came at the same time as very many others may have
        sent a request, with the token, that was not read yet: that is done first."""
        others = [c for c in server.active_channels.values() if not c.ends and c.connected]
        left = len(others)
        if left < MOST:
            return
        for channel in sorted(others, key=Channel.worth):
            if left < (MOST_NEW if channel.is_new() else MOST):
                break
            channel.look()
            if not (channel.known and channel.requests):
                channel.ends = True
                left -= 1

    def look(self) -> None:
        """Reads what has come of its first request, before the poll gets to it."""
        with suppress(OSError):  # nothing has come, or the client has gone
            if not self.asked and cast("Any", self).socket.recv(1, MSG_PEEK):
                self.handle_read()

    def is_new(self) -> bool:
        """Whether it has asked for nothing yet, and still has time to."""
        return not self.asked and time.time() - self.creation_time < ASKING

    def worth(self) -> tuple[bool, bool, float]:
        """The connection with the least is closed first: of those without the token the oldest that
        has had its time, then the oldest; of the others one that waits, longest."""
        if not self.known:
            return False, self.is_new(), self.creation_time
        return True, bool(self.requests), self.last_activity

    def received(self, data: bytes) -> bool:
        """Takes what has come, up to the end of the first request in it; whether anything."""
        channel = cast("Any", self)  # the types of waitress leave its queue out
        with channel.requests_lock:
            while data and not (self.will_close or self.close_when_flushed or self._pipelines):
                if self.requests:
                    self._pipelines = True
                    break
                if self.request is None:
                    self.request = self.parser_class(self.adj)
                    self._began = time.time()
                taken = self.request.received(data)
                if self.request.expect_continue and self.request.headers_finished:
                    self.send_continue()
                if self.request.completed:
                    self.sent_continue = False
                    if not self.request.empty:
                        self.asked = True
                        guard, asked = channel.server.guard, self.request
                        self.known = self.known or guard.is_shown(
                            asked.headers, getattr(asked, "query", "")
                        )
                        channel.requests.append(self.request)
                        channel.server.add_task(channel)
                    self.request = None
                data = data[taken:]
        return True

    def service(self) -> None:
        """Answers its request, unless it was closed meanwhile."""
        if self.connected:
            super().service()

    def send(self, data: bytes, do_close: bool = True) -> int:
        """Gives bytes to the client; how many it has taken."""
        taken = int(super().send(data, do_close))
        self._read += taken
        return taken

    def readable(self) -> bool:
        """Whether more may come; asked at least once a second."""
        if self._pipelines and not self.requests:
            self.close_when_flushed = True
        if self.ends or self._is_late(time.time()):
            self.handle_close()
        return self.connected and bool(super().readable())

    def writable(self) -> bool:
        """Whether there is something to send, or to close."""
        return self.connected and bool(super().writable())

    def _is_late(self, now: float) -> bool:
        if self.total_outbufs_len:
            if not self._answered:
                self._answered, self._read = now, 0
            lasted = now - self._answered
            silent = now - max(self.last_activity, self._answered)
            return silent > READING or self._read < SLOWEST * (lasted - READING)
        self._answered = 0.0
        if self.requests:
            return False
        if self.request is not None:
            return now - self._began > ASKING
        return now - self.last_activity > IDLE
