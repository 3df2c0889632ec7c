"""Long sums of integers: the like terms of a whole sum combined at once.

The rules of `arithmetic` combine the terms of two operands at a time and make the whole sum anew
for each, which is fine for addresses and slow for thousands of terms. Here, a sum is taken apart
once, in linear time, shared parts included. Holds with wraparound. Never touches a short sum.
"""

from __future__ import annotations

from collections.abc import Set

from core.dtype import dtypes, truncate
from core.uop.engine.rewrite import graph_rewrite
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.symbolic.linear import MAX_TERMS, Sum, order
from core.uop.uop import UOp


def merge_sums(sink: UOp) -> UOp:
    """`sink` with like terms combined in every sum of more than MAX_TERMS terms."""
    if not _has_long_sum(sink):
        return sink
    return graph_rewrite(sink, merging, set[UOp](), bottom_up=True, name="merge sums")


def _has_long_sum(sink: UOp) -> bool:
    terms: dict[UOp, int] = {}
    for u in sink.toposort():
        if u.op is Ops.ADD and dtypes.is_int(u.dtype):
            x, y = u.src
            terms[u] = found = terms.get(x, 1) + terms.get(y, 1)
            if found > MAX_TERMS:
                return True
    return False


def _is_inside(u: UOp) -> bool:
    """Whether a node within a sum is taken apart further."""
    return u.op is Ops.ADD or (u.op is Ops.MUL and u.src[1].op is Ops.CONST)


def _inside(u: UOp, seen: Set[UOp]) -> tuple[set[UOp], dict[UOp, int]]:
    """(the nodes that the sum `u` is made of, its terms in order with a factor of 0). What is in
    `seen`, as part of another sum, stays as it is, so that no node is looked at twice."""
    inside: set[UOp] = set()
    terms: dict[UOp, int] = {}
    stack = [u]
    while stack:
        x = stack.pop()
        if x in seen or not _is_inside(x):
            terms[x] = 0
        elif x not in inside:
            inside.add(x)
            stack += reversed(x.src)
    return inside, terms


def _taken_apart(u: UOp, seen: Set[UOp]) -> tuple[Sum, set[UOp]]:
    """(the sum `u`, the nodes that it is made of)"""
    inside, terms = _inside(u, seen)
    factors = dict.fromkeys(inside, 0)
    factors[u] = 1
    for x in reversed(u.toposort(inside.__contains__)):  # what uses a node comes before it
        f = int(truncate(factors[x], u.dtype.scalar()))
        if x.op is Ops.MUL:
            f *= int(x.src[1].arg)
        for s in x.src if x.op is Ops.ADD else x.src[:1]:
            into = factors if s in inside else terms
            into[s] += f
    constant = sum(f * int(x.arg) for x, f in terms.items() if x.op is Ops.CONST)
    kept = {
        x: g
        for x, f in sorted(terms.items(), key=lambda term: order(term[0]))
        if x.op is not Ops.CONST and (g := int(truncate(f, u.dtype.scalar())))
    }
    return Sum(kept, int(truncate(constant, u.dtype.scalar()))), inside


@rule(UPat(Ops.ADD, dtypes.ints, name="u"))
def merge_terms(u: UOp, ctx: set[UOp]) -> UOp | None:
    """x * c1 + y + x * c2 + ... -> x * (c1 + c2) + y + ...  of a whole sum; `ctx` has the nodes
    inside the sums that have been seen"""
    if u in ctx:
        return None
    total, inside = _taken_apart(u, ctx)
    ctx |= inside
    after = len(total.terms) + sum(f != 1 for f in total.terms.values()) + (total.constant != 0)
    if len(inside) <= MAX_TERMS or after > len(inside):
        return None
    made = total.node(u)
    ctx |= _inside(made, ctx)[0]
    return made


merging = PatternMatcher([merge_terms], name="merge sums")
