"""Collapse: reduces without their loops have the value of the loop, and load what it loads."""

from __future__ import annotations

import itertools
from math import inf

import numpy as np
import pytest

from core import Context, Tensor
from core.dtype import DType, dtypes
from core.passes.loops.collapse import collapse, collapsing
from core.passes.loops.solve import Relation, solve
from core.passes.pipeline import lower_kernel
from core.runtime.reference.kernel import evaluate_kernel
from core.shape import ShapeTracker
from core.uop import Ops, PatternMatcher, UOp
from core.uop.facts.meaning import evaluate
from tests.core.passes import kernels
from tests.core.passes.kernels import CPU
from tests.core.uop.evaluator import same
from tests.core.uop.evaluator import value as value_with

R = UOp.range(10, 0)
K = UOp.variable("k", -30, 30)
X, Y = UOp.variable("x", -9, 9), UOp.variable("y", -9, 9)
F = UOp(Ops.DEFINE_VAR, dtypes.float32, (), ("f", -inf, inf))
RULES = {r.name: r for r in collapsing.rules}


def value(u: UOp) -> int:
    folded = u.simplify()
    assert folded.op is Ops.CONST
    return folded.arg


def num(value: float, like: UOp) -> UOp:
    return UOp.const(like.dtype, value)


def total(x: UOp, op: Ops = Ops.ADD) -> UOp:
    return x.reduce(op, R)


@pytest.mark.parametrize(
    ("clause", "relation"),
    [
        (R.eq(K), Relation.EQUAL),
        (K.eq(R), Relation.EQUAL),
        ((R * 3 + 2).eq(K), Relation.EQUAL),
        ((R * -1 + 2).eq(K), Relation.EQUAL),
        (R < K, Relation.BELOW),
        (R + 3 < K, Relation.BELOW),
        (K < R, Relation.FROM),
        ((R < K).logical_not(), Relation.FROM),
        (R * -1 + 4 < K, Relation.FROM),
        (K < R * -1 + 4, Relation.BELOW),
        (R * 3 < K, Relation.BELOW),
        (R * 3 + 2 < K, Relation.BELOW),
        (R * -3 + 5 < K, Relation.FROM),
        (K < R * 3 + -4, Relation.FROM),
        (K < R * -3 + 4, Relation.BELOW),
    ],
    ids=lambda x: x.render() if isinstance(x, UOp) else x.name,
)
def test_solving_a_condition(clause: UOp, relation: Relation) -> None:
    found = solve(clause, R)
    assert found is not None
    assert found.relation is relation
    for k in range(-30, 31):
        env = {K: UOp.const(dtypes.int32, k)}
        bound = value(found.value.substitute(env))
        given_ = all(value(g.substitute(env)) for g in found.given)
        for r in range(10):
            here = {**env, R: UOp.const(dtypes.int32, r)}
            says = {
                Relation.EQUAL: r == bound,
                Relation.BELOW: r < bound,
                Relation.FROM: r >= bound,
            }
            assert value(clause.substitute(here)) == (says[relation] and given_)


def test_conditions_that_could_wrap_around_are_left_alone() -> None:
    loaded = kernels.pointer(1, 4, dtypes.int32).index(0).load()
    assert solve(R + loaded < K, R) is None
    assert solve((R * R).eq(K), R) is None
    assert solve(R.cast(dtypes.float32).eq(1.0), R) is None


@pytest.mark.parametrize("dtype", [dtypes.int32, dtypes.int8, dtypes.uint8, dtypes.uint32])
def test_conditions_on_what_may_be_any_number(dtype: DType) -> None:
    """As a load: what is computed for the bound of the loop does not wrap around."""
    least, most = int(dtypes.min(dtype)), int(dtypes.max(dtype))
    any_number = UOp(Ops.DEFINE_VAR, dtype, (), ("any", least, most))
    loop, solved = UOp.range(10, 0).cast(dtype), 0
    for factor, rest in itertools.product((1, 2, 3, 12, -1, -3), (0, 1, 5, 100, -4, -50)):
        form = loop * factor + rest
        for clause in (form < any_number, any_number < form, form.eq(any_number)):
            made = collapse(UOp.sink(clause.where(num(1, K), 0).reduce(Ops.ADD, R)), CPU).src[0]
            if any(u.op is Ops.REDUCE for u in made.toposort()):
                continue
            solved += 1
            edges = {least, most, *(rest + factor * r + k for r in (0, 4, 9) for k in (-1, 0, 1))}
            for n in (n for n in edges if least <= n <= most):
                want = sum(bool(value_with(clause, {any_number: n, R: r})) for r in range(10))
                assert value_with(made, {any_number: n}) == want, (clause.render(), n)
    assert solved >= (30 if dtypes.is_unsigned(dtype) else 100)


