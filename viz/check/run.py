"""Checks a run, or chosen passes and rules of it, in parts that an executor works on.

Any `concurrent.futures.Executor` will do; by default it is a pool of processes. On another machine
the trace has to have the same path. After a process that ends without an answer, its parts are
tried once more, each in a separate pool; if that fails, their steps are reported as not checked.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, as_completed
from typing import Any, Final

from core.isolation.limits import limit_memory
from core.prove.verdict import Verdict
from viz.check.part import check_part
from viz.check.parts import Part, parts_of, steps_of
from viz.views.store import Store
from viz.workers.executors import is_lost

MEMORY: Final = 4 << 30
"""Bytes that one process may write."""
ENDED: Final = "the process that checked it ended"

Progress = Callable[[str], None]
Found = Callable[[dict[str, Any]], None]
"""Is told of each pass once it is checked."""
NewExecutor = Callable[[int], Executor]


def processes(jobs: int, memory: int = MEMORY) -> Executor:
    """A pool of processes, each with a memory limit."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, context, _begin, (memory,))


def how_far(done: int, count: int) -> str:
    """How many passes are checked, in words."""
    return f"checked {done:,} of {count:,} {'pass' if count == 1 else 'passes'}"


def check_passes(
    store: Store,
    part: Part,
    jobs: int = 1,
    progress: Progress = lambda text: None,
    executor: NewExecutor = processes,
    tell: Found = lambda checked: None,
) -> list[dict[str, Any]]:
    """`CheckedPass.data` of the passes of `part`, in their order. `part` says what is checked; its
    passes are given to `jobs` processes of `executor`; `tell` is called for each. Cancelled by
    KeyboardInterrupt."""
    made: dict[int, dict[str, Any]] = {}
    left = list(parts_of(store, part, jobs))
    count = sum(len(one.rewrites) for one in left)
    for attempt in (jobs, 1):
        broken: list[Part] = []
        groups = [left] if attempt == jobs else [[one] for one in left]
        for group in groups:
            for one, found in _work(group, attempt if len(group) > 1 else 1, executor):
                if found is None:
                    broken.append(one)
                    continue
                for data in found:
                    made[data["rewrite"]] = data
                    tell(data)
                progress(how_far(len(made), count))
        left = broken
        if not left:
            break
    for one in left:
        for number in one.rewrites:
            made[number] = _lost(store, number)
            tell(made[number])
    return [made[number] for number in part.rewrites if number in made]


def _work(
    parts: Iterable[Part], jobs: int, executor: NewExecutor
) -> Iterator[tuple[Part, list[dict[str, Any]] | None]]:
    """Each part with its answer; None where the process ended."""
    pool = executor(jobs)
    try:
        begun: dict[Future[list[dict[str, Any]]], Part] = {}
        for one in parts:
            try:
                begun[pool.submit(check_part, one)] = one
            except BrokenExecutor:
                yield one, None
        for future in as_completed(begun):
            try:
                yield begun[future], future.result()
            except Exception as error:
                if not is_lost(error):
                    raise
                yield begun[future], None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _lost(store: Store, number: int) -> dict[str, Any]:
    """The answer for a pass whose process ended twice."""
    steps = steps_of(store).get(number, 0)
    rows = [[step, 0, 0] for step in range(1, steps + 1)]
    return {
        "rewrite": number,
        "steps": rows,
        "verdicts": [Verdict("unchecked", ENDED).data()],
        "integers": [],
        "undone": None,
        "unseen": ENDED,
    }


def _begin(memory: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command itself ends the pool
    limit_memory(memory)
