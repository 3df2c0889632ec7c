"""The files that a run names: which of them may be read today, and how they have changed.

A file is opened where a recording of this user vouches for it (`viz/vouching.py`), and, for a run
of a compiler that is installed, where it is a file of that; no other one is. Never says what is in
a file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from viz.files.sources import FileState, file_state, lines_today
from viz.views.runs.process import Process
from viz.vouching import is_vouched

_SEPARATOR: Final = re.compile(r"[/\\]")


class NamedFiles:
    """What the files of a run are today; each is read once."""

    def __init__(self, processes: Sequence[Process]) -> None:
        self._sources = processes[0].dialect.dialect.sources
        self._digests: dict[str, str] = {}
        """Of files that this user vouches for, in their last state of the run."""
        self.of_program: set[str] = set()
        """Files of which the run has lines, not only rules."""
        self._lines: dict[str, list[str] | None] = {}
        for process in processes:
            for part in process.file.user_lines:
                if part.text:
                    self.of_program.add(part.file)
                if is_vouched(part.file, part.digest, part.proof):
                    self._digests[part.file] = part.digest

    def states(self) -> dict[str, FileState]:
        """Of the user's files by path, as far as it can be told."""
        found: dict[str, FileState] = {}
        for path, digest in self._digests.items():
            if (state := file_state(path, digest)) is not None:
                found[path] = state
        return found

    def lines(self, path: str) -> list[str] | None:
        """The lines of a file of the run today; none where it is gone, None where it may not or
        cannot be read."""
        if path not in self._lines:
            readable = self.readable(path)
            self._lines[path] = None if readable is None else lines_today(readable)
        return self._lines[path]

    def readable(self, path: str) -> Path | str | None:
        """The file that is read for a file of the run; None where none may be."""
        own = own_file(path, self._sources)
        return own if own is not None else path if path in self._digests else None


def own_file(path: str, sources: Path | None) -> Path | None:
    """The file of the compiler in the folder `sources` that has the place of `path` in another
    installation of it, whether it is there or not; None for a file that is none of its."""
    parts = _SEPARATOR.split(path)
    if sources is None or sources.name not in parts or not path.endswith(".py") or ".." in parts:
        return None
    inside = parts[len(parts) - parts[::-1].index(sources.name) :]
    if not inside or not (sources / inside[0]).exists():
        return None
    return sources.joinpath(*inside)
