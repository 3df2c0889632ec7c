"""Rules for index expressions: what flattening and unflattening leave behind.

Every rule holds for all signs and with wraparound unless it states a condition. Sums are read with
`linear.term_list`, so a quotient and its remainder meet wherever they stand in the sum.
"""

from __future__ import annotations

from core.dtype import dtypes
from core.uop.ops import OP_BITS, Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.symbolic.linear import Sum, exact, make, term_list
from core.uop.uop import UOp


@rule((UPat.var("x", dtypes.ints) + UPat.var("y")) * UPat.cvar("c", vec=False))
def distribute(x: UOp, y: UOp, c: UOp) -> UOp:
    """(x + y) * c -> x * c + y * c"""
    return x * c + y * c


@rule(UPat(Ops.ADD, dtypes.ints, name="u"))
def recombine(u: UOp) -> UOp | None:
    """x // c * c + x % c -> x;  x // c % d * c + x % c -> x % (c * d);
    x // (c * d) * d + x // c % d -> x // c;  each also times a constant"""
    if not u.below & OP_BITS[Ops.MOD]:
        return None
    terms, constant = term_list(u, must_be_exact=False) or ([], 0)
    for i, (small, f) in enumerate(terms):
        if small.op is not Ops.MOD or small.src[1].op is not Ops.CONST or small.src[1].arg <= 0:
            continue
        x, c = small.src[0], small.src[1].arg
        for j, (large, g) in enumerate(terms):
            joined = None if i == j or g != f * c else _join(x, c, large)
            if joined is not None:
                rest = [t for k, t in enumerate(terms) if k not in (i, j)]
                return make([*rest, (joined, f)], constant).node(u)
    return None


def _join(x: UOp, c: int, large: UOp) -> UOp | None:
    """large * c + x % c as one node, if it is one."""
    top = dtypes.max(x.dtype)
    if large.op is Ops.IDIV and large.src[1].op is Ops.CONST:
        y, d = large.src[0], large.src[1].arg
        if y is x and d == c:
            return x
        if x.op is Ops.IDIV and x.src[0] is y and x.src[1].op is Ops.CONST:
            inner = x.src[1].arg  # y // (inner * c) * c + (y // inner) % c
            return x if inner > 0 and inner * c == d <= top else None
    if large.op is Ops.MOD and large.src[1].op is Ops.CONST and large.src[1].arg > 0:
        y, d = large.src[0], large.src[1].arg
        if y.op is Ops.IDIV and y.src[0] is x and y.src[1].op is Ops.CONST and y.src[1].arg == c:
            return x % (c * d) if c * d <= top else None
        if x.op is Ops.IDIV and y.op is Ops.IDIV and x.src[0] is y.src[0]:
            a, b = x.src[1], y.src[1]  # (z // a) % c + (z // (a * c)) % d * c
            if a.op is Ops.CONST and b.op is Ops.CONST and a.arg > 0 and b.arg == a.arg * c:
                return x % (c * d) if c * d <= top else None
    return None


@rule(UPat(Ops.ADD, dtypes.ints, name="u"))
def remainder_from_quotient(u: UOp) -> UOp | None:
    """x + x // c * -c -> x % c"""
    if not u.below & OP_BITS[Ops.IDIV]:
        return None
    terms, constant = term_list(u, must_be_exact=False) or ([], 0)
    for i, (q, f) in enumerate(terms):
        if q.op is not Ops.IDIV or q.src[1].op is not Ops.CONST or q.src[1].arg <= 0:
            continue
        x, c = q.src[0], q.src[1].arg
        for j, (other, g) in enumerate(terms):
            if other is x and f == -g * c:
                rest = [t for k, t in enumerate(terms) if k not in (i, j)]
                return make([*rest, (x % c, g)], constant).node(u)
    return None


@rule(UPat(Ops.ADD, dtypes.ints, name="u"))
def sum_of_shifted_quotients(u: UOp) -> UOp | None:
    """x // c + (x + 1) // c + ... + (x + c - 1) // c -> x  when no x + k is negative or wraps
    around (the identity of Hermite)"""
    if not u.below & OP_BITS[Ops.IDIV]:
        return None
    total = make(*(term_list(u, must_be_exact=False) or ([], 0)))
    terms, constant = [*total.terms.items()], total.constant
    families: dict[tuple[frozenset[tuple[UOp, int]], int, int], dict[int, tuple[Sum, UOp]]] = {}
    for q, f in terms:
        if q.op is Ops.IDIV and q.src[1].op is Ops.CONST and q.src[1].arg > 1:
            x = exact(q.src[0])
            family = families.setdefault((frozenset(x.terms.items()), q.src[1].arg, f), {})
            family[x.constant] = (x, q)
    for (_, c, f), family in families.items():
        for k, (x, _) in family.items() if len(family) >= c else ():
            if x.low >= 0 and all(k + j in family for j in range(1, c)):
                gone = {family[k + j][1] for j in range(c)}
                rest = [t for t in terms if t[0] not in gone]
                more = [(t, g * f) for t, g in x.terms.items()]
                return make([*rest, *more], constant + x.constant * f).node(u)
    return None


index_rules = PatternMatcher(
    [distribute, recombine, remainder_from_quotient, sum_of_shifted_quotients], name="index"
)
