"""Reduce: every REDUCE becomes an accumulator in registers and a loop that updates it.

A REDUCE of a vector wider than its result first combines, inside the loop, the lanes that belong
together: lane j of n takes lanes j, j + n, j + 2n, ... of its source. A product of matrices that is
summed takes the accumulator as the matrix that it adds to. No REDUCE remains. Never
changes which values are combined; the order of combining is the order of loops and lanes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce as fold
from itertools import count

from core.dtype import AddrSpace
from core.passes.identities import identity
from core.passes.vectors.products import absorbing
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule


def lanes_together(x: UOp, lanes: int) -> list[UOp]:
    """The vectors of `lanes` elements that make up `x`, in order."""
    return [x.gep(tuple(range(at, at + lanes))) for at in range(0, x.dtype.count, lanes)]


def tree(op: Ops, x: UOp, lanes: int) -> UOp:
    """Combines the groups of `lanes` by halves, which keeps vectors wide and chains short."""
    while x.dtype.count > lanes and x.dtype.count // lanes % 2 == 0:
        low, high = lanes_together(x, x.dtype.count // 2)
        x = low.alu(op, high)
    return fold(lambda a, b: a.alu(op, b), lanes_together(x, lanes))


@rule(UPat(Ops.REDUCE, src=(UPat.var("x"),), name="red"))
def reduce_lanes(red: UOp, x: UOp) -> UOp:
    """reduce of lanes alone -> x[0] op x[1] op ..."""
    return tree(red.arg, x, red.dtype.count)


@rule(UPat(Ops.REDUCE, src=(UPat.var("x"),), allow_any_len=True, name="red"))
def reduce_in_loop(ctx: Iterator[int], red: UOp, x: UOp) -> UOp:
    """reduce(x, r) -> acc = identity; for each r: acc = acc op x; acc"""
    lanes, ranges = red.dtype.count, red.src[1:]
    outer = sorted(red.ranges, key=lambda r: r.arg[0])
    acc = UOp(Ops.DEFINE_REG, red.dtype.scalar().ptr(lanes, AddrSpace.REG), (), next(ctx))
    start = acc.after(*outer).index(0).store(UOp.const(red.dtype, identity(red.arg, red.dtype)))
    inside = acc.after(start, *ranges).index(0)
    value = inside.load(dtype=red.dtype)
    if lanes == 1:
        value = value.alu(red.arg, tree(red.arg, x, 1))
    else:  # one chain per lane, so that products can fuse with their sums
        value = fold(lambda a, b: a.alu(red.arg, b), lanes_together(x, lanes), value)
    return acc.after(inside.store(value).end(*ranges)).index(0).load(dtype=red.dtype)


accumulate = PatternMatcher([reduce_lanes, reduce_in_loop, *absorbing.rules], name="reduce")


def reduce(sink: UOp, target: Target) -> UOp:
    """The kernel with registers and loops in place of REDUCE."""
    return graph_rewrite(sink, accumulate, count(), name="reduce")
