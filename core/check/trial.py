"""What the processes that try out a kernel share: its arguments, its times.

Used by `core/check/worker.py` and by the worker of the explorer. Never judges a result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from core.errors import RunError
from core.runtime.base import Runner
from core.runtime.buffer import Buffer
from core.uop.ops import Ops
from core.uop.uop import UOp


def arguments(ast: UOp) -> list[UOp]:
    """The buffers of a kernel in order. Raises RunError where they are not numbered from 0."""
    found = {u.arg: u for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL}
    if sorted(found) != list(range(len(found))):
        raise RunError("the arguments of this kernel are not numbered from 0")
    return [found[i] for i in range(len(found))]


def launch_times(
    runner: Runner,
    buffers: Sequence[Buffer],
    variables: Mapping[str, int],
    count: int,
    until: float = float("inf"),
    progress: Callable[[int], None] | None = None,
) -> list[float]:
    """Microseconds of each of `count` launches; of fewer, once `time.monotonic()` is past `until`.
    `progress` is told now and then how many there were."""
    times: list[float] = []
    shown = time.monotonic()
    for _ in range(count):
        start = time.perf_counter()
        seconds = runner(list(buffers), variables, wait=True)
        times.append((time.perf_counter() - start if seconds is None else seconds) * 1e6)
        now = time.monotonic()
        if now > until:
            break
        if progress is not None and now - shown > 0.2:
            shown = now
            progress(len(times))
    return times
