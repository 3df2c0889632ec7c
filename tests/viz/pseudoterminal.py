"""Commands that run in a terminal of a known size."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def in_terminal(*command: str, columns: int = 40, rows: int = 10, **environment: str) -> str:
    """What a command writes to a terminal of that size."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    process = subprocess.Popen(
        [*command],
        cwd=ROOT,
        env={**kept, "TERM": "xterm", **environment},
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    written = bytearray()
    try:
        while chunk := os.read(leader, 65536):
            written += chunk
    except OSError:  # closed by its last writer
        pass
    finally:
        os.close(leader)
    assert process.wait(60) >= 0
    return written.decode()
