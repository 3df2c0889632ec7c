"""Which pages of a trace are in SQLite's write-ahead log beside it.

A process that is killed during a checkpoint leaves a file that is shorter than its header says, and
the rest of it in the log. Reads the headers of frames only, and at most MAX_FRAMES of them.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from viz.files.regular import open_regular

MAX_FRAMES: Final = 1 << 17
_MAGIC: Final = (0x377F0682, 0x377F0683)
_HEADER: Final = 32
_FRAME: Final = 24


def pages_in_log(trace: Path, page_size: int) -> set[int]:
    """The numbers of the pages that the log of a trace holds; none where there is no log. Frames
    left over from before the last checkpoint have another salt and do not count."""
    found: set[int] = set()
    with suppress(OSError), open_regular(Path(f"{trace}-wal")) as log:
        head = log.read(_HEADER)
        if len(head) < _HEADER or int.from_bytes(head[:4]) not in _MAGIC:
            return found
        salt = head[16:24]
        for _ in range(MAX_FRAMES):
            frame = log.read(_FRAME)
            if len(frame) < _FRAME or frame[8:16] != salt:
                break
            found.add(int.from_bytes(frame[:4]))
            log.seek(page_size, 1)
    return found
