"""All output to a terminal: everything that a command or the recorder prints goes through here.

Traces, exported files, paths and messages of the system may hold control characters; these are
shown as escapes. Nothing else in viz prints.
"""

from __future__ import annotations

import json
import sys
from typing import Any


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
