"""All output to a terminal: everything that a command or the recorder prints goes through here.

Traces, exported files, paths and messages of the system may hold control characters; these are
shown as escapes. Nothing else in viz prints.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from typing import Any, Final

_MOMENT: Final = 0.5
"""Seconds after which progress is worth a line."""
_OFTEN: Final = 0.1
"""Seconds between two states of that line."""


def clean(text: object) -> str:
    """Text for a terminal, in one line, with control characters as escapes."""
    return "".join(c if c.isprintable() or c == " " else repr(c)[1:-1] for c in str(text))


def put_line(line: str, flush: bool = False) -> None:
    """Prints one line; tabs, which separate columns, stay."""
    print("\t".join(map(clean, line.split("\t"))), flush=flush)


def put_json(data: Any) -> None:
    """Prints JSON in one line of ASCII."""
    print(json.dumps(data, default=repr).replace("\x7f", "\\u007f"))


def say(text: str, name: bool = True) -> None:
    """Prints one line to standard error, after the name of this program unless not `name`."""
    print(f"{'uopviz: ' if name else ''}{clean(text)}", file=sys.stderr, flush=True)


class Progress:
    """One line on standard error that says how far a command is, where that is a terminal; it comes
    after a moment, and goes with `end`."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._is_shown = sys.stderr.isatty()
        self._next = time.monotonic() + _MOMENT
        self._drawn = False

    def __call__(self, share: float, what: str) -> None:
        """Says how much is done, 0 to 1, and what is next."""
        now = time.monotonic()
        if self._is_shown and now >= self._next:
            self._next, self._drawn = now + _OFTEN, True
            width = shutil.get_terminal_size().columns - 1
            line = clean(f"{self._what} {share:4.0%}  {what}")[:width]
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Takes the line away."""
        if self._drawn:
            self._drawn = False
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
