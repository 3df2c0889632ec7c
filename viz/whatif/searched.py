"""The optimisations of a kernel of a trace by beam search, in a worker.

A search ends by itself when its time is over, with the best that it has found. Never searches in
this process.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any, Final

from viz.views.store import Store
from viz.whatif.isolated import TRACE, work
from viz.whatif.subject import subject_of

Data = dict[str, Any]
PATIENCE: Final = 180.0
"""Seconds that the worker may take beside the search: what it imports, and the one program that is
being tried when the time is over, which have limits of their own (`core/beam/isolated.py`)."""


def searched_opts(
    store: Store,
    kernel: int,
    width: int,
    target: str = "",
    *,
    seconds: float,
    executor: Executor | None = None,
) -> Data:
    """What a beam search of `width` finds for kernel `kernel` of a run, on the device of this
    machine for `target` ("": that of the recording): `FoundOpts` of docs/json.md. Half of `seconds`
    is for the search. With an `executor`, `isolated.work` runs there. Raises ServerError where the
    kernel cannot be searched."""
    subject = subject_of(store, kernel)
    request: Data = {
        "job": "search",
        "graph": subject.graph,
        "flags": dict(subject.flags),
        "device": "",
        "target": target or subject.target,
        "width": width,
        "seconds": seconds / 2,
    }
    if executor is None:
        found = work(request, seconds + PATIENCE)
    else:
        found = executor.submit(work, request, seconds + PATIENCE).result()
    found.pop(TRACE)
    return found
