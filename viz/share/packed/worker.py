"""A process that packs passes of a trace, some with each request: `viz/share/packed/passes.py`
asks. Reads the trace once. Never writes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Any, Final

from core.garbage import collector_paused
from viz.share.packed.passes import pack_passes
from viz.views.store import Store
from viz.workers.serve import serve

MEMORY: Final = 6 << 30
"""Bytes that the process may write: a pass may take `viz.budget.MEMORY`, and the trace is read."""


@cache
def _opened(trace: str) -> Store:
    return Store(trace)


def pack_job(request: Mapping[str, Any]) -> Any:
    """The entries of `passes` of a trace: see `Packed`. Raises UopvizError."""
    store = _opened(str(request["trace"]))
    with collector_paused():
        return asdict(pack_passes(store, request["passes"]))


if __name__ == "__main__":
    sys.exit(serve(pack_job, "a pass", MEMORY))
