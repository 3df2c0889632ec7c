"""A proof (z3) of every rule of integers, or a search for counterexamples.

A proof covers all values of the variables, for constants and bounds drawn from a seed, in 8 and 16
bits, signed and unsigned.
"""

from __future__ import annotations

import random

import pytest

from core.dtype import dtypes
from core.uop import Ops, PatternMatcher, Rule, UOp
from tests.core.uop.expressions import (
    Draw,
    Template,
    clauses,
    common_factor,
    division,
    negative_sum,
    product_of_quotient,
    remainder,
    shifted_quotients,
    split_number,
)
from tests.core.uop.prover import counterexample
from tests.core.uop.symbols import INTS, RULES, false, ones, p, q, true, var, x, y

SIGNED = (dtypes.int8, dtypes.int16)
TRIES, ENOUGH, MOST = 24, 8, 400
"""Draws per rule; how often it should have fired by then; draws at most until it has."""

PROOFS: dict[str, Template] = {
    "fold_constants": lambda d: d.const().alu(
        d.rng.choice((Ops.ADD, Ops.MUL, Ops.IDIV, Ops.MOD, Ops.SHR, Ops.MAX, Ops.CMPLT, Ops.XOR)),
        d.const(),
    ),
    "fold_cast": lambda d: d.const().cast(d.rng.choice((*INTS, dtypes.bool))),
    "fold_bounds": lambda d: d.var("a", 0).alu(
        d.rng.choice((Ops.IDIV, Ops.CMPLT, Ops.CMPEQ, Ops.MOD, Ops.MUL)), d.const(40, 0, 19)
    ),
    "constant_last": lambda d: d.const().alu(
        d.rng.choice((Ops.ADD, Ops.MUL, Ops.MAX, Ops.CMPNE)), d.var("a")
    ),
    "add_zero": lambda d: d.var("a").alu(
        d.rng.choice((Ops.ADD, Ops.SUB, Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR)), d.const(0)
    ),
    "mul_one": lambda d: d.var("a").alu(d.rng.choice((Ops.MUL, Ops.IDIV)), d.const(1)),
    "mul_zero": lambda d: d.var("a").alu(d.rng.choice((Ops.MUL, Ops.AND)), d.const(0)),
    "nothing_left": lambda d: d.rng.choice(
        (d.var("a") % 1, (v := d.var("b")) - v, (w := d.var("c")) ^ w)
    ),
    "idempotent": lambda d: (v := d.var("a")).alu(d.rng.choice((Ops.AND, Ops.OR, Ops.MAX)), v),
    "idempotent_again": lambda d: (v := d.var("a")).alu(
        op := d.rng.choice((Ops.AND, Ops.OR, Ops.MAX)),
        d.rng.choice((v.alu(op, w := d.var("b")), w.alu(op, v))),
    ),
    "and_ones": lambda d: var("a", -9, 9, dtypes.int8) & -1,
    "and_ones_unsigned": lambda d: ones & d.rng.choice((255, 254)),
    "bitwise_constants": lambda d: (
        d.var("a").alu(op := d.rng.choice((Ops.AND, Ops.OR, Ops.XOR)), d.const()).alu(op, d.const())
    ),
    "or_true": lambda d: d.rng.choice((p | true, p.maximum(true), p + true)),
    "divide_by_self": lambda d: (v := d.var("a")) // v,
    "remainder_by_self": lambda d: (v := d.var("a")) % v,
    "double_not": lambda d: p.ne(d.rng.choice((q, true, false))).ne(True),
    "is_true": lambda d: d.rng.choice((p.ne(false), p.eq(true))),
    "is_false": lambda d: p.eq(false),
    "compare_with_itself": lambda d: (v := d.var("a")).alu(d.rng.choice((Ops.CMPLT, Ops.CMPNE)), v),
    "equal_to_itself": lambda d: (v := d.var("a")).eq(v),
    "where_same": lambda d: p.where(v := d.var("a"), v),
    "where_decided": lambda d: d.rng.choice((true, false)).where(d.var("a"), d.var("b")),
    "where_not": lambda d: p.logical_not().where(d.var("a"), d.var("b")),
    "where_is_condition": lambda d: p.where(true, false),
    "where_is_not": lambda d: p.where(false, true),
    "where_is_and": lambda d: p.where(q, false),
    "where_is_or": lambda d: p.where(true, q),
    "where_known_true": lambda d: p.where(p.where(d.var("a"), d.var("b")), d.var("c")),
    "where_known_false": lambda d: p.where(d.var("a"), p.where(d.var("b"), d.var("c"))),
    "where_both": lambda d: p.where(q.where(d.var("a"), v := d.var("b")), v),
    "where_of_constants": lambda d: p.where(d.const(), d.const()).alu(
        d.rng.choice((Ops.ADD, Ops.IDIV, Ops.MOD, Ops.CMPLT, Ops.MAX, Ops.SUB)), d.const()
    ),
    "where_of_constants_cast": lambda d: p.where(d.const(), d.const()).cast(d.rng.choice(INTS[1:])),
    "where_of_both": lambda d: p.where(d.const(), d.var("a")).alu(
        d.rng.choice((Ops.ADD, Ops.CMPLT, Ops.MAX, Ops.SUB, Ops.XOR)),
        p.where(d.const(), d.var("b")),
    ),
    "max_decided": lambda d: d.var("a").maximum(d.rng.choice((d.const(), d.var("b") + 15))),
    "max_of_max": lambda d: d.var("a").maximum(d.const()).maximum(d.const()),
    "cast_to_same": lambda d: UOp(Ops.CAST, d.dtype, (d.var("a"),)),
    "cast_of_cast": lambda d: UOp(Ops.CAST, d.rng.choice(INTS), (d.var("a"),)).cast(
        d.rng.choice((*INTS, dtypes.bool, dtypes.int32))
    ),
    "cast_bool_ne": lambda d: p.cast(d.dtype).ne(d.const(0, 1, 2)),
    "subtract": lambda d: d.var("a") - d.var("b"),
    "negate": lambda d: -d.var("a"),
    "add_constants": lambda d: d.var("a") + d.const() + d.const(),
    "multiply_constants": lambda d: d.var("a") * d.const() * d.const(),
    "constant_out_of_sum": lambda d: (d.var("a") + d.const()) + d.var("b"),
    "constant_out_of_product": lambda d: (d.var("a") * d.const()) * d.var("b"),
    "distribute_constant": lambda d: (d.var("a") + d.const()) * d.const(),
    "combine_terms": lambda d: (
        (v := d.var("a")) * d.const() + d.var("b") + v * d.const() + d.const()
    ),
    "order_terms": lambda d: d.var("c") * d.const() + d.var("b") + d.var("a") * d.const(),
    "remainder_of_small": lambda d: d.var("a") % d.rng.choice((d.const(), d.var("b", 0) + 9)),
    "divide_by_negative": lambda d: d.var("a") // d.const(),
    "remainder_by_negative": lambda d: d.var("a") % d.const(),
    "divide_twice": lambda d: d.var("a") // d.const() // d.const(2, 3, 64),
    "divide_quotient_and_constant": lambda d: (
        (d.var("a", 0) // d.const(2, 3, 5) + d.const(0, 1, 2, 3, -1)) // d.const(2, 3, 4)
    ),
    "add_negated_quotient": lambda d: (
        ((v := d.var("a", 0)) * d.const(-1, -1, -2) + (int(v.vmax) + d.rng.randint(-1, 9)))
        // d.const(2, 3, 4)
        * -1
        + (int(v.vmax) // 2 + d.rng.randint(-2, 9))
    ),
    "divide_by_multiple": lambda d: (
        (d.var("a") * d.const(2, 4, 6) + d.var("b") * d.const(2, 4) + d.const(0, 2, 8))
        // (d.var("c") * d.const(2, 4, 6))
    ),
    "remainder_twice": lambda d: d.var("a") % d.const(2, 4, 12, 100) % d.const(2, 3, 4),
    "divide_remainder": lambda d: d.var("a") % d.const(8, 12, 100) // d.const(2, 4),
    "divide_product": lambda d: d.var("a", 0) * (v := d.var("b", d.rng.choice((1, -9)))) // v,
    "remainder_of_product": lambda d: d.var("a", 0) * (v := d.var("b", 0)) % v,
    "divide_sum_exactly": division,
    "remainder_of_sum_exactly": remainder,
    "divide_sum": division,
    "remainder_of_sum": remainder,
    "divide_by_common": lambda d: common_factor(d, Ops.IDIV),
    "remainder_by_common": lambda d: common_factor(d, Ops.MOD),
    "divide_negated": lambda d: negative_sum(d) // d.const(2, 3, 7),
    "remainder_of_negated": lambda d: negative_sum(d) % d.const(2, 3, 7),
    "greater_than_constant": lambda d: d.const() < d.var("a"),
    "less_of_quotient": lambda d: d.var("a") // d.const(1, 2, 3, 7, 100) < d.const(),
    "less_of_sum": lambda d: d.sum(d.c) < d.const(0, 1, 2, 8, 12, 100),
    "less_of_nonnegative": lambda d: (
        d.var("a", 0) * d.const(1, 3, 5) + d.var("b", 0) * d.const(2, 4) + d.const(0, 0, 1)
        < d.const(1, 2, 3)
    ),
    "less_of_both": lambda d: (
        d.var("a") * d.const(1, 2, -1, -2) + d.var("b") + d.const(0, 1, 2)
        < d.var("c") * d.const(1, 2, -1) + d.rng.choice((d.var("a"), d.var("b"))) + d.const(0, 3)
    ),
    "equal_of_sum": lambda d: (d.var("a") + d.const()).alu(
        d.rng.choice((Ops.CMPNE, Ops.CMPEQ)), d.const()
    ),
    "equal_of_product": lambda d: (d.var("a", 0) * d.const(0, 1, 2, 3, 7)).alu(
        d.rng.choice((Ops.CMPNE, Ops.CMPEQ)), d.const()
    ),
    "both_less": lambda d: ((v := d.var("a")) < d.const()) & (v < d.const()),
    "either_less": lambda d: ((v := d.var("a")) < d.const()) | (v < d.const()),
    "both_not_less": lambda d: ((v := d.var("a")) >= d.const()) & (v >= d.const()),
    "between": lambda d: ((v := d.var("a")) >= d.const()) & (v < d.const()),
    "and_not": lambda d: p & p.logical_not(),
    "or_not": lambda d: p | p.logical_not(),
    "absorb_or": lambda d: p & (p | q),
    "absorb_and": lambda d: p | (p & q),
    "and_twice": lambda d: (p & q) & p,
    "or_twice": lambda d: (p | q) | p,
    "distribute": lambda d: (d.var("a") + d.var("b")) * d.const(),
    "recombine": split_number,
    "remainder_from_quotient": product_of_quotient,
    "sum_of_shifted_quotients": shifted_quotients,
    "where_given": lambda d: ((v := d.var("a")) < d.const(1, 3, 4)).where(
        d.rng.choice((v // 4, v % 4, v * 3 % 5)), d.rng.choice((v // 4, v % 4, d.const()))
    ),
    "and_given_each": clauses,
}
ONLY_SIGNED = {
    "add_negated_quotient",
    "subtract",
    "negate",
    "divide_by_negative",
    "remainder_by_negative",
    "and_ones",
}


@pytest.mark.parametrize("name", PROOFS)
def test_proved(name: str) -> None:
    seed, fired = random.randrange(1 << 30), 0
    matcher = PatternMatcher([RULES[name]])
    for at in range(MOST):
        if at >= TRIES and fired >= ENOUGH:
            break
        dtype = (SIGNED if name in ONLY_SIGNED else INTS)[at % (2 if name in ONLY_SIGNED else 4)]
        before = PROOFS[name](Draw(random.Random(f"{seed} {at}"), dtype))
        made = matcher.rewrite(before)
        if made is None:
            continue
        fired += 1
        found = counterexample(before, made)
        assert found is None, f"{before.render()} -> {made.render()}: {found} (seed {seed}, {at})"
    assert fired >= ENOUGH, f"the template matches {fired} times in {MOST} (seed {seed})"


ELSEWHERE = (
    "fold_gep",
    "fold_vectorize",
    "index_always_valid",
    "load_never_valid",
    "index_given_gate",
)
"""Rules of addresses: `given` of test_valid.py and the tests of passes exercise them."""


def test_the_prover_can_fail() -> None:
    assert counterexample((x * 4 + y) // 4, x + y // 4) is not None
    assert isinstance(RULES["add_zero"], Rule)
