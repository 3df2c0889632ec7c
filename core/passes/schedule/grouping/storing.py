"""Values that grouping stores become CONTIGUOUS; one that is made contiguous in another order is
stored in that order, and its other users read it back.

Never decides which values are stored.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from core.passes.schedule.grouping.fanout import Fanout, Use
from core.shape import ShapeTracker
from core.uop import Ops, PatternMatcher, UOp, UPat, rule

_IN_PLACE = {Ops.SINK, Ops.COPY, Ops.ASSIGN, Ops.KERNEL}
"""Users that need a value row-major, or in memory of its own."""


@dataclass(frozen=True)
class Stored:
    """The values to store; and for those that a CONTIGUOUS stores in another order, and for what it
    stores, what other users read."""

    values: Collection[UOp]
    instead: dict[UOp, UOp] = field(default_factory=lambda: dict[UOp, UOp]())


def reuse_contiguous(values: Collection[UOp], fanout: Fanout) -> Stored:
    """`values` of a graph, of which those that a CONTIGUOUS reorders are stored by it alone."""
    instead: dict[UOp, UOp] = {}
    for x, uses in fanout.uses.items():
        if x not in values or len(uses) < 2 or any(use.user.op in _IN_PLACE for use in uses):
            continue
        for use in uses:
            inverse = _inverse(use, x)
            if inverse is not None:
                instead[x] = use.user.view(inverse)
                instead[use.user.src[0]] = use.user
                break
    return Stored(values, instead)


def _inverse(use: Use, x: UOp) -> ShapeTracker | None:
    """The view of a CONTIGUOUS that gives `x` back, where it has each element of `x` once, in
    another order; None for another use."""
    st = use.st
    if use.user.op is not Ops.CONTIGUOUS or st is None or st.masked or st.contiguous:
        return None
    return st.invert(x.shaped)


@rule(UPat(frozenset(Ops) - {Ops.CONTIGUOUS}, name="u"))
def store_group(ctx: Stored, u: UOp) -> UOp | None:
    """f(x) -> f(contiguous(x)) for each value x that grouping stores, or f(view(contiguous(...)))
    where one in another order is asked for"""
    values, instead = ctx.values, ctx.instead
    if not any(s in values or s in instead for s in u.src):
        return None
    if u.op is Ops.VIEW and u in instead:  # what the CONTIGUOUS stores
        return None
    return u.rebuild(tuple(instead.get(s) or (s.contiguous() if s in values else s) for s in u.src))


storing = PatternMatcher([store_group], name="group")
