"""The threads that answer requests: those of connections that have shown the token first.

Any program of this machine can make requests, which are all refused; they wait behind the page's.
Never logs how many wait.
"""

from __future__ import annotations

from collections import deque
from typing import Any, cast

from waitress.task import ThreadedTaskDispatcher


class Queue:
    """Connections with a request, in the order of arrival: those that are `known`, then others."""

    def __init__(self) -> None:
        self._known: deque[Any] = deque()
        self._others: deque[Any] = deque()

    def append(self, channel: Any) -> None:
        """Adds one."""
        (self._known if channel.known else self._others).append(channel)

    def popleft(self) -> Any:
        """Takes the next one."""
        return (self._known or self._others).popleft()

    def __len__(self) -> int:
        return len(self._known) + len(self._others)


class Dispatcher(ThreadedTaskDispatcher):
    """`threads` threads."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        cast("Any", self).queue = Queue()
        self.set_thread_count(threads)

    def add_task(self, task: Any) -> None:
        """Lets the next free thread answer the request of a connection."""
        with self.lock:
            self.queue.append(task)
            self.queue_cv.notify()
