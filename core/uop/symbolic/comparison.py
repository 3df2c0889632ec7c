"""Comparisons of integers, and boolean algebra over them. Never touches a comparison of floats."""

from __future__ import annotations

from collections.abc import Iterator

from core.dtype import dtypes
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.symbolic.linear import Sum, exact, is_exact, make
from core.uop.symbolic.measure import measure
from core.uop.uop import UOp

x, y = UPat.var("x", dtypes.ints), UPat.var("y", dtypes.ints)
c, c1, c2 = (UPat.cvar(name, vec=False) for name in ("c", "c1", "c2"))
p, q = UPat.var("p", dtypes.bool), UPat.var("q", dtypes.bool)
LINEAR = frozenset({Ops.ADD, Ops.MUL})


def less(x: UOp, c: int) -> UOp:
    """x < c, or a constant where c is beyond the dtype."""
    true = dtypes.bool.vec(x.dtype.count)
    if c > dtypes.max(x.dtype) or c < dtypes.min(x.dtype):
        return UOp.const(true, c > 0)
    return x < c


@rule(UPat(LINEAR, dtypes.ints, name="x") < c)
def less_of_sum(x: UOp, c: UOp) -> UOp | None:
    """x * g + y < c -> x < ceil((c - y) / g)  when that bound is one number;
    -x < c -> !(x < 1 - c)  when that has the smaller measure;  when the sums do not wrap around"""
    total = exact(x)
    if not total.terms:
        return None
    factors = sorted({abs(f) for f in total.terms.values()}, reverse=True)
    for g in factors[:1] if len(factors) == 1 else (total.gcd, *factors):
        kept = {t: f // g for t, f in total.terms.items() if f % g == 0}
        rest = Sum({t: f for t, f in total.terms.items() if f % g}, total.constant - int(c.arg))
        # kept * g + rest < 0  is  kept < -floor(rest / g)  where that floor is one number
        bound = rest.low // g
        if bound != rest.high // g or not kept:
            continue
        before = x.alu(Ops.CMPLT, c)
        forms = [made for made in _less(kept, -bound, x) if made is not before]
        if forms and measure(made := min(forms, key=measure)) < measure(before):
            return made
    return None


def _less(terms: dict[UOp, int], c: int, like: UOp) -> Iterator[UOp]:
    """sum(terms) < c, and !(-sum(terms) < 1 - c)."""
    left = Sum(terms, 0)
    if left.fits(like):
        yield less(left.node(like), c)
    opposite = Sum({t: -f for t, f in terms.items()}, 0)
    if opposite.fits(like):
        yield less(opposite.node(like), 1 - c).logical_not()


@rule(UPat(LINEAR, dtypes.ints, name="x") < c)
def less_of_nonnegative(x: UOp, c: UOp) -> UOp | None:
    """x * f + y * g < c -> x * c + y * g < c  when f > c, no term is negative, and the sum does
    not wrap around"""
    total = exact(x)
    bound = int(c.arg) - total.constant
    sizes = {t: f * int(t.vmin if f > 0 else t.vmax) for t, f in total.terms.items()}
    if bound <= 0 or any(least < 0 for least in sizes.values()):
        return None
    capped = {t: max(-bound, min(f, bound)) for t, f in total.terms.items()}
    if capped == total.terms:
        return None
    return less(Sum(capped, 0).node(x), bound)


@rule(UPat(None, dtypes.ints, name="x") < y)
def less_of_both(x: UOp, y: UOp) -> UOp | None:
    """x + z < y + z -> x < y;  -x < -y -> y < x;  x * g < y * g -> x < y;  when the sums do not
    wrap around"""
    if x.op is Ops.CONST or y.op is Ops.CONST or (x.op not in LINEAR and y.op not in LINEAR):
        return None
    left, right = exact(x), exact(y)
    apart = make(
        [*left.terms.items(), *((t, -f) for t, f in right.terms.items())],
        left.constant - right.constant,
    )
    if not apart.terms:
        return UOp.const(dtypes.bool.vec(x.dtype.count), apart.constant < 0)
    bound = -(apart.constant // apart.gcd)
    below = {t: f // apart.gcd for t, f in apart.terms.items() if f > 0}
    above = {t: -f // apart.gcd for t, f in apart.terms.items() if f < 0}
    low, high = Sum(below, max(-bound, 0)), Sum(above, max(bound, 0))
    if not (low.fits(x) and high.fits(x)):
        return None
    if not above:
        made = less(Sum(below, 0).node(x), bound)
    elif not below:
        made = less(Sum(above, 0).node(x), 1 - bound).logical_not()
    else:
        made = low.node(x) < high.node(x)
    return made if measure(made) < measure(x < y) else None


@rule(c < UPat.var("x", dtypes.ints))
def greater_than_constant(x: UOp, c: UOp) -> UOp | None:
    """c < x -> !(x < c + 1)"""
    if x.op is Ops.CONST or c.arg == dtypes.max(x.dtype):
        return None
    return (x < c.arg + 1).logical_not()


@rule(x // c1 < c2)
def less_of_quotient(x: UOp, c1: UOp, c2: UOp) -> UOp | None:
    """x // c1 < c2 -> x < c1 * c2  when c1, c2 > 0;  x < c1 * (c2 - 1) + 1  when c1 > 0 >= c2"""
    if c1.arg <= 0:
        return None
    return less(x, c1.arg * c2.arg if c2.arg > 0 else c1.arg * (c2.arg - 1) + 1)


@rule(UPat(frozenset({Ops.CMPNE, Ops.CMPEQ}), src=(x + c1, c2), name="u"))
def equal_of_sum(u: UOp, x: UOp, c1: UOp, c2: UOp) -> UOp:
    """x + c1 != c2 -> x != c2 - c1;  so for =="""
    return x.alu(u.op, x.const_like(c2.arg - c1.arg))


@rule(UPat(frozenset({Ops.CMPNE, Ops.CMPEQ}), src=(x * c1, c2), name="u"))
def equal_of_product(u: UOp, x: UOp, c1: UOp, c2: UOp) -> UOp | None:
    """x * c1 != c2 -> x != c2 / c1, or True where c1 does not divide c2;  so for ==;  when x * c1
    does not wrap around"""
    if c1.arg == 0 or not is_exact(x * c1):
        return None
    if c2.arg % c1.arg:
        return u.const_like(u.op is Ops.CMPNE)
    wanted = c2.arg // c1.arg
    if not dtypes.min(x.dtype) <= wanted <= dtypes.max(x.dtype):
        return None
    return x.alu(u.op, x.const_like(wanted))


@rule((x < c1) & (x < c2))
def both_less(x: UOp, c1: UOp, c2: UOp) -> UOp:
    """(x < c1) & (x < c2) -> x < min(c1, c2)"""
    return x < min(c1.arg, c2.arg)


@rule((x < c1) | (x < c2))
def either_less(x: UOp, c1: UOp, c2: UOp) -> UOp:
    """(x < c1) | (x < c2) -> x < max(c1, c2)"""
    return x < max(c1.arg, c2.arg)


@rule((x < c1).ne(True) & (x < c2).ne(True))
def both_not_less(x: UOp, c1: UOp, c2: UOp) -> UOp:
    """!(x < c1) & !(x < c2) -> !(x < max(c1, c2))"""
    return (x < max(c1.arg, c2.arg)).logical_not()


@rule((x < c1).ne(True) & (x < c2))
def between(x: UOp, c1: UOp, c2: UOp) -> UOp | None:
    """!(x < c1) & (x < c2) -> False  when c1 >= c2"""
    return UOp.const(dtypes.bool.vec(x.dtype.count), False) if c1.arg >= c2.arg else None


@rule(p & p.ne(True))
def and_not(p: UOp) -> UOp:
    """p & !p -> False"""
    return p.const_like(False)


@rule(p | p.ne(True))
def or_not(p: UOp) -> UOp:
    """p | !p -> True"""
    return p.const_like(True)


@rule(p & (p | q))
def absorb_or(p: UOp, q: UOp) -> UOp:
    """p & (p | q) -> p"""
    return p


@rule(p | (p & q))
def absorb_and(p: UOp, q: UOp) -> UOp:
    """p | (p & q) -> p"""
    return p


@rule((p & q) & p)
def and_twice(p: UOp, q: UOp) -> UOp:
    """(p & q) & p -> p & q"""
    return p & q


@rule((p | q) | p)
def or_twice(p: UOp, q: UOp) -> UOp:
    """(p | q) | p -> p | q"""
    return p | q


comparison = PatternMatcher(
    [
        greater_than_constant,
        less_of_quotient,
        less_of_sum,
        less_of_nonnegative,
        less_of_both,
        equal_of_sum,
        equal_of_product,
        both_less,
        either_less,
        both_not_less,
        between,
        and_not,
        or_not,
        absorb_or,
        absorb_and,
        and_twice,
        or_twice,
    ],
    name="comparison",
)
