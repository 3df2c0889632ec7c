"""Passes of a run that did not end, because the function of a rule raised an error or gave what
cannot stand for its node: that rule.

Reads a trace; checks no step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.errors import RuleError
from core.prove.verdict import Verdict
from viz.views.kernels.compiled import FIRST
from viz.views.runs.process import STRIDE
from viz.views.store import Store

_DEFECT: Final = f"{RuleError.__name__}:"


@dataclass(frozen=True)
class Failure:
    """Rule number `rule` failed as step `step` (from 1) of pass number `rewrite`, called `name`."""

    rewrite: int
    name: str
    step: int
    rule: int
    verdict: Verdict


def failures(store: Store, rewrites: frozenset[int] | None = None) -> list[Failure]:
    """Those of the run, or of some of its passes. Of passes inside each other, the innermost. An
    error that a rule raises on purpose, of the user's program, is none."""
    found: list[Failure] = []
    for process in store.processes:
        every = process.file.rewrites
        around = {one.parent for one in every.values() if one.error is not None}
        for number, one in every.items():
            error, rewrite = one.error or {}, process.id(number)
            rule, message = error.get("rule"), str(error.get("message", ""))
            if (
                number in around
                or rule not in process.file.rules
                or not message.startswith(_DEFECT)
            ):
                continue
            if rewrite >= FIRST * STRIDE or (rewrites is not None and rewrite not in rewrites):
                continue
            how = f"its function failed: {message.splitlines()[0]}"[:300]
            step, verdict = one.matches + 1, Verdict("differs", how)
            found.append(Failure(rewrite, one.name, step, process.rule(rule), verdict))
    return found
