"""`replay`: kernels of a run compiled again with the code that is on disk, and compared.

Workers are fresh processes, each for a part of the kernels, so that they import the code as it is
now. Runs no kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from core.errors import ServerError, UopvizError
from viz.compare.matching.side import Side
from viz.format.schema import SUFFIX
from viz.views.store import Store
from viz.whatif.changed import changed_rules
from viz.whatif.differences import Differences
from viz.whatif.isolated import SECONDS, TRACE, end_all, work
from viz.whatif.subject import Subject, subject_of, subjects_of

Data = dict[str, Any]
Progress = Callable[[float], None]
WORKERS: Final = 2
FEW: Final = 12
"""Kernels that are not worth a second process."""
MOST_FAILED: Final = 16
"""How many workers with several kernels may fail before their halves are no longer tried again."""
_LEAST_SECONDS: Final = 20.0
"""The least seconds for half of the kernels of a worker that failed, which get half of its time."""
_VERSION: Final = 1


def replay(
    store: Store,
    kernel: int | None = None,
    *,
    seconds: float = SECONDS,
    executor: Executor | None = None,
    keep: Path | None = None,
    progress: Progress = lambda share: None,
) -> Data:
    """Compiles a kernel of a run, or all, and compares each with the recorded one: `Replay` of
    docs/json.md. `keep`: a folder for the recordings. `progress` is called with the share done,
    from 0 to 1. With an `executor`, `isolated.work` runs there. Raises ServerError where no kernel
    can be compiled here, and BudgetError.

    Where a worker with several kernels crashes or takes too long, each half of them is tried again
    by a worker of its own, so that a kernel that is to blame costs no other one its answer."""
    subjects = subjects_of(store) if kernel is None else [subject_of(store, kernel)]
    if not subjects:
        raise ServerError("this run has no kernels", hint="choose another trace")
    side = Side(store)
    rows: list[Data] = []
    notes: list[str] = []
    with ExitStack() as stack:
        folder = keep or Path(stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True)))
        if executor is None:
            executor = stack.enter_context(ThreadPoolExecutor(WORKERS))
        stack.callback(end_all)
        parts = parts_of(subjects)
        waiting = {_started(executor, part, seconds): (part, seconds) for part in parts}
        side.refresh()  # while they are at work
        ended = failed = 0
        while waiting:
            future = next(iter(wait(waiting, return_when=FIRST_COMPLETED).done))
            part, allowed = waiting.pop(future)
            ended += 1
            try:
                rows += _compared(side, part, future, folder / f"replay-{ended}{SUFFIX}")
            except (UopvizError, OSError) as error:
                failed += len(part) > 1
                if len(part) > 1 and failed <= MOST_FAILED:
                    less = min(allowed, max(_LEAST_SECONDS, allowed / 2))
                    for half in (part[0::2], part[1::2]):
                        waiting[_started(executor, half, less)] = half, less
                else:
                    rows += _failed(part, error, notes)
            progress(len(rows) / len(subjects))
    order = {one.number: at for at, one in enumerate(subjects)}
    rows.sort(key=lambda row: order[row["number"]])
    return replay_data(store, rows, notes)


def replay_data(store: Store, rows: Sequence[Data], notes: Sequence[str] = ()) -> Data:
    """`Replay` of docs/json.md: a row for each kernel. Raises BudgetError."""
    return {
        "version": _VERSION,
        "equal": not notes and all(row["state"] == "equal" for row in rows),
        "changed": [one.data() for one in changed_rules(store)],
        "kernels": [*rows],
        "notes": [*notes],
    }


def replay_request(subjects: Sequence[Subject]) -> Data:
    """What a worker is asked for."""
    return {"job": "replay", "subjects": [one.data() for one in subjects]}


def parts_of(subjects: Sequence[Subject]) -> list[list[Subject]]:
    """The kernels in parts of about the same work, one for each worker."""
    count = min(WORKERS, max(1, len(subjects) // FEW))
    parts: list[list[Subject]] = [[] for _ in range(count)]
    weights = [0] * count
    for one in sorted(subjects, key=lambda one: -len(one.graph["nodes"])):
        least = weights.index(min(weights))
        parts[least].append(one)
        weights[least] += len(one.graph["nodes"])
    return [part for part in parts if part]


def _started(executor: Executor, part: Sequence[Subject], seconds: float) -> Future[Data]:
    return executor.submit(work, replay_request(part), seconds)


def _compared(
    before: Side, part: Sequence[Subject], future: Future[Data], path: Path
) -> list[Data]:
    """A row for each kernel of a part. Raises what its worker did, and OSError."""
    answer = future.result()
    path.write_bytes(answer[TRACE])
    return replay_rows(before, part, answer, path)


def _failed(part: Sequence[Subject], error: UopvizError | OSError, notes: list[str]) -> list[Data]:
    """Rows of kernels whose worker gave no answer."""
    said = error.what if isinstance(error, UopvizError) else str(error)
    if len(part) > 1:
        notes.append(f"a worker with {len(part)} kernels, which were not tried again: {said}")
    failed = {"what": said, "where": "", "hint": ""}
    return [_row(one, "failed", failed, None) for one in part]


def replay_rows(
    before: Side, subjects: Sequence[Subject], answer: Data, recorded: Path
) -> list[Data]:
    """A row for each kernel that a worker was given, compared with what it recorded. Raises
    TraceError where that is no trace, and BudgetError."""
    differences = Differences(before, recorded)
    try:
        made = iter(differences.kernels())
        return [
            _kernel_row(differences, one, row["error"], row["recorded"], made)
            for one, row in zip(subjects, answer["kernels"], strict=True)
        ]
    finally:
        differences.close()


def _kernel_row(
    differences: Differences, subject: Subject, error: Data | None, recorded: bool, made: Any
) -> Data:
    found = next(made, None) if recorded else None
    if found is None:
        return _row(subject, "failed", error, None)
    said = differences.of(subject.number, found)
    state = "failed" if error is not None else said["pair"]["state"]
    return _row(subject, state, error, said)


def _row(subject: Subject, state: str, error: Data | None, differences: Data | None) -> Data:
    return {
        "number": subject.number,
        "name": subject.name,
        "target": subject.target,
        "state": state,
        "error": error,
        "differences": differences,
    }
