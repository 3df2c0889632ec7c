"""Matching, interpreted: walks pattern and graph together. Defines what a match is.

`match_compiled.py` generates code that finds the same matches in the same order; a property test
holds the two together. Never applies a rule.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from core.uop.node import N
from core.uop.upat import UPat

Todo: TypeAlias = "tuple[tuple[UPat, N], Todo[N]] | None"
"""What is still to be matched, as a linked list, so that backtracking costs nothing."""


def matches(pattern: UPat, node: N) -> Iterator[Mapping[str, N]]:
    """Every way in which `pattern` matches `node`, as what its names are bound to.

    Order: variants of the pattern first (see `UPat.variants`); then, depth first, the permutations
    of the sources as they come in the node.
    """
    for variant in pattern.variants():
        yield from _walk(((variant, node), None), {})


def permutations(src: tuple[N, ...]) -> Iterator[tuple[N, ...]]:
    """Orders of `src`, without repeating one where a node occurs twice."""
    if len(set(src)) == len(src):
        yield from itertools.permutations(src)
    else:
        yield from dict.fromkeys(itertools.permutations(src))


def _walk(todo: Todo[N], binds: dict[str, N]) -> Iterator[dict[str, N]]:
    if todo is None:
        yield binds
        return
    (p, node), rest = todo
    if p.alternatives:
        for variant in p.variants():
            yield from _walk(((variant, node), rest), binds)
        return
    if not p.accepts(node) or not p.early_reject.issubset(s.op for s in node.src):
        return
    if p.name is not None:
        if binds.get(p.name, node) is not node:
            return
        binds = {**binds, p.name: node}
    if p.src is None:
        yield from _walk(rest, binds)
    elif isinstance(p.src, UPat):
        yield from _repeat(p.src, node.src, rest, binds)
    elif len(node.src) == len(p.src) or (p.allow_any_len and len(node.src) > len(p.src)):
        orders = permutations(node.src) if isinstance(p.src, list) else (node.src,)
        for order in orders:
            yield from _walk(_then(p.src, order, rest), binds)


def _repeat(
    p: UPat, src: tuple[N, ...], rest: Todo[N], binds: dict[str, N]
) -> Iterator[dict[str, N]]:
    if p.names():  # of no source, the names would be bound to nothing
        if src:
            yield from _walk(_then([p] * len(src), src, rest), binds)
    elif all(next(matches(p, s), None) is not None for s in src):
        yield from _walk(rest, binds)


def _then(patterns: tuple[UPat, ...] | list[UPat], nodes: tuple[N, ...], rest: Todo[N]) -> Todo[N]:
    for pair in reversed(list(zip(patterns, nodes, strict=False))):
        rest = (pair, rest)
    return rest
