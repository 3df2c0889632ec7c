"""Loops: every END ends one loop, and every RANGE is ended by one END.

Loops over the same ranges, inside the same loops, that do not need each other become one; any other
gets ranges of its own. Of ranges ended together, a loop shared out between threads is outermost,
then those with the smaller numbers. Never changes what an iteration does.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.engine.substitute import substitute
from core.uop.kernelinfo import AxisType
from core.uop.patterns.rule import Assumes


@rule(UPat(Ops.END, name="end"), assumes=(Assumes.CONTEXT,))
def share_loop(ctx: Mapping[UOp, UOp], end: UOp) -> UOp | None:
    """end(a, r), end(b, r) -> end(group(a, b), r)"""
    return ctx.get(end)


@rule(UPat(Ops.END, name="end"), assumes=(Assumes.CONTEXT,))
def nest_loops(end: UOp) -> UOp | None:
    """end(a, r0, r1) -> end(end(a, r1), r0)"""
    if len(end.src) == 2:
        return None
    body = end.src[0]
    for loop in sorted(end.src[1:], key=_inwards, reverse=True):
        body = body.end(loop)
    return body


def _inwards(loop: UOp) -> tuple[bool, int]:
    number, kind = loop.arg
    return kind is not AxisType.THREAD, number


sharing = PatternMatcher([share_loop], name="loops: share")
nesting = PatternMatcher([nest_loops], name="loops: nest")


def loops(sink: UOp, target: Target) -> UOp:
    """The kernel with exactly one END per RANGE."""
    if shared := _shared(sink):
        sink = graph_rewrite(sink, sharing, shared, bottom_up=True, name="loops: share")
    return graph_rewrite(_own_ranges(sink), nesting, name="loops: nest")


def _alike(sink: UOp) -> list[list[UOp]]:
    """ENDs by the ranges that they end and the loops that they are in. (A loop that is moved into
    one more would run again and again, while what it starts from is set once.)"""
    found: dict[tuple[frozenset[UOp], frozenset[UOp]], list[UOp]] = {}
    for u in sink.toposort():
        if u.op is Ops.END:
            found.setdefault((frozenset(u.src[1:]), u.ranges), []).append(u)
    return list(found.values())


def _shared(sink: UOp) -> dict[UOp, UOp]:
    """For each END that can share its loop: the END of the shared loop."""
    out: dict[UOp, UOp] = {}
    for same in _alike(sink):
        if len(same) < 2:
            continue
        needs = {end: end.toposort() for end in same}
        group = [end for end in same if not any(o is not end and o in needs[end] for o in same)]
        if len(group) > 1:
            merged = UOp.group(*(end.src[0] for end in group)).end(*group[0].src[1:])
            out.update((end, merged) for end in group)
    return out


@rule(UPat(Ops.END, name="end"))
def own_loop(ctx: Mapping[UOp, UOp], end: UOp) -> UOp | None:
    """end(a, r) -> end(a with r', r')  where another loop that it needs ends r already"""
    return ctx.get(end)


owning = PatternMatcher([own_loop], name="loops: own")


def _own_ranges(sink: UOp) -> UOp:
    """Ranges that several ENDs still share, made different."""
    while (end := _shares_ranges(sink)) is not None:
        number = 1 + max(r.arg[0] for r in sink.toposort() if r.op is Ops.RANGE)
        fresh = {r: r.replace(arg=(number + i, r.arg[1])) for i, r in enumerate(end.src[1:])}
        own = {end: substitute(end, fresh, "loops: new ranges")}
        sink = graph_rewrite(sink, owning, own, bottom_up=True, name="loops: own")
    return sink


def _shares_ranges(sink: UOp) -> UOp | None:
    """The first END of a range that an earlier END ends already."""
    used: set[UOp] = set()
    for u in sink.toposort():
        if u.op is Ops.END:
            if used.intersection(u.src[1:]):
                return u
            used.update(u.src[1:])
    return None
