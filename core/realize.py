"""Runs what the scheduler made, and lets others capture it to run it again.

Adds nothing to a schedule; how a kernel is compiled and launched is the runtime's.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias, cast

from core.errors import RunError
from core.launch import run
from core.launch.batch import Batch
from core.passes.schedule import ScheduleItem

Step: TypeAlias = ScheduleItem | Callable[[], None]
"""A step of a capture, repeated when it is replayed: a kernel or copy, or a call."""


@dataclass(frozen=True, eq=False)
class _Capture:
    """What has run so far, and who captures it where values must not be looked at."""

    steps: list[Step]
    frozen_by: str


_captures: list[_Capture] = []


def run_schedule(items: Sequence[ScheduleItem], variables: Mapping[str, int] | None = None) -> None:
    """Runs `items` in order, with the values of symbolic variables by name.

    Raises RunError for memory that cannot be had, and what compiling raises.
    """
    _capture(*items)
    run.run_schedule(items, variables or {})


def run_batch(batch: Batch) -> None:
    """Runs the items of a batch in order. Raises as `run_schedule` does."""
    if _captures:
        _capture(*cast("Sequence[ScheduleItem]", batch.items))
    batch.run()


def run_now(action: Callable[[], None]) -> None:
    """Calls `action`, now and whenever what is being captured is replayed."""
    _capture(action)
    action()


def _capture(*steps: Step) -> None:
    for captured in _captures:
        captured.steps.extend(steps)


def look(where: str) -> None:
    """To be called before a value is handed to Python. Raises RunError in a block of `capturing`
    that is to be run again for other values: what Python makes of this one would stay."""
    for captured in _captures:
        if captured.frozen_by:
            raise RunError(
                f"{captured.frozen_by} looks at a value while it is captured",
                where,
                "later calls would go on with this value: use Tensor operations such as where, or "
                "return the Tensor and look at it outside",
            )


@contextmanager
def capturing(frozen_by: str = "") -> Generator[list[Step]]:
    """The items of every schedule that runs in the block, and every call of `run_now`, in order, in
    the list that it yields. Blocks may nest: an outer one gets what an inner one gets. With the
    name of who captures, values must not be looked at in the block."""
    captured = _Capture([], frozen_by)
    _captures.append(captured)
    try:
        yield captured.steps
    finally:
        _captures.remove(captured)
