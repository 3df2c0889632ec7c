"""Substitution as steps: nodes replaced by others, all at once, told to observers like a rewrite.

A replacement is not searched again, which tells this from `graph_rewrite`. Costs what
`UOp.substitute` costs while no observer is attached. Never decides what to replace.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter_ns

from core.uop.engine.observe import Observer, attached
from core.uop.frames import caller_place
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import Assumes, rule
from core.uop.patterns.upat import UPat
from core.uop.uop import UOp


@rule(UPat(name="x"), assumes=(Assumes.CONTEXT,))
def substitute_node(ctx: Mapping[UOp, UOp], x: UOp) -> UOp | None:
    """x -> what is put in its place, everywhere"""
    return ctx.get(x)


@rule(UPat(name="x"), assumes=(Assumes.CONTEXT,))
def substitute_together(ctx: Mapping[UOp, UOp], x: UOp) -> UOp | None:
    """f(x, y) -> f(a, b), where step by step one would come in the way of another"""
    made = x.substitute(ctx)
    return None if made is x else made


substitution = PatternMatcher([substitute_node, substitute_together], name="substitute")
"""The rules of its steps. `substitute` replaces; they say what it did."""


def substitute(u: UOp, replacements: Mapping[UOp, UOp], name: str) -> UOp:
    """`u.substitute(replacements)` as a rewrite of its own, called `name`: a step for each node
    that is replaced."""
    observer = attached()
    if observer is None:
        return u.substitute(replacements)
    observer.rewrite_begin(name, u, substitution, False, caller_place(1))
    try:
        made = substitute_told(observer, u, replacements)
    except BaseException as error:
        observer.rewrite_end(None, error, None, None)
        raise
    observer.rewrite_end(made, None, None, None)
    return made


def substituted(observer: Observer | None, u: UOp, replacements: Mapping[UOp, UOp]) -> UOp:
    """`u.substitute`, as the beginning of a rewrite that `observer`, if any, was told of."""
    if observer is None:
        return u.substitute(replacements)
    return substitute_told(observer, u, replacements)


def substitute_told(observer: Observer, u: UOp, replacements: Mapping[UOp, UOp]) -> UOp:
    """The same inside a rewrite that `observer` was told of."""
    began = perf_counter_ns()
    kept = u.toposort(lambda node: node not in replacements)
    reached = dict.fromkeys((u, *(s for node in kept for s in node.src)))
    replaced = {s: replacements[s] for s in reached if replacements.get(s, s) is not s}
    rebuilt: dict[UOp, UOp] = {}
    for node in kept:
        src = (replaced.get(s) or rebuilt.get(s) or s for s in node.src)
        if (after := node.rebuild(tuple(src))) is not node:
            rebuilt[node] = after
    made = replaced.get(u) or rebuilt.get(u) or u
    changed = replaced.keys() | rebuilt.keys()
    ns = perf_counter_ns() - began
    if not changed.isdisjoint(made.toposort()):
        observer.match(substitute_together, u, made, {"x": u}, ns)
        return made
    for old, value in replaced.items():
        observer.match(substitute_node, old, value, {"x": old}, ns // len(replaced))
    for old, after in rebuilt.items():
        observer.rebuild(old, after)
    return made
