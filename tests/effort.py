"""How much work something is, whatever the machine: processor time in units of a fixed loop that
the same machine runs just before.

For bounds with room to spare, such as those that tell linear from quadratic; figures are measured
by tests/bench.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

STEPS = 100_000
"""Steps of the fixed loop that is timed; a unit is ten times as many."""


def unit() -> float:
    """Processor seconds of a million steps of the fixed loop, from the shortest of three runs."""
    return 10 * min(_loop() for _ in range(3))


@contextmanager
def at_most(units: float) -> Iterator[None]:
    """Raises AssertionError where the body takes more processor time, over all threads of this
    process, than `units` million steps of the fixed loop."""
    one = unit()
    began = time.process_time()
    yield
    used = (time.process_time() - began) / one
    if used > units:
        raise AssertionError(f"{used:,.0f} units of work are more than {units:,.0f}")


def _loop() -> float:
    began = time.process_time()
    total = 0
    for i in range(STEPS):
        total += i & 7
    return time.process_time() - began
