"""Bisect, proved: wrong rules on purpose, those that change a result, and those that are named.

Counts, no times: the same on every machine.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Final

from tests.bench.measure import table
from tests.mutants import KINDS
from tests.viz.whatif.mutating import Ending, trials

MUTANTS: Final = int(os.environ.get("BENCH_MUTANTS", "200"))
SEED: Final = 1
HEADER: Final = (
    "kind of mutant",
    "mutants",
    "refused",
    "same result",
    "changed a result",
    "named",
    "another named",
    "only the pass",
)


def figures() -> str:
    """A table of kinds of mutants."""
    counts: dict[str, Counter[Ending]] = {kind: Counter() for kind in KINDS}
    for one in trials(SEED, MUTANTS):
        counts[one.mutant.kind][one.ending] += 1
    total: Counter[Ending] = Counter()
    for found in counts.values():
        total += found
    rows = [_row(kind, found) for kind, found in [*counts.items(), ("all", total)]]
    return table(f"Bisect: {MUTANTS} mutants of rules", HEADER, rows)


def _row(kind: str, found: Counter[Ending]) -> list[object]:
    wrong = found["found"] + found["blamed wrongly"] + found["not found"]
    refused = found["refused"] + found["not run"] + found["endless"]
    return [
        kind,
        sum(found.values()),
        refused,
        found["same result"],
        wrong,
        found["found"],
        found["blamed wrongly"],
        found["not found"],
    ]
