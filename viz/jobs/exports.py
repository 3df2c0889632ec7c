"""The exported files of one server: each is made by a job in a private folder of its own, and lies
there until it has been fetched. Never writes anywhere else.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from core.errors import ServerError
from viz.format.jsontext import to_json
from viz.format.schema import SUFFIX
from viz.jobs.jobs import Jobs
from viz.share import webpage
from viz.views.runs.run import Run
from viz.views.store import Store

KEPT: Final = 2
"""The most unfetched files that are kept, the newest ones."""
_FILE: Final = "run.html"
_EMULATED: Final = "emulated.jsonl"
_CHECKED: Final = "checked.jsonl"


@dataclass(frozen=True)
class ExportHow:
    """How runs are exported. `redact` and `values` as in `export_html`; what is kept of values is
    room of its own. `passes`: with those of the targets whose texts the file shows."""

    redact: bool = False
    values: bool = False
    passes: bool = False


@dataclass(frozen=True)
class Exported:
    """An exported file, and the name that it is saved by, without its ending."""

    name: str
    html: bytes


class Exports:
    """The files; `close` removes them."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._lock = threading.Lock()
        self._folders: dict[int, tuple[str, TemporaryDirectory[str]]] = {}

    def start(
        self, runs: Sequence[Run], kernels: Collection[int], how: ExportHow = ExportHow()
    ) -> int:
        """Begins to export runs, or these kernels of the only one, with what was compiled here; the
        job. Its result is {"leftOut"}: sentences that say what the file does not hold. A job that
        fails or is cancelled leaves no file. Raises ServerError while too many jobs have begun."""
        # readable by this user only (mode 0700)
        folder = TemporaryDirectory(prefix="uopviz-export-", ignore_cleanup_errors=True)
        request = {
            "job": "export",
            "runs": [_request(run, Path(folder.name) / str(i)) for i, run in enumerate(runs)],
            "kernels": sorted(kernels),
            **asdict(how),
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
            self._folders[job] = "-".join(run.path.stem for run in runs), folder
            ended = [number for number in self._folders if not self._runs(number)]
            for number in ended[: max(0, len(ended) - KEPT)]:
                self._folders.pop(number)[1].cleanup()
        return job

    def take(self, job: int) -> Exported | None:
        """The file that a job has made, which is removed; None where there is none, or no more."""
        found = self._jobs.get(job)
        if found is None or found.state != "done":
            return None
        with self._lock:
            kept = self._folders.pop(job, None)
        if kept is None:
            return None
        name, folder = kept
        with folder:
            return Exported(name, (Path(folder.name) / _FILE).read_bytes())

    def close(self) -> None:
        """Removes all files, once the jobs have been ended."""
        with self._lock:
            for _, folder in self._folders.values():
                folder.cleanup()
            self._folders.clear()

    def _runs(self, job: int) -> bool:
        found = self._jobs.get(job)
        return found is not None and found.state == "running"


def _request(run: Run, folder: Path) -> dict[str, object]:
    """What the worker needs to know of a run; what it needs to have lies in `folder`."""
    folder.mkdir()
    checks = run.checks if isinstance(run, Store) else ()
    return {
        "trace": str(run.path.absolute()),
        "held_as": run.held_as,
        "compiled": _copies(run, folder),
        "emulated": _written(run.emulations, folder / _EMULATED),
        "checked": _written(checks, folder / _CHECKED),
    }


def _written(pairs: Iterable[tuple[object, object]], path: Path) -> str:
    """Writes pairs as JSON, one in each line."""
    with path.open("wb") as file:
        for pair in pairs:
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
