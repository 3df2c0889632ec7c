"""`bisect`: which match of which rule made the result of a kernel of a run differ from the
reference, and where that match is in the trace.

The search is done in a worker (culprit.py), with the rules of the code that is on disk.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, Final

from core.errors import BudgetError
from core.target import target_named
from viz.views.nodes.lineage import rewrites_in
from viz.views.runs.process import STRIDE
from viz.views.store import Store
from viz.whatif.changed import changed_rules
from viz.whatif.isolated import SECONDS, TRACE, work_at
from viz.whatif.subject import Subject, subject_of
from viz.whatif.variants.variant import Variant

Data = dict[str, Any]
_VERSION: Final = 1


def bisect(
    store: Store,
    kernel: int,
    variant: Variant | None = None,
    *,
    seconds: float = SECONDS,
    executor: Executor | None = None,
) -> Data:
    """Looks for what made the result of kernel `kernel` wrong, of the kernel as it is compiled by
    the code on disk, or of a variant of that: `Bisection` of docs/json.md. Raises ServerError where
    the kernel cannot be compiled here or its worker ends without an answer, and BudgetError."""
    search = search_of(store, kernel, variant)
    found = work_at(search.request, seconds, executor)
    del found[TRACE]
    return search.answer(found)


@dataclass(frozen=True)
class Search:
    """What a worker is asked about a kernel, and what its answer means."""

    store: Store
    subject: Subject
    variant: Variant
    device: str = ""
    """The device of this machine that it is compiled for; "": the target of the variant."""

    @property
    def request(self) -> Data:
        """For `viz/whatif/worker.py`."""
        return {
            "job": "bisect",
            "subject": self.subject.data(),
            "variant": self.variant.data(),
            "device": self.device,
        }

    def answer(self, found: Data) -> Data:
        """`Bisection`, of what the worker found."""
        target = found.pop("target")
        other = target if target != self.subject.target else ""
        variant = replace(self.variant, target=self.variant.target or other)
        return _bisection(self.store, self.subject, variant, found)


def search_of(
    store: Store, kernel: int, variant: Variant | None = None, device: str = ""
) -> Search:
    """A search for what made the result of a kernel wrong, whose caller has the worker. Raises as
    `bisect`."""
    asked = variant or Variant()
    if asked.target:
        target_named(asked.target)
    return Search(store, subject_of(store, kernel), asked, device)


def _bisection(store: Store, subject: Subject, asked: Variant, found: Data) -> Data:
    kernel = subject.number
    culprit = found["culprit"] or (found["failed"] or {}).get("step")
    match = culprit["match"] if culprit else None
    return {
        "version": _VERSION,
        "kernel": {"number": kernel, "name": subject.name, "target": subject.target},
        "variant": {**asked.data(), "said": str(asked)},
        **found,
        "inTrace": None if match is None or asked.target else step_in_trace(store, kernel, match),
        "changed": [one.data() for one in changed_rules(store)],
    }


def step_in_trace(store: Store, kernel: int, match: Data) -> Data | None:
    """Where a match of the search is in the trace: {"rewrite", "step"}, numbers as `uopviz show`
    takes them. None where the trace has another rule there, as its rules were others."""
    process = store.processes[kernel // STRIDE]
    within = rewrites_in(process.file, kernel % STRIDE)
    named = [one for one in within if one.name == match["rewrite"] and one.matches]
    if not 0 < match["occurrence"] <= len(named):
        return None
    rewrite = process.id(named[match["occurrence"] - 1].id)
    try:
        bundle = store.bundle(rewrite)
    except BudgetError:
        return None
    steps = bundle["steps"] if bundle is not None else []
    if not 0 < match["step"] <= len(steps):
        return None
    if store.rule_name(steps[match["step"] - 1]["rule"]) != match["rule"]["name"]:
        return None
    return {"rewrite": rewrite, "step": match["step"]}
