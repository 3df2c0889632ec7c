"""The rules of a run: those of all its processes, each once, with their counts.

A rule is the same in two processes if its name, place and source text are. Patterns of all rules
together have a bounded number of parts; one that does not fit is left open, and the trace has a
problem that says so. Never runs a rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from core.errors import BudgetError
from viz.budget import part, take
from viz.format.cells import as_int, as_text
from viz.format.rows import SAME_AS
from viz.read.records import RuleRecord
from viz.views.rules.cost import Cost, rank
from viz.views.runs.places import Places
from viz.views.runs.process import Process

MAX_DEPTH: Final = 40
MAX_PARTS: Final = 20_000
"""Of one pattern."""
_PART: Final = 1000
"""Bytes of a part of a pattern, apart from its texts."""
_ROW: Final = 1000
"""Bytes of the answer about a rule."""


class Rulebook:
    """All rules by their number in the run."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._rules: dict[int, RuleRecord] = {}
        self._numbers: dict[tuple[str, str, int, str], int] = {}
        self._patterns_left_out = 0

    def add(self, process: Process) -> None:
        """Gives numbers to the rules of `process` that are new."""
        for local, rule in process.file.rules.items():
            if local not in process.rules:
                self._take_texts(rule)
                place = self._places.short(rule.file), rule.line
                key = (rule.name, *place, as_text(rule.texts.get("source")))
                number = self._numbers.setdefault(key, process.id(local))
                process.rules[local] = number
                self._rules.setdefault(number, rule)

    def _take_texts(self, rule: RuleRecord) -> None:
        """Gives a rule of a copy the texts of the rule that it refers to."""
        same = self._rules.get(as_int(rule.texts.get(SAME_AS)))
        if same and (same.name, same.file, same.line) == (rule.name, rule.file, rule.line):
            rule.texts = same.texts

    @property
    def records(self) -> dict[int, RuleRecord]:
        """Every rule as its trace has it."""
        return dict(self._rules)

    def name(self, number: int) -> str:
        """The name of a rule; "?" for an unknown one."""
        rule = self._rules.get(number)
        return rule.name if rule is not None else "?"

    def place(self, number: int) -> str:
        """ "file:line" of a rule; "" for an unknown one."""
        rule = self._rules.get(number)
        return "" if rule is None else f"{self._places.file(rule.file)}:{rule.line}"

    def equation(self, number: int) -> str:
        """The equation of a rule; "" where it has none."""
        rule = self._rules.get(number)
        return rule.equation if rule is not None else ""

    def data(self, processes: Iterable[Process]) -> list[dict[str, Any]]:
        """Every rule in the form of the page."""
        counts: dict[int, list[int]] = {}
        for process in processes:
            for (_, rule), totals in process.file.totals.items():
                total = counts.setdefault(process.rule(rule), [0, 0, 0])
                for i, value in enumerate(totals):
                    total[i] += value
        take(8 * len(self._rules), _ROW * len(self._rules))
        patterns = self._patterns()
        return [
            self._data(number, rule, counts.get(number, [0, 0, 0]), patterns.get(number))
            for number, rule in self._rules.items()
        ]

    def _patterns(self) -> dict[int, dict[str, Any]]:
        """The pattern of each rule, as far as the budget goes."""
        found: dict[int, dict[str, Any]] = {}
        try:
            with part(0.5):
                for number, rule in self._rules.items():
                    found[number] = clean_pattern(rule.texts.get("pattern"))
        except BudgetError:
            self._patterns_left_out = len(self._rules) - len(found)
        return found

    @property
    def problem(self) -> str:
        """What had to be left out of the rules; "" for nothing."""
        if not self._patterns_left_out:
            return ""
        return (
            f"the patterns of {self._patterns_left_out:,} of {len(self._rules):,} rules are left "
            "out: together they are too large"
        )

    def totals(
        self, spent: Mapping[tuple[str, int], Cost], processes: Iterable[Process]
    ) -> list[dict[str, Any]]:
        """Each rule in each pass in which it matched or declined, the costliest first: what `costs`
        found of these processes (`spent`), with the nodes that its steps added and removed, as far
        as they have been counted. `tries`, `tryUs` and `functionUs` are None where the trace does
        not say it; `cost` is the time that ranks rules."""
        found = {key: cost for key, cost in spent.items() if cost.acted}
        take(8 * len(found), _ROW * len(found))
        changed: dict[tuple[str, int], tuple[int, int]] = {}
        for process in processes:
            for (name, local), counts in [*process.node_counts.totals.items()]:
                key = name, process.rule(local)
                before = changed.get(key, (0, 0))
                changed[key] = before[0] + counts[0], before[1] + counts[1]
        rows = [
            {
                "pass": name,
                "id": rule,
                "rule": self.name(rule),
                "tries": cost.tries,
                "matches": cost.matches,
                "declines": cost.declines,
                "us": cost.us,
                "tryUs": None if cost.tried is None else cost.tried.us,
                "functionUs": None if cost.tried is None else cost.tried.function_us,
                "cost": cost.ranked_us,
                "added": changed.get((name, rule), (0, 0))[0],
                "removed": changed.get((name, rule), (0, 0))[1],
            }
            for (name, rule), cost in found.items()
        ]
        return sorted(rows, key=rank, reverse=True)

    def silent(self, spent: Mapping[tuple[str, int], Cost]) -> list[dict[str, Any]]:
        """Of each pass, the rules that neither matched nor declined in it, and how often each was
        tried, and for how many microseconds (`us`; None where the trace does not say it). They are
        thousands, so in lists: `id` are rules, `tries` and `us` go with it."""
        found: dict[str, list[tuple[int, Cost]]] = {}
        for (name, rule), cost in spent.items():
            if not cost.acted:
                take(4, 300)
                found.setdefault(name, []).append((rule, cost))
        return [
            {
                "pass": name,
                "id": [rule for rule, _ in rules],
                "tries": [cost.tries for _, cost in rules],
                "us": [cost.tried.us for _, cost in rules if cost.tried is not None] or None,
            }
            for name, rules in found.items()
        ]

    def _data(
        self, number: int, rule: RuleRecord, counts: list[int], pattern: dict[str, Any] | None
    ) -> dict[str, Any]:
        texts = rule.texts
        return {
            "id": number,
            "name": rule.name,
            "equation": rule.equation,
            "doc": as_text(texts.get("doc")),
            "group": rule.matcher,
            "file": self._places.file(rule.file),
            "line": rule.line,
            "source": as_text(texts.get("source")),
            "sourceLine": as_int(texts.get("sourceLine"), rule.line),
            "pattern": clean_pattern(None) if pattern is None else pattern,
            "matches": counts[0],
            "declines": counts[1],
            "us": counts[2] / 1000,
        }


