"""Does without the collector of reference cycles for a while.

Where millions of lists are made and none is in a cycle, its walks over all of them take half of the
time. Never leaves it off: for who makes an answer, which takes seconds at most.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

_LOCK: Final = threading.Lock()
_inside = 0


@contextmanager
def no_collection() -> Generator[None]:
    """The block runs without it; threads may be in such blocks at the same time."""
    global _inside
    with _LOCK:
        was_on = gc.isenabled()
        _inside += was_on or _inside > 0
        gc.disable()
    try:
        yield
    finally:
        with _LOCK:
            if _inside:
                _inside -= 1
                if not _inside:
                    gc.enable()
