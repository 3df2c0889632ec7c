"""Jobs that end their worker, which workers of a cluster import by name."""

from __future__ import annotations

import os
import signal
from pathlib import Path

LOST = "lost"
"""What the name of a file begins with whose job ends its worker once."""
POISON = "poison"
"""What the name of a file begins with whose job always ends its worker."""


def size_of(path: Path) -> int:
    """The bytes of a file."""
    mark = path.with_suffix(".mark")
    if path.name.startswith(POISON) or (path.name.startswith(LOST) and not mark.exists()):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return path.stat().st_size
