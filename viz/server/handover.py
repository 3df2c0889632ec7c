"""Opens the page in the user's browser without showing anybody the token of its address.

The command line of a process is there for every user of the machine to read. So the browser is
given the name of a file, which only the owner can read and which leads on to the address. The file
is removed once the page has been asked for. Never gives the address itself to another program.
"""

from __future__ import annotations

import html
import os
import threading
import webbrowser
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

WAIT: Final = 60.0
"""Seconds after which the file is removed, even where no browser has come."""
_PAGE: Final = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<meta http-equiv="refresh" content="0;url={address}">
<title>uopviz</title>
<a href="{address}">Go on to uopviz</a>
"""


@contextmanager
def browser_at(address: str, visited: threading.Event) -> Generator[Path]:
    """Opens the browser at `address`; the file that is handed over. It is there until `visited` is
    set, for WAIT seconds, or to the end of the block."""
    with TemporaryDirectory(prefix="uopviz-", ignore_cleanup_errors=True) as folder:  # mode 0700
        path = Path(folder) / "open.html"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="utf-8") as file:
            file.write(_PAGE.format(address=html.escape(address)))
        for work, arguments in ((_open, (path,)), (_remove, (path, visited))):
            threading.Thread(target=work, args=arguments, daemon=True).start()
        yield path


def _open(path: Path) -> None:
    webbrowser.open(path.as_uri())  # returns only at its end, where it runs in the terminal


def _remove(path: Path, visited: threading.Event) -> None:
    visited.wait(WAIT)
    path.unlink(missing_ok=True)
