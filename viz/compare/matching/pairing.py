"""Which scope of one run is which of the other: by the graph that they begin with, then by call and
order, then by likeness.

Near-linear in the number of scopes; only what nothing else has matched is compared with each other,
and only so many of those. Never looks at steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from viz.budget import take
from viz.compare.matching.align import align
from viz.compare.matching.canonical import text_key
from viz.compare.matching.rules import pair_by
from viz.compare.matching.side import Scope

By = Literal["structure", "call", "likeness"]
ALIKE: Final = 0.6
"""Share of nodes of the same op from which on two graphs are alike."""
MOST: Final = 500
"""Scopes of either run that are compared with each other by likeness."""
_OPS: Final = 256
"""Ops that are told apart for that."""
MAX_GRAPH: Final = 20_000
"""Nodes of a graph that are looked at for that."""
_NUMBERS: Final = re.compile(r"\d+")
_SCOPE: Final = 500


@dataclass(frozen=True, eq=False)
class ScopeMatch:
    """A scope of both runs, or of one; `by` says how the two were matched."""

    a: Scope | None
    b: Scope | None
    by: By | None


def stem(name: str) -> str:
    """A name without its numbers."""
    return _NUMBERS.sub("#", name)


def pair_scopes(of_a: Sequence[Scope], of_b: Sequence[Scope]) -> list[ScopeMatch]:
    """All scopes of both runs: those of B in order, what only A has where it would stand. Raises
    BudgetError."""
    take(20 * (len(of_a) + len(of_b)), _SCOPE * (len(of_a) + len(of_b)))
    both, left_a, left_b = pair_by(of_a, of_b, (_by_target, _by_graph))
    found = [ScopeMatch(a, b, "structure") for a, b, _ in both]
    for key in (_by_name, _by_call):
        pairs, left_a, left_b = _in_order(left_a, left_b, key)
        found += (ScopeMatch(a, b, "call") for a, b in pairs)
    pairs, left_a, left_b = _alike(left_a, left_b)
    found += (ScopeMatch(a, b, "likeness") for a, b in pairs)
    found += (ScopeMatch(None, b, None) for b in left_b)
    return _put_in_order(of_a, of_b, found, left_a)


def _by_target(scope: Scope) -> Hashable | None:
    found = _by_graph(scope)
    return None if found is None else (found, scope.target, scope.name)


def _by_graph(scope: Scope) -> Hashable | None:
    if not scope.key:
        return None
    return scope.kind, scope.key, stem(scope.name) if scope.kind == "other" else ""


def _by_name(scope: Scope) -> Hashable | None:
    """The call, and the sizes in the name of a kernel, which ends in a part of its own."""
    if scope.kind == "kernel":
        return scope.kind, scope.call, scope.name.rpartition("_")[0] or scope.name
    return scope.kind, scope.name


def _by_call(scope: Scope) -> Hashable | None:
    if scope.kind == "kernel":
        return (scope.kind, scope.call) if scope.call else None
    return scope.kind, stem(scope.name)


def _in_order(
    of_a: list[Scope], of_b: list[Scope], key: Callable[[Scope], Hashable | None]
) -> tuple[list[tuple[Scope, Scope]], list[Scope], list[Scope]]:
    """Scopes with an equal key: as many as are in the same order, then the first with the first."""
    pairs: list[tuple[Scope, Scope]] = []
    keyed_a = [scope for scope in of_a if key(scope) is not None]
    keyed_b = [scope for scope in of_b if key(scope) is not None]
    if keyed_a and keyed_b:
        sides = (keyed_a, keyed_b)
        keys = [np.array([text_key(repr(key(s))) for s in side], np.uint64) for side in sides]
        pairs = [(keyed_a[i], keyed_b[j]) for i, j in align(*keys)]
    taken = {scope for pair in pairs for scope in pair}
    more, left_a, left_b = pair_by(
        (scope for scope in of_a if scope not in taken),
        (scope for scope in of_b if scope not in taken),
        (key,),
    )
    return [*pairs, *((a, b) for a, b, _ in more)], left_a, left_b


def _alike(
    of_a: list[Scope], of_b: list[Scope]
) -> tuple[list[tuple[Scope, Scope]], list[Scope], list[Scope]]:
    """Scopes of one kind whose graphs have about the same ops, the most alike first."""
    some_a, some_b = of_a[:MOST], of_b[:MOST]
    if not some_a or not some_b:
        return [], of_a, of_b
    ops: dict[str, int] = {}
    rows = [[_ops(scope, ops) for scope in side] for side in (some_a, some_b)]
    tables = [np.zeros((len(side), _OPS)) for side in rows]
    for table, side in zip(tables, rows, strict=True):
        for at, counts in enumerate(side):
            for op, count in counts.items():
                table[at, op] = count
    scored: list[tuple[float, int, int, int]] = []
    for i, one in enumerate(tables[0]):
        take(tables[1].size // 8)
        shared = np.minimum(one, tables[1]).sum(axis=1)
        whole = np.maximum(np.maximum(one, tables[1]).sum(axis=1), 1)
        share = shared / whole
        for j in np.flatnonzero(share >= ALIKE).tolist():
            if some_a[i].kind == some_b[j].kind:
                scored.append((-float(share[j]), abs(i - j), i, j))
    take(len(scored), 100 * len(scored))
    taken_a: set[int] = set()
    taken_b: set[int] = set()
    pairs: list[tuple[Scope, Scope]] = []
    for _, _, i, j in sorted(scored):
        if i not in taken_a and j not in taken_b:
            taken_a.add(i)
            taken_b.add(j)
            pairs.append((some_a[i], some_b[j]))
    left_a = [scope for at, scope in enumerate(of_a) if at not in taken_a]
    left_b = [scope for at, scope in enumerate(of_b) if at not in taken_b]
    return pairs, left_a, left_b


def _ops(scope: Scope, numbers: dict[str, int]) -> dict[int, int]:
    """How often each op is in the first graph of a scope, as far as that is looked at."""
    nodes, op = scope.part.file.nodes, scope.part.file.nodes.field("op")
    seen = {scope.root} if 0 < scope.root <= nodes.count else set[int]()
    waiting = [*seen]
    counts: dict[int, int] = {}
    while waiting and len(seen) < MAX_GRAPH:
        node = waiting.pop()
        take(2, 100)
        name = scope.part.file.name(int(op[node]))
        number = numbers.setdefault(name, len(numbers)) % _OPS
        counts[number] = counts.get(number, 0) + 1
        for source in nodes.sources(node):
            if source not in seen:
                seen.add(source)
                waiting.append(source)
    return counts


def _put_in_order(
    of_a: Sequence[Scope], of_b: Sequence[Scope], found: list[ScopeMatch], left_a: list[Scope]
) -> list[ScopeMatch]:
    """The matches in the order of B; a scope that only A has, behind the one before it in A."""
    place_a = {scope: at for at, scope in enumerate(of_a)}
    of = {match.b: match for match in found if match.b is not None}
    behind: dict[Scope | None, list[ScopeMatch]] = {}
    partner = {match.a: match.b for match in found if match.a is not None}
    last: list[Scope | None] = []
    before: Scope | None = None
    for scope in of_a:
        last.append(before)
        before = partner.get(scope, before)
    for scope in left_a:
        match = ScopeMatch(scope, None, None)
        behind.setdefault(last[place_a[scope]], []).append(match)
    ordered = behind.pop(None, [])
    for scope in of_b:
        ordered.append(of[scope])
        ordered += behind.pop(scope, [])
    return ordered
