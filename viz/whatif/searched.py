"""The optimisations of a kernel of a trace by beam search, in a worker.

A search ends by itself when its time is over, with the best that it has found. Never searches in
this process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, Final

from viz.views.store import Store
from viz.whatif.isolated import TRACE, work_at
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
    cut_off: Callable[[Data], None] = lambda best: None,
) -> Data:
    """What a beam search of `width` finds for kernel `kernel` of a run, on the device of this
    machine for `target` ("": that of the recording): `FoundOpts` of docs/json.md. Half of `seconds`
    is for the search. With an `executor`, `isolated.work` runs there. `cut_off` gets the same of
    the best that was found before an interrupt, where there is one, from a worker of this machine.
    Raises ServerError where the kernel cannot be searched."""
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
    found = work_at(request, seconds + PATIENCE, executor, lambda parts: _best(parts, cut_off))
    found.pop(TRACE)
    return found


def _best(parts: Sequence[Data], cut_off: Callable[[Data], None]) -> None:
    if parts:
        cut_off(parts[-1])
