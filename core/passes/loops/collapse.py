"""Collapse: loops of reduces that are not needed vanish.

A loop that the value does not depend on becomes a factor, a power, or nothing. A sum that picks one
iteration (a gather written as a one-hot product) becomes that iteration, with the loads under it
gated by whether it exists. A sum of a constant over the iterations below or from a bound becomes a
product with their number. Sums of floats may be rounded less often than the loop would; integer
results never change. Loads stay within the addresses that the loop would have loaded.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

from core.dtype import dtypes
from core.helpers import ASSUME_FINITE, prod
from core.passes.address import gate_of
from core.passes.identities import exactly, repeated
from core.passes.loops.solve import Relation, Solution, holds, size_of, solve
from core.passes.view_index import all_of
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.facts.bounds import never_nan
from core.uop.patterns.rule import Assumes
from core.uop.pointer import pointer_of
from core.uop.symbolic import clauses

_numbers = (*dtypes.ints, *dtypes.floats)


def _without(red: UOp, x: UOp, gone: Iterable[UOp]) -> UOp:
    """`x` reduced over the other loops of `red`."""
    dropped = set(gone)
    return x.reduce(red.arg, *(r for r in red.src[1:] if r not in dropped))


@rule(UPat(Ops.REDUCE, _numbers, (UPat.var("x"),), allow_any_len=True, name="red"))
def unused_loop(red: UOp, x: UOp) -> UOp | None:
    """sum(x, r) -> x * n; max(x, r) -> x; prod(x, r) -> x ** n  when x does not depend on r"""
    unused = [r for r in red.src[1:] if r not in x.ranges and r.src[0].op is Ops.CONST]
    if not unused:
        return None
    return repeated(red.arg, _without(red, x, unused), prod(size_of(r) for r in unused))


@rule(UPat(Ops.REDUCE, dtypes.ints, (UPat(Ops.RANGE, name="r"), UPat(Ops.RANGE, name="r")),
           Ops.ADD))  # fmt: skip
def sum_of_loop(r: UOp) -> UOp | None:
    """sum(r, r) -> n * (n - 1) / 2  for the loop r of length n"""
    n = size_of(r)
    return r.const_like(n * (n - 1) // 2) if r.src[0].op is Ops.CONST else None


def _opposite(condition: UOp) -> UOp:
    if condition.op is Ops.CMPNE and not dtypes.is_bool(condition.src[0].dtype):
        return condition.src[0].eq(condition.src[1])
    return condition.logical_not()


@rule(UPat(Ops.REDUCE, _numbers, (UPat(Ops.WHERE, src=(UPat.var("c"), UPat.var("x"),
           UPat.const(None, 0))),), Ops.ADD, allow_any_len=True, name="red"))  # fmt: skip
def sum_of_choice(red: UOp, c: UOp, x: UOp) -> UOp | None:
    """sum(r == k ? x : 0, r) -> 0 <= k < n ? x[k] : 0;  sum(r < k ? x : 0, r) -> clamp(k) * x"""
    return _sum_where(red, c, x)


@rule(UPat(Ops.REDUCE, _numbers, (UPat(Ops.WHERE, src=(UPat.var("c"), UPat.const(None, 0),
           UPat.var("x"))),), Ops.ADD, allow_any_len=True, name="red"))  # fmt: skip
def sum_of_other_choice(red: UOp, c: UOp, x: UOp) -> UOp | None:
    """sum(r != k ? 0 : x, r) -> as for sum(r == k ? x : 0, r)"""
    return _sum_where(red, _opposite(c), x)


@rule(UPat(Ops.REDUCE, _numbers, (UPat(Ops.CAST, src=(UPat.var("c", dtypes.bool),)),), Ops.ADD,
           allow_any_len=True, name="red"))  # fmt: skip
def sum_of_condition(red: UOp, c: UOp) -> UOp | None:
    """sum(number(c), r) -> as for sum(c ? 1 : 0, r)"""
    return _sum_where(red, c, red.const_like(1))


@rule(UPat(Ops.REDUCE, dtypes.ints, (UPat(Ops.MUL, src=[UPat(Ops.CAST, src=(
           UPat.var("c", dtypes.bool),)), UPat.var("x")]),), Ops.ADD,
           allow_any_len=True, name="red"))  # fmt: skip
def sum_of_product(red: UOp, c: UOp, x: UOp) -> UOp | None:
    """sum(int(c) * x, r) -> as for sum(c ? x : 0, r)"""
    return _sum_where(red, c, x)


_counted_float = UPat(Ops.REDUCE, dtypes.floats, (UPat(Ops.MUL, src=[UPat(Ops.CAST, src=(
    UPat.var("c", dtypes.bool),)), UPat.var("x")]),), Ops.ADD, allow_any_len=True,
    name="red")  # fmt: skip


@rule(_counted_float)
def sum_of_finite_product(red: UOp, c: UOp, x: UOp) -> UOp | None:
    """sum(float(c) * x, r) -> as for sum(c ? x : 0, r)  where x is known to be finite"""
    finite = never_nan(x) and isfinite(x.vmin) and isfinite(x.vmax)
    return _sum_where(red, c, x) if finite else None


@rule(_counted_float, assumes=(Assumes.FINITE,))
def sum_of_float_product(red: UOp, c: UOp, x: UOp) -> UOp | None:
    """sum(float(c) * x, r) -> as for sum(c ? x : 0, r)  with ASSUME_FINITE=1"""
    return _sum_where(red, c, x) if ASSUME_FINITE else None


@rule(UPat(Ops.REDUCE, _numbers, (UPat(Ops.ADD, src=(UPat.var("x"), UPat.var("y"))),), Ops.ADD,
           allow_any_len=True, name="red"))  # fmt: skip
def sum_of_sum(red: UOp, x: UOp, y: UOp) -> UOp | None:
    """sum(x + y, r) -> sum(x, r) + sum(y, r)  where neither sum needs its loop"""
    if (first := _alone(red, x)) is None or (second := _alone(red, y)) is None:
        return None
    return first + second


def _alone(red: UOp, x: UOp) -> UOp | None:
    """The sum of a part of what `red` adds up, without a loop of it; None where it needs them."""
    mine = x.reduce(red.arg, *red.src[1:])
    if x.op is Ops.WHERE and x.src[2].op is Ops.CONST and x.src[2].arg == 0:
        return _sum_where(mine, x.src[0], x.src[1])
    if x.op is Ops.WHERE and x.src[1].op is Ops.CONST and x.src[1].arg == 0:
        return _sum_where(mine, _opposite(x.src[0]), x.src[2])
    if x.op is Ops.CAST and dtypes.is_bool(x.src[0].dtype):
        return _sum_where(mine, x.src[0], x.const_like(1))
    if x.op is Ops.ADD:
        parts = [_alone(red, s) for s in x.src]
        return None if parts[0] is None or parts[1] is None else parts[0] + parts[1]
    unused = [r for r in red.src[1:] if r not in x.ranges and r.src[0].op is Ops.CONST]
    if not unused:
        return None
    return repeated(red.arg, _without(mine, x, unused), prod(size_of(r) for r in unused))


def _sum_where(red: UOp, condition: UOp, x: UOp) -> UOp | None:
    conditions = list(clauses(condition))
    for loop in red.src[1:]:
        if loop.src[0].op is not Ops.CONST:
            continue
        mine = [clause for clause in conditions if loop in clause.ranges]
        rest = [clause for clause in conditions if loop not in clause.ranges]
        solved = [solve(clause, loop) for clause in mine]
        made = None
        for clause, found in zip(mine, solved, strict=True):
            if found is not None and found.relation is Relation.EQUAL:
                made = _picked(loop, found, [m for m in mine if m is not clause], x)
                break
        else:
            known = [s for s in solved if s is not None]
            if mine and loop not in x.ranges and len(known) == len(mine):
                made = _counted(loop, known, x)
        if made is not None:
            outside = all_of(*rest)
            chosen = made if outside is None else outside.where(made, 0)
            return _without(red, chosen, [loop])
    return None


def _picked(loop: UOp, found: Solution, others: list[UOp], x: UOp) -> UOp:
    """The value in iteration `found.value`, 0 where there is no such iteration."""
    k, n = found.value, size_of(loop)
    inside = all_of(
        *found.given,
        None if dtypes.is_unsigned(k.dtype) or k.vmin >= 0 else k >= 0,
        k < n if holds(k.dtype, n + 1) and k.vmax >= n else None,
    )
    at = k.cast(loop.dtype)
    more = all_of(inside, *(_at(clause, loop, at, inside) for clause in others))
    value = _at(x, loop, at, inside)
    return value if more is None else more.where(value, 0)


def _at(x: UOp, loop: UOp, at: UOp, inside: UOp | None) -> UOp:
    """`x` in iteration `at`; loads that depend on it are gated by `inside`."""
    new: dict[UOp, UOp] = {loop: at}
    for u in x.toposort(lambda u: loop in u.ranges):
        made = new.get(u) or u.rebuild(tuple(new.get(s, s) for s in u.src))
        if inside is not None and u.op is Ops.INDEX and pointer_of(u).op is Ops.DEFINE_GLOBAL:
            gate = all_of(gate_of(made), inside)
            made = made.src[0].index(made.src[1], gate=gate)
        elif inside is not None and u.op is Ops.LOAD and len(u.src) == 1:
            made = made.src[0].load(UOp.const(u.dtype, 0), dtype=u.dtype)
        new[u] = made
    return new.get(x, x)


def _counted(loop: UOp, found: list[Solution], x: UOp) -> UOp | None:
    """`x` times the number of iterations that satisfy all of `found`."""
    dtype = found[0].value.dtype
    if any(s.value.dtype is not dtype for s in found) or not holds(dtype, size_of(loop) + 1):
        return None
    if not exactly(size_of(loop), x.dtype):
        return None
    first = found[0].value.const_like(0)
    last = found[0].value.const_like(size_of(loop))
    for s in found:
        if s.relation is Relation.BELOW:
            last = last.minimum(s.value)
        else:
            first = first.maximum(s.value)
    last = last.maximum(0)
    count = last - first.minimum(last)
    product = x * count.cast(x.dtype)
    if dtypes.is_int(x.dtype) or (x.op is Ops.CONST and isfinite(x.arg)):
        return product
    return (count > 0).where(product, 0)  # nothing, even where x is NaN or infinite


collapsing = PatternMatcher(
    [
        unused_loop,
        sum_of_loop,
        sum_of_choice,
        sum_of_other_choice,
        sum_of_condition,
        sum_of_product,
        sum_of_finite_product,
        sum_of_float_product,
        sum_of_sum,
    ],
    name="collapse",
)


def collapse(sink: UOp, target: Target) -> UOp:
    """The kernel without loops of reduces that are not needed."""
    return graph_rewrite(sink, collapsing, name="collapse")
