"""Kernels compiled for targets on request: a job each, whose passes become a part of the run.

The worker records what it does in a folder that only this user can read, which is removed when the
process ends. Never compiles the kernels of another compiler.
"""

from __future__ import annotations

import shutil
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from core.errors import ServerError
from core.isolation.client import Fault
from core.target import targets
from viz.format.schema import SUFFIX
from viz.jobs.jobs import Jobs
from viz.views.runs.run import Run

Graph = tuple[dict[str, Any], list[int]]


def graph_of(store: Run, kernel: int) -> Graph:
    """A kernel's AST as data, and the numbers of its nodes in the run. Raises ServerError where
    there is none, or the trace is of another compiler."""
    if not store.compiles and store.kernels():
        store.kernel_graph(kernel)  # may know more to say
        raise ServerError(
            "this trace is of another compiler, and its kernels cannot be compiled or run here",
            hint="its own sources are shown",
        )
    found = store.kernel_graph(kernel)
    if found is None:
        raise ServerError(
            "this trace has no AST of that kernel",
            where=f"context {kernel}",
            hint="choose a kernel of the navigator",
        )
    return found


def check_target(target: str) -> None:
    """Raises ServerError for a target that there is not."""
    if target not in targets:
        raise ServerError(f"there is no target {target!r}", hint="one of " + ", ".join(targets))


class Compiler:
    """Compiles kernels by `jobs`; what it records lies in a folder of its own until `close`."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._lock = threading.Lock()
        self._folder: Path | None = None
        self._running: dict[tuple[int, int, str], int] = {}
        """Jobs by store, kernel and target: equal requests share one."""

    def __enter__(self) -> Compiler:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Removes what was recorded. The caller has to end the jobs before."""
        with self._lock:
            if self._folder is not None:
                self._remove()
                self._folder = None

    def start(
        self,
        store: Run,
        kernel: int,
        target: str,
        graph: dict[str, Any],
        *,
        drop: bool = True,
        ended: Callable[[], None] = lambda: None,
    ) -> int:
        """Begins to compile a kernel, whose AST is `graph`; the job. Its result is the kernel's
        Artifact[] for the target; its passes are in the store then, even if one failed. `drop`:
        they may be evicted by later ones. `ended` is called in any case, before the job counts as
        done. Raises ServerError."""
        check_target(target)
        key = id(store), kernel, target
        with self._lock:
            running = self._running.get(key)
            if running is not None:
                return running
            folder = self._new_folder()
            path = folder / f"passes{SUFFIX}"
            request = {
                "job": "compile",
                "target": target,
                "graph": graph,
                "trace": str(path),
                "run": str(store.files[0].meta.get("run", "")),
                "kernel": kernel,
            }
            attached = False

            def finish(answer: Any) -> Any:
                nonlocal attached
                number = store.attach(path, remove if drop else None)
                attached = True
                if answer["error"] is not None:
                    raise Fault.from_data(answer["error"]).raised(ServerError)
                made = store.kernel(number)
                return [] if made is None else made["artifacts"]

            def remove() -> None:
                shutil.rmtree(folder, ignore_errors=True)

            def end() -> None:
                with self._lock:
                    self._running.pop(key, None)
                if not attached:
                    remove()
                ended()

            job = self._running[key] = self._jobs.start(request, finish, end)
            return job

    def _new_folder(self) -> Path:
        if self._folder is None:
            self._folder = Path(mkdtemp(prefix="uopviz-passes-"))
            self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return Path(mkdtemp(dir=self._folder))
