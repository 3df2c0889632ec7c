"""The viewer: the process that serves the page of a recorded program, and goes on after it.

It has a session of its own, so that neither Ctrl-C nor a closed terminal ends it, and it keeps
nothing open that the program was given: a reader of the program's output does not
wait for the page. The program never waits for the viewer.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Final

from core.errors import TraceError
from core.isolation.child import python_path
from viz.environment import cache_folder, private_folder, wished_port
from viz.server.connections.listen import TOKEN, listen_for, new_token
from viz.server.connections.staying import WAITING
from viz.settings import UOPVIZ_RUN, UOPVIZ_STAY
from viz.share.webpage import BUILD, NOT_BUILT, is_built
from viz.terminal import say

LOG: Final = "viewer.log"
"""In the cache: what viewers have to say. They have no terminal."""
_LOG_BYTES: Final = 1 << 20
"""A log that is larger begins anew with the next viewer."""
_OWN: Final = ("VIZ", "VIZ_TRACE", UOPVIZ_RUN)
"""Settings of the program's recording, which are not the viewer's."""


class Viewer:
    """The viewer of the trace at `path`, which this process records."""

    def __init__(self, path: Path) -> None:
        made, notice = listen_for(path, None, wished_port())
        if notice:
            say(notice)
        if not is_built():
            say(f"{NOT_BUILT}; in a checkout, run: {BUILD}")
        token, port = new_token(), int(made.getsockname()[1])
        self._log = _log_file()
        with made:
            self._process = _spawn(path, made, token, self._log)
        self.address = f"http://127.0.0.1:{port}/?token={token}"

    def leave(self) -> str:
        """To be called at the end of the program: what becomes of the page, in a sentence."""
        code = self._process.poll()
        if code is not None:
            why = "" if self._log is None else f"; {self._log} says why"
            return f"the page is gone: its server ended with exit code {code}{why}"
        if not UOPVIZ_STAY.value:
            self._process.terminate()
            self._process.wait()
            return ""
        # it goes on without this process; Popen would warn of a child that is left behind
        self._process.returncode = 0
        # a page that has not been opened makes way for those of later programs (`staying`)
        until = f"until it has been closed for {_duration()}, or {WAITING} later ones wait unopened"
        return f"the page stays {until}: {self.address}"


def _duration() -> str:
    seconds = UOPVIZ_STAY.value
    number, unit = (seconds // 60, "minute") if seconds % 60 == 0 else (seconds, "second")
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"


def _log_file() -> Path | None:
    """The log, which may be appended to; None where there is no place for it."""
    try:
        folder = cache_folder()
        private_folder(folder)
        path = folder / LOG
        if path.exists() and path.stat().st_size > _LOG_BYTES:
            path.unlink()
        path.touch(0o600)
    except (TraceError, OSError):
        return None
    return path


def _spawn(
    path: Path, made: socket.socket, token: str, log: Path | None
) -> subprocess.Popen[bytes]:
    # -P: the program's own folder may have a viz.py
    command = [sys.executable, "-P", "-m", "viz", "serve", str(path), "--live"]
    command += ["--fd", str(made.fileno()), "--parent", str(os.getpid())]
    kept = {name: value for name, value in os.environ.items() if name not in _OWN}
    kept["PYTHONPATH"] = python_path()
    with open(os.devnull if log is None else log, "ab") as said:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env=kept | {TOKEN: token},
            pass_fds=(made.fileno(),),
            start_new_session=True,
        )
