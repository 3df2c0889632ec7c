"""Jobs of the page that are done by a cluster in place of this machine: `--executor ADDRESS`.

What is handed over is plain data; there it starts a process of its own, with the limits of time and
memory of that process (`viz/whatif/isolated.py`). Jobs that need a device of this machine are not
taken. Knows nothing of HTTP, and never starts a cluster.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from pathlib import Path
from typing import Any, Final

from core.errors import ServerError, UopvizError
from viz.check.whole.kernels import Wholes
from viz.jobs.jobs import Watch
from viz.whatif.isolated import TRACE, work, work_in_parts
from viz.workers.executors import executor_at, is_lost

PIECES: Final = 32
"""Parts of a check, which machines share."""
_POLL: Final = 0.1
"""Seconds until a cancellation takes effect."""
Data = dict[str, Any]


class Cluster:
    """The cluster at an address, as `executor_at` knows it; `connect` is another way to get its
    executor. Threads may share one. Raises ServerError where it does not answer."""

    def __init__(self, address: str, connect: Callable[[str], Executor] = executor_at) -> None:
        self.address = address
        self._connect = connect
        self._lock = threading.Lock()
        self._executor: Executor | None = connect(address)

    def close(self) -> None:
        """Lets go of the cluster. Nothing is waited for."""
        with self._lock:
            executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)

    def takes(self, request: Mapping[str, Any]) -> bool:
        """Whether a job can be done there: those about kernels and steps that name no device of
        this machine."""
        match request["job"]:
            case "check" | "replay" | "minimise":
                return True
            case "bisect":
                return not request["device"]
            case "variant":
                return request["variant"].get("text") is None
            case _:
                return False

    def work(self, request: Mapping[str, Any], seconds: float, watch: Watch) -> Any:
        """The result of a job. What a worker there records is written into the file TRACE here. A
        cancelled job is not waited for; what runs already ends by its limit. Raises ServerError."""
        if request["job"] == "check":
            return self._check(request, seconds, watch)
        futures = self._begin(work, [dict(request)], seconds)
        (found,) = self._results(futures, watch, lambda found: None)
        recorded: bytes = found.pop(TRACE)
        if TRACE in request:
            Path(request[TRACE]).write_bytes(recorded)
        return found

    def _check(self, request: Mapping[str, Any], seconds: float, watch: Watch) -> Data:
        passes: Sequence[int] = request["rewrites"]
        size = max(1, -(-len(passes) // PIECES))
        steps = {name: value for name, value in request.items() if name != "kernels"}
        pieces = [
            {**steps, "rewrites": passes[at : at + size]} for at in range(0, len(passes), size)
        ]
        if Wholes.of(request.get("kernels")):
            pieces.append({**request, "rewrites": []})

        def take(found: Data) -> None:
            for part in found["parts"]:
                watch.tell(part)

        self._results(self._begin(work_in_parts, pieces, seconds), watch, take)
        return {"passes": len(passes)}

    def _begin(
        self, function: Callable[..., Data], requests: Sequence[Data], seconds: float
    ) -> list[Future[Data]]:
        """Hands requests over, also to a cluster that was restarted."""
        for again in (False, True):
            try:
                executor = self._connected()
                return [executor.submit(function, one, seconds) for one in requests]
            except UopvizError:
                raise
            except Exception as error:  # each library has its own
                self.close()
                if again:
                    raise ServerError(
                        f"{self.address} does not take the job ({_said(error)})",
                        hint="start it again, and try again",
                    ) from error
        raise AssertionError

    def _connected(self) -> Executor:
        with self._lock:
            if self._executor is None:
                self._executor = self._connect(self.address)
            return self._executor

    def _results(
        self, futures: Sequence[Future[Data]], watch: Watch, take: Callable[[Data], None]
    ) -> list[Data]:
        """The answers in order; `take` is called with each as it arrives."""
        waiting, made = set(futures), 0
        try:
            while waiting:
                watch.progress(self._progress(futures, made))
                done, waiting = wait(waiting, _POLL, FIRST_COMPLETED)
                if watch.cancelled():
                    raise ServerError("the job was cancelled")
                for future in done:
                    take(self._result(future))
                    made += 1
            return [future.result() for future in futures]
        finally:
            for future in waiting:
                future.cancel()

    def _result(self, future: Future[Data]) -> Data:
        try:
            return future.result()
        except UopvizError:
            raise
        except (Exception, CancelledError) as error:
            if isinstance(error, CancelledError) or is_lost(error):
                raise ServerError(
                    f"{self.address} lost the job ({_said(error)})",
                    hint="what worked on it may have ended; try again",
                ) from error
            raise ServerError(
                f"{self.address} could not do the job ({_said(error)})",
                hint="install this uopviz on each of its machines",
            ) from error

    def _progress(self, futures: Sequence[Future[Data]], made: int) -> str:
        if len(futures) > 1:
            return f"{self.address}: {made:,} of {len(futures):,} parts are done"
        running = any(future.running() for future in futures)
        return f"running on {self.address}" if running else f"handed to {self.address}"


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:300]
