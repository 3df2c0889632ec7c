"""Where traces go by default, and how many are kept.

Old traces are removed to stay below a size limit; those of running programs never are.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Final

from core.helpers import VIZ_TRACE, Flag, Text, wrong_setting
from viz.schema import SUFFIX

VIZ_CACHE_MB: Final = Flag(
    "VIZ_CACHE_MB", 2000, "megabytes of old traces that are kept in the cache", high=1 << 30
)
UOPVIZ_PORT: Final = Text("UOPVIZ_PORT", "", "the port that the page is served on, if it is free")
UOPVIZ_EDITOR: Final = Text(
    "UOPVIZ_EDITOR", "", "the editor for links to files, such as 'code -g {file}:{line}'"
)
UOPVIZ_RUN: Final = "UOPVIZ_RUN"
"""Set by a recording process for those that it starts: "<run>:<path of the main trace>"."""
_YOUNG: Final = 600.0
"""Seconds in which a trace was changed last that is taken to be in use."""


def wished_port() -> int:
    """The port of UOPVIZ_PORT; 0 where it is not set. Raises EnvError where it is none."""
    text = UOPVIZ_PORT.value or "0"
    if not (text.isascii() and text.isdigit() and int(text) < 1 << 16):
        raise wrong_setting(
            f"UOPVIZ_PORT={text!r} is not a port",
            "UOPVIZ_PORT takes an integer 0..65535; 0 is any free port",
        )
    return int(text)


def cache_folder() -> Path:
    """Where the platform keeps what can be made again."""
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA", str(Path.home())))
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "uopviz"


def trace_path() -> Path:
    """Where the trace of this process goes: VIZ_TRACE, or a new file in the cache."""
    chosen = VIZ_TRACE.value
    if chosen:
        return Path(chosen).absolute()
    script = PurePath(sys.argv[0] if sys.argv and sys.argv[0] not in ("", "-c", "-m") else "python")
    stem = re.sub(r"[^\w.-]", "_", script.stem)[:60]
    return cache_folder() / f"{stem}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}{SUFFIX}"


def prune(folder: Path, limit: int) -> list[Path]:
    """Removes the oldest traces until those left take at most `limit` bytes; what it removed."""
    traces = sorted(_traces(folder), key=lambda item: item[1], reverse=True)
    total, removed = 0, list[Path]()
    for path, changed, size in traces:
        total += size
        if total > limit and time.time() - changed > _YOUNG:
            for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
                try:
                    name.unlink(missing_ok=True)
                except OSError:
                    continue
            removed.append(path)
    return removed


def recent(folder: Path, count: int) -> list[Path]:
    """The youngest traces, without those of further processes of a run."""
    traces = sorted(_traces(folder), key=lambda item: item[1], reverse=True)
    return [p for p, _, _ in traces if re.search(r"\.p\d+(-\d+)?$", p.stem) is None][:count]


def _traces(folder: Path) -> Iterator[tuple[Path, float, int]]:
    """(path, when it was changed last, bytes) of every trace in a folder."""
    for path in folder.glob(f"*{SUFFIX}"):
        try:
            found = path.stat()
            log = Path(f"{path}-wal")
            more = log.stat() if log.exists() else None
        except OSError:
            continue
        changed = max(found.st_mtime, more.st_mtime if more else 0.0)
        yield path, changed, found.st_size + (more.st_size if more else 0)
