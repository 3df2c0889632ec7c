"""What a search for a wrong match found, as plain data: `Bisection` of docs/json.md."""

from __future__ import annotations

from typing import Any, Final

from core.uop.show import excerpt
from core.uop.uop import UOp
from viz.whatif.narrowing.culprit import Culprit, Verdict
from viz.whatif.narrowing.states import Match
from viz.whatif.results.outcome import Outcome

Data = dict[str, Any]
MAX_LINES: Final = 12
"""Nodes of a graph that are shown."""
MAX_LINE: Final = 300


def outcome_data(outcome: Outcome) -> Data:
    """An outcome with the sentence that says it."""
    return outcome.data() | {"said": str(outcome)}


def verdict_data(verdict: Verdict) -> Data:
    """The answer of a search."""
    error = verdict.error
    culprit = verdict.culprit
    outcome = verdict.outcome
    return {
        "outcome": None if outcome is None else outcome_data(outcome),
        "wrong": error is not None or (outcome is not None and not outcome.equal),
        "failed": None
        if error is None
        else {
            "pass": verdict.failed,
            "error": {"what": error.what, "where": error.where, "hint": error.hint},
            "step": None if verdict.illegal is None else culprit_data(verdict.illegal),
        },
        "culprit": None if culprit is None else culprit_data(culprit),
        "device": None,
        "asked": verdict.asked,
        "notes": []
        if outcome is not None or error is not None
        else ["the compiled kernel cannot be run by the interpreter"],
    }


def culprit_data(culprit: Culprit) -> Data:
    """What made a result wrong."""
    match = culprit.match
    return {
        "pass": culprit.place,
        "match": None if match is None else _match_data(match, culprit),
        "candidates": list(culprit.candidates),
        "before": None if culprit.before is None else outcome_data(culprit.before),
        "after": None if culprit.after is None else outcome_data(culprit.after),
        "leftOut": culprit.left_out,
    }


def _match_data(match: Match, culprit: Culprit) -> Data:
    rule = match.rule
    return {
        "rule": {
            "name": rule.name,
            "file": rule.file,
            "line": rule.line,
            "equation": rule.equation,
        },
        "rewrite": culprit.rewrite,
        "occurrence": culprit.occurrence,
        "step": match.step,
        "inside": match.depth > 0,
        "before": _lines(match.before),
        "after": _lines(match.after),
    }


def _lines(node: UOp) -> list[str]:
    """A node and those closest below it."""
    return [line[:MAX_LINE] for line in excerpt(node, MAX_LINES).splitlines()]
