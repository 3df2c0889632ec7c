"""Who allocates for which device, and how many bytes are taken.

Allocators register here when their device opens, so that buffers need not know devices.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from core.runtime.allocator import Allocator
from core.uop.engine.observe import MemoryChange, attached


class Allocators:
    """The function that finds a device's allocator; set by `core/runtime/device.py`."""

    find: Callable[[str], Allocator]


_lock: Final = threading.Lock()
_allocated: Final[dict[str, int]] = {}
_changes: Final[deque[MemoryChange]] = deque()
"""Not counted yet. A buffer may die in the middle of counting, in the thread that counts: its
change waits here instead of for the lock."""


def allocator_of(device: str) -> Allocator:
    """The allocator of a device. Raises DeviceError for a device that is not there."""
    return Allocators.find(device)


def account(change: MemoryChange) -> None:
    """Counts bytes taken or given back; observers are told."""
    _changes.append(change)
    _count()


def _count() -> None:
    while _changes and _lock.acquire(blocking=False):
        counted: list[MemoryChange] = []
        try:
            while _changes:
                change = _changes.popleft()
                total = _allocated.get(change.device, 0) + change.nbytes
                _allocated[change.device] = total
                counted.append(change._replace(allocated=total))
        finally:
            _lock.release()
        observer = attached()
        if observer is not None:
            for change in counted:
                observer.memory(change)


def allocated(device: str) -> int:
    """Bytes taken on `device` now."""
    _count()
    return _allocated.get(device, 0)


def allocated_everywhere() -> int:
    """Bytes taken on all devices now."""
    _count()
    with _lock:
        return sum(_allocated.values())
