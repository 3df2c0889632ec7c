"""Which kernels of a run are run as a whole, as tasks for workers, within a budget of time.

Each text and AST is run once; what is left out says why. Never runs a kernel.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from core.errors import UopvizError
from viz.known.whole import LATE, MOST, PASS, RULE, SEARCH, unknown, whole_kernel
from viz.views.kernels.captured import captured_request
from viz.views.kernels.compiled import FIRST
from viz.views.runs.process import STRIDE
from viz.views.store import Store
from viz.whatif.subject import subject_of
from viz.whatif.variants.variant import Variant
from viz.whatif.workers import OUT_OF_TIME, Told

Data = dict[str, Any]
Do = Callable[[list[Data], Told], None]
SECONDS: Final = 10.0
"""For one kernel."""
MOST_SEARCHED: Final = 4
"""The most kernels in which the fault is searched for, the smallest first."""
IN_ALL: Final = 20.0
"""Seconds after which no further kernel is begun."""
MAX_CAPTURED: Final = 1 << 25
"""Bytes of captured values with which a kernel is run."""


@dataclass
class Wholes:
    """The kernels of a run that are asked for. `refused`: those that are not given to workers."""

    tasks: list[Data]
    numbers: list[list[int]]
    """Of each task, the kernels that it is about: one, or several that are alike."""
    refused: list[Data]

    @classmethod
    def of(cls, data: Data | None) -> Wholes:
        """Of what `data` made; none of None."""
        if data is None:
            return cls([], [], [])
        numbers = [[int(n) for n in alike] for alike in data["numbers"]]
        return cls(list(data["tasks"]), numbers, list(data["refused"]))

    def data(self) -> Data:
        """Its fields as plain data, which `of` reads."""
        return {"tasks": self.tasks, "numbers": self.numbers, "refused": self.refused}

    def take(self, at: int, answer: Data) -> list[Data]:
        """What the answer to task `at` says of its kernels, each a `WholeKernel`. Raises
        FormatError."""
        if (found := answer.get("result")) is None:
            what = str(answer["error"]["what"])
            found = unknown(LATE if what == OUT_OF_TIME else what)
        return [whole_kernel({**found, "kernel": number}) for number in self.numbers[at]]

    def __bool__(self) -> bool:
        return bool(self.tasks or self.refused)

    def run(self, do: Do, tell: Callable[[Data], None]) -> None:
        """Has the tasks done; `tell` is called for each kernel, and again for those whose fault was
        found."""
        for one in self.refused:
            tell(one)
        wrong: dict[int, Data] = {}
        """By task, the answer for kernels whose program is wrong."""

        def told(at: int, answer: Data) -> None:
            for one in self.take(at, answer):
                tell(one)
            if answer.get("result", {}).get(SEARCH):
                wrong[at] = answer["result"]

        if self.tasks:
            do(self.tasks, told)
        chosen = sorted(wrong)[:MOST_SEARCHED]

        def found(which: int, answer: Data) -> None:
            at = chosen[which]
            if place := _named(answer):
                for one in self.take(at, {"result": {**wrong[at], "place": place}}):
                    tell(one)

        if chosen:
            do([_search(self.tasks[at]) for at in chosen], found)


def wholes_of(store: Store, kernels: Iterable[int], known: Collection[int] = ()) -> Wholes:
    """Those of `kernels` that are not known yet, the smallest first."""
    alike: dict[str, int] = {}
    made = Wholes([], [], [])
    for number in kernels:
        if number in known:
            continue
        try:
            task = _task(store, number)
        except UopvizError as error:
            made.refused.append(whole_kernel({**unknown(error.what), "kernel": number}))
            continue
        key = json.dumps(_without_number(task), sort_keys=True)
        at = alike.setdefault(key, len(made.tasks))
        if at < len(made.tasks):
            made.numbers[at].append(number)
        else:
            made.tasks.append(task)
            made.numbers.append([number])
    order = sorted(range(len(made.tasks)), key=lambda at: _size(made.tasks[at]))
    made.tasks, made.numbers = [made.tasks[at] for at in order], [made.numbers[at] for at in order]
    return made


def kernels_of(store: Store, kernel: int | None = None) -> list[int]:
    """The numbers of the kernels of the program, or of one: those whose compilation has ended."""
    return [
        row["id"]
        for row in store.tree()["rows"]
        if row["kind"] == "context"
        and row["label"] == "kernel"
        and row["id"] < FIRST * STRIDE
        and kernel in (None, row["id"])
        and not (store.live and row["status"] == "open")
    ][:MOST]


def _task(store: Store, number: int) -> Data:
    subject = subject_of(store, number)
    process = store.processes[number // STRIDE]
    context = process.file.contexts[number % STRIDE]
    kept = process.kernels.captured(context)
    small = kept is not None and kept.bytes <= MAX_CAPTURED
    return {
        "job": "whole",
        "subject": subject.data(),
        "launch": process.kernels.launch_sizes(context),
        "captured": captured_request(process.file, kept) if small else None,
        "seconds": SECONDS,
    }


def _search(task: Data) -> Data:
    """The task of bisect for the same kernel."""
    variant = Variant().data()
    return {"job": "bisect", "subject": task["subject"], "variant": variant, "device": ""}


def _named(answer: Data) -> str:
    """The fault that bisect found, the `place` of a `WholeKernel`; "" if it found none."""
    found = answer.get("result", {})
    culprit = found.get("culprit") or (found.get("failed") or {}).get("step")
    if culprit is None:
        return ""
    if (match := culprit["match"]) is not None:
        return f"{RULE}{match['rule']['name']} in {culprit['pass']}"
    return f"{PASS}{culprit['pass']}"


def _without_number(task: Data) -> Data:
    return {**task, "subject": {**task["subject"], "number": 0}}


def _size(task: Data) -> int:
    """How large a kernel is: the nodes of its AST."""
    return len(task["subject"]["graph"]["nodes"])
