"""How long a viewer stays: while its program runs, and then until the page has been closed for
some time.

Of programs that run one after another, few pages are ever opened. Viewers that wait for the first
visit note that in a folder of the user's cache, and all but the youngest end at once. A viewer ends
itself, and never another process.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Final

from core.errors import TraceError
from viz.environment import cache_folder, private_folder
from viz.files.alive import is_alive, is_here, process_info

WAITING: Final = 8
"""Viewers that wait for the first visit to their page at the same time: they take up memory."""
FOLDER: Final = "waiting"
"""In the cache: a note for each of them."""
_LOOKS: Final = 0.5
"""Seconds between looks at the program, the page and the notes."""
_LONGEST: Final = 4096
"""Bytes of a note that are read."""


class Staying:
    """Whether the viewer of a program stays. `last_request`: when the page asked for something,
    `time.monotonic`; `visited`: set once the page has been opened."""

    def __init__(
        self,
        is_running: Callable[[], bool],
        seconds: float,
        last_request: Callable[[], float],
        visited: Event,
    ) -> None:
        self._is_running = is_running
        self._seconds = seconds
        self._last_request = last_request
        self._visited = visited

    def wait(self) -> None:
        """Returns when the viewer is to end."""
        while self._is_running():
            time.sleep(_LOOKS)
        ended = time.monotonic()
        with noted(waiting_folder()) as note:
            while time.monotonic() - max(ended, self._last_request()) < self._seconds:
                if note is not None and self._visited.is_set():
                    note.unlink(missing_ok=True)
                    note = None
                if note is not None and len(younger(note)) >= WAITING:
                    return
                time.sleep(min(_LOOKS, self._seconds))


def waiting_folder() -> Path | None:
    """The folder of the notes; None where the user has no cache."""
    try:
        folder = cache_folder() / FOLDER
        private_folder(folder)
    except (TraceError, OSError):
        return None
    return folder


@contextmanager
def noted(folder: Path | None) -> Generator[Path | None]:
    """A note that this process waits from now on, for the time of the block; None where there can
    be none."""
    note = None
    if folder is not None:
        with suppress(OSError):
            # in order of time; complete before it has its name
            note = folder / f"{time.time_ns():020}-{os.getpid()}"
            draft = note.with_suffix(".new")
            draft.write_text(json.dumps(process_info(False)))
            draft.rename(note)
    try:
        yield note
    finally:
        if note is not None:
            with suppress(OSError):
                note.unlink(missing_ok=True)


def younger(note: Path) -> list[Path]:
    """The notes of viewers of this machine that wait and began to after the one of `note`. Removes
    those of processes that are gone."""
    found: list[Path] = []
    try:
        names = sorted(os.listdir(note.parent))
    except OSError:
        return []
    for name in names:
        other = note.parent / name
        if name == note.name or other.suffix:
            continue
        with suppress(OSError, ValueError):
            with open(other, "rb") as file:
                process = json.loads(file.read(_LONGEST))
            if not is_here(process):
                continue
            if not is_alive(process):
                other.unlink(missing_ok=True)
            elif name > note.name:
                found.append(other)
    return found