class _Left:
    """How many parts of a pattern may still come."""

    def __init__(self) -> None:
        self.parts = MAX_PARTS


def clean_pattern(data: object, depth: int = 0, left: _Left | None = None) -> dict[str, Any]:
    """A pattern from data that may be anything: what is not of the form of `Pat` is left open.
    Raises BudgetError."""
    take(4, _PART)
    left = left or _Left()
    left.parts -= 1
    made: dict[str, Any] = {
        "op": [],
        "dtype": [],
        "name": None,
        "arg": None,
        "src": {"kind": "any"},
    }
    if not isinstance(data, dict) or depth > MAX_DEPTH or left.parts < 0:
        return made
    fields = cast("dict[str, Any]", data)
    for key in ("op", "dtype"):
        texts = _list(fields.get(key))
        take(len(texts), 60 * len(texts))
        made[key] = [as_text(item, 200) for item in texts]
    for key in ("name", "arg"):
        made[key] = as_text(fields[key], 1000) if isinstance(fields.get(key), str) else None
    src: object = fields.get("src")
    match cast("dict[str, Any]", src) if isinstance(src, dict) else {}:
        case {"kind": "ordered" | "permuted" as kind, "of": list() as inner}:
            items = [clean_pattern(p, depth + 1, left) for p in _list(inner)]
            made["src"] = {"kind": kind, "of": items}
        case {"kind": "repeat", "of": inner}:
            made["src"] = {"kind": "repeat", "of": clean_pattern(inner, depth + 1, left)}
        case _:
            pass
    if alternatives := _list(fields.get("anyOf")):
        made["anyOf"] = [clean_pattern(p, depth + 1, left) for p in alternatives]
    if fields.get("allowAny") is True:
        made["allowAny"] = True
    if among := [as_text(item, 200) for item in _list(fields.get("among"))]:
        take(len(among), 60 * len(among))
        made["among"] = among
    return made


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value)[:1000] if isinstance(value, list) else []
