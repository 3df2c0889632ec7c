"""Grouped reduces: the threads of a work group reduce together through shared memory.

A REDUCE over GROUP_REDUCE loops becomes a reduce by each thread over the other loops, a store of
its part in shared memory, a barrier, and a reduce over all parts that every thread does alike.
One thread of the group then does the stores to global memory. Afterwards no REDUCE is over a
GROUP_REDUCE loop. Never changes which values are combined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce as fold
from itertools import count

from core.dtype import AddrSpace
from core.helpers import prod
from core.passes.address import gate_of
from core.passes.view_index import ravel
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.kernelinfo import AxisType
from core.uop.patterns.rule import Assumes
from core.uop.pointer import pointer_of


@dataclass
class Groups:
    """What the rules need to know of the kernel."""

    loops: tuple[UOp, ...]
    """Its GROUP_REDUCE loops."""
    range_numbers: Iterator[int]
    memory_numbers: Iterator[int]


@rule(UPat(Ops.REDUCE, name="red"), assumes=(Assumes.CONTEXT,))
def reduce_through_shared(ctx: Groups, red: UOp) -> UOp | None:
    """reduce(a, r, group g) -> shared[g] = reduce(a, r); barrier; reduce(shared[k], k)"""
    grouped = [r for r in red.src[1:] if r.arg[1] is AxisType.GROUP_REDUCE]
    if not grouped:
        return None
    part = red.rebuild((red.src[0], *(r for r in red.src[1:] if r not in grouped)))
    if len(part.src) == 1 and part.src[0].dtype is part.dtype:
        part = part.src[0]
    local = [r for r in red.ranges if r.arg[1] in (AxisType.LOCAL, AxisType.WARP)]
    local.sort(key=lambda r: r.arg[0])
    sizes = [r.src[0].arg for r in (*local, *grouped)]
    lanes = red.dtype.count
    pointer = red.dtype.scalar().ptr(prod(sizes) * lanes, AddrSpace.LOCAL)
    shared = UOp(Ops.DEFINE_LOCAL, pointer, (), next(ctx.memory_numbers))
    stored = shared.index(ravel([*local, *grouped], sizes) * lanes).store(part)
    ready = shared.after(UOp(Ops.BARRIER, src=(stored,)))
    # several parts at once, where they lie side by side
    together = 4 if lanes == 1 and sizes[-1] % 4 == 0 else 1
    sizes[-1] //= together
    again = [UOp.range(n, next(ctx.range_numbers), AxisType.REDUCE) for n in sizes[len(local) :]]
    place = ready.index(ravel([*local, *again], sizes) * (lanes * together))
    parts = place.load(dtype=red.dtype.scalar().vec(lanes * together))
    return UOp(Ops.REDUCE, red.dtype, (parts, *again), red.arg)


@rule(
    UPat(Ops.STORE, src=(UPat(Ops.INDEX, name="place"), UPat.var("value"))),
    assumes=(Assumes.CONTEXT,),
)
def store_once(ctx: Groups, place: UOp, value: UOp) -> UOp | None:
    """p[i] = v by every thread of a group -> by the first one"""
    if pointer_of(place).op is not Ops.DEFINE_GLOBAL:
        return None
    gate = gate_of(place)
    if gate is not None and not gate.ranges.isdisjoint(ctx.loops):
        return None
    first = fold(lambda a, b: a & b, (r.eq(0) for r in ctx.loops))
    first = first.broadcast(place.src[1].dtype.count)
    return (
        place.src[0].index(place.src[1], gate=first if gate is None else gate & first).store(value)
    )


grouping = PatternMatcher([reduce_through_shared, store_once], name="grouped")


def grouped(sink: UOp, target: Target) -> UOp:
    """The kernel with shared memory and barriers in place of reduces over GROUP_REDUCE loops."""
    ranges = [u for u in sink.toposort() if u.op is Ops.RANGE]
    loops = tuple(r for r in ranges if r.arg[1] is AxisType.GROUP_REDUCE)
    if not loops:
        return sink
    ctx = Groups(loops, count(1 + max(r.arg[0] for r in ranges)), count())
    return graph_rewrite(sink, grouping, ctx, name="grouped")
