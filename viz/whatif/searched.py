"""The optimisations of a kernel of a trace by beam search, in a worker.

Never searches in this process.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from viz.views.store import Store
from viz.whatif.isolated import TRACE, work
from viz.whatif.subject import subject_of

Data = dict[str, Any]


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
        found = work(request, seconds)
    else:
        found = executor.submit(work, request, seconds).result()
    found.pop(TRACE)
    return found
