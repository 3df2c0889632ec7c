"""Memory budget of what is kept of a run; it grows with the files of the run."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from viz.budget import Budget

ROOM: Final = 1 << 27
"""Bytes that all that is kept of the files of a run may take, ROOM_PER_BYTE more for each byte of
them, and never more than MOST. The writer's own take about 20 per byte; a block made to exhaust
memory, a million."""
ROOM_PER_BYTE: Final = 250
MOST: Final = 1 << 32
SECONDS: Final = 20.0
"""Processor time of reading what is new in a file, and SECONDS_PER_BYTE more for each byte of it:
ten times of what the writer's take."""
SECONDS_PER_BYTE: Final = 4e-6


class Room:
    """The memory that what is kept of all files of a run may take."""

    def __init__(self) -> None:
        self.budget = Budget("what is kept of the trace", 0, 1 << 62)
        self._sizes: dict[Path, int] = {}
        self._total = 0

    def grow(self, path: Path, size: int) -> None:
        """A file has `size` bytes now, which are going to be read. What is kept of a file stays
        until the run is closed."""
        self._sizes[path] = max(size, self._sizes.get(path, 0))
        total = min(MOST, ROOM + ROOM_PER_BYTE * sum(self._sizes.values()))
        self.budget.memory += total - self._total
        self._total = total
        self.budget.seconds = SECONDS + SECONDS_PER_BYTE * size