@pytest.mark.parametrize("op", [Ops.ADD, Ops.MUL, Ops.MAX])
def test_loops_without_effect_vanish(op: Ops) -> None:
    x = UOp.variable("x", -3, 3)
    made = collapse(UOp.sink(x.reduce(op, R)), CPU).src[0]
    for v in (-3, 0, 2):
        want = {Ops.ADD: 10 * v, Ops.MUL: v**10, Ops.MAX: v}[op]
        assert value(made.substitute({x: UOp.const(dtypes.int32, v)})) == want


def test_conjunctions_are_counted() -> None:
    y = UOp.variable("y", -30, 30)
    inside = (R < K) & (y > R).logical_not()
    made = collapse(UOp.sink(inside.where(UOp.const(dtypes.int32, 2), 0).reduce(Ops.ADD, R)), CPU)
    assert not made.ranges
    for k, low in itertools.product((-5, 0, 4, 10, 30), repeat=2):
        env = {K: UOp.const(dtypes.int32, k), y: UOp.const(dtypes.int32, low)}
        got = value(made.src[0].substitute(env))
        assert got == 2 * sum(low <= r < k for r in range(10))


CASES: dict[str, tuple[UOp, ...]] = {
    "unused_loop": (total(X), total(X, Ops.MAX), total(X, Ops.MUL), total(X * Y), total(F)),
    "sum_of_loop": (total(R),),
    "sum_of_choice": (
        total((R < X).where(Y, 0)),
        total((R < X).where(F, 0.0)),
        total((R < X).where(num(inf, F), 0.0)),
        total(R.eq(X).where(R * Y, 0)),
        total(X.eq(R).where(F, 0.0)),
        total((R.eq(X) & (R < Y)).where(F, 0.0)),
        total(((R < X) & (Y < R)).where(F, 0.0)),
    ),
    "sum_of_other_choice": (
        total((R < X).where(num(0, Y), Y)),
        total((R < X).where(num(0, F), F)),
        total(R.ne(X).where(num(0, Y), Y + R)),
    ),
    "sum_of_condition": (
        total((R < X).cast(dtypes.int32)),
        total((R * 3 + 2).eq(X).cast(dtypes.float32)),
    ),
    "sum_of_sum": (
        total((R < X).where(num(1, Y), 0) + R.eq(Y).where(num(5, Y), 0)),
        total((R < X).where(Y, 0) + Y),
        total((R < X).where(num(1, F), 0.0) + R.eq(Y).where(F, 0.0)),
        total((R < X).cast(dtypes.int32) + R.ne(X).where(num(0, Y), Y + R) + X),
    ),
    "sum_of_product": (total(R.eq(X).cast(dtypes.int32) * (Y + R)),),
    "sum_of_finite_product": (
        total(R.eq(X).cast(dtypes.float32) * (Y + R).cast(dtypes.float32)),
        total(Y.cast(dtypes.float16) * (R < X).cast(dtypes.float16)),
    ),
    "sum_of_float_product": (total(R.eq(X).cast(dtypes.float32) * (R.cast(dtypes.float32) + 1.5)),),
}


def looped(u: UOp, env: dict[UOp, float]) -> float:
    """The value of a REDUCE over R, iteration by iteration."""
    result: float = {Ops.ADD: 0, Ops.MUL: 1, Ops.MAX: dtypes.min(u.dtype)}[u.arg]
    for r in range(10):
        part = value_with(u.src[0], {**env, R: r})
        result = evaluate(u.arg, u.dtype, (result, part))
    return result


