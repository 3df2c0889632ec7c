"""Values kept until they take too much room, the one used longest ago going first; and turns, so
that a value is made once however many ask for it.

Never makes a value.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Cache(Generic[K, V]):
    """At most `budget` bytes of values, by their stated sizes. Threads may share one."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """The value of `key`, which becomes the most recently used; None where it is not kept."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keeps `value`, unless it alone is larger than the budget."""
        with self._lock:
            self._drop(key)
            if size > self._budget:
                return
            self._values[key] = value, size
            self._bytes += size
            while self._bytes > self._budget:
                self._drop(next(iter(self._values)))

    def items(self) -> list[tuple[K, V]]:
        """All that is kept, the one used longest ago first."""
        with self._lock:
            return [(key, value) for key, (value, _) in self._values.items()]

    def drop(self, goes: Callable[[K], bool]) -> None:
        """Keeps no longer what has a key that `goes`."""
        with self._lock:
            for key in [key for key in self._values if goes(key)]:
                self._drop(key)

    def _drop(self, key: K) -> None:
        found = self._values.pop(key, None)
        if found is not None:
            self._bytes -= found[1]


class Turns:
    """One thread at a time per key; those of other keys do not wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._locks: dict[Hashable, list[Any]] = {}
        """A lock, and how many hold it or wait for it."""

    @contextmanager
    def of(self, key: Hashable) -> Generator[None]:
        """The block is the turn of this thread."""
        with self._lock:
            entry = self._locks.setdefault(key, [threading.Lock(), 0])
            entry[1] += 1
        try:
            with entry[0]:
                yield
        finally:
            with self._lock:
                entry[1] -= 1
                if not entry[1]:
                    del self._locks[key]
