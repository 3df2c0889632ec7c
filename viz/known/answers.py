"""The answers about checked steps: one row each, in the form of `viz/views/answers.py`.

They say what is known, at once: what was checked before, by a command or by a job of this server.
"""

from __future__ import annotations

from typing import Any, Final

from core.prove.solver import HINT, solver_module
from viz.dialect.dialect import Action
from viz.known.beside import take_kept
from viz.views.checks import missing, unrun
from viz.views.runs.run import Answer, Group, Keep, Subject
from viz.views.store import Store

FOREIGN: Final = "the trace is of another compiler: its nodes have no meaning here"


def verdicts(store: Store, rewrite: int) -> dict[str, Any] | None:
    """What is known of each step of a pass: `PassVerdicts`; None for a number that no pass has."""
    if store.scope_of(rewrite) is None:
        return None
    nothing = {"rewrite": rewrite, "steps": [], "verdicts": [], "integers": []}
    return take_kept(store).of(rewrite) or nothing | {"undone": None, "unseen": "", "whole": False}


def checks(store: Store) -> dict[str, Any]:
    """What is known of all passes: `Checks`."""
    known = take_kept(store)
    found = known.summary()
    rows, kernels = store.tree()["rows"], known.kernels()
    return found | {
        "kernels": kernels,
        "missing": missing(found, rows),
        "unrun": unrun(kernels, rows),
        "problem": "" if Action.CHECK in store.dialect.actions else FOREIGN,
        "hint": "" if solver_module() is not None else HINT,
    }


VERDICTS: Final = Answer(
    "verdicts",
    "/verdicts/{rewrite}",
    "PassVerdicts",
    "Whether the steps of a pass are right: what is known of each of them",
    verdicts,
    subject=Subject.CHECKED,
    keep=Keep.NEVER,
    group=Group.CHECKS,
)
CHECKS: Final = Answer(
    "checks",
    "/checks",
    "Checks",
    "Which passes were checked, how many of their steps are right, and what each kernel that was "
    "run as a whole came to",
    checks,
    keep=Keep.NEVER,
    group=Group.CHECKS,
)

CHECK_ANSWERS: Final[tuple[Answer, ...]] = (CHECKS, VERDICTS)
"""All of them."""
