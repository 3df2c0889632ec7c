"""`uopviz diff` of two folders: pairs of traces in several processes, with what is done kept.

Ctrl-C ends it with what has been compared so far. A process that dies takes its pair with it, no
other one. Never holds a trace in this process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from core.errors import UopvizError
from viz.command.columns import Column, plural, table
from viz.command.session import put
from viz.compare.folders import TracePair, compare_files, pair_traces
from viz.compare.gate import Gate
from viz.terminal import Line, Progress, Style, Styled
from viz.workers.executors import each_result, executor_at

Data = dict[str, Any]
MAX_JOBS: Final = 64
_STYLES: Final[dict[str, Style]] = {
    "error": "problem",
    "fails": "removed",
    "differs": "changed",
    "only in A": "removed",
    "only in B": "added",
}
_DIED: Final = "the process that compared these two died"


def diff_folders(options: argparse.Namespace, a: Path, b: Path, gates: list[Gate] | None) -> int:
    """Compares the traces of two folders. Raises KeyboardInterrupt, after what is done has been
    printed."""
    pairs = pair_traces(a, b)
    both = [pair for pair in pairs if pair.a is not None and pair.b is not None]
    found: list[Data] = []
    stopped: BaseException | None = None
    jobs = min(options.jobs or os.cpu_count() or 1, MAX_JOBS, max(1, len(both)))
    try:
        options.progress.begin("comparing")
        if options.executor is not None:
            compared = _compared_elsewhere(both, options)
        else:
            compared = _compare_all(both, options.fail_on, jobs, options.progress)
        for made in compared:
            found.append(made)
    except (KeyboardInterrupt, SystemExit) as error:
        stopped = error
    data = _data(pairs, both, found)
    put(options, data, _lines(data, options.all, stopped is not None))
    if stopped is not None:
        raise stopped
    return _exit_code(data, gates is not None)


def _compared_elsewhere(pairs: Sequence[TracePair], options: argparse.Namespace) -> Iterator[Data]:
    """The pairs as a cluster compared them, which reads the files itself."""
    jobs = [(pair.name, str(pair.a), str(pair.b), options.fail_on) for pair in pairs]
    with executor_at(options.executor) as executor:
        results = each_result(executor, _compared, jobs)
        for done, (job, made) in enumerate(zip(jobs, results, strict=True), 1):
            options.progress.update(done / len(jobs), job[0])
            yield _died(*job[:3]) if isinstance(made, UopvizError) else made


def _compared(job: tuple[str, str, str, str | None]) -> Data:
    return compare_files(*job)


def _died(name: str, a: str, b: str) -> Data:
    return {"name": name, "a": a, "b": b, "equal": False, "failed": [], "error": _DIED}


def _compare_all(
    pairs: Sequence[TracePair], conditions: str | None, jobs: int, progress: Progress
) -> Iterator[Data]:
    """The pairs as they were compared, in the order in which they are done."""
    waiting = [*pairs]
    done, alone = 0, False
    while waiting:
        pool = _pool(1 if alone else jobs)
        running: dict[Future[Data], TracePair] = {}
        try:
            while waiting or running:
                while waiting and len(running) < (1 if alone else 2 * jobs):
                    pair = waiting.pop(0)
                    task = pair.name, str(pair.a), str(pair.b), conditions
                    with _held_back():
                        running[pool.submit(compare_files, *task)] = pair
                ended, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    made = future.result()
                    pair = running.pop(future)
                    done += 1
                    progress.update(done / len(pairs), pair.name)
                    yield made
        except BrokenProcessPool:
            left = [*running.values()]
            if alone:  # it was this one
                pair = left.pop()
                done += 1
                yield _died(pair.name, str(pair.a), str(pair.b))
            waiting, alone = [*left, *waiting], not alone
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _pool(jobs: int) -> ProcessPoolExecutor:
    """Processes that Ctrl-C does not reach: this one ends them."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_ignore)


def _ignore() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _held_back() -> Generator[None]:
    """A Ctrl-C in the block comes after it: a process that is begun in it hears none, not even
    before it can ignore it."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _data(pairs: Sequence[TracePair], both: Sequence[TracePair], found: list[Data]) -> Data:
    only_a = [pair.name for pair in pairs if pair.b is None]
    only_b = [pair.name for pair in pairs if pair.a is None]
    whole = len(found) == len(both)
    return {
        "equal": whole and not only_a and not only_b and all(made["equal"] for made in found),
        "pairs": sorted(found, key=lambda made: made["name"]),
        "onlyA": only_a,
        "onlyB": only_b,
        "compared": len(found),
        "of": len(both),
    }


def _exit_code(data: Data, gated: bool) -> int:
    if any(made["error"] for made in data["pairs"]):
        return 2
    if gated:
        return int(any(made["failed"] for made in data["pairs"]))
    return int(not data["equal"])


def _state(made: Data) -> str:
    if made["error"]:
        return "error"
    if made["failed"]:
        return "fails"
    return "equal" if made["equal"] else "differs"


def _lines(data: Data, everything: bool, stopped: bool) -> Iterator[Line]:
    states = {made["name"]: _state(made) for made in data["pairs"]}
    rows: list[tuple[str | Styled, ...]] = []
    for made in data["pairs"]:
        state = states[made["name"]]
        if everything or state != "equal":
            rows.append((Styled(state, _STYLES[state]) if state in _STYLES else state,
                         made["name"], _said(made)))  # fmt: skip
    for side in ("A", "B"):
        state = f"only in {side}"
        rows += ((Styled(state, _STYLES[state]), name, "") for name in data[f"only{side}"])
    counts = Counter(states.values())
    counts["only in A"], counts["only in B"] = len(data["onlyA"]), len(data["onlyB"])
    said = ", ".join(f"{count:,} {state}" for state, count in counts.items() if count)
    yield Styled(f"{plural(data['compared'], 'pair')} of traces: {said or 'none'}", "heading")
    if stopped:
        left = data["of"] - data["compared"]
        yield Styled(f"stopped: {plural(left, 'pair')} were not compared", "problem")
    if rows:
        yield from table((Column("state"), Column("trace"), Column("", style="hint")), rows)


def _said(made: Data) -> str:
    """What there is to say of a pair in one line."""
    if made["error"]:
        return made["error"]
    if made["failed"]:
        return "; ".join(made["failed"])
    counts = made["kernels"]
    said = [f"{counts[s]:,} kernels {s}" for s in ("changed", "added", "removed") if counts[s]]
    said += made["notes"][:1]
    return "; ".join(said)
