"""Runs the application on 127.0.0.1 with a production server, on a port of its own.

Never listens on any other address.
"""

from __future__ import annotations

import socket
import threading
from typing import Any, Final, cast

from waitress.server import create_server

from core.errors import ServerError
from viz.server.app import create_app
from viz.server.security import Guard
from viz.server.state import State
from viz.store import Store

HOST: Final = "127.0.0.1"
THREADS: Final = 6


class Server:
    """One server. `port` 0 takes any free one. Raises ServerError where `port` is in use, or, with
    `or_next`, takes the next free one and keeps the sentence for it in `notice`."""

    def __init__(self, store: Store, port: int = 0, or_next: bool = False) -> None:
        self.notice = ""
        self._socket = self._listen(port, or_next)
        self.port = int(self._socket.getsockname()[1])
        self.guard = Guard(port=self.port)
        app = create_app(store, self.guard)
        self.state = cast("State", app.extensions["uopviz"])
        self._server: Any = create_server(
            app,
            sockets=[self._socket],
            threads=THREADS,
            ident=None,
            clear_untrusted_proxy_headers=True,
        )
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address to open, with the token."""
        return f"http://{HOST}:{self.port}/?token={self.guard.token}"

    def run(self) -> None:
        """Serves until `close`, or until interrupted."""
        self._server.run()

    def start(self) -> Server:
        """Serves on a thread of its own."""
        self._thread = threading.Thread(target=self.run, name="uopviz server", daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """Ends serving, the jobs and the store."""
        self._server.close()
        self.state.close()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _listen(self, port: int, or_next: bool) -> socket.socket:
        for candidate in range(port, port + 50 if or_next and port else port + 1):
            made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                made.bind((HOST, candidate))
            except (OSError, OverflowError):
                made.close()
                continue
            made.listen(64)
            if candidate != port:
                self.notice = f"Port {port} is in use; using {candidate}."
            return made
        raise ServerError(
            f"port {port} cannot be used",
            hint="something listens on it already; leave --port out to take any free one",
        )
