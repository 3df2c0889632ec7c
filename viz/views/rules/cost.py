"""What rules did and cost. One figure ranks them wherever they are listed: the time of all their
tries, whether they matched or not; where a trace does not say it, the time of their matches.

Never runs a rule, and never measures anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from viz.budget import take
from viz.read.trytimes import TryTime
from viz.views.rules.times import NO_TIME, try_times
from viz.views.runs.process import Process

_ROW: Final = 300
"""Bytes of the answer about a rule in a pass."""


@dataclass
class Cost:
    """What a rule did in all passes of one name, or in all of the run."""

    matches: int = 0
    declines: int = 0
    us: float = 0.0
    """Time of its function in matches."""
    tries: int | None = 0
    """None where the trace does not say it; so for `tried`."""
    tried: TryTime | None = None
    """Time of all its tries."""
    acted: bool = False
    """Whether it matched or declined."""

    @property
    def ranked_us(self) -> float:
        """The time by which rules are ranked."""
        return cost_us(self.us, None if self.tried is None else self.tried.us)


def cost_us(matched_us: float, tried_us: float | None) -> float:
    """The time by which rules are ranked: that of all tries, or else of matches."""
    return matched_us if tried_us is None else tried_us


def costs(processes: Iterable[Process]) -> dict[tuple[str, int], Cost]:
    """By (name of the pass, rule of the run), of all rules that were tried. Raises BudgetError."""
    processes = list(processes)
    spent, timed = try_times(processes), any(p.file.try_times.known for p in processes)
    found: defaultdict[tuple[str, int], Cost] = defaultdict(Cost)
    for process in processes:
        tries, totals = process.file.tries(), dict(process.file.totals)
        take(4 * len(totals) + 4 * len(tries), _ROW * (len(totals) + len(tries)))
        for (name, rule), (matches, declines, ns) in totals.items():
            cost = found[process.file.name(name), process.rule(rule)]
            cost.acted = True
            cost.matches += matches
            cost.declines += declines
            cost.us += ns / 1000
            if (name, rule) not in tries:
                cost.tries = None
        for (name, rule), tried in tries.items():
            cost = found[process.file.name(name), process.rule(rule)]
            if cost.tries is not None:
                cost.tries += tried
    for key, cost in found.items():
        if timed:
            cost.tried = spent.get(key, None if cost.tries is None else NO_TIME)
    return dict(found)


def costliest(totals: Mapping[str, Any], name_of: Callable[[int], str]) -> list[dict[str, Any]]:
    """`RuleTotals` as rows of one form, the costliest first: with the rules that neither matched
    nor declined, where their tries took time."""
    nothing = {"matches": 0, "declines": 0, "us": 0.0, "added": 0, "removed": 0, "functionUs": 0}
    rows = list(totals["rows"])
    for one in totals.get("silent", ()):
        for rule, tried, us in zip(one["id"], one["tries"], one.get("us") or (), strict=False):
            if us:
                names = {"pass": one["pass"], "id": rule, "rule": name_of(rule)}
                rows.append({**names, "tries": tried, "tryUs": us, "cost": us, **nothing})
    return sorted(rows, key=rank, reverse=True)


def cost_of(row: Mapping[str, Any]) -> float:
    """The cost of a row of `RuleTotals`; those of older exports do not state it."""
    return row.get("cost", cost_us(row["us"], row.get("tryUs")))


def rank(row: Mapping[str, Any]) -> tuple[float, int]:
    """By cost; where a trace has no times, by matches."""
    return cost_of(row), row["matches"]
