"""What the check says of the passes of a kernel that were run with a mutant in place of a rule."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from core.errors import UopvizError
from core.helpers import Context
from core.passes.pipeline import lower_kernel
from core.prove.decide import Options
from core.uop.engine.observe import context
from core.uop.patterns.policy import Policy, following
from tests.core.passes.kernels import CPU, GPU
from tests.viz.whatif.mutating import REWRITES, EndlessError, Trial, ast_of, limited
from viz.check.part import check_part
from viz.check.parts import Part
from viz.trace import Recorder
from viz.views.store import Store

OPTIONS = Options(timeout=200)
"""Wrong steps are found by samples: z3 has little to say of them."""


@dataclass(frozen=True)
class Blamed:
    """The rules that are said to be wrong, each with the first step that is. `recorded`: the trace
    holds everything; a node that is none, which a mutant made, ends the recording."""

    rules: dict[str, str]
    recorded: bool


def blamed(trial: Trial, path: Path) -> Blamed:
    """Compiles the kernel of a trial once more, records that in a new file, and checks it."""
    policy = Policy(replace={trial.mutant.rule.name: trial.mutant.rule})
    recorder = Recorder(path).start()
    try:
        with (
            suppress(UopvizError, EndlessError),
            limited(),
            Context(REWRITE_LIMIT=REWRITES),
            following(policy),
            context("kernel", "kernel"),
        ):
            lower_kernel(ast_of(trial.case), GPU if trial.gpu else CPU)
    finally:
        recorder.close()
    return Blamed(wrong(path), recorder.stopped is None)


def wrong(path: Path) -> dict[str, str]:
    """The rules that the check of a trace says are wrong."""
    store = Store(path)
    try:
        names = {row["id"]: row["name"] for row in store.rules()}
        passes = tuple(r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite")
        found: dict[str, str] = {}
        for one in check_part(Part(str(path), passes, options=OPTIONS)):
            verdicts = one["verdicts"]
            for step, rule, at in one["steps"]:
                if verdicts[at]["kind"] == "differs":
                    how = f"step {step} of pass {one['rewrite']}: {verdicts[at]}"
                    found.setdefault(names.get(rule, "?"), how)
        return found
    finally:
        store.close()
