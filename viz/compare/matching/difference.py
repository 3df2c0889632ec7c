"""What differs between the passes of two scopes, and which difference came first.

A step is the same on both sides where the rule and the keys of the node before and after it are.
The passes of a scope go together by name and place. Never looks at times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from viz.budget import take
from viz.compare.matching.align import align, align_levels
from viz.compare.matching.buffers import graph_key
from viz.compare.matching.canonical import text_key
from viz.compare.matching.keys import Keys, mix
from viz.compare.matching.pairing import stem
from viz.compare.matching.rules import Rules
from viz.compare.matching.side import Part, Scope
from viz.read.records import Rewrite

_PASS: Final = 400
_DEEPEST: Final = 40
_WALK: Final = 10_000
"""Nodes that are looked at on the way to the first one that differs."""


@dataclass(frozen=True)
class Place:
    """A step of a pass, 1-based; None on a side that has no such step."""

    a: int | None
    b: int | None


@dataclass(frozen=True, eq=False)
class PassMatch:
    """A pass of both scopes, or of one. `first` is None where nothing differs; a place without
    steps: the graphs before the first step do, or only one side has the pass."""

    a: Rewrite | None
    b: Rewrite | None
    same: int
    first: Place | None

    @property
    def equal(self) -> bool:
        """Whether both have it, with the same steps on the same graphs."""
        return self.first is None


@dataclass(frozen=True, eq=False)
class FirstDifference:
    """The first pass of a scope that differs, and the first step of it; `node` is the number in its
    file of the node at which it happens, in A or, where `in_b`, in B; 0 for none."""

    match: PassMatch
    place: Place
    node: int
    in_b: bool


def step_keys(part: Part, rewrite: Rewrite | None, rules: Rules) -> Keys:
    """A key of each step of a pass: of its rule, and of the node before and after it. Raises
    BudgetError."""
    rows = part.matches.of(rewrite.id) if rewrite is not None else None
    if rewrite is None or rows is None or not len(rows):
        return np.zeros(0, np.uint64)
    take(len(rows), 60 * len(rows))
    keys, rule_keys = part.keys.keys, rules.keys(part)
    rule, before, after = (
        of[np.minimum(np.maximum(column, 0), len(of) - 1)]  # np.clip is slow where few are clipped
        for of, column in zip((rule_keys, keys, keys), rows.T, strict=False)
    )
    return mix(mix(rule, before), after)


def pair_passes(
    a: Sequence[Rewrite], b: Sequence[Rewrite]
) -> list[tuple[Rewrite | None, Rewrite | None]]:
    """The passes of two scopes by name and place, in order. Raises BudgetError."""
    take(4 * (len(a) + len(b)), _PASS * (len(a) + len(b)))
    levels = [
        [np.array([text_key(kind(r)) for r in side], np.uint64) for kind in (_named, _stemmed)]
        for side in (a, b)
    ]
    pairs = [(i, j) for i, j, _ in align_levels(levels[0], levels[1])]
    found: list[tuple[Rewrite | None, Rewrite | None]] = []
    at_a = at_b = 0
    for i, j in (*pairs, (len(a), len(b))):
        found += ((rewrite, None) for rewrite in a[at_a:i])
        found += ((None, rewrite) for rewrite in b[at_b:j])
        if i < len(a):
            found.append((a[i], b[j]))
        at_a, at_b = i + 1, j + 1
    return found


def _named(rewrite: Rewrite) -> str:
    return f"{bool(rewrite.parent)} {rewrite.name}"


def _stemmed(rewrite: Rewrite) -> str:
    return f"{bool(rewrite.parent)} {stem(rewrite.name)}"


def compare_pass(
    of: tuple[Part, Part], a: Rewrite, b: Rewrite, rules: Rules, count: bool = False
) -> PassMatch:
    """Two passes. With `count`, the steps are aligned and those that both have are counted; else
    only those up to the first difference are. Raises BudgetError."""
    part_a, part_b = of
    take(4)
    before = part_a.key(a.sink) == part_b.key(b.sink)
    if not a.matches and not b.matches:
        same = before and _ends_alike(of, a, b)
        return PassMatch(a, b, 0, None if same else Place(None, None))
    keys_a, keys_b = step_keys(part_a, a, rules), step_keys(part_b, b, rules)
    size = min(len(keys_a), len(keys_b))
    differ = np.flatnonzero(keys_a[:size] != keys_b[:size])
    at = int(differ[0]) if len(differ) else size
    whole = at == len(keys_a) == len(keys_b)
    if not before or (whole and not _ends_alike(of, a, b)):
        first = Place(None, None)
    elif whole:
        return PassMatch(a, b, at, None)
    else:
        step = at + 1
        first = Place(step if step <= len(keys_a) else None, step if step <= len(keys_b) else None)
    return PassMatch(a, b, len(align(keys_a, keys_b)) if count else at, first)


def _ends_alike(of: tuple[Part, Part], a: Rewrite, b: Rewrite) -> bool:
    """Whether two passes end in the same graph, or in an error both."""
    failed = (a.error is None) == (b.error is None)
    return failed and of[0].key(a.result) == of[1].key(b.result)


def compare_passes(a: Scope, b: Scope, rules: Rules, count: bool = False) -> list[PassMatch]:
    """The passes of two scopes, in order. Raises BudgetError."""
    found: list[PassMatch] = []
    for one, other in pair_passes(a.passes, b.passes):
        if one is None or other is None:
            found.append(PassMatch(one, other, 0, Place(None, None)))
        else:
            found.append(compare_pass((a.part, b.part), one, other, rules, count))
    return found


def first_difference(a: Scope, b: Scope, passes: Sequence[PassMatch]) -> FirstDifference | None:
    """The difference that came first in time; None where nothing differs. A pass inside another one
    comes before the step of that which it was part of. Raises BudgetError."""
    at = next((i for i, one in enumerate(passes) if not one.equal), None)
    if at is None:
        return _other_buffers(a, b, passes)
    found = passes[at]
    while (inner := _earlier_inside(a, b, found, passes)) is not None:
        found = inner
    place = found.first or Place(None, None)
    node, in_b = _node_of(a, b, found, place)
    return FirstDifference(found, place, node, in_b)


def _other_buffers(a: Scope, b: Scope, passes: Sequence[PassMatch]) -> FirstDifference | None:
    """The first pass whose graphs only differ in which of two buffers they use. Looks at all of
    them only where those at the ends of the scope differ."""
    if a.kind == "kernel":
        return None  # its AST has numbered arguments in place of buffers
    outer = [m for m in passes if m.a is not None and m.b is not None and not m.a.parent]
    ends = {id(one): one for one in (*outer[:1], *outer[-1:])}.values()
    if all(_same_buffers(a, b, one) for one in ends):
        return None
    for one in outer:
        if not _same_buffers(a, b, one):
            nowhere = Place(None, None)
            found = PassMatch(one.a, one.b, one.same, nowhere)
            return FirstDifference(found, nowhere, 0, False)
    return None


def _same_buffers(a: Scope, b: Scope, one: PassMatch) -> bool:
    if one.a is None or one.b is None:
        return False
    return all(
        graph_key(a.part, of_a) == graph_key(b.part, of_b)
        for of_a, of_b in ((one.a.sink, one.b.sink), (one.a.result, one.b.result))
    )


def _earlier_inside(
    a: Scope, b: Scope, outer: PassMatch, passes: Sequence[PassMatch]
) -> PassMatch | None:
    """The first difference in a pass inside `outer` that came before that of `outer` itself."""
    if outer.a is None or outer.b is None or outer.first is None:
        return None
    if outer.first.a is None and outer.first.b is None:
        return None  # the graphs before it differ
    for one in passes:
        if one.equal or one is outer:
            continue
        for side, of, inner in ((a, outer.a, one.a), (b, outer.b, one.b)):
            if inner is None or inner.parent != of.id:
                continue
            step = outer.first.a if side is a else outer.first.b
            own = side.part.matches.of(of.id)
            if step is None:
                return one
            begun = side.part.matches.of(inner.id)
            if len(begun) and begun[0, 3] < own[step - 1, 3]:
                return one
            break
    return None


def _node_of(a: Scope, b: Scope, found: PassMatch, place: Place) -> tuple[int, bool]:
    """The node at which two passes begin to differ, and whether it is one of B."""
    if found.a is not None and place.a is not None:
        return int(a.part.matches.of(found.a.id)[place.a - 1, 1]), False
    if found.b is not None and place.b is not None:
        return int(b.part.matches.of(found.b.id)[place.b - 1, 1]), True
    if found.a is not None and found.b is not None:
        return _where_graphs_differ((a.part, b.part), found.a.sink, found.b.sink), False
    if found.a is not None:
        return found.a.sink, False
    return (found.b.sink, True) if found.b is not None else (0, False)


def _where_graphs_differ(of: tuple[Part, Part], one: int, other: int) -> int:
    """From two roots down to the first node of A that differs by itself, not only below it."""
    part_a, part_b = of
    for _ in range(_WALK):
        take(4)
        sources_a, sources_b = part_a.file.nodes.sources(one), part_b.file.nodes.sources(other)
        if len(sources_a) != len(sources_b):
            return one
        for s, t in zip(sources_a, sources_b, strict=True):
            if part_a.key(s) != part_b.key(t):
                one, other = s, t
                break
        else:
            return one
    return one


def node_words(part: Part, node: int) -> str:
    """A node in words, such as "IDIV int32"; "" for none."""
    nodes, name = part.file.nodes, part.file.name
    if not 0 < node <= nodes.count:
        return ""
    op, dtype = (name(int(nodes.field(field)[node])) for field in ("op", "dtype"))
    return f"{op} {dtype}".strip()[:200]


def depth_of(part: Part, rewrite: Rewrite) -> int:
    """How many passes a pass is inside of."""
    depth = 0
    while rewrite.parent and depth < _DEEPEST:
        above = part.file.rewrites.get(rewrite.parent)
        if above is None:
            break
        rewrite, depth = above, depth + 1
    return depth
