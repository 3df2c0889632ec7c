"""The lineages of a run: where the nodes of its schedules and kernels come from, and what they
become.

Each is worked out by `lineage.py` within one file, a few are kept. Never changes the run.
"""

from __future__ import annotations

import threading
from typing import Any, Final

from viz.budget import answering, take
from viz.views.kernels.compiled import Compilation
from viz.views.nodes.lineage import Lineage, maker
from viz.views.runs.process import Process
from viz.views.runs.runfiles import RunFiles

KEPT: Final = 6
"""Lineages of one process that are kept."""


class Lineages:
    """Those of the run in `files`; `lock` is held while one is worked on."""

    def __init__(self, files: RunFiles, lock: threading.Lock) -> None:
        self._files, self._lock = files, lock

    def of(self, scope: int, seconds: float) -> dict[str, Any] | None:
        """See `Store.lineage`. Raises BudgetError."""
        files = self._files
        with files.lock:
            found = files.find(scope, lambda f: f.contexts) or files.find(
                scope, lambda f: f.rewrites
            )
        if found is None:
            return None
        process, entry = found
        with self._lock:
            lineages = process.lineages
            made = lineages.pop(entry.id, None)
            if made is None or made.is_stale():
                made = Lineage(process.file, entry.id)
            lineages[entry.id] = made
            while len(lineages) > KEPT:
                lineages.pop(next(iter(lineages)))
            if not made.work(seconds):
                return {"done": False, "progress": made.progress}
            with answering("the history of this scope"):
                data = made.data(process.numbers, files.place_of(process))
                self._link(process, data)
            return {"done": True, **data}

    def _link(self, process: Process, data: dict[str, Any]) -> None:
        """The lineage of a compilation begins where that of its kernel does; and that of a schedule
        continues in everything that its kernels were compiled to."""
        files = self._files
        if isinstance(process, Compilation):
            found = files.find(process.kernel, lambda f: f.contexts)
            if found is not None:
                of, kernel = found
                data["from"] = maker(of.file, process.ast, kernel.id, of.id)
        for kernel in [*data["kernels"]]:
            for one in files.compilations.of_kernel(kernel["scope"]):
                first = one.first_rewrite()
                if first is not None:
                    take(len(kernel["node"]), 20 * len(kernel["node"]))
                    data["kernels"].append({**kernel, "scope": one.context, "rewrite": first})
