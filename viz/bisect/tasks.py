"""What is done to look into a whole run, as plain data: tasks for workers, and their order.

First every kernel is judged and the steps of schedules are checked; then what is to blame is
looked for in kernels that are wrong, and the steps of kernels that could not be judged are checked.
Never does a task.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from viz.whatif.workers import Do

MOST_SEARCHED: Final = 8
"""Kernels in which the guilty step is looked for, the smallest first: a wrong rule makes many
kernels wrong, and a search takes a hundred times as long as a verdict."""
MOST_JOBS: Final = 4
Data = dict[str, Any]
Tell = Callable[[Data], object]
Progress = Callable[[float | None, str], None]


@dataclass(frozen=True)
class Tasks:
    """`kernels`: a task "bisect" of each kernel; `checks`: tasks "check" of the steps outside of
    kernels; `within`: the task "check" of each kernel, for those that cannot be judged; `seconds`:
    that a task may take."""

    kernels: list[Data]
    checks: list[Data]
    within: list[Data]
    seconds: float

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Tasks:
        """Of what `data` made."""
        return cls(data["kernels"], data["checks"], data["within"], float(data["seconds"]))

    def data(self) -> Data:
        """Its fields as plain data, which `of` reads."""
        return asdict(self)


def processes() -> int:
    """How many do tasks at a time, by default."""
    return max(1, min(MOST_JOBS, os.cpu_count() or 1))


def do_all(tasks: Tasks, do: Do, tell: Tell, progress: Progress) -> None:
    """Does the tasks. `tell` is given every answer: {"kernel", "answer"} by the place of the
    kernel, again once it was searched, and {"check"} with the answer of steps."""
    kernels, checks = tasks.kernels, tasks.checks
    count, done = len(kernels), 0
    judged: dict[int, Data] = {}

    def first(at: int, answer: Data) -> None:
        nonlocal done
        if at < len(checks):
            tell({"check": answer})
            return
        done += 1
        judged[at - len(checks)] = answer
        tell({"kernel": at - len(checks), "answer": answer})
        progress(done / count, f"{done:,} of {count:,} kernels judged")

    progress(0.0, "starting")
    do([*checks, *({**task, "searching": False} for task in kernels)], first)
    wrong = [at for at in sorted(judged) if _is_to_be_searched(judged[at])]
    wrong = sorted(wrong, key=lambda at: _size(kernels[at]))[:MOST_SEARCHED]
    unjudged = [at for at in sorted(judged) if not _is_judged(judged[at])]
    more = [kernels[at] for at in wrong] + [tasks.within[at] for at in unjudged]
    found = 0

    def second(at: int, answer: Data) -> None:
        nonlocal found
        found += 1
        if at < len(wrong):
            tell({"kernel": wrong[at], "answer": answer})
        else:
            tell({"check": answer})
        progress(None, f"looking for the wrong step, {found:,} of {len(more):,}")

    if more:
        progress(None, f"looking for the wrong step in {len(wrong):,} of {count:,} kernels")
        do(more, second)


def _is_judged(answer: Data) -> bool:
    found = answer.get("result")
    return found is not None and (found["outcome"] is not None or found["wrong"])


def _is_to_be_searched(answer: Data) -> bool:
    found = answer.get("result")
    return found is not None and found["wrong"] and found["culprit"] is None


def _size(task: Data) -> int:
    """How large a kernel is: the nodes of its AST."""
    return len(task["subject"]["graph"]["nodes"])
