"""What a condition implies: simpler conditions, and simpler expressions where they hold.

`given(u, valid)` may give another value than `u` where `valid` is false, and only there, so it is
for what is not used then: the address of a gated load or store, the chosen side of a WHERE. Never
changes a load under `u`: loads happen where `valid` is false, too, and keep their address and gate.

What the rules here make has a smaller `measure` than what they match, in the form that
`symbolic_index` gives it, so they cannot undo each other's work forever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from core.dtype import ConstType, dtypes
from core.uop.engine.rewrite import graph_rewrite
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.symbolic.layers import symbolic_index
from core.uop.symbolic.measure import measure
from core.uop.uop import UOp

MAX_CLAUSES = 16
"""Conditions of more clauses are left alone, since each clause is simplified given the others."""
MAX_NODES = 128
"""Expressions of more nodes are left alone, so that a rule's work per node is bounded."""
_OF_OTHER_LANES = frozenset({Ops.GEP, Ops.CONTRACT, Ops.WMMA, Ops.SHUFFLE})
"""Ops whose sources are used for another element of a vector, or by another thread, than they are
computed for."""


def clauses(valid: UOp) -> Iterator[UOp]:
    """The conditions whose conjunction `valid` is, in order, each once."""
    seen: set[UOp] = set()
    stack = [valid]
    while stack:
        u = stack.pop()
        if u in seen:
            continue
        seen.add(u)
        if u.op is Ops.AND:
            stack += reversed(u.src)
        else:
            yield u


def limits(clause: UOp) -> tuple[UOp, int, int] | None:
    """(x, low, high) where `clause` says that the integer x is in low..high; None for others."""
    negated = clause.op is Ops.CMPNE and _constant(clause.src[1]) is True
    test = clause.src[0] if negated else clause
    if test.op is not Ops.CMPLT and test.op is not Ops.CMPEQ:
        return None
    x, y = test.src
    if not dtypes.is_int(x.dtype):
        return None
    low, high = int(x.vmin), int(x.vmax)
    if isinstance(c := _constant(y), int):
        if test.op is Ops.CMPEQ:
            return None if negated else (x, max(low, c), min(high, c))
        return (x, max(low, c), high) if negated else (x, low, min(high, c - 1))
    if test.op is Ops.CMPLT and isinstance(c := _constant(x), int):
        low, high = int(y.vmin), int(y.vmax)
        return (y, low, min(high, c)) if negated else (y, max(low, c + 1), high)
    return None


def _constant(u: UOp) -> bool | int | float | None:
    return u.arg if u.op is Ops.CONST else None


def implied(valid: UOp) -> dict[UOp, tuple[int, int]] | None:
    """The integers that `valid` limits, with their bounds where it holds; None where it never
    does."""
    found: dict[UOp, tuple[int, int]] = {}
    for clause in islice(clauses(valid), MAX_CLAUSES):
        if (limit := limits(clause)) is None:
            continue
        x, low, high = limit
        if x in found:
            low, high = max(low, found[x][0]), min(high, found[x][1])
        if low > high:
            return None
        found[x] = (low, high)
    return found


def truths(valid: UOp) -> Iterator[tuple[UOp, bool]]:
    """The conditions that are true, or false, where `valid` holds: its clauses, and what they
    negate."""
    for clause in islice(clauses(valid), MAX_CLAUSES):
        truth = True
        while clause.op is Ops.CMPNE and _constant(clause.src[1]) is True:
            clause, truth = clause.src[0], not truth
        if clause.op is not Ops.CONST:
            yield clause, truth


def computed(u: UOp) -> dict[UOp, None] | None:
    """The nodes that `u` is computed from, down to the loads; None for more than MAX_NODES."""
    found: dict[UOp, None] = {u: None}
    stack = [u]
    while stack:
        x = stack.pop()
        if x.op is Ops.LOAD:
            continue
        fresh = [s for s in x.src if s not in found]
        found.update(dict.fromkeys(fresh))
        stack += fresh
        if len(found) > MAX_NODES:
            return None
    return found


def in_its_lane(inside: Mapping[UOp, None]) -> Mapping[UOp, None]:
    """Those nodes of `inside` of which a condition holds for the very element that is computed: not
    what is below an op that takes the elements of other lanes."""
    if not any(x.op in _OF_OTHER_LANES for x in inside):
        return inside
    crossed: set[UOp] = set()
    stack = [s for x in inside if x.op in _OF_OTHER_LANES for s in x.src]
    while stack:
        x = stack.pop()
        if x in inside and x not in crossed:
            crossed.add(x)
            stack += x.src
    return {x: None for x in inside if x not in crossed}


