"""Bisect and the check of steps, proved: wrong rules on purpose, those that change a result, and
those that are named.

Counts, no times: the same on every machine.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.bench.measure import table
from tests.mutants import KINDS
from tests.viz.check.mutating import blamed
from tests.viz.whatif.mutating import Trial, trials

MUTANTS: Final = int(os.environ.get("BENCH_MUTANTS", "200"))
SEED: Final = 1
HEADER: Final = (
    "kind of mutant",
    "mutants",
    "refused",
    "of these, named",
    "another named",
    "same result",
    "changed a result",
    "named",
    "another named",
    "only the pass",
)


CHECK_HEADER: Final = (
    "kind of mutant",
    "changed a result",
    "named",
    "and others of its pass",
    "not named",
    "not recorded",
    "result right, named",
    "result right, another named",
    "refused, named",
    "refused, another named",
)


def figures() -> str:
    """Tables of kinds of mutants."""
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    checks: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        for at, one in enumerate(trials(SEED, MUTANTS)):
            counts[one.mutant.kind][one.ending] += 1
            if (by := one.refused_by) is not None:
                same = by is one.mutant.rule
                counts[one.mutant.kind]["refused, named" if same else "refused, another"] += 1
            checks[one.mutant.kind].update(_answers(one, Path(folder) / f"{at}.viz"))
    rows = [_check_row(kind, found) for kind, found in checks.items()]
    rows.append(_check_row("all", sum(checks.values(), Counter[str]())))
    check = table(f"Check: the same {MUTANTS} mutants of rules", CHECK_HEADER, rows)
    return _of_bisect(counts) + "\n" + check


def _answers(one: Trial, path: Path) -> list[str]:
    """The columns of the table of the check that a mutant counts in."""
    found, name = blamed(one, path), one.mutant.rule.name
    named, others = name in found.rules, bool(found.rules.keys() - {name})
    if one.ending in ("found", "blamed wrongly", "not found"):
        if not found.recorded and not named:
            return ["changed a result", "not recorded"]
        how = "and others of its pass" if named and others else "named" if named else "not named"
        return ["changed a result", how]
    what = "result right" if one.ending == "same result" else "refused"
    answers = [f"{what}, named"] if named else []
    return [*answers, f"{what}, another named"] if others else answers


def _check_row(kind: str, found: Counter[str]) -> list[object]:
    return [kind, *(found[column] for column in CHECK_HEADER[1:])]


def _of_bisect(counts: Mapping[str, Counter[str]]) -> str:
    total: Counter[str] = Counter()
    for found in counts.values():
        total += found
    rows = [_row(kind, found) for kind, found in [*counts.items(), ("all", total)]]
    return table(f"Bisect: {MUTANTS} mutants of rules", HEADER, rows)


def _row(kind: str, found: Counter[str]) -> list[object]:
    wrong = found["found"] + found["blamed wrongly"] + found["not found"]
    refused = found["refused"] + found["not run"] + found["endless"]
    return [
        kind,
        refused + found["same result"] + wrong,
        refused,
        found["refused, named"],
        found["refused, another"],
        found["same result"],
        wrong,
        found["found"],
        found["blamed wrongly"],
        found["not found"],
    ]
