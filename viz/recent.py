"""The traces that a person may want to open next: the youngest ones of the cache.

Names them by their file in that folder and takes no other path from a page. Reads only what the
list shows; a file that is no trace is left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from core.errors import ServerError, TraceError
from viz.environment import cache_folder, recent
from viz.store import Store

MAX_LISTED: Final = 8


def recent_traces(open_now: Path) -> list[dict[str, Any]]:
    """The youngest traces but the one that is open, in the form `RecentTrace` of the page."""
    found: list[dict[str, Any]] = []
    for path in recent(cache_folder(), MAX_LISTED + 1):
        if path == open_now or len(found) >= MAX_LISTED:
            continue
        try:
            store = Store(path)
        except TraceError:
            continue
        run = store.run()
        store.close()
        found.append(
            {
                "name": path.name,
                "program": run["name"],
                "started": run["started"],
                "steps": run["totals"]["steps"],
                "kernels": run["totals"]["kernels"],
                "bytes": run["bytes"],
                "live": run["live"],
            }
        )
    return found


def cached_trace(name: str) -> Path:
    """The path of a trace that `recent_traces` lists. Raises ServerError for any other name."""
    for path in recent(cache_folder(), 2 * MAX_LISTED):
        if path.name == name:
            return path
    raise ServerError(
        "there is no such trace in the cache", where=name, hint="reload the page to see what is"
    )
