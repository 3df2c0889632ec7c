"""The overview of a run, and the page of each of its kernels. Never changes a file."""

from __future__ import annotations

import threading
from typing import Any

from viz.budget import answering
from viz.views.overview.kernelpage import kernel_page_data
from viz.views.overview.message import overview_data
from viz.views.overview.programs import REGISTERS
from viz.views.runs.runfiles import RunFiles
from viz.views.summary import run_seconds
from viz.views.tree import Row


class Overviews:
    """Those of the run in `files`; one is made at a time."""

    def __init__(self, files: RunFiles) -> None:
        self._files = files
        self._lock = threading.Lock()

    def of_run(self) -> dict[str, Any]:
        """See `Store.overview`. Raises BudgetError."""
        files = self._files
        with files.lock:
            processes = [*files.processes]
            seconds = run_seconds(processes)
        with self._lock, answering("the overview"):
            made = overview_data(processes, files.rules, self._row_of, files.places, seconds)
            for line in made["kernels"]:
                self._add_registers(line)
            return made

    def of_kernel(self, context: int) -> dict[str, Any] | None:
        """See `Store.kernel_page`. Raises BudgetError."""
        files = self._files
        context = files.kernel_of(context)
        with files.lock:
            processes = [*files.processes]
            found = files.find(context, lambda f: f.contexts)
        if found is None:
            return None
        with self._lock, answering("the page of this kernel"):
            return kernel_page_data(processes, *found, self._row_of, files.places)

    def _add_registers(self, line: dict[str, Any]) -> None:
        """Adds to a kernel of the overview the registers of what it was compiled to on request."""
        known = {one["target"] for one in line["registers"]}
        for one in self._files.compilations.of_kernel(line["context"]):
            for text in one.kernels.recorded(one.root):
                value = next((v for name, v in text.facts.items() if name in REGISTERS), None)
                if value is not None and one.target not in known:
                    known.add(one.target)
                    line["registers"].append({"target": one.target, "value": value})

    def _row_of(self, entry: int) -> Row | None:
        """The row of a context or rewrite."""
        tree = self._files.tree
        at = tree.row_of(entry)
        return tree.rows[at] if at >= 0 else None
