"""Marks of `fuse`: which values one kernel computes on the way, whatever grouping would store.

Never changes a value, and never reaches beyond memory.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from core.passes.schedule.grouping.fanout import COMPUTE, Fanout
from core.uop import Ops, PatternMatcher, UOp, UPat, rule


@rule(UPat(Ops.FUSE, src=(UPat(Ops.VIEW, src=(UPat.var("x"),), name="v"),)))
def fuse_before_view(v: UOp, x: UOp) -> UOp:
    """fuse(view(x)) -> view(fuse(x))"""
    return v.rebuild((x.fuse(),))


@rule(UPat(Ops.FUSE, src=(UPat(frozenset(Ops) - COMPUTE - {Ops.VIEW}, name="x"),)))
def fuse_of_no_computation(x: UOp) -> UOp:
    """fuse(x) -> x where x is memory, a constant, or marked already"""
    return x


@rule(UPat(Ops.FUSE, src=(UPat.var("x"),)))
def note_fused(ctx: list[UOp], x: UOp) -> UOp:
    """fuse(x) -> x, which one kernel will compute from memory"""
    ctx.append(x)
    return x


marks = PatternMatcher([fuse_before_view, fuse_of_no_computation], name="fuse marks")
unmarking = PatternMatcher([note_fused], name="fuse")


def computed_within(fanout: Fanout, ends: Sequence[UOp]) -> set[UOp]:
    """The values that only `ends` need, and that are no memory: computed in the kernels of `ends`.
    Of two ends one may need the other."""
    wanted: Collection[UOp] = set(ends)
    within: set[UOp] = set()
    for u, uses in reversed(fanout.uses.items()):
        users = [use.user for use in uses]
        if u.op in COMPUTE and users and all(v in wanted or v in within for v in users):
            within.add(u)
    return within
