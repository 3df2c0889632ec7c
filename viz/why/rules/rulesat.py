"""The rules of a pass at one node: what became of each, and how far its pattern gets there.

So that a reader who wonders about a node sees which rules were near. Never calls a function of a
rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.errors import BudgetError
from viz.budget import part, take
from viz.why.fit import Fit
from viz.why.reason import Reason, is_tried, reason
from viz.why.subject import Subject

SECONDS: Final = 10.0
_RULE: Final = 20
"""Items that a rule counts for."""


@dataclass(frozen=True)
class RulesAt:
    """What became of the rules of a pass at a node, the nearest first: those that fired, those
    whose pattern fits, those whose pattern got furthest. `left_out`: what was not looked at, in a
    sentence; "" for nothing."""

    rows: tuple[Reason, ...]
    left_out: str


def rules_at(subject: Subject, node: int) -> RulesAt:
    """Every rule of the pass at `node`, a number of the file; equal rules of the run are one. None
    where it is not known which rules the pass has."""
    alike: dict[int, list[int]] = {}
    for rule in subject.order:
        alike.setdefault(subject.process.rule(rule), []).append(rule)
    rows: list[Reason] = []
    left_out = ""
    try:
        with part(3 / 4, SECONDS):
            for rules in alike.values():
                take(_RULE)
                rows.append(_row(subject, node, rules))
    except BudgetError as error:
        left_out = f"looked at {len(rows):,} of {len(alike):,} rules: {error.what}"
    return RulesAt(tuple(sorted(rows, key=_distance)), left_out)


def _row(subject: Subject, node: int, rules: Sequence[int]) -> Reason:
    """The answer about a rule; where the node was not tried, which is the same for all of them, no
    more than how far its pattern gets."""
    hit = subject.hits.get(node)
    if hit is not None and hit.rule in rules:
        return reason(subject, node, rules)
    if node not in subject.members:
        return Reason("not there", "", rules[0], node, fit=subject.fitter.fit(rules[0], node))
    if not is_tried(subject, node, rules):
        return Reason("not reached", "", rules[0], node, fit=subject.fitter.fit(rules[0], node))
    return reason(subject, node, rules)


def _distance(row: Reason) -> tuple[bool, bool, int]:
    """Of equal ones the pass's own order counts."""
    if not isinstance(row.fit, Fit):
        return row.kind != "fired", True, 1
    return row.kind != "fired", not row.fit.fits, -len(row.fit.fitted)
