"""The overview of two runs as one message: `Comparison` of viz/web/src/data/messages/compare.ts.

Never compares: that has been done pair by pair (viz/compare/work.py).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

import numpy as np

from viz.budget import take
from viz.compare.matching.rules import RuleMatch, Rules
from viz.compare.matching.side import Side
from viz.compare.pairs import Pair
from viz.format.cells import as_text
from viz.views.overview.launches import bounded
from viz.views.summary import run_title

Data = dict[str, Any]
MAX_SCOPES: Final = 5000
MAX_RULES: Final = 5000
MAX_PASSES: Final = 2000
MAX_ERRORS: Final = 1000
MAX_SAID: Final = 200
"""Differences of the environment, and notes."""
_ROW: Final = 800
_FEW_IN_COMMON: Final = 0.25
"""Share of kernels that begin with the same graph below which two runs have little in common."""


def overview_data(
    a: Side, b: Side, rules: Rules, pairs: Sequence[Pair], failed: Sequence[str]
) -> Data:
    """The message, when all pairs have been compared; `failed`: sentences of what could not be.
    Raises BudgetError."""
    take(4 * len(pairs))
    listed = heapq.nsmallest(MAX_SCOPES, pairs, key=Pair.order)
    sides = a, b
    edited = a.is_edited or b.is_edited
    rule_rows = [] if edited else rules_data(a, b, rules)
    passes = [] if edited else passes_data(a, b)
    errors = errors_data(pairs)
    lost = lost_data(a, b)
    notes = [*lost, *_notes(a, b, pairs), *failed][:MAX_SAID]
    equal = (
        not failed
        and not lost
        and not errors
        and all(pair.state == "equal" for pair in pairs)
        and all(row["state"] == "equal" for row in rule_rows)
    )
    return {
        **head(a, b),
        "done": True,
        "progress": 1.0,
        "equal": equal,
        "notes": notes,
        "totals": totals_data(a, b),
        "scopes": [pair.data(sides, rules) for pair in listed],
        "leftOut": len(pairs) - len(listed),
        "rules": rule_rows[:MAX_RULES],
        "passes": passes[:MAX_PASSES],
        "environment": environment_data(a, b),
        "errors": errors[:MAX_ERRORS],
    }


def waiting_data(a: Side, b: Side, progress: float) -> Data:
    """The message while pairs are still being compared."""
    return {
        **head(a, b),
        "done": False,
        "progress": min(0.99, progress),
        "equal": False,
        "notes": [],
        "totals": [],
        "scopes": [],
        "leftOut": 0,
        "rules": [],
        "passes": [],
        "environment": [],
        "errors": [],
    }


def head(a: Side, b: Side) -> Data:
    """Which runs these are."""
    return {"runs": {"a": _run(a), "b": _run(b)}}


def _run(side: Side) -> Data:
    run = side.store.run()
    return {
        "file": as_text(side.store.path.name, 300),
        "title": run_title(run),
        "command": as_text(run["command"], 2000),
        "commit": as_text(run["commit"]),
        "started": as_text(run["started"]),
        "live": side.store.live,
        "edited": side.is_edited,
    }


def totals_data(a: Side, b: Side) -> list[Data]:
    """What both runs take as a whole; of an edited text not what passes do."""
    of_a, of_b = _totals(a), _totals(b)
    if a.is_edited or b.is_edited:
        for found in (of_a, of_b):
            found.update(dict.fromkeys(("steps", "nodes", "compile")))
    return [
        {"what": what, "unit": unit, "a": of_a[what], "b": of_b[what]}
        for what, unit in (
            ("kernels", ""),
            ("steps", ""),
            ("nodes", ""),
            ("compile", "us"),
            ("run", "us"),
            ("memory", "B"),
            ("launches", ""),
        )
    ]


def _totals(side: Side) -> dict[str, float | None]:
    kernels = [scope for scope in side.scopes() if scope.kind == "kernel"]
    parts = [] if side.is_part else side.parts
    launches = sum(len(part.file.launches) for part in parts)
    memory = [one.allocated for part in parts for one in part.file.memory]
    times = [bounded(scope.entry.us or 0) for scope in kernels]
    return {
        "kernels": len(kernels),
        "steps": sum(scope.steps for scope in side.scopes()),
        "nodes": sum(scope.nodes for scope in kernels) or None,
        "compile": sum(times) if any(times) else None,
        "run": sum(p.process.launches.total for p in parts) if launches else None,
        "memory": max(memory) if memory else None,
        "launches": launches or None,
    }


def rules_data(a: Side, b: Side, rules: Rules) -> list[Data]:
    """The rules that matched in either run, or whose text differs; those that differ most first."""
    matches_a, matches_b = _matches(a), _matches(b)
    times_a, times_b = _times(a), _times(b)
    found: list[tuple[float, Data]] = []
    for match in rules.matches:
        of_a = matches_a.get(match.a, 0) if match.a is not None else None
        of_b = matches_b.get(match.b, 0) if match.b is not None else None
        text = rules.text_differs(match)
        if not of_a and not of_b and not text:
            continue
        take(4, _ROW)
        record = rules.record(match)
        state = _state(of_a or 0, of_b or 0)
        row = {
            "name": as_text(record.name, 300),
            "file": _place(a, b, match, record.file),
            "a": match.a,
            "b": match.b,
            "matches": {"a": of_a, "b": of_b},
            "us": {"a": times_a.get(match.a or 0), "b": times_b.get(match.b or 0)},
            "state": state,
            "text": text,
        }
        found.append(((state != "equal") + abs((of_b or 0) - (of_a or 0)), row))
    found.sort(key=lambda item: -item[0])
    return [row for _, row in found]


def _place(a: Side, b: Side, match: RuleMatch, file: str) -> str:
    return as_text((b if match.b is not None else a).store.places.short(file), 500)


def _state(of_a: int, of_b: int) -> str:
    if of_a == of_b:
        return "equal"
    if not of_a or not of_b:
        return "new" if of_b else "gone"
    return "more" if of_b > of_a else "less"


def _matches(side: Side) -> dict[int, int]:
    """Matches of each rule of a run."""
    found: dict[int, int] = {}
    for scope in side.scopes() if side.is_part else ():
        for rewrite in scope.passes:
            rows = scope.part.matches.of(rewrite.id)
            take(4 + len(rows) // 8)
            for rule, matches in zip(*np.unique(rows[:, 0], return_counts=True), strict=True):
                number = scope.part.process.rule(int(rule))
                found[number] = found.get(number, 0) + int(matches)
    for part in [] if side.is_part else side.parts:
        totals = [*part.file.totals.items()]
        take(len(totals))
        for (_, rule), (matches, _, _) in totals:
            number = part.process.rule(rule)
            found[number] = found.get(number, 0) + matches
    return found


def _times(side: Side) -> dict[int, float]:
    """Microseconds of the functions of each rule in its matches; nothing of a rule whose time the
    run does not state, and of single kernels."""
    found: dict[int, float] = {}
    for part in [] if side.is_part else side.parts:
        totals = [*part.file.totals.items()]
        take(len(totals))
        for (_, rule), (_, _, ns) in totals:
            if ns > 0:
                number = part.process.rule(rule)
                found[number] = found.get(number, 0.0) + bounded(ns / 1000)
    return found


def passes_data(a: Side, b: Side) -> list[Data]:
    """All passes by name, those whose steps differ most first."""
    of_a, of_b = _passes(a), _passes(b)
    rows: list[Data] = []
    for name in {**of_a, **of_b}:
        take(4, _ROW)
        one, other = of_a.get(name), of_b.get(name)
        rows.append(
            {
                "name": name,
                "steps": {"a": one[0] if one else None, "b": other[0] if other else None},
                "us": {"a": one[1] if one else None, "b": other[1] if other else None},
            }
        )
    rows.sort(key=lambda row: -abs((row["steps"]["b"] or 0) - (row["steps"]["a"] or 0)))
    return rows


def _passes(side: Side) -> dict[str, tuple[int, float]]:
    """Steps and time of all passes of a name."""
    found: dict[str, tuple[int, float]] = {}
    groups = (
        [scope.passes for scope in side.scopes()]
        if side.is_part
        else [[*part.file.rewrites.values()] for part in side.parts]
    )
    for rewrites in groups:
        take(len(rewrites))
        for rewrite in rewrites:
            steps, us = found.get(rewrite.name, (0, 0.0))
            found[rewrite.name] = steps + rewrite.matches, us + bounded(rewrite.us or 0)
    return found


def errors_data(pairs: Iterable[Pair]) -> list[Data]:
    """What failed in one run only."""
    return [
        {
            "where": one.where,
            "message": one.message,
            "a": None if one.in_b else one.rewrite,
            "b": one.rewrite if one.in_b else None,
        }
        for pair in pairs
        for one in pair.failures
    ]


def environment_data(a: Side, b: Side) -> list[Data]:
    """What differs in command, commit, versions, flags and machine. Flags that one side has not
    recorded, as a variant has not, are no difference: one line says so."""
    of_a, of_b = _environment(a), _environment(b)
    flags = [_dict(side.parts[0].file.meta.get("flags")) for side in (a, b)]
    if any(flags) and not all(flags):
        for found in (of_a, of_b):
            for name in [name for name in found if name.startswith("flag ")]:
                del found[name]
        of_a["flags"], of_b["flags"] = ("recorded" if one else "not recorded" for one in flags)
    return [
        {"what": what, "a": of_a.get(what, ""), "b": of_b.get(what, "")}
        for what in {**of_a, **of_b}
        if of_a.get(what, "") != of_b.get(what, "")
    ][:MAX_SAID]


def _environment(side: Side) -> dict[str, str]:
    file = side.parts[0].file
    meta, run = file.meta, side.store.run()
    found = {"program": as_text(run["name"], 300), "command": as_text(run["command"], 1000)}
    commit = as_text(run["commit"])
    found["commit"] = f"{commit} + {run['dirty']:,} changed" if run["dirty"] else commit
    for name in ("compiler", "machine", "python"):
        found[name] = as_text(meta.get(name), 300)
    found["format"] = str(file.db.version)
    for group in ("versions", "flags"):
        for name, value in [*_dict(meta.get(group)).items()][:1000]:
            found[f"{group[:-1]} {name[:100]}"] = str(value)[:300]
    targets = {scope.target: None for scope in side.scopes() if scope.kind == "kernel"}
    found["targets"] = ", ".join(sorted(target for target in targets if target)[:20])
    return found


def _notes(a: Side, b: Side, pairs: Sequence[Pair]) -> list[str]:
    """What a reader has to know before the figures."""
    said: list[str] = []
    kernels = [pair.match for pair in pairs if _is_kernel(pair)]
    counts = [sum(m.a is not None for m in kernels), sum(m.b is not None for m in kernels)]
    common = sum(match.by == "structure" for match in kernels)
    names = [side.store.run()["name"] for side in (a, b)]
    if not (a.is_part or b.is_part) and common < _FEW_IN_COMMON * max(1, *counts):
        if names[0] != names[1]:
            which = f"{_word(names[0])} and {_word(names[1])}"
            said.append(f"These are different programs, {which}: ")
        else:
            said.append("These runs have little in common: ")
        said[-1] += f"{common:,} of {max(counts):,} kernels begin with the same graph."
    for name, side, count in zip("AB", (a, b), counts, strict=True):
        if not count and max(counts):
            said.append(f"{name} has no kernels.")
        if side.is_edited:
            said.append(
                f"{name} is a text that was edited. It has no steps: its source is compared."
            )
        if side.store.live:
            said.append(f"{name} is still being written: what it has so far is compared.")
    versions = [side.parts[0].file.db.version for side in (a, b)]
    if versions[0] != versions[1]:
        said.append(f"A has format version {versions[0]}, B {versions[1]}.")
    compilers = [as_text(side.parts[0].file.meta.get("compiler"), 100) for side in (a, b)]
    if compilers[0] != compilers[1]:
        said.append(
            f"They are of different compilers: {_word(compilers[0])} and {_word(compilers[1])}."
        )
    return said


def lost_data(a: Side, b: Side) -> list[str]:
    """What of the files could not be read."""
    said: list[str] = []
    for name, side in zip("AB", (a, b), strict=True):
        problems = [problem for part in side.parts for problem in part.file.db.problems]
        if problems:
            more = f", and {len(problems) - 1:,} more problems" if len(problems) > 1 else ""
            said.append(
                f"{name} could not be read as a whole, so that the runs are not called equal: "
                f"{problems[0].what[:300]}{more}."
            )
    return said


def _is_kernel(pair: Pair) -> bool:
    either = pair.match.b or pair.match.a
    return either is not None and either.kind == "kernel"


def _word(name: object) -> str:
    return as_text(name, 100) or "one that does not say its name"


def _dict(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
