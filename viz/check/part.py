"""Checks the steps of some passes of a trace: what one process does.

Plain data in and out, so that any `concurrent.futures.Executor` can be given the work. A trace of
another compiler, and nodes that cannot be rebuilt, are answered, not raised.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from core.errors import BudgetError, UopvizError
from core.prove.decide import Checker, Options
from core.prove.verdict import Verdict
from core.uop.rule import Assumes
from viz.budget import Budget, within
from viz.check.rebuilt import Rebuilt
from viz.check.states import States
from viz.read.records import Rewrite, RuleRecord
from viz.read.steps import Match, read_steps
from viz.views.process import STRIDE, Process
from viz.views.store import Store
from viz.why.installed import Installed

MAX_STEPS: Final = 200_000
"""Steps of one pass."""
FOREIGN: Final = "the trace is of another compiler: its nodes have no meaning here"
_SECONDS: Final = 3600.0


@dataclass(frozen=True)
class Part:
    """Passes of a trace to be checked, by their numbers in the run; `rules`: by name, only these;
    `seconds`: after so many, what is left is not checked."""

    path: str
    rewrites: tuple[int, ...]
    rules: frozenset[str] = frozenset()
    seconds: float = 600.0
    options: Options = field(default_factory=Options)


@dataclass
class CheckedPass:
    """The steps of one pass that were asked for: (step, rule, verdict); steps count from 1."""

    rewrite: int
    steps: list[tuple[int, int, Verdict]] = field(
        default_factory=lambda: list[tuple[int, int, Verdict]]()
    )

    def data(self) -> dict[str, Any]:
        """As JSON, each verdict once."""
        verdicts: dict[Verdict, int] = {}
        rows = [
            [step, rule, verdicts.setdefault(verdict, len(verdicts))]
            for step, rule, verdict in self.steps
        ]
        return {"rewrite": self.rewrite, "steps": rows, "verdicts": [v.data() for v in verdicts]}


def check_part(part: Part) -> list[dict[str, Any]]:
    """`CheckedPass.data` of each pass. Raises TraceError where the trace cannot be read."""
    store = _opened(part.path)
    until = time.monotonic() + part.seconds
    return [check_pass(store, number, part, until).data() for number in part.rewrites]


def check_pass(store: Store, number: int, part: Part, until: float) -> CheckedPass:
    """Checks the steps of one pass."""
    checked = CheckedPass(number)
    process = next((p for p in store.processes if p.number == number // STRIDE), None)
    rewrite = process.file.rewrites.get(number % STRIDE) if process is not None else None
    if process is None or rewrite is None:
        return checked
    with within(Budget("the check of a pass", seconds=_SECONDS)):
        try:
            steps = [match for match, _ in read_steps(process.file, rewrite, MAX_STEPS).steps]
        except BudgetError as error:
            checked.steps.append((0, 0, Verdict("unchecked", error.what)))
            return checked
        _Pass(store, process, rewrite, part, checked).run(steps, until)
    return checked


class _Pass:
    """One pass that is checked."""

    def __init__(
        self, store: Store, process: Process, rewrite: Rewrite, part: Part, checked: CheckedPass
    ) -> None:
        self.store, self.process, self.rewrite = store, process, rewrite
        self.part, self.checked = part, checked
        self.tools = _tools(part.path, part.options)
        self._whole: Verdict | None = None

    def run(self, steps: Sequence[Match], until: float) -> None:
        """The verdict of each step that is asked for."""
        for at, match in enumerate(steps, 1):
            record = self.process.file.rules.get(match.rule)
            name = record.name if record is not None else ""
            if self.part.rules and name not in self.part.rules:
                continue
            if time.monotonic() > until:
                verdict = Verdict("unchecked", "the time for this part was over")
            else:
                verdict = self._verdict(match, record)
            self.checked.steps.append((at, self.process.rule(match.rule), verdict))

    def _verdict(self, match: Match, record: RuleRecord | None) -> Verdict:
        if not self.store.compiles:
            return Verdict("unchecked", FOREIGN)
        assumes = self.tools.assumes(record)
        if Assumes.CONTEXT in assumes:
            whole = self._of_pass()
            if whole.kind != "unchecked":
                return whole
            return Verdict("assumes", f"{Assumes.CONTEXT} ({whole.how})")
        rebuilt = self.tools.rebuilt(self.process)
        try:
            before, after = rebuilt.node(match.before), rebuilt.node(match.after)
        except UopvizError as error:
            return Verdict("unchecked", f"its nodes cannot be rebuilt: {error.what}"[:300])
        return self.tools.checker.check(before, after, assumes)

    def _of_pass(self) -> Verdict:
        """The verdict of the pass as a whole."""
        if self._whole is None:
            rebuilt = self.tools.rebuilt(self.process)
            if not self.rewrite.sink or not self.rewrite.result:
                self._whole = Verdict("unchecked", "the pass did not end")
            else:
                try:
                    states = [rebuilt.node(n) for n in (self.rewrite.sink, self.rewrite.result)]
                    self._whole = self.tools.states.compare(*states)
                except UopvizError as error:
                    self._whole = Verdict("unchecked", error.what[:200])
        return self._whole


class _Tools:
    """What is kept between the passes that a process checks."""

    def __init__(self, options: Options) -> None:
        self.checker, self.states = Checker(options), States()
        self._installed = Installed()
        self._rebuilt: dict[int, Rebuilt] = {}
        self._assumes: dict[int, tuple[Assumes, ...]] = {}

    def rebuilt(self, process: Process) -> Rebuilt:
        """The nodes of a process."""
        return self._rebuilt.setdefault(process.number, Rebuilt(process.file))

    def assumes(self, record: RuleRecord | None) -> tuple[Assumes, ...]:
        """What a rule gives up: as recorded, or as this installation has it."""
        if record is None:
            return ()
        known = self._assumes.get(id(record))
        if known is None:
            said = record.texts.get("assumes")
            texts = said if isinstance(said, list) else []
            known = tuple(one for one in Assumes if one.value in texts)
            if not known:
                rule, _ = self._installed.find(record)
                known = rule.assumes if rule is not None else ()
            self._assumes[id(record)] = known
        return known


@lru_cache(maxsize=2)
def _tools(path: str, options: Options) -> _Tools:
    return _Tools(options)


@lru_cache(maxsize=2)
def _opened(path: str) -> Store:
    return Store(path)
