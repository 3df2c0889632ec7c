"""Two passes in step: which step of one goes with which of the other.

`PassAlignment` of viz/web/src/data/messages/compare.ts. Steps go together by rule and whole nodes;
between these by rule and what stands around the node, since every node above one that differs
differs, too; then by rule and node alone. Never looks into the trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from viz.budget import take
from viz.compare.matching.align import align_levels
from viz.compare.slots import Walked, pair_slots

Data = dict[str, Any]
_STEP: Final = 400
"""Bytes of a step in the message."""
MAX_RULES: Final = 500


def pass_alignment(a: Walked | None, b: Walked | None) -> Data:
    """Two passes in step; None: only the other run has it. Raises BudgetError."""
    if a is None or b is None:
        one = a or b
        steps = range(1, 1 + len(one.bundle["steps"]) if one is not None else 1)
        only = [(n, 0) if b is None else (0, n) for n in steps]
        counts = {"onlyA": len(only) if b is None else 0, "onlyB": 0 if b is None else len(only)}
        said = one.bundle["truncated"] if one is not None else None
        return _message(only, [False] * len(only), [], {**counts, "both": 0}, [], said)
    levels_a, levels_b = a.step_keys(), b.step_keys()
    pairs = align_levels(levels_a, levels_b)
    rows, equal = _rows(pairs, len(levels_a[0]), len(levels_b[0]))
    slots = pair_slots(a, b, [(i, j) for i, j, _ in pairs])
    counts = {
        "onlyA": len(levels_a[0]) - len(pairs),
        "onlyB": len(levels_b[0]) - len(pairs),
        "both": len(pairs),
    }
    said = " ".join(
        f"{name}: {one.bundle['truncated']}"
        for name, one in (("A", a), ("B", b))
        if one.bundle["truncated"]
    )
    return _message(rows, equal, slots, counts, [], said or None)


def _message(
    rows: list[tuple[int, int]],
    equal: list[bool],
    slots: list[tuple[int, int]],
    counts: dict[str, int],
    rules: list[Data],
    truncated: str | None,
) -> Data:
    return {
        "steps": rows,
        "equal": equal,
        "slots": slots,
        "ofSteps": counts,
        "rules": rules,
        "truncated": truncated,
    }


def rule_counts(
    a: Iterable[int], b: Iterable[int], classes: tuple[Mapping[int, int], Mapping[int, int]]
) -> list[tuple[int, int, int]]:
    """Of the rules of the steps of two passes, those that matched more often in one: the number
    that both runs have in common, and the matches. Those that differ most first."""
    of_a = Counter(classes[0].get(rule, 0) for rule in a)
    of_b = Counter(classes[1].get(rule, 0) for rule in b)
    found = [(n, of_a[n], of_b[n]) for n in {**of_a, **of_b} if of_a[n] != of_b[n]]
    return sorted(found, key=lambda row: -abs(row[1] - row[2]))[:MAX_RULES]


def _rows(
    pairs: Sequence[tuple[int, int, int]], count_a: int, count_b: int
) -> tuple[list[tuple[int, int]], list[bool]]:
    """All steps in order; between pairs those of A first."""
    take(count_a + count_b, _STEP * (count_a + count_b))
    rows: list[tuple[int, int]] = []
    equal: list[bool] = []
    at_a = at_b = 0
    for i, j, level in (*pairs, (count_a, count_b, 0)):
        rows += ((n + 1, 0) for n in range(at_a, i))
        rows += ((0, n + 1) for n in range(at_b, j))
        equal += [False] * (len(rows) - len(equal))
        if i < count_a:
            rows.append((i + 1, j + 1))
            equal.append(level == 0)
        at_a, at_b = i + 1, j + 1
    return rows, equal
