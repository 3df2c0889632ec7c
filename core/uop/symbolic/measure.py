"""The measure that every symbolic rule makes smaller, so that every rewrite ends.

`measure(u)` is (leaves, divisions, weight, spread, disorder), compared in this order. A rule
answers a match only with an expression of smaller measure. The first four grow with those of each
source, so a smaller part makes the whole smaller wherever it stands. Rules that change only
disorder keep the terms of their sum, so its place in a larger sum does not matter. Tuples of
natural numbers, in this order, have no infinite descending chain.

- leaves: non-constant leaves, one for each occurrence, and ops that could be folded.
- divisions: quotients and remainders.
- weight: about the work, with constants as factors. (x + c) * d weighs what x * d + c * d does, and
  x * c % (c * d) about what x % d * c does, so that constants may move. NOT is free. Constants
  weigh what it takes to add them up from 1 and -1, which costs twice as much.
- spread: how far constants are from their places. Products with a constant weigh more around a sum
  than inside it.
- disorder: the pairs of terms of a sum that stand in the wrong order, sums right of a sum, and
  constants left of what they could follow. Rules that only make this smaller reorder terms.

Never creates or changes a node.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.dtype import DType, dtypes
from core.uop.facts.derive import fold
from core.uop.ops import GroupOp, Ops
from core.uop.symbolic.linear import flat, order
from core.uop.uop import UOp

Measure = tuple[int, int, int, int, int]
CONSTANTS = frozenset({Ops.CONST, Ops.VCONST})
LEAVES = frozenset({Ops.RANGE, Ops.SPECIAL, Ops.DEFINE_VAR})
DIVISIONS = frozenset({Ops.IDIV, Ops.MOD})
LEAF, CONSTANT = 3, 2


def measure(u: UOp) -> Measure:
    """(leaves, divisions, weight, spread, disorder) of the expression `u`. Of a load, only the
    alternative counts; its address is an expression of its own."""
    return fold(u, _parts, _measure)


def _parts(u: UOp) -> Sequence[UOp]:
    return u.src[1:] if u.op is Ops.LOAD else () if u.op in LEAVES else u.src


def _measure(u: UOp, src: Sequence[Measure]) -> Measure:
    if u.op in CONSTANTS:
        return 0, 0, CONSTANT, CONSTANT, 0
    foldable = u.op in GroupOp.Elementwise and all(s.op in CONSTANTS for s in u.src)
    if foldable or not src:
        return 1, 0, LEAF, LEAF, 0
    return (
        sum(s[0] for s in src) + (u.op is Ops.LOAD),
        sum(s[1] for s in src) + (u.op in DIVISIONS and dtypes.is_int(u.dtype)),
        _weight(u, [s[2] for s in src]),
        _spread(u, [s[3] for s in src]),
        sum(s[4] for s in src) + _misplaced(u),
    )


def _size(c: UOp) -> int:
    """The cost of the largest element of a constant."""
    values = c.arg if c.op is Ops.VCONST else (c.arg,)
    return max(_cost(int(v), c.dtype) for v in values)


def _cost(value: int, dtype: DType) -> int:
    """Ones cost 1; -1, which unsigned dtypes do not have, costs 2. With wraparound."""
    if dtypes.is_unsigned(dtype):
        return value
    whole = 1 << dtype.bits
    return min(value % whole, 2 * (-value % whole))


def _constant_last(u: UOp, src: list[int]) -> tuple[int, int, UOp | None]:
    """Of two operands in either order: (first, second, the second if it is constant)."""
    a, b = u.src
    if a.op in CONSTANTS and u.op in (Ops.ADD, Ops.MUL):
        return src[1], src[0], a
    return src[0], src[1], b if b.op in CONSTANTS else None


def _weight(u: UOp, src: list[int]) -> int:
    op, total = u.op, sum(src)
    if op in (Ops.SUB, Ops.NEG, Ops.FDIV):
        constants = u.src if dtypes.is_int(u.dtype) else ()
        return 2 * total + 3 + sum(2 * _size(c) for c in constants if c.op in CONSTANTS)
    if len(src) != 2 or op not in GroupOp.Binary:
        return total + 1
    x, y, constant = _constant_last(u, src)
    if op is Ops.CMPLT:
        return 2 * x + 1 + _leads_negative(u.src[0]) if constant is not None else 2 * total + 4
    if op is Ops.CMPNE and constant is not None:
        return x if constant.arg is True else x + 1
    if not dtypes.is_int(u.dtype):
        return total + 1
    if op is Ops.ADD:
        return x + _size(constant) if constant is not None else total
    if op is Ops.MUL:
        return x * max(1, _size(constant)) if constant is not None else x * y
    if op in DIVISIONS:
        positive = constant is not None and constant.op is Ops.CONST and constant.arg > 0
        divided = 3 * x - 1 if op is Ops.IDIV else 4 * x - 1
        return divided if positive else 2 * divided + y
    return total + 1


def _leads_negative(x: UOp) -> bool:
    """Whether the term that comes first in order has a negative factor."""
    terms = flat(x)
    return bool(terms) and min(terms, key=lambda t: order(t[0]))[1] < 0


def _spread(u: UOp, src: list[int]) -> int:
    if u.op not in (Ops.ADD, Ops.MUL) or not dtypes.is_int(u.dtype):
        return sum(src) + 1
    x, y, constant = _constant_last(u, src)
    if u.op is Ops.ADD:
        return x + 1 if constant is not None else x + y + 4
    return 2 * x + 3 if constant is not None else x * y


def _misplaced(u: UOp) -> int:
    if u.op is Ops.ADD and dtypes.is_int(u.dtype):
        left, right = ([order(t) for t in _addends(s)] for s in u.src)
        return len(right) - 1 + sum(a > b for a in left for b in right)
    return u.op in GroupOp.Commutative and u.src[0].op in CONSTANTS


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
