"""Where what is replaced is undefined, its replacement may be anything: refinement.

A pair of terms counts only under a condition: that the write is made, and that the first one is
defined. What both leave open alike stays as it is. Never decides whether terms are equal.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.dtype import dtypes
from core.prove.terms.node import Kind, postorder
from core.prove.terms.term import Term, Terms
from core.uop import Ops

Pair = tuple[Term, Term]


def refined(terms: Terms, a: Term, b: Term) -> Pair:
    """The pair whose equality is enough for `b` in place of `a`: where `a` is undefined by itself,
    `b` may be anything; what is undefined in the midst of `a` alone is the value that the op has by
    the tables."""
    if a is b or not terms.open:
        return a, b
    own = [t for t in postorder([a]) if t in terms.open]
    if not own:
        return a, b
    b = terms.alu(Ops.WHERE, a.dtype, (_undefined(terms, a), a, b))
    if a is b:
        return a, b
    others = {*postorder([b])} if not _chosen(b, a) else {*postorder(b.args[2:])}
    new = {t: terms.open[t][1] for t in own if t not in others}
    if new:
        a, b = terms.substitute([a, b], new)
    return a, b


def is_defined(terms: Terms, a: Term) -> Term | None:
    """A condition under which nothing that is undefined has a part in a term; None: it always
    holds. Of what is reduced, that is not known."""
    inside = postorder(arg for t in postorder([a]) if t.op is Kind.REDUCE for arg in t.args)
    if any(t in terms.open for t in inside) or _as_bits(inside):
        return terms.const(dtypes.bool, False)
    own = [terms.open[t][0] for t in postorder([a]) if t in terms.open]
    own += [terms.alu(Ops.CMPNE, dtypes.bool, (x, x)) for x in _as_bits(postorder([a]))]
    return terms.both(*(terms.negated(c) for c in dict.fromkeys(own))) if own else None


def _as_bits(found: Sequence[Term]) -> list[Term]:
    """The floats that are taken as bits: those of a NaN are left open."""
    casts = [t for t in found if t.op is Ops.BITCAST]
    return [t.args[0] for t in casts if dtypes.is_float(t.args[0].dtype)]


def _chosen(b: Term, a: Term) -> bool:
    return b.op is Ops.WHERE and b.args[1] is a


def _undefined(terms: Terms, a: Term) -> Term:
    """The condition under which a term is undefined, by the choices that it is made of."""
    if a in terms.open:
        return terms.const(dtypes.bool, True)
    if a.op is not Ops.WHERE:
        return terms.const(dtypes.bool, False)
    test, yes, no = a.args
    either = [terms.both(test, _undefined(terms, yes)),
              terms.both(terms.negated(test), _undefined(terms, no))]  # fmt: skip
    return terms.alu(Ops.OR, dtypes.bool, either)
