"""Processes that do tasks one after another, so that each loads the compiler once.

A task that crashes its process or takes too long costs itself its answer, and nothing else: the
next one gets a new process. Never does a task in this process.
"""

from __future__ import annotations

import math
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Executor, ThreadPoolExecutor, as_completed
from typing import Any, Final

from core.errors import UopvizError
from core.isolation import child
from core.isolation.client import Fault, Worker
from viz.environment import bytecode_folder
from viz.whatif.isolated import MEMORY, TRACE, work, work_in_parts
from viz.workers.executors import is_lost

Data = dict[str, Any]
Told = Callable[[int, Data], None]
"""Is told the answer to a task by its place: {"result"}, or {"error"} in words."""
OUT_OF_TIME: Final = "the time for all of them was over"
"""What is said of a task that was not begun."""
Do = Callable[[Sequence[Data], Told], None]
"""Does tasks, and tells each answer in the thread that called it."""
WORKER: Final = "viz.bisect.worker"


class Workers:
    """At most `jobs` processes, for tasks that may each take so many seconds. `grouped`: they are
    of the group of this process, and end with it when that is killed."""

    def __init__(self, jobs: int, seconds: float, *, grouped: bool = False) -> None:
        self._jobs, self._seconds, self._grouped = jobs, seconds, grouped
        self._lock = threading.Lock()
        self._all: set[Worker] = set()
        self._idle: list[Worker] = []
        self._closed = False

    def close(self) -> None:
        """Ends all processes; tasks that are under way get no answer."""
        with self._lock:
            self._closed = True
            workers, self._all = self._all, set()
        for worker in workers:
            worker.end()

    def do(self, tasks: Sequence[Data], told: Told, within: float = math.inf) -> None:
        """Does tasks, begun in their order; none is begun after so many seconds. Whatever ends it
        early ends the processes."""
        until = time.monotonic() + within

        def answer(task: Data) -> Data:
            return _failed(OUT_OF_TIME) if time.monotonic() >= until else self._answer(task)

        with ThreadPoolExecutor(max(1, min(self._jobs, len(tasks)))) as pool:
            try:
                begun = {pool.submit(answer, task): at for at, task in enumerate(tasks)}
                for future in as_completed(begun):
                    told(begun[future], future.result())
            except BaseException:
                self.close()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _answer(self, task: Data) -> Data:
        worker = self._worker()
        answer = worker.ask({**task, "memory": MEMORY}, self._seconds)
        with self._lock:
            if not answer.ended:
                self._idle.append(worker)
            else:
                self._all.discard(worker)
        if answer.late:
            return _failed(f"it took longer than {self._seconds:.0f} seconds and was ended")
        if answer.ended:
            return _failed(f"its process ended without an answer ({answer.ended})")
        fault = answer.fault
        return {"result": answer.result} if fault is None else {"error": fault.data()}

    def _worker(self) -> Worker:
        with self._lock:
            if self._closed:
                raise CancelledError
            if self._idle:
                return self._idle.pop()
            process = child.start(WORKER, subprocess.DEVNULL, bytecode_folder(), not self._grouped)
            made = Worker(process)
            self._all.add(made)
            return made


def _failed(what: str) -> Data:
    return {"error": Fault(what).data()}


def elsewhere(executor: Executor, seconds: float) -> Do:
    """Tasks that an executor does: a process for each."""

    def do(tasks: Sequence[Data], told: Told) -> None:
        begun = {
            executor.submit(work_in_parts if task["job"] == "check" else work, task, seconds): at
            for at, task in enumerate(tasks)
        }
        for future in as_completed(begun):
            try:
                found = future.result()
                found.pop(TRACE, None)
                answer = {"result": found}
            except UopvizError as error:
                answer = {"error": Fault.of(error).data()}
            except Exception as error:
                if not is_lost(error):
                    raise
                answer = _failed("its process ended without an answer")
            told(begun[future], answer)

    return do
