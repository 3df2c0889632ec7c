"""Lengths that are variables: reduces leave out what lies behind them, and nothing else remains.

Never changes a shape: memory and loops are those of the largest length.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

from core.passes.identities import identity
from core.uop import Ops, PatternMatcher, UOp, UPat, rule

Reduced: TypeAlias = dict[UOp, tuple[tuple[int, UOp], ...]]
"""For each reduce over such axes: (axis, its length) for each of them."""


def reduced_lengths(sink: UOp, order: Collection[UOp]) -> Reduced | None:
    """The reduces over axes whose length is a variable, in the graph `sink` with the nodes `order`;
    None where no length is. Raises ShapeError where two lengths meet in one axis."""
    if not any(u.op is Ops.LENGTH for u in order):
        return None
    for root in sink.src:
        _ = root.lengths  # raises where two meet in one axis
    found: Reduced = {}
    for u in order:
        if u.op is Ops.REDUCE_AXIS:
            mine = tuple(pair for pair in u.src[0].lengths if pair[0] in u.arg[1])
            if mine:
                found[u] = mine
    return found


@rule(UPat(Ops.REDUCE_AXIS, src=(UPat.var("x"),), name="r"))
def reduce_to_length(ctx: Reduced, r: UOp, x: UOp) -> UOp | None:
    """reduce(x) over an axis of length n -> reduce(i < n ? x : the identity of the reduce)"""
    if (lengths := ctx.get(r)) is None:
        return None
    inside = x.before(*lengths[0])
    for pair in lengths[1:]:
        inside = inside & x.before(*pair)
    return r.rebuild((inside.where(x, x.const_like(identity(r.arg[0], x.dtype))),))


@rule(UPat(Ops.LENGTH, src=(UPat.var("x"), UPat())))
def forget_length(x: UOp) -> UOp:
    """x of some length -> x"""
    return x


cutting = PatternMatcher([reduce_to_length, forget_length], name="lengths")
