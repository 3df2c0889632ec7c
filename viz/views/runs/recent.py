"""The traces that a person may want to open next: the youngest ones of the cache.

Names them by their file in that folder and takes no other path from a page. Reads only what the
list shows; a file that is no trace is left out.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from core.errors import ServerError, TraceError
from viz.environment import cache_folder, recent
from viz.views.store import Store

MAX_LISTED: Final = 8


_known: dict[Path, tuple[tuple[int, ...], dict[str, Any] | None]] = {}
"""What was said of a file in this state; the list is asked for again and again."""


def recent_traces(open_now: Path) -> list[dict[str, Any]]:
    """The youngest traces, in the form `RecentTrace` of the page; the one that is open says so."""
    paths = recent(cache_folder(), MAX_LISTED)
    for path in _known.keys() - {*paths}:
        _known.pop(path, None)
    found: list[dict[str, Any]] = []
    for path in paths:
        if (entry := _entry(path)) is not None:
            found.append({**entry, "open": path == open_now})
    return found


def _entry(path: Path) -> dict[str, Any] | None:
    """A trace in the list; None for what is no trace."""
    state = _state(path)
    known = _known.get(path)
    if known is not None and known[0] == state and not (known[1] or {}).get("live"):
        return known[1]
    entry = _read(path)
    _known[path] = state, entry
    return entry


def _state(path: Path) -> tuple[int, ...]:
    """Changes whenever the trace or its log does."""
    found: list[int] = []
    for name in (path, Path(f"{path}-wal")):
        with suppress(OSError):
            status = name.stat()
            found += (status.st_ino, status.st_size, status.st_mtime_ns)
    return tuple(found)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        store = Store(path)
    except TraceError:
        return None
    run = store.run()
    store.close()
    return {
        "name": path.name,
        "program": run["name"],
        "started": run["started"],
        "steps": run["totals"]["steps"],
        "kernels": run["totals"]["kernels"],
        "bytes": run["bytes"],
        "live": run["live"],
    }


def cached_trace(name: str) -> Path:
    """The path of a trace that `recent_traces` lists. Raises ServerError for any other name."""
    for path in recent(cache_folder(), 2 * MAX_LISTED):
        if path.name == name:
            return path
    raise ServerError(
        "there is no such trace in the cache", where=name, hint="reload the page to see what is"
    )
