"""Runs what the scheduler made, and lets others capture it to run it again.

Adds nothing to a schedule; how a kernel is compiled and launched is the runtime's.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from core.passes.schedule import ScheduleItem
from core.runtime import run

_captures: list[list[ScheduleItem]] = []


def run_schedule(items: Sequence[ScheduleItem], variables: Mapping[str, int] | None = None) -> None:
    """Runs `items` in order, with the values of symbolic variables by name.

    Raises RunError for memory that cannot be had, and what compiling raises.
    """
    for captured in _captures:
        captured.extend(items)
    run.run_schedule(items, variables or {})


@contextmanager
def capturing() -> Generator[list[ScheduleItem]]:
    """The items of every schedule that runs in the block, in order, in the list that it gives."""
    captured: list[ScheduleItem] = []
    _captures.append(captured)
    try:
        yield captured
    finally:
        _captures.remove(captured)
