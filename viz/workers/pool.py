"""A pool of processes that answer requests in lines of JSON: see `viz/workers/serve.py`.

A request that crashes its process, or takes too long, costs only its own answer: the next one gets
a new process. Closing the pool ends all processes at once, with what they started. Never pickles,
and never forks.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeVar

from core.errors import ServerError
from core.isolation import child
from core.isolation.client import Worker
from viz.environment import bytecode_folder

MOST: Final = 8
"""Processes of one pool."""
_OFTEN: Final = 0.2
"""Seconds after which a waiting thread hears signals."""
K = TypeVar("K")
Request = Mapping[str, Any]


def processors() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Answered(Generic[K]):
    """What became of a request: its value, or the error that it ended with."""

    key: K
    value: Any = None
    error: ServerError | None = None


class Pool(Generic[K]):
    """At most `count` processes that run `module`, each begun once there is work for it. `seconds`:
    what one request may take."""

    def __init__(self, module: str, count: int, seconds: float) -> None:
        self._module, self._seconds = module, seconds
        self._count = max(1, min(count, MOST))
        self._asked: SimpleQueue[tuple[K, Request] | None] = SimpleQueue()
        self._answered: SimpleQueue[Answered[K]] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._workers: set[Worker] = set()
        self._closed = False
        self.waiting = 0
        """Requests whose answers have not been taken yet."""

    def __enter__(self) -> Pool[K]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, key: K, request: Request) -> None:
        """Gives the pool a request."""
        self._asked.put((key, request))
        self.waiting += 1
        if len(self._threads) < min(self._count, self.waiting):
            thread = threading.Thread(target=self._work, name="uopviz pool", daemon=True)
            self._threads.append(thread)
            thread.start()

    def answers(self) -> Iterator[Answered[K]]:
        """The answers to all requests, as they come."""
        while self.waiting:
            with suppress(Empty):
                found = self._answered.get(timeout=_OFTEN)
                self.waiting -= 1
                yield found

    def close(self) -> None:
        """Ends all processes. What has no answer gets none."""
        with self._lock:
            self._closed = True
            for worker in self._workers:
                worker.kill()
        for _ in self._threads:
            self._asked.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        """What each thread does: gives a process of its own one request after the other."""
        worker: Worker | None = None
        try:
            while (asked := self._asked.get()) is not None:
                worker = worker or self._begin()
                if worker is None:
                    return
                key, request = asked
                try:
                    self._answered.put(Answered(key, self._said(worker, request)))
                except _LostError as error:
                    self._end(worker)
                    worker = None
                    self._answered.put(Answered(key, error=ServerError(str(error))))
                except ServerError as error:
                    self._answered.put(Answered(key, error=error))
        finally:
            if worker is not None:
                self._end(worker)

    def _begin(self) -> Worker | None:
        """A new process; None once the pool is closed."""
        with self._lock:
            if self._closed:
                return None
            worker = Worker(child.start(self._module, subprocess.DEVNULL, bytecode_folder()))
            self._workers.add(worker)
            return worker

    def _end(self, worker: Worker) -> None:
        worker.end()
        with self._lock:
            self._workers.discard(worker)

    def _said(self, worker: Worker, request: Request) -> Any:
        """The result that a process answers with. Raises _LostError where it does not, and
        ServerError for an error that it answers with."""
        answer = worker.ask(request, self._seconds)
        if answer.late:
            raise _LostError(f"it took longer than {self._seconds:.0f} seconds and was ended")
        if answer.ended:
            raise _LostError(f"its process ended without an answer ({answer.ended})")
        if answer.fault is not None:
            raise answer.fault.raised(ServerError)
        return answer.result


class _LostError(Exception):
    """A process is of no use any more."""
