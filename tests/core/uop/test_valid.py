"""What conditions imply: of loops, of expressions under them, and of each other."""

from __future__ import annotations

import itertools
import random

from core.dtype import dtypes
from core.uop import Ops, UOp, graph_rewrite
from core.uop.symbolic import gated, symbolic_index
from core.uop.symbolic.valid import given, implied, limits, simplify_valid
from tests.core.uop.evaluator import value
from tests.core.uop.expressions import Draw, clauses, division, remainder
from tests.core.uop.fuzz import simplified
from tests.core.uop.prover import counterexample
from tests.core.uop.symbols import f, false, i, num, p, var, x, y, z


def test_limits_of_clauses() -> None:
    assert limits(i < 4) == (i, 0, 3)
    assert limits((i < 4).logical_not()) == (i, 4, 31)
    assert limits(num(4) < i) == (i, 5, 31)
    assert limits((num(4) < i).logical_not()) == (i, 0, 4)
    assert limits(i.eq(7)) == (i, 7, 7)
    assert limits(i.eq(7).logical_not()) is None
    assert limits(f < 4.0) is None
    assert limits(p) is None
    assert implied((i < 4) & p & (num(1) < i)) == {i: (2, 3)}
    assert implied((i < 4) & (num(4) < i)) is None


def test_given_is_right_wherever_the_condition_holds() -> None:
    seed = random.randrange(1 << 30)
    rng = random.Random(seed)
    for _ in range(60):
        d = Draw(rng, rng.choice((dtypes.int8, dtypes.uint8)))
        valid, u = clauses(d), rng.choice((division, remainder, clauses))(d)
        simpler = given(u, valid)
        no = num(0, u.dtype)
        found = counterexample(valid.where(u, no), valid.where(simpler, no))
        assert found is None, f"{u.render()} given {valid.render()}: {found} (seed {seed})"


def test_loads_keep_their_gates() -> None:
    """A load under a condition happens where the condition is false, too."""
    numbers = UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(4), (), 1)
    loaded = numbers.index(i, gate=i < 4).load(num(0))
    for u in (loaded, loaded + 1):
        assert given(u, i < 4) is u
    assert given(loaded + i // 4, i < 4) is loaded
    inside = (i < 4) & (loaded < 9)
    assert simplify_valid(inside) is inside
    chosen = (i < 4).where(loaded * 2 + i // 4, num(0))
    made = graph_rewrite(chosen, symbolic_index + gated)
    assert made is (i < 4).where(loaded * 2, num(0))


def test_a_condition_of_vectors_says_nothing_of_other_elements() -> None:
    """It holds for each element on its own."""
    masks = UOp(Ops.DEFINE_GLOBAL, dtypes.bool.ptr(8), (), 1)
    chosen, other = (
        UOp(Ops.LOAD, dtypes.bool.vec(2), (masks.index(num(k)),)) for k in (0, 2)
    )  # fmt: skip
    swapped = UOp(Ops.VECTORIZE, chosen.dtype, (chosen.gep(1), chosen.gep(0)))
    assert given(swapped, chosen) is swapped
    assert given(swapped & chosen, chosen) is swapped & chosen
    assert given(other & chosen, chosen) is other


def test_long_expressions_and_conditions_take_linear_time() -> None:
    many = [var(f"v{k}") < k % 7 for k in range(3000)]
    together = many[0]
    for m in many[1:]:
        together = together & m
    assert simplify_valid(together) is together
    u = x
    for _ in range(3000):
        u = u * y + z
    assert given(u, x < 1) is u


def test_simplify_valid_keeps_the_condition() -> None:
    seed = random.randrange(1 << 30)
    for at in range(60):
        valid = clauses(Draw(random.Random(f"{seed} {at}"), dtypes.int8))
        simpler = simplify_valid(valid)
        found = counterexample(valid, simpler)
        assert found is None, f"{valid.render()} -> {simpler.render()}: {found} (seed {seed}, {at})"
    assert simplify_valid((i < 4) & (i < 6)) is (i < 4)
    assert simplify_valid((i < 4) & (num(4) < i)) is false


def test_band_masks_come_to_an_end() -> None:
    """Two conditions on two loops, each of which says something of the other."""
    a, b = UOp.range(8, 0), UOp.range(8, 1)
    for first, c, low, k, second in itertools.product(
        (a + b * -1, b + a * -1, a + b), (-2, 0, 1, 3), (True, False), range(1, 8, 2), (a, b)
    ):
        band = first < c
        valid = (band.logical_not() if low else band) & (second < k)
        simpler = simplified(valid)
        for m, n in itertools.product(range(8), repeat=2):
            env = {a: m, b: n}
            assert value(valid, env) == value(simpler, env), valid.render()


def test_conditions_known_from_the_choice_around() -> None:
    u = p.where(p.where(x, y) + 1, p.where(y, z) * 2)
    assert graph_rewrite(u, symbolic_index + gated) is p.where(x + 1, z * 2)
    both = p & (x < 3)
    u = both.where(p.where(x, y) + 1, z)
    assert graph_rewrite(u, symbolic_index + gated) is both.where(x + 1, z)


def test_the_end_of_a_loop_is_that_of_all_iterations() -> None:
    """Under 12 < m * 2 + 5, which is at most 13, the loop still runs as often as its END says."""
    end = UOp.variable("m", 0, 4) * 2 + 5
    loop = UOp.range(end, 0)
    here = (UOp.const(end.dtype, 12) < end).where(loop + end, loop)
    found = graph_rewrite(here, symbolic_index + gated, name="t")
    assert [u for u in found.toposort() if u.op is Ops.RANGE] == [loop]
