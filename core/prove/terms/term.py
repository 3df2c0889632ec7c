"""Terms: what a graph computes, one element at a time, in a normal form.

A term is a constant, an input, an element that is read from memory, a reduction, or an op on terms.
They are interned in a `Terms`, so equal terms are one object. Integer sums are kept as linear
combinations modulo the width of the dtype, which makes two orders of a sum one term. Every
simplification is exact for all values, under the meaning of `core/uop/facts/meaning.py`; none needs
the rules that are checked with terms.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import frexp, isfinite
from typing import Any, Final

from core.dtype import ConstType, DType, dtypes, truncate
from core.prove.terms.node import (
    Kind,
    Term,
    bounds_of,
    bounds_of_sum,
    compared,
    conjuncts,
    depth_of,
    exact,
    postorder,
    signed,
    whole,
    within,
)
from core.uop.facts.meaning import evaluate
from core.uop.ops import GroupOp, Ops

_COMMUTATIVE: Final = GroupOp.Commutative - {Ops.ADD}


class Terms:
    """The terms of one question."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], Term] = {}
        self.open: dict[Term, tuple[Term, Term]] = {}
        """Of what is undefined: the condition under which it is asked for, and the value that the
        op has there by the tables of `core/uop/facts/meaning.py`."""

    def __len__(self) -> int:
        return len(self._made)

    def const(self, dtype: DType, value: ConstType) -> Term:
        """A constant of a scalar dtype."""
        value = truncate(value, dtype)
        key = repr(value) if isinstance(value, float) else value
        bounds = None if isinstance(value, float) else (int(value), int(value))
        return self._intern(Ops.CONST, dtype, (), value, bounds, key)

    def input(self, key: Hashable, dtype: DType, low: ConstType, high: ConstType) -> Term:
        """An unknown value from `low` to `high`, both included."""
        bounds = None if dtypes.is_float(dtype) else (int(low), int(high))
        if bounds is not None and bounds[0] == bounds[1]:
            return self.const(dtype, bool(low) if dtypes.is_bool(dtype) else int(low))
        return self._intern(Kind.INPUT, dtype, (), key, bounds)

    def read(self, memory: Hashable, dtype: DType, at: Term) -> Term:
        """An element of a memory."""
        return self._intern(Kind.READ, dtype, (at,), memory, whole(dtype))

    def undefined(self, key: Hashable, broken: Term, value: Term, args: Sequence[Term]) -> Term:
        """What an op gives where a condition holds under which it is undefined: any value at all,
        the same one for equal keys and arguments."""
        data = ("undefined", key, value.dtype)
        made = self._intern(Kind.READ, value.dtype, tuple(args), data, whole(value.dtype))
        self.open[made] = broken, value
        return made

    def reduce(self, op: Ops, bodies: Sequence[Term], bound: Sequence[Term]) -> Term:
        """`bodies` combined by `op`, over every value of the inputs in `bound`. Bound inputs get
        names by their place, so that equal reductions are one term whatever their loops are."""
        if not bound:
            made = bodies[0]
            for body in bodies[1:]:
                made = self.alu(op, made.dtype, (made, body))
            return made
        depth = max(map(depth_of, bodies))
        names = {
            b: self.input(("bound", depth, at), b.dtype, b.low, b.high)
            for at, b in enumerate(bound)
        }
        renamed = tuple(self.substitute(bodies, names))
        data = (op, tuple(names[b] for b in bound))
        return self._intern(Kind.REDUCE, renamed[0].dtype, renamed, data, whole(renamed[0].dtype))

    def alu(self, op: Ops, dtype: DType, args: Sequence[Term], data: Any = None) -> Term:
        """An op of the meaning table on terms, simplified."""
        args = tuple(args)
        if all(a.op is Ops.CONST for a in args):
            source = args[-1].dtype if op is Ops.WHERE else args[0].dtype
            value = evaluate(op, dtype, [a.data for a in args], source)
            return self.const(dtype, value)
        if op is Ops.WHERE:
            return self._where(dtype, *args)
        if op is Ops.CAST:
            return self._cast(dtype, args[0])
        source = args[0].dtype
        if dtypes.is_int(dtype) and op not in GroupOp.Comparison:
            linear = self._linear(op, dtype, args)
            if linear is not None:
                return linear
        elif dtypes.is_float(dtype) and (exact_form := self._float(op, dtype, args)) is not None:
            return exact_form
        if op in GroupOp.Comparison and (decided := compared(op, *args)) is not None:
            return self.const(dtypes.bool, decided)
        if dtypes.is_bool(source) and (found := self._bool(op, args)) is not None:
            return found
        if op in _COMMUTATIVE or (op is Ops.ADD and not dtypes.is_int(dtype)):
            args = tuple(sorted(args, key=lambda a: a.number))
        return self._intern(op, dtype, args, data, bounds_of(op, dtype, args))

    def negated(self, condition: Term) -> Term:
        """The opposite of a condition."""
        return self.alu(Ops.CMPNE, dtypes.bool, (condition, self.const(dtypes.bool, True)))

    def both(self, *conditions: Term | None) -> Term:
        """The conjunction; True of none."""
        made = self.const(dtypes.bool, True)
        for condition in conditions:
            if condition is not None:
                made = self.alu(Ops.AND, dtypes.bool, (made, condition))
        return made

    def substitute(self, roots: Iterable[Term], new: Mapping[Term, Term]) -> list[Term]:
        """Terms with some of their inputs replaced."""
        roots = list(roots)
        known: dict[Term, Term] = dict(new)
        for term in postorder(roots, known):
            if not term.args and term.op is not Kind.REDUCE:
                known[term] = term
                continue
            known[term] = self._again(term, tuple(known[a] for a in term.args))
            if term in self.open and known[term] is not term:
                broken, value = self.substitute(self.open[term], new)
                self.open[known[term]] = broken, value
        return [known[root] for root in roots]

    def _again(self, term: Term, args: tuple[Term, ...]) -> Term:
        if args == term.args:
            return term
        if term.op is Kind.READ:
            return self._intern(Kind.READ, term.dtype, args, term.data, whole(term.dtype))
        if term.op is Kind.REDUCE:
            return self._intern(Kind.REDUCE, term.dtype, args, term.data, whole(term.dtype))
        if term.op is Kind.SUM:
            constant, factors = term.data
            made = self.const(term.dtype, constant)
            for factor, arg in zip(factors, args, strict=True):
                scaled = self.alu(Ops.MUL, term.dtype, (arg, self.const(term.dtype, factor)))
                made = self.alu(Ops.ADD, term.dtype, (made, scaled))
            return made
        assert isinstance(term.op, Ops)
        return self.alu(term.op, term.dtype, args, term.data)

    def _where(self, dtype: DType, test: Term, yes: Term, no: Term) -> Term:
        if test.op is Ops.CONST:
            return yes if test.data else no
        held = {*conjuncts(test)}
        while yes.op is Ops.WHERE and held.issuperset(conjuncts(yes.args[0])):
            yes = yes.args[1]
        while no.op is Ops.WHERE and no.args[0] is test:
            no = no.args[2]
        if yes is no:
            return yes
        bounds = None if dtypes.is_float(dtype) else (min(yes.low, no.low), max(yes.high, no.high))
        return self._intern(Ops.WHERE, dtype, (test, yes, no), None, bounds)

    def _cast(self, dtype: DType, x: Term) -> Term:
        if dtype == x.dtype:
            return x
        integers = dtypes.is_int(dtype) and dtypes.is_int(x.dtype)
        if integers and within(x, dtype):
            if x.op is Ops.CAST and dtypes.is_int(x.args[0].dtype) and within(x.args[0], x.dtype):
                return self._cast(dtype, x.args[0])
            if x.op is Kind.SUM and exact(x):
                constant, factors = x.data
                small = [signed(f, x.dtype) for f in factors]
                cast = [self._cast(dtype, a) for a in x.args]
                return self._sum(dtype, signed(constant, x.dtype), zip(cast, small, strict=True))
            if (
                (x.op is Ops.IDIV or x.op is Ops.MOD)
                and x.args[1].low > 0
                and all(within(a, dtype) for a in x.args)
            ):
                return self.alu(x.op, dtype, [self._cast(dtype, a) for a in x.args])
        bounds = whole(dtype)
        if integers or dtypes.is_bool(x.dtype):
            bounds = (x.low, x.high) if within(x, dtype) else bounds
        return self._intern(Ops.CAST, dtype, (x,), None, bounds)

    def _linear(self, op: Ops, dtype: DType, args: tuple[Term, ...]) -> Term | None:
        """A sum, difference or multiple as a linear combination."""
        match op:
            case Ops.ADD:
                return self._sum(dtype, 0, ((a, 1) for a in args))
            case Ops.SUB:
                return self._sum(dtype, 0, zip(args, (1, -1), strict=True))
            case Ops.NEG:
                return self._sum(dtype, 0, ((args[0], -1),))
            case Ops.MUL if any(a.op is Ops.CONST for a in args):
                x, c = args if args[1].op is Ops.CONST else args[::-1]
                return self._sum(dtype, 0, ((x, int(c.data)),))
            case Ops.SHL if args[1].op is Ops.CONST and 0 <= args[1].data < dtype.bits:
                return self._sum(dtype, 0, ((args[0], 1 << int(args[1].data)),))
            case Ops.MULACC:
                product = self.alu(Ops.MUL, dtype, args[:2])
                return self._sum(dtype, 0, ((product, 1), (args[2], 1)))
            case Ops.IDIV | Ops.MOD if args[1].op is Ops.CONST and args[1].data > 0:
                return self._divided(op, dtype, args[0], int(args[1].data))
            case Ops.TRUNC:
                return args[0]
            case _:
                return None

    def _float(self, op: Ops, dtype: DType, args: tuple[Term, ...]) -> Term | None:
        """What has the same result for every float, zeros of either sign and infinities among them:
        signs, products with 1 and -1, and quotients by powers of two whose inverse is a number."""
        match op:
            case Ops.NEG if args[0].op is Ops.NEG:
                return args[0].args[0]
            case Ops.SUB:
                return self.alu(Ops.ADD, dtype, (args[0], self.alu(Ops.NEG, dtype, args[1:])))
            case Ops.FDIV if args[1].constant and isfinite(args[1].data) and args[1].data:
                inverse = truncate(1 / args[1].data, dtype)
                if abs(frexp(args[1].data)[0]) != 0.5 or inverse * args[1].data != 1:
                    return None
                return self.alu(Ops.MUL, dtype, (args[0], self.const(dtype, inverse)))
            case Ops.MUL if any(a.constant and abs(a.data) == 1 for a in args):
                x, c = args if args[1].constant else args[::-1]
                return x if c.data == 1 else self.alu(Ops.NEG, dtype, (x,))
            case _:
                return None

    def _divided(self, op: Ops, dtype: DType, x: Term, c: int) -> Term | None:
        """x / c or x % c of what is not negative: multiples of c are taken out of a sum."""
        if c == 1:
            return x if op is Ops.IDIV else self.const(dtype, 0)
        if x.low < 0:
            return None
        if x.high < c:
            return self.const(dtype, 0) if op is Ops.IDIV else x
        if x.op is op and x.args[1].constant and x.args[0].low >= 0:
            other = int(x.args[1].data)
            if op is Ops.IDIV and other > 0 and other * c <= int(dtypes.max(dtype)):
                return self.alu(op, dtype, (x.args[0], self.const(dtype, other * c)))
            if op is Ops.MOD and other > 0 and other % c == 0:
                return self.alu(op, dtype, (x.args[0], self.const(dtype, c)))
        if x.op is not Kind.SUM or not exact(x):
            return None
        constant, factors = x.data
        constant = signed(constant, dtype)
        pairs = [(a, signed(f, dtype)) for a, f in zip(x.args, factors, strict=True)]
        whole_part = [(a, f // c) for a, f in pairs if f % c == 0]
        rest = [(a, f) for a, f in pairs if f % c != 0]
        left = constant % c
        if not whole_part and left == constant:
            return None
        below = self._sum(dtype, left, rest)
        if below.low < 0 or not (below.constant or below.op is not Kind.SUM or exact(below)):
            return None
        again = self.alu(op, dtype, (below, self.const(dtype, c)))
        if op is Ops.MOD:
            return again
        return self._sum(dtype, constant // c, [*whole_part, (again, 1)])

    def _sum(self, dtype: DType, constant: int, parts: Iterable[tuple[Term, int]]) -> Term:
        factors: dict[Term, int] = {}
        for term, factor in parts:
            if term.op is Ops.CONST:
                constant += int(term.data) * factor
            elif term.op is Kind.SUM:
                constant += term.data[0] * factor
                for inner, inner_factor in zip(term.args, term.data[1], strict=True):
                    factors[inner] = factors.get(inner, 0) + inner_factor * factor
            else:
                factors[term] = factors.get(term, 0) + factor
        mask = (1 << dtype.bits) - 1
        left = sorted(
            ((t, f & mask) for t, f in factors.items() if f & mask), key=lambda pair: pair[0].number
        )
        constant = int(truncate(constant & mask, dtype))
        if not left:
            return self.const(dtype, constant)
        if len(left) == 1 and left[0][1] == 1 and not constant:
            return left[0][0]
        args = tuple(t for t, _ in left)
        data = (constant, tuple(f for _, f in left))
        low, high = bounds_of_sum(constant, left, dtype)
        fits = dtypes.min(dtype) <= low and high <= dtypes.max(dtype)
        return self._intern(Kind.SUM, dtype, args, data, (low, high) if fits else whole(dtype))

    def _bool(self, op: Ops, args: tuple[Term, ...]) -> Term | None:
        """Absorbing and neutral elements, repetition and double negation."""
        if op in (Ops.MUL, Ops.ADD, Ops.MAX):
            return self.alu(Ops.AND if op is Ops.MUL else Ops.OR, dtypes.bool, args)
        if len(args) != 2:
            return None
        x, y = args if args[1].op is Ops.CONST else args[::-1]
        if op in (Ops.AND, Ops.OR):
            if x is y:
                return x
            if y.op is Ops.CONST:
                return y if bool(y.data) == (op is Ops.OR) else x
        if op in (Ops.XOR, Ops.CMPNE) and y.op is Ops.CONST:
            if not y.data:
                return x
            if x.op is Ops.CMPNE and dtypes.is_bool(x.args[0].dtype):
                inner = [a for a in x.args if not a.constant]
                if len(inner) == 1:  # compared with True: with False it would be no term
                    return inner[0]
            if op is Ops.XOR:
                return self.alu(Ops.CMPNE, dtypes.bool, (x, y))
        return None

    def _intern(
        self,
        op: Ops | Kind,
        dtype: DType,
        args: tuple[Term, ...],
        data: Any,
        bounds: tuple[int, int] | None,
        key: Hashable = None,
    ) -> Term:
        full = (op, dtype, args, data if key is None else key)
        if op is Ops.CONST or op is Kind.INPUT:
            full = (*full, bounds)
        made = self._made.get(full)
        if made is None:
            made = self._made[full] = Term(op, dtype, args, data, bounds, len(self._made))
        return made
