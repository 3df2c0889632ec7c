"""Copies in flight: stores to shared memory whose bytes arrive later.

A STORE with the argument ASYNCHRONOUS may happen at any time from where it stands to the WAIT that
waits for its group; COMMIT ends a group. A store that happens at once is one of these times, so a
target that knows no such copies does just that. Never makes a node.
"""

from __future__ import annotations

from typing import Final

from core.uop.ops import Ops
from core.uop.uop import UOp

ASYNCHRONOUS: Final = "asynchronous"
"""The argument of a STORE that may happen later."""


def arrives_later(u: UOp) -> bool:
    """Whether what a node stores may arrive later than it."""
    return u.op is Ops.COPY_ASYNC or (u.op is Ops.STORE and u.arg == ASYNCHRONOUS)
