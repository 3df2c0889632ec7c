"""Trim: the loop of a reduce ends where nothing more counts.

A reduce over an axis whose length is a variable chooses, in each iteration, between a value and
the identity of its op. Which iterations choose a value is known when the kernel is launched: the
loop runs to there. So do the loops of a store that keeps what is there behind a length: those in
sequence, over cores, and over work groups. Never makes a loop longer, and never changes which ones
there are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from dataclasses import dataclass

from core.passes.identities import identity
from core.passes.loops.solve import exact, linear, size_of
from core.passes.view_index import all_of
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.call.atlaunch import known_at_launch
from core.uop.kernelinfo import AxisType
from core.uop.symbolic import clauses


@rule(UPat(Ops.REDUCE, src=(UPat(Ops.WHERE, src=(UPat.var("c"), UPat.var("x"), UPat(
           Ops.CONST, name="e"))),), allow_any_len=True, name="red"))  # fmt: skip
def end_at_length(red: UOp, c: UOp, x: UOp, e: UOp) -> UOp | None:
    """reduce(i < n ? x : e, i) -> reduce(x, i up to n), where e is the identity of the reduce and n
    is known at the launch;  reduce(k * i + j < n ? x : e, i) -> the same, i up to n / k"""
    if e.arg != identity(red.arg, e.dtype):
        return None
    conditions = list(clauses(c))
    for loop in red.src[1:]:
        if loop.src[0].op is not Ops.CONST or loop.arg[1] is not AxisType.REDUCE:
            continue
        for clause in conditions:
            if (found := _end(clause, loop)) is None:
                continue
            end, covers = found
            shorter = loop.replace(src=(end,))
            left = all_of(*(k for k in conditions if k is not clause or not covers))
            value = x if left is None else left.where(x, e)
            ranges = tuple(shorter if r is loop else r for r in red.src[1:])
            return red.rebuild((value.substitute({loop: shorter}), *ranges))
    return None


def _end(clause: UOp, loop: UOp) -> tuple[UOp, bool] | None:
    """How many iterations of a loop a condition may hold in, as a value of variables, and whether
    it holds in all of these. None where that is not known at the launch, or is all of them."""
    if clause.op is not Ops.CMPLT:
        return None
    index, n = clause.src
    form = linear(index, loop)
    if form is None or form[0] < 1 or n.op is Ops.CONST or not known_at_launch(n):
        return None
    factor, rest = form
    if (rest is not None and rest.vmin < 0) or not exact(form, loop, index.dtype):
        return None
    end = (n + (factor - 1)) // factor if factor > 1 else n
    if end.vmin < 0:
        end = end.maximum(0)
    if end.vmax > size_of(loop):
        end = end.minimum(size_of(loop))
    made = end.simplify().cast(loop.dtype)
    return (made, factor == 1 and rest is None) if made.vmin < size_of(loop) else None


@rule(UPat(Ops.END, src=(UPat(Ops.STORE, src=(UPat.var("place"), UPat(Ops.WHERE, src=(
           UPat.var("c"), UPat.var("x"), UPat(Ops.LOAD, src=(UPat.var("place"),),
           allow_any_len=True))))),), allow_any_len=True, name="end"))  # fmt: skip
def store_what_changes(
    ctx: Collection[AxisType], end: UOp, place: UOp, c: UOp, x: UOp
) -> UOp | None:
    """end(p[i] = low <= i < high ? x : p[i], i) -> end(p[low + i] = x, i up to high - low), where
    low and high are known at the launch;  with factor * i + rest for i: as many as may hold"""
    old = end.src[0].src[1].src[2]
    conditions = list(clauses(c))
    for loop in end.src[1:]:
        if loop.op is not Ops.RANGE or loop.arg[1] not in ctx or loop.src[0].op is not Ops.CONST:
            continue
        found = [(clause, _side(clause, loop)) for clause in conditions]
        known = [(clause, side) for clause, side in found if side is not None]
        if not known:
            continue
        lows = [side.value for _, side in known if side.low]
        highs = [side.value for _, side in known if not side.low]
        low = reduce_with(UOp.maximum, lows) if lows else loop.src[0].const_like(0)
        high = reduce_with(UOp.minimum, highs) if highs else loop.src[0]
        low, high = low.maximum(0), high.minimum(loop.src[0])
        count = (high - low).maximum(0).simplify()
        if count.vmax > size_of(loop):
            count = count.minimum(loop.src[0]).simplify()
        shorter = loop.replace(src=(count,))
        left = all_of(*(k for k in conditions if not any(k is k2 and s.exact for k2, s in known)))
        value = x if left is None else left.where(x, old)
        at = shorter if not lows else (shorter + low).simplify()
        store = place.store(value).substitute({loop: at})
        return store.end(*(shorter if r is loop else r for r in end.src[1:]))
    return None


@rule(UPat(Ops.STORE, src=(UPat(Ops.INDEX, name="place"), UPat(Ops.WHERE, src=(
           UPat.var("c"), UPat.var("x"), UPat(Ops.LOAD, src=(UPat.var("place"),),
           allow_any_len=True))))))  # fmt: skip
def store_if(place: UOp, c: UOp, x: UOp) -> UOp | None:
    """p[i] = c ? x : p[i] -> if c: p[i] = x, where c is made of loops and of what is known at
    the launch, and threads run at once"""
    if any(u.op in (Ops.LOAD, Ops.REDUCE) for u in c.toposort()):
        return None
    pointer, offset, *gate = place.src
    return pointer.index(offset, gate=all_of(c, *gate)).store(x)


@dataclass(frozen=True)
class _Side:
    """Where the iterations of a loop in which a condition may hold begin, or end, and whether it
    holds in all of these."""

    value: UOp
    low: bool
    exact: bool


def _side(clause: UOp, loop: UOp) -> _Side | None:
    """What a condition says of a loop, as a value known at the launch; None for another one."""
    low = False
    if clause.op is Ops.CMPNE and clause.src[1].op is Ops.CONST and clause.src[1].arg is True:
        clause, low = clause.src[0], True  # not i < n
    if clause.op is not Ops.CMPLT:
        return None
    index, n = clause.src
    after = 0
    if loop not in index.ranges and not low:
        index, n, low, after = n, index, True, 1  # n < i
    form = linear(index, loop)
    if form is None or form[0] < 1 or not known_at_launch(n) or loop in n.ranges:
        return None
    factor, rest = form
    if (rest is not None and (rest.vmin < 0 or loop in rest.ranges)) or not exact(
        form, loop, index.dtype
    ):
        return None
    if n.op is Ops.CONST and not low:
        return None
    whole = factor == 1 and rest is None
    if not low:
        end = n if factor == 1 else (n.maximum(0) + (factor - 1)) // factor
        return _Side(end.simplify().cast(loop.dtype), False, whole)
    # factor * i + rest >= n + after is not before i = (n + after - the largest rest) / factor
    most = 0 if rest is None else int(rest.vmax)
    begin = n + after if not most else n + (after - most)
    begin = begin if factor == 1 else (begin.maximum(0) + (factor - 1)) // factor
    return _Side(begin.simplify().cast(loop.dtype), True, whole)


def reduce_with(combine: Callable[[UOp, UOp], UOp], values: list[UOp]) -> UOp:
    """All of them combined."""
    return functools.reduce(combine, values)


trimming = PatternMatcher([end_at_length], name="trim")
trimming_stores = PatternMatcher([store_what_changes], name="trim: stores")
gating_stores = PatternMatcher([store_if], name="trim: gates")


def trim(sink: UOp, target: Target) -> UOp:
    """The kernel whose reduces leave out the iterations that do not count, and whose store, if it
    has a single one, those that change nothing."""
    sink = graph_rewrite(sink, trimming, name="trim")
    if len(sink.src) != 1 or sink.src[0].op is not Ops.END:
        return sink
    kinds = _kinds(sink, target)
    sink = graph_rewrite(sink, trimming_stores, kinds.ends, name="trim: stores")
    return graph_rewrite(sink, gating_stores, name="trim: gates") if kinds.gates else sink


@dataclass(frozen=True)
class _Kinds:
    """The kinds of loops whose ends may be given at the launch, and whether stores have gates."""

    ends: Collection[AxisType]
    gates: bool


def _kinds(sink: UOp, target: Target) -> _Kinds:
    """Loops over work groups can end earlier where each has a dimension of the grid to itself."""
    loops = [u for u in sink.toposort() if u.op is Ops.RANGE]
    grid = [r for r in loops if r.arg[1] is AxisType.GLOBAL]
    limits = target.global_max
    ends = [AxisType.LOOP, AxisType.THREAD]
    if len(grid) <= len(limits) and all(r.src[0].vmax <= min(limits) for r in grid):
        ends.append(AxisType.GLOBAL)
    at_once = (AxisType.GLOBAL, AxisType.LOCAL, AxisType.WARP)
    return _Kinds(ends, any(r.arg[1] in at_once for r in loops))
