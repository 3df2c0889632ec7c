"""Runs the application on a listening socket with a production server.

Never opens a socket itself: `listen.py` does, on the loopback address only.
"""

from __future__ import annotations

import logging
import select
import socket
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, cast

from waitress.server import create_server

from viz.fleet.listed import Fleet
from viz.jobs.jobs import Elsewhere
from viz.server.app import MAX_REQUEST, create_app
from viz.server.connections.channel import MOST, Channel
from viz.server.connections.dispatch import Dispatcher
from viz.server.connections.listen import HOST, listen, new_token
from viz.server.connections.log import quieten
from viz.server.security import Guard
from viz.server.state import State
from viz.views.runs.run import Run

THREADS: Final = 6
SWITCH: Final = 0.001
"""Seconds after which a thread that makes a long answer lets others go on."""
MAX_HEADER: Final = 1 << 15
IN_MEMORY: Final = 1 << 26
"""Bytes of answers that a client has not read yet; more go to a temporary file."""
TAKEN: Final = 32
"""New connections that are taken at once; far fewer than there may be."""
UNREAD: Final = 1 << 31
"""Beyond this a thread waits for the client to read. Below it, clients that stop reading cost
memory, but never a thread that others need."""


class Server:
    """One server of a run and those `beside` it, on `sock`, or on any free port. `token`: as given,
    or a new one. `cluster` does jobs in place of this machine, `fleet` is a folder of packed
    runs."""

    def __init__(
        self,
        store: Run,
        sock: socket.socket | None = None,
        token: str | None = None,
        beside: Sequence[Run] = (),
        cluster: Elsewhere | None = None,
        fleet: Fleet | None = None,
    ) -> None:
        sock = sock if sock is not None else listen(0)[0]
        self.port = int(sock.getsockname()[1])
        self.guard = Guard(token or new_token(), self.port)
        app = create_app(store, self.guard, beside, cluster, fleet)
        self.state = cast("State", app.extensions["uopviz"])
        quieten(logging.getLogger("waitress"))
        quieten(app.logger)
        self._server: Any = create_server(
            app,
            _dispatcher=Dispatcher(THREADS),
            sockets=[sock],
            max_request_body_size=MAX_REQUEST,  # of anybody: the body is read before any check
            outbuf_overflow=IN_MEMORY,
            outbuf_high_watermark=UNREAD,
            max_request_header_size=MAX_HEADER,
            connection_limit=8 * MOST,  # never reached: `channel.py` makes room
            backlog=4 * MOST,
            asyncore_use_poll=hasattr(select, "poll"),
            ident=None,
            log_socket_errors=False,  # anybody can cause them
            clear_untrusted_proxy_headers=True,
        )
        self._server.channel_class = Channel
        self._server.guard = self.guard
        self._accept = self._server.handle_accept
        self._server.handle_accept = self._accept_some
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address to open, with the token."""
        return f"http://{HOST}:{self.port}/?token={self.guard.token}"

    def run(self) -> None:
        """Serves until interrupted, or until `close` on another thread."""
        sys.setswitchinterval(SWITCH)
        self._server.run()

    def start(self) -> Server:
        """Serves on a thread of its own."""
        self._thread = threading.Thread(target=self.run, name="uopviz server", daemon=True)
        self._thread.start()
        return self

    def _accept_some(self) -> None:
        """Takes connections that wait: between two looks at all sockets more than one, so that the
        page's does not wait long behind those of others."""
        for _ in range(TAKEN):
            self._accept()  # nothing, where none waits

    def close(self) -> None:
        """Ends serving, the jobs and the runs."""
        self._server.task_dispatcher.shutdown(cancel_pending=True, timeout=2)
        for channel in [*self._server.active_channels.values()]:
            with suppress(OSError, AttributeError):  # it may be closing just now
                channel.socket.shutdown(socket.SHUT_RDWR)  # its thread sees the end, and closes it
        self._server.close()
        self.state.close()
        if self._thread is not None:
            self._thread.join(timeout=5)