def given(u: UOp, valid: UOp) -> UOp:
    """`u` for the case that `valid` holds, where its `measure` is smaller then; else `u` itself.
    With vectors, for each element on its own."""
    known = implied(valid)
    if known is None or (inside := computed(u)) is None:
        return u
    limited = in_its_lane(inside)
    stand_in = {x: x.const_like(truth) for x, truth in truths(valid) if x in limited}
    for x, (low, high) in known.items():
        if x in limited and x.op is not Ops.CONST and (low > x.vmin or high < x.vmax):
            stand_in[x] = x.const_like(low) if low == high else _variable(x, low, high, stand_in)
    if not stand_in:
        return u
    for x in inside:
        # the end of a loop is not only the case in question's
        ends = x.op is Ops.RANGE and x.src[0].op is not Ops.CONST
        if (x.op is Ops.LOAD or ends) and x not in stand_in:
            stand_in[x] = _variable(x, *x.bounds, stand_in)
    standing = graph_rewrite(u, symbolic_index, name="given", substituting=stand_in)
    back = {v: x for x, v in stand_in.items() if v.op is not Ops.CONST}
    if standing.substitute(back) is u:
        return u
    # without the stand-ins, terms may stand in another order; only final forms can be compared
    simpler = graph_rewrite(
        standing, symbolic_index, gate=_is_no_load, name="given", substituting=back
    )
    return simpler if measure(simpler) < measure(u) else u


def _is_no_load(u: UOp) -> bool:
    return u.op is not Ops.LOAD


def _variable(x: UOp, low: ConstType, high: ConstType, others: Mapping[UOp, UOp]) -> UOp:
    """What stands for `x`, of which no more than its bounds is to be known."""
    return UOp(Ops.DEFINE_VAR, x.dtype, (), (f"_given{len(others)}", low, high))


def simplify_valid(valid: UOp) -> UOp:
    """`valid` without clauses that the others imply, the others simplified; constant False where
    two of them exclude each other. Each step makes the `measure` smaller."""
    never = valid.const_like(False)
    given_clauses = list(islice(clauses(valid), MAX_CLAUSES + 1))
    kept = list(given_clauses)
    if not 1 < len(kept) <= MAX_CLAUSES:
        return valid
    if implied(valid) is None:
        return never
    for clause in list(kept):
        at = kept.index(clause)
        others = kept[:at] + kept[at + 1 :]
        if not others:
            break
        simpler = given(clause, _all(others))
        if simpler.op is Ops.CONST:
            if not simpler.arg:
                return never
            kept = others
        elif simpler is not clause and simpler not in others:
            kept[at] = simpler
    return _all(kept) if kept != given_clauses else valid


def _all(conditions: list[UOp]) -> UOp:
    result = conditions[0]
    for c in conditions[1:]:
        result = result & c
    return result


@rule(UPat(Ops.INDEX, src=(UPat(), UPat.var("i"), UPat.var("gate", dtypes.bool)), name="u"))
def index_given_gate(u: UOp, i: UOp, gate: UOp) -> UOp | None:
    """x[i, gate] -> x[i where gate holds, simplified gate]"""
    simpler, test = given(i, gate), simplify_valid(gate)
    if simpler is i and test is gate:
        return None
    return u.rebuild((u.src[0], simpler, test))


@rule(UPat(Ops.INDEX, src=(UPat(), UPat(), UPat.const(dtypes.bool, True)), name="u"))
def index_always_valid(u: UOp) -> UOp:
    """x[i, True] -> x[i]"""
    return u.rebuild(u.src[:2])


@rule(
    UPat(
        Ops.LOAD,
        src=(UPat(Ops.INDEX, src=(UPat(), UPat(), UPat.const(dtypes.bool, False))), UPat.var("x")),
    )
)
def load_never_valid(x: UOp) -> UOp:
    """load(p[i, False], x) -> x"""
    return x


@rule(UPat.var("c", dtypes.bool).where(UPat.var("x"), UPat.var("y")))
def where_given(c: UOp, x: UOp, y: UOp) -> UOp | None:
    """c ? x : y -> c ? (x where c holds) : (y where c does not hold)"""
    if c.op is Ops.CONST:
        return None
    yes, no = given(x, c), given(y, c.logical_not())
    return c.where(yes, no) if yes is not x or no is not y else None


@rule(UPat(Ops.AND, dtypes.bool, name="u"))
def and_given_each(u: UOp) -> UOp | None:
    """a & b -> a & (b where a holds)"""
    simpler = simplify_valid(u)
    return simpler if simpler is not u else None


gated = PatternMatcher(
    [index_always_valid, load_never_valid, index_given_gate, where_given, and_given_each],
    name="gated",
)
