"""Runs what the scheduler made, and lets others capture it to run it again.

Adds nothing to a schedule; how a kernel is compiled and launched is the runtime's.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from core.passes.schedule import ScheduleItem
from core.runtime import run

Step: TypeAlias = ScheduleItem | Callable[[], None]
"""A step of a capture, repeated when it is replayed: a kernel or copy, or a call."""
_captures: list[list[Step]] = []


def run_schedule(items: Sequence[ScheduleItem], variables: Mapping[str, int] | None = None) -> None:
    """Runs `items` in order, with the values of symbolic variables by name.

    Raises RunError for memory that cannot be had, and what compiling raises.
    """
    _capture(*items)
    run.run_schedule(items, variables or {})


def run_now(action: Callable[[], None]) -> None:
    """Calls `action`, now and whenever what is being captured is replayed."""
    _capture(action)
    action()


def _capture(*steps: Step) -> None:
    for captured in _captures:
        captured.extend(steps)


@contextmanager
def capturing() -> Generator[list[Step]]:
    """The items of every schedule that runs in the block, and every call of `run_now`, in order, in
    the list that it yields. Blocks may nest: an outer one gets what an inner one gets."""
    captured: list[Step] = []
    _captures.append(captured)
    try:
        yield captured
    finally:
        # by identity: an inner block may have captured the same items
        _captures[:] = [c for c in _captures if c is not captured]
