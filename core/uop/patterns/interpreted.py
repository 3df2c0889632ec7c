"""Matching, interpreted: walks pattern and graph together. Defines what a match is.

`match_compiled.py` generates code that finds the same matches in the same order; a property test
holds the two together. Never applies a rule.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, NamedTuple, TypeAlias

from core.uop.node import N
from core.uop.patterns.upat import UPat


class Place(NamedTuple, Generic[N]):
    """A part of a pattern held against a node: the `child` of the part above, or the whole pattern
    (None)."""

    pattern: UPat
    node: N
    above: Place[N] | None = None
    child: int = 0


Todo: TypeAlias = "tuple[Place[N], Todo[N]] | None"
"""What is still to be matched, as a linked list, so that backtracking costs nothing."""
Fitted: TypeAlias = "tuple[Place[N], Fitted[N]] | None"
"""What has matched, the last part first."""
Misfit: TypeAlias = "Callable[[Place[N], Fitted[N], Mapping[str, N]], None]"
"""Is told of each part that did not fit, with what did before it, and the names bound."""


def matches(pattern: UPat, node: N, misfit: Misfit[N] | None = None) -> Iterator[Mapping[str, N]]:
    """Every way in which `pattern` matches `node`, as what its names are bound to.

    Order: variants of the pattern first (see `UPat.variants`); then, depth first, the permutations
    of the sources as they come in the node.
    """
    for variant in pattern.variants():
        yield from _walk((Place(variant, node), None), {}, None, misfit)


def permutations(src: tuple[N, ...]) -> Iterator[tuple[N, ...]]:
    """Orders of `src`, without repeating one where a node occurs twice."""
    if len(set(src)) == len(src):
        yield from itertools.permutations(src)
    else:
        yield from dict.fromkeys(itertools.permutations(src))


def _walk(
    todo: Todo[N], binds: dict[str, N], fitted: Fitted[N], misfit: Misfit[N] | None
) -> Iterator[dict[str, N]]:
    if todo is None:
        yield binds
        return
    place, rest = todo
    p, node = place.pattern, place.node
    if p.alternatives:
        for variant in p.variants():
            one = Place(variant, node, place.above, place.child)
            yield from _walk((one, rest), binds, fitted, misfit)
        return
    fits = p.accepts(node) and p.early_reject.issubset(s.op for s in node.src)
    if not fits or (p.name is not None and binds.get(p.name, node) is not node):
        if misfit is not None:
            misfit(place, fitted, binds)
        return
    before = binds
    if p.name is not None:
        binds = {**binds, p.name: node}
    with_this = (place, fitted)
    if p.src is None:
        yield from _walk(rest, binds, with_this, misfit)
    elif isinstance(p.src, UPat):
        yield from _repeat(place, p.src, rest, binds, with_this, misfit)
    elif len(node.src) == len(p.src) or (p.allow_any_len and len(node.src) > len(p.src)):
        orders = permutations(node.src) if isinstance(p.src, list) else (node.src,)
        for order in orders:
            yield from _walk(_then(place, p.src, order, rest), binds, with_this, misfit)
    elif misfit is not None:
        misfit(place, fitted, before)


def _repeat(
    place: Place[N],
    p: UPat,
    rest: Todo[N],
    binds: dict[str, N],
    fitted: Fitted[N],
    misfit: Misfit[N] | None,
) -> Iterator[dict[str, N]]:
    src = place.node.src
    if p.names():  # of no source, the names would be bound to nothing
        if src:
            yield from _walk(_then(place, [p] * len(src), src, rest), binds, fitted, misfit)
        elif misfit is not None:
            misfit(place, fitted and fitted[1], binds)
        return
    for s in src:
        one: Todo[N] = (Place(p, s, place), None)
        if next(_walk(one, {}, fitted, misfit), None) is None:
            return
    yield from _walk(rest, binds, fitted, misfit)


def _then(
    above: Place[N], patterns: tuple[UPat, ...] | list[UPat], nodes: tuple[N, ...], rest: Todo[N]
) -> Todo[N]:
    pairs = list(enumerate(zip(patterns, nodes, strict=False)))
    for child, (p, node) in reversed(pairs):
        rest = (Place(p, node, above, child), rest)
    return rest
