"""How long the tries of rules took: of all passes of a name, in one pass, and of one rule by pass.

A try takes time of its own where the pattern of the rule is run: what is looked up beforehand does
not, see `core/uop/engine/visits.py`. Never measures anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from viz.budget import take
from viz.format import schema
from viz.read.records import Rewrite
from viz.read.trytimes import TryTime
from viz.views.runs.process import Process

MOST: Final = 2000
"""Passes that are listed of one rule."""
NO_TIME: Final = TryTime(0, 0, 0)
_ROW: Final = 400
"""Bytes of a row of an answer."""


def try_times(processes: Iterable[Process]) -> dict[tuple[str, int], TryTime]:
    """By (name of the pass, rule of the run), where the trace says it. Raises BudgetError."""
    found: dict[tuple[str, int], TryTime] = {}
    for process in processes:
        for (name, rule), time in process.file.times_of_tries().items():
            take(4, _ROW)
            key = name, process.rule(rule)
            found[key] = found.get(key, NO_TIME) + time
    return found


def pass_rules(
    process: Process,
    rewrite: Rewrite,
    name_of: Callable[[int], str],
    place_of: Callable[[int], str],
) -> dict[str, Any]:
    """`PassRules`: the rules whose tries took most time in one pass, the longest first, and those
    that matched. Raises BudgetError."""
    file = process.file
    spent: dict[int, TryTime] = {}
    for rule, time in file.try_times.of(rewrite.id).items():
        number = process.rule(rule)
        spent[number] = spent.get(number, NO_TIME) + time
    matched: dict[int, int] = {}
    for arrays, at in file.event_blocks.of(rewrite):
        rows = arrays.row[at[arrays.kind[at] == schema.MATCH]]
        rules, counts = np.unique(arrays.match[rows, 0], return_counts=True)
        for rule, count in zip(rules.tolist(), counts.tolist(), strict=True):
            number = process.rule(rule)
            matched[number] = matched.get(number, 0) + count
    take(len(spent) + len(matched), _ROW * (len(spent) + len(matched)))
    known = file.try_times.known
    return {
        "rewrite": process.id(rewrite.id),
        "pass": rewrite.name,
        "us": rewrite.us,
        "known": known,
        "rows": [
            {
                "id": rule,
                "rule": name_of(rule),
                "place": place_of(rule),
                "tries": spent[rule].tries if rule in spent else None,
                "tryUs": spent[rule].us if rule in spent else None,
                "functionUs": spent[rule].function_us if rule in spent else None,
                "matches": matched.get(rule, 0),
            }
            for rule in sorted(
                spent.keys() | matched.keys(),
                key=lambda rule: (-spent.get(rule, NO_TIME).us, -matched.get(rule, 0), rule),
            )
        ],
    }


def rule_times(processes: Iterable[Process], rule: int) -> dict[str, Any] | None:
    """`RuleTimes`: the passes in which the tries of one rule took most time, the longest first, as
    lists side by side; None where the trace does not say it. Raises BudgetError."""
    found: dict[int, TryTime] = {}
    known = False
    for process in processes:
        known = known or process.file.try_times.known
        for local in [n for n in [*process.file.rules] if process.rule(n) == rule]:
            for rewrite, time in process.file.try_times.of_rule(local).items():
                if rewrite in process.file.rewrites:
                    number = process.id(rewrite)
                    take(2, _ROW)
                    found[number] = found.get(number, NO_TIME) + time
    if not known:
        return None
    rows = sorted(found.items(), key=lambda item: (-item[1].us, item[0]))
    return {
        "rewrite": [number for number, _ in rows[:MOST]],
        "tries": [time.tries for _, time in rows[:MOST]],
        "us": [time.us for _, time in rows[:MOST]],
        "functionUs": [time.function_us for _, time in rows[:MOST]],
        "leftOut": max(0, len(rows) - MOST),
    }
