"""Where traces go by default, and how many are kept.

Old traces are removed to stay below a size limit; those of running programs never are.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Final

from core.errors import FolderError, TraceError
from core.helpers import VIZ_TRACE, wrong_setting
from core.private import cache_root, kept_folder, make_private
from viz.files.alive import family_run
from viz.files.claim import in_use, remove_trace
from viz.files.parts import PROCESS, VARIANTS
from viz.format.schema import SUFFIX
from viz.settings import UOPVIZ_PORT

_YOUNG: Final = 600.0
"""Seconds in which a trace was changed last that is taken to be in use."""
_FURTHER: Final = re.compile(PROCESS.pattern + "$")
"""How the name of a trace of a further process of a run ends."""
Trace = tuple[Path, float, int]
"""Where a trace is, when it was changed last, and its bytes with those of its log."""


def wished_port() -> int | None:
    """The port of UOPVIZ_PORT; None where it is not set. Raises EnvError where it is none."""
    text = UOPVIZ_PORT.value
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and int(text) < 1 << 16):
        raise wrong_setting(
            f"UOPVIZ_PORT={text!r} is not a port",
            "UOPVIZ_PORT takes an integer 0..65535; 0 is any free port",
        )
    return int(text)


def cache_folder() -> Path:
    """Where the platform keeps what can be made again. Raises TraceError where the user has no such
    folder."""
    with _about_traces():
        return cache_root()


def in_cache(path: Path) -> bool:
    """Whether a trace lies in the folder of the cache."""
    try:
        return path.parent == cache_folder()
    except TraceError:
        return False


def private_folder(folder: Path) -> None:
    """Creates a folder in the cache for its owner only, or restricts an existing one of the user to
    that. Raises TraceError where others could have put something there, and OSError."""
    with _about_traces():
        make_private(folder)


@contextmanager
def _about_traces() -> Generator[None]:
    """Says of a folder that is not the user's own what to do to record."""
    try:
        yield
    except FolderError as error:
        hint = f"choose a file with VIZ_TRACE, or {error.hint}"
        raise TraceError(error.what, error.where, hint) from error


@functools.cache
def bytecode_folder() -> Path | None:
    """Where workers keep what Python compiles of this project, in a process that was told to keep
    nothing beside it (PYTHONDONTWRITEBYTECODE): each worker would compile all of it again, which
    takes longer than its work. None where Python keeps it by itself, or there is no such folder."""
    return kept_folder("bytecode") if sys.dont_write_bytecode else None


def absolute(path: str | Path) -> Path:
    """The path from the root on. Raises TraceError where it begins at a working folder that has
    been removed."""
    try:
        return Path(path).absolute()
    except OSError as error:
        raise TraceError(
            f"there is no working folder that {path} could be in: {error.strerror}",
            where=str(path),
            hint="name a file from the root on",
        ) from error


def trace_path() -> Path:
    """Where the trace of this process goes: VIZ_TRACE, or a new file in the cache. Raises
    TraceError where there is no such place."""
    chosen = VIZ_TRACE.value
    if chosen:
        return absolute(chosen)
    script = PurePath(sys.argv[0] if sys.argv and sys.argv[0] not in ("", "-c", "-m") else "python")
    stem = re.sub(r"[^\w.-]", "_", script.stem)[:60]
    if family := family_run():  # all processes of such a program are one run
        return cache_folder() / f"{stem}-{family}{SUFFIX}"
    return cache_folder() / f"{stem}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}{SUFFIX}"


def prune(folder: Path, limit: int) -> list[Path]:
    """Removes the oldest runs until those left take at most `limit` bytes; the traces that it
    removed. A run that a process still writes to stays whole, and so does what is no trace."""
    runs: dict[str, list[Trace]] = {}
    for found in _traces(folder):
        runs.setdefault(_FURTHER.sub("", found[0].stem), []).append(found)
    total, removed = 0, list[Path]()
    for run in sorted(runs.values(), key=lambda run: max(t[1] for t in run), reverse=True):
        total += sum(size for _, _, size in run)
        young = time.time() - max(changed for _, changed, _ in run) <= _YOUNG
        if total > limit and not young and not any(in_use(path) for path, _, _ in run):
            # the main trace last: the others are found only through it
            further_first = sorted(run, key=lambda t: _FURTHER.search(t[0].stem) is None)
            gone = [path for path, _, _ in further_first if remove_trace(path)]
            for path in gone:  # a link is left alone
                shutil.rmtree(path.with_suffix(VARIANTS), ignore_errors=True)
            removed += gone
    return removed


def recent(folder: Path, count: int) -> list[Path]:
    """The youngest traces, without those of further processes of a run."""
    traces = sorted(_traces(folder), key=lambda item: item[1], reverse=True)
    return [p for p, _, _ in traces if _FURTHER.search(p.stem) is None][:count]


def _traces(folder: Path) -> Iterator[Trace]:
    """Every trace in a folder."""
    for path in folder.glob(f"*{SUFFIX}"):
        try:
            found = os.stat(path, follow_symlinks=False)
            log = Path(f"{path}-wal")
            more = log.stat() if log.exists() else None
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode):
            changed = max(found.st_mtime, more.st_mtime if more else 0.0)
            yield path, changed, found.st_size + (more.st_size if more else 0)
