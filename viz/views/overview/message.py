"""The page that opens first, as one message: what ran, how long it took, and what took it.

The form is `Overview` of viz/web/src/data/messages/overview.ts. Never reads the events of a pass.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Any, Final

from core.errors import BudgetError
from viz.budget import part, take
from viz.files import alive
from viz.files.machine import machine_text
from viz.format.cells import as_text
from viz.read.records import Rewrite
from viz.views.overview.activity import activity_data
from viz.views.overview.launches import bounded
from viz.views.overview.lines import lines_data
from viz.views.overview.table import MAX_DEVICES, MAX_ROWS, RowOf, rows_data, table_of
from viz.views.rules.cost import costs
from viz.views.rules.rulebook import Rulebook
from viz.views.runs.places import Places
from viz.views.runs.process import Process

FEW: Final = 12
"""Rules and passes in the answer; the page shows five of each."""
Data = dict[str, Any]


def overview_data(
    processes: Sequence[Process], rules: Rulebook, row_of: RowOf, places: Places, seconds: float
) -> Data:
    """The overview. `seconds`: how long the run took, as far as it says. What exceeds the budget is
    left out, and `truncated` says so."""
    cut: list[str] = []
    table = table_of(processes, row_of)
    try:
        with part(0.6):
            activity = activity_data(processes, seconds)
    except BudgetError as error:
        cut.append(f"the course of the run: {error.what}")
        activity = None
    kernels = rows_data(table, places.place)
    lines = lines_data(table, places.place)
    passes_us = sum(bounded(r.us or 0) for r in _rewrites(processes) if not r.parent)
    try:
        with part(0.4):
            costly, rule_count = _rules(processes, rules)
    except BudgetError as error:
        cut.append(f"the costliest rules: {error.what}")
        costly, rule_count = [], 0
    for rule in costly:
        rule["share"] = rule["us"] / passes_us if passes_us > 0 else 0.0
    left = len(table.kernels) - len(kernels)
    if left:
        cut.append(f"{left:,} lighter kernels are left out of the list of {MAX_ROWS:,}")
    devices = dict.fromkeys(one.device for p in processes for one in p.launches.all())
    return {
        "version": 1,
        "by": table.by,
        "whole": table.whole,
        "devices": [as_text(name, 100) for name in devices][:MAX_DEVICES],
        "here": is_here(processes),
        "activity": activity,
        "kernels": kernels,
        "kernelsLeft": left,
        "lines": lines,
        "rules": costly,
        "ruleCount": rule_count,
        "passes": _passes(processes, row_of),
        "passesUs": passes_us,
        "truncated": "; ".join(cut) or None,
    }


def is_here(processes: Sequence[Process]) -> bool:
    """Whether the run was recorded on this machine, as far as its trace says it: what was measured
    here is compared with no other one's."""
    meta = processes[0].file.meta
    return alive.is_here(meta.get("process")) and meta.get("machine") == machine_text()


def _rules(processes: Sequence[Process], rules: Rulebook) -> tuple[list[Data], int]:
    """The costliest rules, and how many rules matched at all."""
    found: dict[int, Data] = {}
    for (_, rule), cost in costs(processes).items():
        new = {"matches": 0, "tries": 0, "us": 0.0}
        total = found.setdefault(rule, new)
        total["matches"] += cost.matches
        total["us"] += bounded(cost.ranked_us)
        if total["tries"] is not None:
            total["tries"] = None if cost.tried is None else total["tries"] + cost.tries
    ranked = {r: total for r, total in found.items() if total["matches"] or total["us"] > 0}
    listed = heapq.nlargest(FEW, ranked.items(), key=lambda of: (of[1]["us"], of[1]["matches"]))
    return [
        {"id": rule, "name": rules.name(rule), "equation": rules.equation(rule)[:300], **total}
        for rule, total in listed
    ], sum(total["matches"] > 0 for total in found.values())


def _rewrites(processes: Sequence[Process]) -> Iterator[Rewrite]:
    for process in processes:
        yield from [*process.file.rewrites.values()]


def _weight(one: tuple[float, Process, Rewrite]) -> tuple[float, int]:
    """Time; where a trace has no times, steps."""
    return one[0], one[2].matches


def _passes(processes: Sequence[Process], row_of: RowOf) -> list[Data]:
    """The passes that took longest, without the time of those inside them."""
    slowest: list[tuple[float, Process, Rewrite]] = []
    for process in processes:
        rewrites = [r for r in [*process.file.rewrites.values()] if r.us is not None]
        take(2 * len(rewrites), 100 * len(rewrites))
        inner: dict[int, float] = {}
        for rewrite in rewrites:
            if rewrite.parent:
                inner[rewrite.parent] = inner.get(rewrite.parent, 0.0) + bounded(rewrite.us or 0)
        own = [(bounded(r.us or 0) - inner.get(r.id, 0.0), process, r) for r in rewrites]
        slowest += heapq.nlargest(FEW, own, key=_weight)
    listed: list[Data] = []
    for us, process, rewrite in heapq.nlargest(FEW, slowest, key=_weight):
        context = process.file.contexts.get(rewrite.context)
        row = row_of(process.id(rewrite.id))
        listed.append(
            {
                "id": process.id(rewrite.id),
                "name": rewrite.name,
                "of": context.name if context is not None else "",
                "us": max(0.0, us),
                "steps": rewrite.matches,
                "status": row.status if row is not None else "ok",
            }
        )
    return listed
