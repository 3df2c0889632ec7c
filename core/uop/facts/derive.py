"""Properties that follow from a node's sources, computed once per node, without recursion.

Knows no property by name; never makes a node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from core.uop.node import N

R = TypeVar("R")


def derive(u: N, attr: str, rule: Callable[[N], Any]) -> Any:
    """Computes a property of `u` after that of its sources, without recursion."""
    for s in u.src:
        if not hasattr(s, attr):
            break
    else:
        setattr(u, attr, found := rule(u))
        return found
    stack = [u]
    while stack:
        node = stack[-1]
        if hasattr(node, attr):
            stack.pop()
            continue
        missing = [s for s in node.src if not hasattr(s, attr)]
        if missing:
            stack.extend(missing)
        else:
            setattr(node, attr, rule(node))
            stack.pop()
    return getattr(u, attr)


def fold(u: N, parts: Callable[[N], Sequence[N]], combine: Callable[[N, Sequence[R]], R]) -> R:
    """`combine` of a node with the results for its `parts`, which are sources of it, for `u` and
    all that it leads to."""
    done: dict[N, R] = {}
    stack = [u]
    while stack:
        node = stack[-1]
        needed = parts(node)
        missing = [s for s in needed if s not in done]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        if node not in done:
            done[node] = combine(node, [done[s] for s in needed])
    return done[u]
