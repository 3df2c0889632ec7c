"""A run with two kernels, and an executor that does a worker's work in this process."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import viz
from core import Tensor, compile
from viz.views.store import Store
from viz.whatif import replaying, worker
from viz.whatif.isolated import TRACE

JOBS = {**worker.JOBS, "replay": replaying.replay_job}


def record(path: Path) -> None:
    """A product of matrices, and an elementwise kernel."""
    path.write_bytes(_recorded())


@cache
def _recorded() -> bytes:
    """Recorded once: what is compiled in a process is kept, and not compiled again."""
    a = Tensor(np.arange(102, dtype=np.float32).reshape(6, 17) / 102).realize()
    b = Tensor(np.arange(85, dtype=np.float32).reshape(17, 5) / 85).realize()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.viz"
        with viz.record(path):
            ((a @ b).realize() * 2.0 + 1.0).realize()
        return path.read_bytes()


def kernel_named(store: Store, part: str) -> int:
    """The kernel whose name begins like that."""
    rows = store.tree()["rows"]
    return next(r["id"] for r in rows if r["label"] == "kernel" and r["name"].startswith(part))


@contextmanager
def unlimited() -> Generator[None]:
    """Jobs leave the limits of this process as they are."""
    with pytest.MonkeyPatch.context() as patched:
        for module in (worker, replaying):
            patched.setattr(module, "limit_files", abs)
        yield


class Here(Executor):
    """Does what a worker does, without a process for it."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Of `isolated.work`: the worker's answer."""
        request = args[0]
        vars(compile)["_kept"].cache_clear()  # as in a process that has compiled nothing yet
        self.requests.append(request)
        future: Future[Any] = Future()
        with TemporaryDirectory() as folder:
            path = Path(folder) / "kernel.viz"
            try:
                with unlimited():
                    answer = JOBS[request["job"]]({**request, TRACE: str(path)})
            except Exception as error:
                future.set_exception(error)
            else:
                future.set_result({**answer, TRACE: path.read_bytes() if path.exists() else b""})
        return future