@pytest.mark.parametrize(("name", "before"), [(n, u) for n, us in CASES.items() for u in us])
def test_reduces_have_the_value_of_their_loop(name: str, before: UOp) -> None:
    with Context(ASSUME_FINITE=int(name == "sum_of_float_product")):
        made = PatternMatcher([RULES[name]]).rewrite(before)
    assert made is not None
    assert R not in made.ranges
    for m, n, number in itertools.product((-9, -1, 0, 1, 5, 9), (-3, 0, 4), (1.5, 0.0, inf)):
        env: dict[UOp, float] = {X: m, Y: n, F: number}
        got, want = value_with(made, env), looped(before, env)
        assert got == want or same(got, want), (m, n, number)


def test_sums_that_need_the_loop_keep_it_once() -> None:
    memory = UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(10), (), 0)
    total_of = (memory.index(R).load() + (R < X).where(num(1, Y), 0)).reduce(Ops.ADD, R)
    assert collapse(UOp.sink(total_of), CPU).src[0] is total_of


def test_products_with_what_may_be_infinite_keep_their_loop() -> None:
    """0 * inf is NaN; in a narrow dtype, a cast of a number may be infinite."""
    picks = R.eq(X)
    large = (Y * 20_000).cast(dtypes.float16)
    for x in (F, F + 1.0, large):
        kept = (picks.cast(x.dtype) * x).reduce(Ops.ADD, R)
        assert collapse(UOp.sink(kept), CPU).src[0] is kept
        with Context(ASSUME_FINITE=1):
            made = collapse(UOp.sink(kept), CPU)
        assert all(u.op is not Ops.REDUCE for u in made.toposort())


@pytest.mark.parametrize("flag", [0, 1])
def test_a_product_with_a_one_hot_matrix(flag: int) -> None:
    small = np.arange(60, dtype=np.uint8).reshape(20, 3)
    numbers = small.astype(np.float32)
    numbers[7] = inf
    picks = np.array([3, 19, 0, 3], np.int32)
    with Context(ASSUME_FINITE=flag):
        found = (Tensor(picks).one_hot(20).float() @ Tensor(numbers)).numpy()
        whole = (Tensor(picks).one_hot(20).float() @ Tensor(small)).numpy()
    want = numbers[picks] if flag else np.full((4, 3), np.nan)
    np.testing.assert_array_equal(found, want)
    np.testing.assert_array_equal(whole, small[picks])


def test_every_rule_has_a_case() -> None:
    assert set(CASES) == set(RULES)


def test_sums_that_wrap_around_are_left_alone() -> None:
    far = UOp.range(5000, 1)
    assert solve((far * (1 << 20)).eq(K), far) is None
    assert solve((far * (1 << 10)).eq(K), far) is not None
    large = UOp.variable("large", 0, (1 << 31) - 1)
    assert solve(R + large < K, R) is None
    assert solve((R + large).eq(K), R) is not None


def test_narrow_floats_that_cannot_hold_the_count_keep_their_loop() -> None:
    half = UOp(Ops.DEFINE_VAR, dtypes.float16, (), ("h", -inf, inf))
    many = UOp.range(70000, 1)
    alone = half.reduce(Ops.ADD, many)
    chosen = (many < K).where(half, 0.0).reduce(Ops.ADD, many)
    for u in (alone, chosen):
        assert collapse(UOp.sink(u), CPU).src[0] is u
    assert not collapse(UOp.sink(alone.replace(arg=Ops.MAX)), CPU).src[0].ranges


@pytest.mark.parametrize("picked", [-1, 3, 8, 50])
def test_every_condition_loads_inside_memory(picked: int) -> None:
    """sum(r == k and mask[r] < 3 ? x[r] : 0, r): neither x nor mask may be read at a k outside."""
    x, mask = kernels.plain(1, (8,)), kernels.plain(2, (8,), dtypes.int32)
    k = kernels.load(3, ShapeTracker.from_shape((8,), (0,)), 1, dtypes.int32)
    count = UOp(Ops.IOTA, dtypes.int32, (), 8)
    three = UOp.const(dtypes.int32, 3)
    picks = (count.eq(k) & (mask < three)).where(x, 0.0)
    program = lower_kernel(kernels.kernel(picks.r(Ops.ADD, (0,))), CPU, ())
    assert not any(u.op is Ops.RANGE for u in program)
    values = np.arange(1, 9, dtype=np.float32)
    out = np.zeros(1, np.float32)
    memory = [out, values, np.arange(8, dtype=np.int32), np.array([picked], np.int32)]
    evaluate_kernel(program, memory)
    assert out[0] == (values[picked] if 0 <= picked < 3 else 0)
