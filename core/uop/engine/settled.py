"""Nodes that rules are known to leave as they are, with all below them: for one context, or one
rewrite outside of any.

No longer than that, and held as long, so that what is tried, and recorded, depends neither on what
a process did before nor on garbage. Each thread has its own. Never makes a node.
"""

from __future__ import annotations

import threading
from typing import Final

from core.uop.patterns.matcher import PatternMatcher
from core.uop.uop import UOp

Known = dict[PatternMatcher, set[UOp]]


class _Work(threading.local):
    known: Known | None = None


_work: Final = _Work()


def known_now() -> Known | None:
    """What is known in this thread; None outside of contexts and rewrites."""
    return _work.known


def know(known: Known | None) -> None:
    """`known` holds from here on: {} where a piece of work begins, what was known before it where
    it has ended."""
    _work.known = known
