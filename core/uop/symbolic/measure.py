"""What every symbolic rule makes smaller, which is why no rewrite is endless.

`measure(u)` is (divisions, weight, spread, disorder), compared in this order. A rule answers a
match only with an expression of smaller measure. The first three are polynomials of those of the
sources that grow with each of them, so a smaller part makes the whole smaller wherever it stands.
Rules that change only disorder keep the terms of their sum, so its place in a larger sum does not
matter. There is no endless chain of ever smaller natural numbers.

- divisions: quotients and remainders in the expression written out.
- weight: about the work, with constants as factors. (x + c) * d weighs what x * d + c * d does, and
  x * c % (c * d) what x % d * c does, so that constants may move; NOT and factors of -1 are free.
  Quotients and remainders of what has negative factors only weigh twice, as factors of -1 go out.
- spread: how far constants are from their places. Products with a constant weigh more around a sum
  than inside it, and remainders more around a product or inside a quotient.
- disorder: the pairs of terms of a sum that stand in the wrong order, sums right of a sum, and
  constants left of what they could follow. Rules that only make this smaller move terms about.

Never creates or changes a node.
"""

from __future__ import annotations

from core.dtype import dtypes
from core.uop.ops import GroupOp, Ops
from core.uop.symbolic.linear import flat, order
from core.uop.uop import UOp

Measure = tuple[int, int, int, int]
CONSTANTS = frozenset({Ops.CONST, Ops.VCONST})
LEAVES = frozenset({Ops.RANGE, Ops.SPECIAL, Ops.DEFINE_VAR, Ops.LOAD})
DIVISIONS = frozenset({Ops.IDIV, Ops.MOD})
LEAF, CONSTANT = 3, 2


def measure(u: UOp) -> Measure:
    """(divisions, weight, spread, disorder) of the expression `u`; loads are leaves."""
    found: dict[UOp, Measure] = {}
    for n in u.toposort(lambda n: n.op not in LEAVES):
        if n.op in CONSTANTS:
            found[n] = (0, CONSTANT, CONSTANT, 0)
        elif n.op in GroupOp.Elementwise and all(s.op in CONSTANTS for s in n.src):
            found[n] = (0, CONSTANT, CONSTANT, 1)
        else:
            src = [found.get(s, (0, LEAF, LEAF, 0)) for s in n.src]
            found[n] = (
                sum(s[0] for s in src) + (n.op in DIVISIONS and dtypes.is_int(n.dtype)),
                _weight(n, [s[1] for s in src]),
                _spread(n, [s[2] for s in src]),
                sum(s[3] for s in src) + _misplaced(n),
            )
    return found.get(u, (0, LEAF, LEAF, 0))


def _size(c: UOp) -> int:
    """The largest absolute value in a constant."""
    return max(abs(int(v)) for v in (c.arg if c.op is Ops.VCONST else (c.arg,)))


def _weight(n: UOp, src: list[int]) -> int:
    op, total = n.op, sum(src)
    by_constant = len(src) == 2 and n.src[1].op in CONSTANTS
    if op is Ops.CMPLT:
        return 2 * src[0] + 1 + _leads_negative(n.src[0]) if by_constant else 2 * total + 4
    if op is Ops.CMPNE and by_constant:
        return src[0] if n.src[1].arg is True else src[0] + 1
    if op in (Ops.SUB, Ops.NEG, Ops.FDIV):
        return 2 * total + 3
    if not dtypes.is_int(n.dtype) or not src:
        return total + 1
    if op in (Ops.ADD, Ops.MUL) and n.src[0].op in CONSTANTS:
        return _weight(n.rebuild(n.src[::-1]), src[::-1])
    if op is Ops.ADD:
        return src[0] + _size(n.src[1]) if by_constant else total
    if op is Ops.MUL:
        return src[0] * max(1, _size(n.src[1])) if by_constant else src[0] * src[1]
    if op in DIVISIONS:
        positive = by_constant and n.src[1].op is Ops.CONST and n.src[1].arg > 0
        negated = all(f < 0 for _, f in flat(n.src[0]))
        dividend = src[0] * (2 if negated else 1) * (3 if op is Ops.IDIV else 4)
        return dividend - 1 + (0 if positive else src[1] + 1)
    return total + 1


def _leads_negative(x: UOp) -> bool:
    """Whether the term that comes first in order has a negative factor."""
    terms = flat(x)
    return bool(terms) and min(terms, key=lambda t: order(t[0]))[1] < 0


def _spread(n: UOp, src: list[int]) -> int:
    op, total = n.op, sum(src)
    if len(src) == 2 and n.src[0].op in CONSTANTS and op in (Ops.ADD, Ops.MUL):
        return _spread(n.rebuild(n.src[::-1]), src[::-1])
    by_constant = len(src) == 2 and n.src[1].op in CONSTANTS
    if not dtypes.is_int(n.dtype):
        return total + 1
    if op is Ops.ADD:
        return src[0] + 1 if by_constant else total + 4
    if op is Ops.MUL:
        return 2 * src[0] + 3 if by_constant else src[0] * src[1]
    return total + 1


def _misplaced(n: UOp) -> int:
    if n.op is Ops.ADD and dtypes.is_int(n.dtype):
        left, right = ([order(t) for t in _addends(s)] for s in n.src)
        return len(right) - 1 + sum(a > b for a in left for b in right)
    return n.op in GroupOp.Commutative and n.src[0].op in CONSTANTS and n.src[1].op not in CONSTANTS


def _addends(u: UOp) -> list[UOp]:
    """The terms of a sum, without their constant factors."""
    terms: list[UOp] = []
    stack = [u]
    while stack:
        x = stack.pop()
        if x.op is Ops.ADD:
            stack += x.src[::-1]
            continue
        while x.op is Ops.MUL and x.src[1].op in CONSTANTS:
            x = x.src[0]
        terms.append(x)
    return terms
