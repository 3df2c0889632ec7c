"""Terms mean what the meaning table says, whatever normal form they take."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from core.dtype import DType, dtypes
from core.prove import bitvector
from core.prove.decide import Checker, Options
from core.prove.samples.sample import Samples
from core.prove.terms.term import Kind, Term, Terms, postorder
from core.prove.terms.value import Translation
from core.prove.verdict import Verdict, verdict_of
from core.shape import ShapeTracker
from core.uop import Ops, UOp
from core.uop.facts.meaning_arrays import evaluate_arrays
from tests.core.uop.evaluator import INT_OPS, value
from tests.core.uop.symbols import num, var, x, y

UNSIGNED = (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64)
DTYPES = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, *UNSIGNED)


def expression(rng: random.Random, leaves: list[UOp], dtype: DType) -> UOp:
    nodes = list(leaves)
    for _ in range(6):
        op, u = rng.choice(INT_OPS), rng.choice(nodes)
        if op is Ops.NEG:
            nodes.append(u.alu(op))
            continue
        other = rng.choice((*nodes, num(rng.randint(0, 9), dtype), num(rng.randint(1, 5), dtype)))
        nodes.append(u.alu(op, other))
    test = rng.choice(nodes) < rng.choice(nodes)
    return test.where(nodes[-1], nodes[-2])


def test_normal_forms_keep_values(request: pytest.FixtureRequest) -> None:
    seed = random.randrange(1 << 30)
    for at in range(request.config.getoption("--fuzz") or 60):
        rng = random.Random(f"{seed} {at}")
        dtype = rng.choice(DTYPES)
        leaves = [var(name, rng.choice((0, 1)) if dtype in UNSIGNED else -9, 20, dtype)
                  for name in "ab"]  # fmt: skip
        u = expression(rng, leaves, dtype)
        terms = Terms()
        (root,) = Translation(terms).values(u)
        samples = Samples(12, seed=at)
        inputs = [t for t in postorder([root]) if t.op is Kind.INPUT]
        found, *given = samples.run([root, *inputs])
        names = {t.data[0]: values for t, values in zip(inputs, given, strict=True)}
        for row in range(12):
            # what the form does not depend on has any of its values
            env = {leaf: int(names[leaf][row] if leaf in names else leaf.vmin) for leaf in leaves}
            wanted = value(u, env)
            assert int(found[row]) == int(wanted), f"{u.render()} {env} (seed {seed}, {at})"


@pytest.mark.parametrize("op", [Ops.IDIV, Ops.MOD])
def test_sums_are_divided(op: Ops) -> None:
    a, b = var("a", 0, 7), var("b", 0, 3)
    for factor in range(1, 9):
        for constant in range(9):
            u = (a * factor + b + constant).alu(op, num(4))
            (root,) = Translation(Terms()).values(u)
            grid = [t for t in postorder([root]) if t.op is Kind.INPUT]
            count = int(np.prod([t.high - t.low + 1 for t in grid])) if grid else 1
            samples = Samples(count)
            every = samples.exhaust(grid)
            (found,) = samples.run_given([root], every)
            for row in range(count):
                env = dict.fromkeys((a, b), 0) | {t.data[0]: int(v[row]) for t, v in every.items()}
                assert int(found[row]) == value(u, env)


@pytest.mark.parametrize("dtype", UNSIGNED, ids=str)
@pytest.mark.parametrize("op", [Ops.IDIV, Ops.MOD])
def test_sums_of_unsigned_numbers_are_divided(op: Ops, dtype: DType) -> None:
    """Every value: sums with constants and factors that stand for negative numbers."""
    a, b, most = var("a", 1, 5, dtype), var("b", 6, 9, dtype), int(dtypes.max(dtype))
    for factor in (1, 2, most, most - 1):
        for constant in (0, 1, 7, most, most - 1, most - 5):
            for divisor in (2, 3, 4):
                u = (b * num(factor, dtype) + a * num(2, dtype) + num(constant, dtype)).alu(
                    op, num(divisor, dtype)
                )
                (root,) = Translation(Terms()).values(u)
                grid = [t for t in postorder([root]) if t.op is Kind.INPUT]
                count = int(np.prod([t.high - t.low + 1 for t in grid])) if grid else 1
                samples = Samples(count)
                every = samples.exhaust(grid)
                (found,) = samples.run_given([root], every)
                for row in range(count):
                    env = dict.fromkeys((a, b), 6) | {
                        t.data[0]: int(v[row]) for t, v in every.items()
                    }
                    assert int(found[row]) == value(u, env), (u.render(), env)


def test_a_wrapped_sum_is_not_divided() -> None:
    n = var("n", 1, 10, dtypes.uint32)
    one, two = num(1, dtypes.uint32), num(2, dtypes.uint32)
    less = n + num(4294967295, dtypes.uint32)
    wrong = (n + one) // two + num(2147483647, dtypes.uint32)
    assert Checker().check(less // two, wrong).kind == "differs"
    three = num(3, dtypes.uint32)
    assert Checker().check(less % three, n % three).kind == "differs"


def test_views_are_indexed_as_shapes_say() -> None:
    """An element of a moved value is the one that NumPy says."""
    buffer = UOp(Ops.BUFFER, dtypes.int32, (UOp(Ops.UNIQUE, dtypes.void, (), 9),), 24)
    moved = buffer.reshape((2, 3, 4)).permute((2, 0, 1)).shrink(((1, 4), (0, 2), (1, 3)))
    st = ShapeTracker.from_shape((2, 3, 4)).permute((2, 0, 1)).shrink(((1, 4), (0, 2), (1, 3)))
    viewed = UOp(Ops.VIEW, dtypes.int32, (buffer,), st)
    assert Checker().check(moved, viewed).kind == "proved"
    other = UOp(Ops.VIEW, dtypes.int32, (buffer,), st.flip((True, False, False)))
    assert Checker().check(moved, other).kind == "differs"
    padded = buffer.reshape((4, 6)).pad(((1, 0), (0, 2)))
    tracker = ShapeTracker.from_shape((4, 6)).pad(((1, 0), (0, 2)))
    assert Checker().check(padded, UOp(Ops.VIEW, dtypes.int32, (buffer,), tracker)).kind == "proved"


def test_without_z3_integers_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    low = UOp.variable("n", -(1 << 31), (1 << 31) - 1)
    pair = ((low ^ 5) ^ 5, low)
    assert Checker().check(*pair).kind == "proved"
    monkeypatch.setattr(bitvector, "solver_module", lambda: None)
    found = Checker().check(*pair)
    assert found.kind == "sampled"
    assert "uopviz[check]" in found.hint
    assert Checker().check(low ^ 5, low).kind == "differs"


def test_what_z3_does_not_decide_in_time_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = (UOp.variable(name, -(1 << 31), (1 << 31) - 1) for name in "ab")

    def undecided(*_: object) -> tuple[bitvector.Answer, dict[Term, int]]:
        return "unknown", {}

    monkeypatch.setattr(bitvector, "solve", undecided)
    found = Checker(Options(timeout=1)).check((a ^ b) * (a ^ b), (b ^ a) * (a ^ b) + (a & 0))
    assert found.kind in ("proved", "sampled")
    found = Checker(Options(timeout=1)).check((a ^ b) ^ b, a)
    assert found.kind == "sampled"
    assert found.samples > 0


def test_questions_alike_are_answered_once() -> None:
    checker = Checker()
    for at in range(10):
        v = UOp.variable(f"v{at}", 0, 9)
        inner = (v * 3 + 1) // 2
        assert checker.check(inner * 2 + inner, inner * 3).kind == "proved"
    assert checker.made <= 2
    assert checker.asked == 10


def test_what_has_no_translation_is_said() -> None:
    void = UOp(Ops.BARRIER, dtypes.void, (UOp.sink(),))
    assert Checker().check(void, UOp(Ops.COMMIT, dtypes.void, ())).kind == "unchecked"
    assert Checker().check(x, UOp.const(dtypes.int32.vec(4), 1)).kind == "unchecked"


def test_verdicts_cross_as_json() -> None:
    found = Checker().check(x * 2, y * 2)
    assert verdict_of(found.data()) == found
    bad_ones: list[object] = [
        None,
        [],
        {"kind": "right"},
        {"kind": "proved", "how": 3},
        {"kind": "proved", "how": "", "values": [1]},
        {"kind": "proved", "samples": "many"},
    ]
    for bad in bad_ones:
        with pytest.raises(Exception, match="not an answer of a check"):
            verdict_of(bad)
    assert verdict_of({"kind": "proved", "how": "z3"}) == Verdict("proved", "z3")


def test_numbers_of_elements_stay_sums_when_they_are_cast() -> None:
    """A sum that never wraps around is the same sum in another width."""
    counted = UOp(Ops.IOTA, dtypes.int32, (), 24)
    moved = counted.reshape((4, 6)).shrink(((1, 4), (2, 6)))
    st = ShapeTracker.from_shape((24,)).reshape((4, 6)).shrink(((1, 4), (2, 6)))
    assert Checker().check(moved, UOp(Ops.VIEW, dtypes.int32, (counted,), st)).kind == "proved"
    a, b = var("a", 0, 7), var("b", 0, 3)
    wide = (a * 4 + b).cast(dtypes.int64)
    assert Checker().check(wide, a.cast(dtypes.int64) * 4 + b.cast(dtypes.int64)).kind == "proved"


def test_a_power_by_squares_is_not_multiplied_out() -> None:
    """z3 would, into billions of factors, before it looks at the clock."""
    pytest.importorskip("z3")
    power = var("a", 0, (1 << 31) - 1)
    for _ in range(32):
        power = power * power
    terms = Terms()
    a, b = (Translation(terms).values(u)[0] for u in (power, power.ne(0).where(power, num(1))))
    assert bitvector.compare(a, b) != "equal"


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16, *dtypes.fp8s], ids=str)
def test_signs_and_powers_of_two_keep_every_float(dtype: DType) -> None:
    """Of all floats of a dtype, in arrays, which know no terms."""
    numbers = (1.0, -1.0, 2.0, -4.0, 0.5, 2.0**-9, 2.0**-14, 2.0**15, 3.0, 0.0, float("inf"))
    terms = Terms()
    x = terms.input("x", dtype, 0, 0)
    samples = Samples(1 << dtype.bits)
    every = samples.given[x] = samples.every_value(x)
    simpler = 0
    for op, number in itertools.product((Ops.MUL, Ops.FDIV, Ops.SUB), numbers):
        c = terms.const(dtype, number)
        constants = np.full_like(every, c.data)
        for args in ((x, c), (c, x)):
            made = terms.alu(op, dtype, args)
            simpler += made.op is not op
            (found,) = samples.run([made])
            wanted = evaluate_arrays(
                op, dtype, [every if a is x else constants for a in args], dtype
            )
            same = (found == wanted) & (np.signbit(found) == np.signbit(wanted))
            assert (same | (np.isnan(found) & np.isnan(wanted))).all(), (op, number, made)
    twice = terms.alu(Ops.NEG, dtype, (terms.alu(Ops.NEG, dtype, (x,)),))
    assert twice is x
    assert simpler > 25
