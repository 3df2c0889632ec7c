"""`bisect_run`: which step of a whole run is wrong. Each kernel is compiled with the code on disk
and judged by the reference; what is to blame is looked for in those that are wrong. Steps that no
kernel shows, those of schedules above all, are checked one by one as they were recorded.

An answer says what was tried, and on what. That nothing differs on some inputs is no proof.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import suppress
from typing import Any, Final

from core.errors import ServerError, UopvizError
from core.prove.verdict import KINDS
from core.target import target_named
from viz.bisect.tasks import Progress, Tasks, do_all, processes
from viz.check.failed import failures
from viz.check.parts import Part, parts_of
from viz.dialect.dialect import Action
from viz.known.answers import FOREIGN
from viz.known.beside import keep, renumbered, take_kept
from viz.known.kept import checked_pass
from viz.views.kernels.compiled import FIRST
from viz.views.runs.process import STRIDE
from viz.views.store import Store
from viz.whatif.bisect import Search, search_of
from viz.whatif.changed import changed_rules
from viz.whatif.isolated import SECONDS
from viz.whatif.variants.variant import Variant
from viz.whatif.workers import Workers, elsewhere

Data = dict[str, Any]
_VERSION: Final = 1
_KERNEL: Final = "kernel"
MOST_STEPS: Final = 20
"""Steps that differ, which are named."""
INPUTS: Final = "random numbers and corner values, variables at several values"


def bisect_run(
    store: Store,
    variant: Variant | None = None,
    *,
    seconds: float = SECONDS,
    jobs: int | None = None,
    executor: Executor | None = None,
    progress: Progress = lambda share, text: None,
) -> Data:
    """Looks for what is wrong in a run: `RunBisection` of docs/json.md. `seconds`: that one kernel
    may take. Raises ServerError where nothing of the run can be tried."""
    search = RunSearch(store, variant or Variant(), seconds)
    workers = Workers(jobs or processes(), seconds)
    try:
        do = workers.do if executor is None else elsewhere(executor, seconds)
        do_all(search.tasks, do, search.take, progress)
    finally:
        workers.close()
        search.end()
    return search.answer()


class RunSearch:
    """A search in a run, whose caller has its tasks done and hands in the answers. Raises
    ServerError where nothing of the run can be tried, or the variant is one of a single kernel."""

    def __init__(self, store: Store, variant: Variant, seconds: float = SECONDS) -> None:
        if Action.BISECT not in store.dialect.actions:
            raise ServerError(FOREIGN, hint="its dialect says what can be done with a trace")
        if variant != Variant(skip=variant.skip, target=variant.target):
            raise ServerError(
                "these optimisations are those of one kernel", hint="name it with --kernel"
            )
        if variant.target:
            target_named(variant.target)
        self._store, self._variant = store, variant
        self._begun = time.monotonic()
        self._searches: list[Search] = []
        self._rows: list[Data] = []
        """A `TriedKernel` of each kernel of the run."""
        self._places: list[int] = []
        """Of each search, its place in `_rows`."""
        self._found: dict[int, Data] = {}
        self._notes: list[str] = []
        self._choose()
        self._checked = _passes_outside(store, {row["number"] for row in self._tried()})
        self.tasks = self._tasks(seconds)
        if not self._searches and not self._checked:
            raise ServerError(
                "this run has no kernel that can be compiled again, and no steps",
                hint="choose another trace",
            )

    def _tried(self) -> list[Data]:
        return [self._rows[place] for place in self._places]

    def _choose(self) -> None:
        """The kernels, each AST and target once."""
        known: set[tuple[str, str]] = set()
        for number in self._store.kernels() if self._store.compiles else ():
            if number >= FIRST * STRIDE:
                continue
            try:
                search = search_of(self._store, number, self._variant)
            except UopvizError as error:
                named = self._store.kernel(number) or {}
                self._rows.append(_row(number, str(named.get("name", "?")), "", error.what))
                continue
            subject = search.subject
            if (subject.name, subject.target) in known:
                continue
            known.add((subject.name, subject.target))
            self._places.append(len(self._rows))
            self._rows.append(_row(number, subject.name, subject.target, ""))
            self._searches.append(search)

    def _tasks(self, seconds: float) -> Tasks:
        known = take_kept(self._store).whole()
        files = self._store.files
        order = tuple(file.path.name for file in files)

        def check(numbers: Sequence[int]) -> Data:
            return {
                "job": "check",
                "trace": str(files[0].path.absolute()),
                "files": list(order),
                "rewrites": list(numbers),
                "rules": [],
                "seconds": seconds,
            }

        left = Part("", tuple(n for n in self._checked if n not in known))
        pieces = parts_of(self._store, left, processes())
        inside = _passes_inside(self._store)
        return Tasks(
            [search.request for search in self._searches],
            [check(piece.rewrites) for piece in pieces],
            [
                check([n for n in inside.get(row["number"], []) if n not in known])
                for row in self._tried()
            ],
            seconds,
        )

    @property
    def request(self) -> Data:
        """For `viz/bisect/coordinator.py`."""
        return {"job": "bisect-run", **self.tasks.data()}

    def take(self, part: Data) -> bool:
        """Takes up an answer; whether more is known of steps. Raises FormatError for no answer."""
        if "check" in part:
            self._take_check(part["check"])
            return True
        at = int(part[_KERNEL])
        answer, row = part["answer"], self._rows[self._places[at]]
        if (found := answer.get("result")) is None:
            if not row["state"]:
                row.update(state="unknown", said=str(answer["error"]["what"]))
            return False
        search = self._searches[at]
        made = search.answer({**found})
        row.update(_state_of(made))
        if made["culprit"] is not None or made["failed"] is not None:
            self._found[at] = made
        return False

    def _take_check(self, answer: Data) -> None:
        if (found := answer.get("result")) is None:
            self._notes.append(f"steps were not checked: {answer['error']['what']}")
            return
        for one in found["parts"]:
            checked = renumbered(self._store, checked_pass(one))
            self._store.checks.add(checked)

    def end(self) -> None:
        """Keeps the verdicts of steps beside the trace; the run may be closed by then."""
        with suppress(UopvizError, OSError, ValueError):
            keep(self._store)

    def answer(self, _: object = None) -> Data:
        """`RunBisection`, of all answers."""
        rows = self._rows
        unjudged = {row["number"] for row in rows if row["state"] == "unknown"}
        inside = _passes_inside(self._store)
        checked = [*self._checked, *(n for number in unjudged for n in inside.get(number, []))]
        agreeing = (row["number"] for row in rows if row["state"] == "agrees")
        checked += [n for number in agreeing for n in inside.get(number, []) if self._is_wrong(n)]
        steps = self._steps(checked)
        found = [self._found[at] for at in sorted(self._found)]
        wrong = any(row["state"] in ("differs", "fails") for row in rows)
        wrong |= bool(steps["differing"] or steps["undone"])
        return {
            "version": _VERSION,
            "variant": {**self._variant.data(), "said": str(self._variant)},
            "wrong": wrong,
            "told": not unjudged and not self._notes,
            "kernels": rows,
            "found": found,
            "steps": steps,
            "inputs": INPUTS,
            "notes": self._notes,
            "seconds": round(time.monotonic() - self._begun, 1),
            "changed": [one.data() for one in changed_rules(self._store)],
        }

    def _is_wrong(self, rewrite: int) -> bool:
        """Whether an earlier check found a step of a pass that differs: on the values that it gives
        the kernel was not run."""
        known = self._store.checks.of(rewrite)
        return known is not None and any(v["kind"] == "differs" for v in known["verdicts"])

    def _steps(self, rewrites: Sequence[int]) -> Data:
        """What is known of the steps that were checked one by one, and the first that differ."""
        store, checks = self._store, take_kept(self._store)
        differing: list[Data] = []
        left: list[Data] = []
        names = {row["id"]: row["name"] for row in store.tree()["rows"]}
        for number in sorted(set(rewrites)):
            known = checks.of(number)
            if known is not None and known["undone"] is not None:
                named = {"rewrite": number, "name": names.get(number, "?")}
                left.append(known["undone"] | named)
            for step, rule, at in [] if known is None else known["steps"]:
                verdict = known["verdicts"][at] if known is not None else {}
                if verdict["kind"] != "differs":
                    continue
                differing.append(
                    {
                        "rewrite": number,
                        "step": step,
                        "pass": names.get(number, "?"),
                        "rule": _rule(store, rule),
                        "verdict": verdict,
                    }
                )
        wrong = any(row["state"] in ("differs", "fails") for row in self._rows)
        if not differing and not left and not wrong:  # what fails may be made of a wrong step
            differing = [
                {
                    "rewrite": one.rewrite,
                    "step": one.step,
                    "pass": one.name,
                    "rule": _rule(store, one.rule),
                    "verdict": one.verdict.data(),
                }
                for one in failures(store)
            ]
        counts = checks.counts(rewrites) if rewrites else dict.fromkeys(KINDS, 0)
        return {
            "passes": len(set(rewrites)),
            "counts": counts,
            "differing": differing[:MOST_STEPS],
            "undone": left[:MOST_STEPS],
        }


def _row(number: int, name: str, target: str, refused: str) -> Data:
    return {
        "number": number,
        "name": name,
        "target": target,
        "state": "unknown" if refused else "",
        "said": refused,
        "device": None,
    }


def _state_of(made: Data) -> Data:
    """What is known of a kernel, of `TriedKernel`."""
    outcome, failed = made["outcome"], made["failed"]
    if failed is not None:
        return {"state": "fails", "said": f"{failed['pass']}: {failed['error']['what']}"}
    if outcome is None:
        said = made["notes"][0] if made["notes"] else "it cannot be run"
        return {"state": "unknown", "said": said}
    state = "agrees" if outcome["equal"] else "differs"
    return {"state": state, "said": outcome["said"], "device": made["device"]}


def _rule(store: Store, number: int) -> Data:
    row = next((row for row in store.rules() if row["id"] == number), {})
    return {
        "name": str(row.get("name", "?")),
        "file": str(row.get("file", "")),
        "line": int(row.get("line", 0)),
        "equation": str(row.get("equation", "")),
    }


def _passes_inside(store: Store) -> dict[int, list[int]]:
    """The passes of each kernel that have steps, by its number."""
    return _passes(store)[0]


def _passes_outside(store: Store, tried: set[int]) -> list[int]:
    """The passes with steps that are of no kernel that is tried."""
    inside, outside = _passes(store)
    return [*outside, *(n for kernel, own in inside.items() if kernel not in tried for n in own)]


def _passes(store: Store) -> tuple[dict[int, list[int]], list[int]]:
    """The passes of the program that have steps: of each kernel, and of none."""
    kernel_of: dict[int, int] = {}
    inside: dict[int, list[int]] = {}
    outside: list[int] = []
    schedules: set[int] = set()
    """Of these, what a pass without steps left undone is looked for, too."""
    for row in store.tree()["rows"]:  # parents come before their children
        kernel = kernel_of.get(row["parent"])
        if row["kind"] == "context" and row["label"] == _KERNEL:
            kernel = row["id"]
        if kernel is not None:
            kernel_of[row["row"]] = kernel
        if row["kind"] == "context" and row["label"] == "schedule":
            schedules.add(row["row"])
        is_own = row["kind"] == "rewrite" and row["id"] < FIRST * STRIDE
        is_own &= bool(row["steps"]) or row["parent"] in schedules
        if is_own and not (store.live and row["status"] == "open"):
            (outside if kernel is None else inside.setdefault(kernel, [])).append(row["id"])
    return inside, outside
