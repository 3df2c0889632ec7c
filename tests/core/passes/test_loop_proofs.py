"""A proof (z3) of every rule of integers that leaves out a loop, or a part of one.

The loop is written out, iteration by iteration, and proved equal to what is in its place: for all
values of the variables, where bounds may be any number of their dtype, as one that is loaded is.
Loops, conditions and constants are drawn from a seed.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable

import pytest

from core.dtype import DType, dtypes
from core.passes.identities import identity
from core.passes.loops.collapse import collapsing
from core.passes.loops.trim import gating_stores, trimming, trimming_stores
from core.uop import Ops, PatternMatcher, UOp
from core.uop.kernelinfo import AxisType
from tests.core.uop.expressions import Draw
from tests.core.uop.prover import counterexample
from tests.core.uop.symbols import num, true

MATCHERS = (collapsing, trimming, trimming_stores, gating_stores)
RULES = {r.name: r for m in MATCHERS for r in m.rules}
DTYPES = (dtypes.int32, dtypes.int8, dtypes.uint8, dtypes.uint32)
TRIES, ENOUGH, MOST = 12, 6, 200
"""Draws per rule; how often it should have fired by then; draws at most until it has."""
MEMORY = UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(64), (), 1)


class Loop(Draw):
    """Expressions of a loop of a few iterations, and of variables that stand for any number."""

    def __init__(self, rng: random.Random, dtype: DType) -> None:
        super().__init__(rng, dtype)
        self.loop = UOp.range(rng.randint(1, 4), 0, AxisType.REDUCE)

    def form(self) -> UOp:
        """factor * loop + rest."""
        unsigned = dtypes.is_unsigned(self.dtype)
        factor = self.rng.choice((1, 1, 2, 3, 7) if unsigned else (1, 1, 2, 3, -1, -2, 7))
        rest = self.rng.choice((0, 0, 1, 5) if unsigned else (0, 0, 1, 5, -3))
        return self.loop.cast(self.dtype) * factor + rest

    def clause(self) -> UOp:
        """A comparison of that with a number."""
        bound = self.rng.choice((self.var("n"), self.var("m"), self.const(0, 1, 2, 3, 9)))
        kinds = (self.form() < bound, bound < self.form(), self.form().eq(bound))
        found = self.rng.choice(kinds)
        return found.logical_not() if self.rng.random() < 0.2 else found

    def condition(self) -> UOp:
        found = self.clause()
        if self.rng.random() < 0.4:
            found = found & self.clause()
        return found & (self.var("p") < 3) if self.rng.random() < 0.2 else found

    def value(self) -> UOp:
        """A number, also one of the loop, and one that is loaded."""
        y = UOp.variable("y", -50, 50)
        return self.rng.choice(
            (y, y, num(self.rng.choice((1, 5, -2))), self.loop * y, MEMORY.index(self.loop).load())
        )

    def length(self) -> UOp:
        """A number that is known when the kernel is launched."""
        return UOp.variable("n", *self.rng.choice(((0, 9), (-4, 3), (1, 4))), self.dtype)

    def total(self, x: UOp, op: Ops = Ops.ADD) -> UOp:
        return x.reduce(op, self.loop)


def before_length(d: Loop) -> UOp:
    """Whether an iteration is before a length."""
    factor = d.rng.choice((1, 1, 2, 3))
    found = d.loop.cast(d.dtype) * factor + d.rng.choice((0, 0, 2)) < d.length()
    return found & (d.var("p") < 3) if d.rng.random() < 0.3 else found


def to_length(d: Loop) -> UOp:
    """A reduce of the iterations before a length."""
    op = d.rng.choice((Ops.ADD, Ops.MAX, Ops.MUL))
    x = num(d.rng.choice((2, 3, -5))) if op is Ops.MUL else d.value()
    return d.total(before_length(d).where(x, x.const_like(identity(op, x.dtype))), op)


def store(d: Loop) -> UOp:
    """A store in the elements of some iterations, which leaves the others as they are."""
    d.loop = d.loop.replace(arg=(0, AxisType.LOOP))
    place = MEMORY.index(d.loop + d.rng.choice((0, 0, 3)))
    c = before_length(d)
    if d.rng.random() < 0.6:
        low = UOp.variable("low", *d.rng.choice(((0, 9), (-4, 3), (1, 4))), d.dtype)
        after = (d.loop.cast(d.dtype) * d.rng.choice((1, 1, 2)) < low).logical_not()
        c = d.rng.choice((after, c & after))
    y = Draw(d.rng, dtypes.int32).var("y")
    return place.store(c.where(d.rng.choice((y, d.loop * y + 1)), place.load())).end(d.loop)


def store_alone(d: Loop) -> UOp:
    """The same, without its loop."""
    return store(d).src[0]


PROOFS: dict[str, Callable[[Loop], UOp]] = {
    "unused_loop": lambda d: d.total(
        d.var("a") * 3 + d.var("b"), d.rng.choice((Ops.ADD, Ops.MUL, Ops.MAX))
    ),
    "sum_of_loop": lambda d: d.total(d.loop),
    "sum_of_choice": lambda d: d.total(d.condition().where(d.value(), 0)),
    "sum_of_other_choice": lambda d: d.total(
        d.condition().logical_not().where((x := d.value()).const_like(0), x)
    ),
    "sum_of_condition": lambda d: d.total(d.condition().cast(dtypes.int32)),
    "sum_of_product": lambda d: d.total(d.condition().cast(dtypes.int32) * d.value()),
    "sum_of_sum": lambda d: d.total(d.clause().where(d.value(), 0) + d.clause().cast(dtypes.int32)),
    "end_at_length": to_length,
    "store_what_changes": store,
    "store_if": store_alone,
}
SAMPLED = ("sum_of_finite_product", "sum_of_float_product")
"""Of floats: `test_collapse.py` tries them on values."""


def at(u: UOp, loop: UOp, i: int) -> UOp:
    return u.substitute({loop: UOp.const(loop.dtype, i)})


def written_out(u: UOp, most: int) -> UOp:
    """A value whose reduces are written out, of at most so many iterations."""
    new: dict[UOp, UOp] = {}
    for v in u.toposort():
        made = v.replace(src=tuple(new.get(s, s) for s in v.src))
        if v.op is Ops.REDUCE:
            made = _each(made, most)
        new[v] = made
    return new[u]


def _each(red: UOp, most: int) -> UOp:
    x, loop = red.src
    end, nothing = loop.src[0], x.const_like(identity(red.arg, x.dtype))
    count = most if end.op is not Ops.CONST else end.arg
    each = [at(x, loop, i) for i in range(count)]
    if end.op is not Ops.CONST:
        each = [(UOp.const(end.dtype, i) < end).where(v, nothing) for i, v in enumerate(each)]
    return functools.reduce(lambda a, b: a.alu(red.arg, b), each, nothing)


PLACE = UOp.variable("place", 0, 9)


def element(end: UOp, most: int) -> UOp:
    """What an element of the memory, at PLACE, is after a loop of stores."""
    written, loop = end.src
    place, value = written.src
    gates = place.src[2:]
    count = loop.src[0]
    found = MEMORY.index(PLACE).load()
    for k in range(most):
        here = at(place.src[1], loop, k).eq(PLACE) & (UOp.const(count.dtype, k) < count)
        for gate in gates:
            here = here & at(gate, loop, k)
        found = here.where(at(value, loop, k), found)
    return found


@pytest.mark.parametrize("name", PROOFS)
def test_proved(name: str) -> None:
    seed, fired = random.randrange(1 << 30), 0
    matcher = PatternMatcher([RULES[name]])
    for n in range(MOST):
        if n >= TRIES and fired >= ENOUGH:
            break
        d = Loop(random.Random(f"{seed} {n}"), DTYPES[n % len(DTYPES)])
        before = PROOFS[name](d)
        made = matcher.rewrite(before, (AxisType.LOOP,))
        if made is None:
            continue
        fired += 1
        most = d.loop.src[0].arg
        if before.op is Ops.STORE:
            before, made = before.end(d.loop), made.end(d.loop)
        if before.op is Ops.END:
            end = made.src[1].src[0]
            assert counterexample(end < most + 1, true) is None, f"{end.render()} ({seed} {n})"
            old, new = (element(u, most) for u in (before, made))
        else:
            old, new = (written_out(u, most) for u in (before, made))
        found = counterexample(old, new)
        assert found is None, f"{before.render()} -> {made.render()}: {found} ({seed} {n})"
    assert fired >= ENOUGH, f"the template matches {fired} times in {MOST} (seed {seed})"


def test_every_rule_is_proved_or_sampled() -> None:
    assert {*PROOFS, *SAMPLED} == set(RULES)


def test_a_wrong_end_is_found() -> None:
    loop, n = UOp.range(4, 0), UOp.variable("n", 0, 9)
    before = (loop * 2 < n).where(MEMORY.index(loop).load(), 0).reduce(Ops.ADD, loop)
    shorter = loop.replace(src=((n // 2).minimum(4),))
    made = MEMORY.index(shorter).load().reduce(Ops.ADD, shorter)
    assert counterexample(written_out(before, 4), written_out(made, 4)) is not None
