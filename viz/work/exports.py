"""The exported files of one server: each is made by a job in a private folder of its own, and lies
there until it has been fetched. Never writes anywhere else.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from core.errors import ServerError
from viz.format.jsontext import to_json
from viz.format.schema import SUFFIX
from viz.share import webpage
from viz.views.run import Run
from viz.work.jobs import Jobs

KEPT: Final = 2
"""Files that nobody has fetched that stay, the youngest ones."""
_FILE: Final = "run.html"
_EMULATED: Final = "emulated.jsonl"


class Exports:
    """The files; `close` removes them."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._lock = threading.Lock()
        self._folders: dict[int, TemporaryDirectory[str]] = {}

    def start(
        self,
        run: Run,
        kernels: Collection[int],
        redact: bool,
    ) -> int:
        """Begins to export the run, or these kernels of it, with what was compiled here; the job.
        Its result is {"leftOut"}: sentences that say what the file does not hold. A job that fails
        or is cancelled leaves no file. Raises ServerError while too many jobs have begun."""
        # readable by this user only (mode 0700)
        folder = TemporaryDirectory(prefix="uopviz-export-", ignore_cleanup_errors=True)
        request = {
            "job": "export",
            "trace": str(run.path.absolute()),
            "kernels": sorted(kernels),
            "redact": redact,
            "compiled": _copies(run, Path(folder.name)),
            "emulated": _emulated(run, Path(folder.name) / _EMULATED),
            "page": str(webpage.DIST),
            "to": str(Path(folder.name) / _FILE),
        }
        made = False

        def finish(answer: object) -> object:
            nonlocal made
            made = True
            return answer

        def end() -> None:
            if not made:
                folder.cleanup()

        try:
            job = self._jobs.start(request, finish, end)
        except ServerError:
            folder.cleanup()
            raise
        with self._lock:
            self._folders[job] = folder
            ended = [number for number in self._folders if not self._runs(number)]
            for number in ended[: max(0, len(ended) - KEPT)]:
                self._folders.pop(number).cleanup()
        return job

    def take(self, job: int) -> bytes | None:
        """The file that a job has made, which is removed; None where there is none, or no more."""
        found = self._jobs.get(job)
        if found is None or found.state != "done":
            return None
        with self._lock:
            folder = self._folders.pop(job, None)
        if folder is None:
            return None
        with folder:
            return (Path(folder.name) / _FILE).read_bytes()

    def close(self) -> None:
        """Removes all files, once the jobs have been ended."""
        with self._lock:
            for folder in self._folders.values():
                folder.cleanup()
            self._folders.clear()

    def _runs(self, job: int) -> bool:
        found = self._jobs.get(job)
        return found is not None and found.state == "running"


def _emulated(run: Run, path: Path) -> str:
    """Writes what was emulated, a kernel's number and an emulation in each line."""
    with path.open("wb") as file:
        for pair in run.emulations:
            file.write(to_json(list(pair)) + b"\n")
    return str(path)


def _copies(run: Run, folder: Path) -> list[tuple[int, str]]:
    """The files of what was compiled on request, copied to `folder`, with their numbers: those of
    the run may have to go meanwhile."""
    copies: list[tuple[int, str]] = []
    for one in run.compilations:
        path = folder / f"{one.number}{SUFFIX}"
        with suppress(FileNotFoundError):  # it has just gone
            shutil.copyfile(one.file.path, path)
            copies.append((one.number, str(path)))
    return copies
