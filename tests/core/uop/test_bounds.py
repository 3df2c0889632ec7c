"""Bounds of what depends on a comparison or a varying divisor, and of floats that may be NaN."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from core.dtype import DType, dtypes
from core.uop import Ops, UOp
from core.uop.engine.rewrite import graph_rewrite
from core.uop.symbolic import symbolic_simple
from tests.core.uop.evaluator import CORNERS, value
from tests.core.uop.symbols import f, g, num, p, var, x


@pytest.mark.parametrize(
    ("u", "bounds"),
    [
        (var("k", 3, 7) % var("n", 8, 10), (3, 7)),
        (var("k", 3, 20) % var("n", 8, 10), (0, 9)),
        (var("k", 20, 23) % var("n", 8, 10), (0, 7)),
        (var("k", 21, 23) % var("n", 9, 10), (1, 5)),
        (var("k", -23, -21) % var("n", -10, -9), (-5, -1)),
        (x.maximum(5).minimum(8), (5, 8)),
        (x.minimum(8).maximum(5), (5, 8)),
        ((x < 3).where(x, num(9)), (-9, 9)),
        ((x < 3).where(x, num(0)), (-9, 2)),
        ((x < 3).logical_not().where(x, num(4)), (3, 9)),
        ((num(3) < x).where(x, num(4)), (4, 9)),
        ((x < var("n", 2, 4)).where(x, var("n", 2, 4)), (-9, 4)),
        (p.where(x, num(20)), (-9, 20)),
    ],
)
def test_bounds(u: UOp, bounds: tuple[int, int]) -> None:
    assert u.bounds == bounds


def test_bounds_of_remainders_and_choices_hold_everywhere() -> None:
    seed = random.randrange(1 << 30)
    rng = random.Random(seed)
    for _ in range(150):
        ends = [sorted(rng.randint(-9, 12) for _ in range(2)) for _ in range(2)]
        a, b = (var(n, *e) for n, e in zip("ab", ends, strict=True))
        c = num(rng.randint(-9, 9))
        test = rng.choice((a < b, b < a, a < c, c < a, a.eq(b)))
        test = test.logical_not() if rng.random() < 0.5 else test
        for u in (a % b, a // b, test.where(a, b), test.where(a, c), test.where(c, a)):
            for m, n in itertools.product(*(range(low, high + 1) for low, high in ends)):
                found = value(u, {a: m, b: n})
                assert u.vmin <= found <= u.vmax, f"{u.render()} at {m}, {n} (seed {seed})"


def test_nan_is_true() -> None:
    """Bounds of a float say nothing of NaN, which is not 0."""
    nothing_or_nan = f.exp2().neg().maximum(num(0.0, dtypes.float32))
    assert nothing_or_nan.bounds == (0.0, 0.0)
    truth = nothing_or_nan.cast(dtypes.bool)
    assert truth.bounds == (False, True)
    assert graph_rewrite(truth, symbolic_simple).op is not Ops.CONST
    from_integer = (x * 0).cast(dtypes.float32).cast(dtypes.bool)
    assert from_integer.bounds == (False, False)


def narrowed(v: UOp, low: float, high: float) -> UOp:
    """A float between two numbers, or NaN."""
    return v.maximum(num(low, v.dtype)).minimum(num(high, v.dtype))


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float16, dtypes.fp8e4m3])
def test_decisions_on_floats_hold_for_nan(dtype: DType) -> None:
    """Whatever looks at the bounds of floats: comparisons, casts, MAX, WHERE."""
    v = f.cast(dtype)
    parts = [narrowed(v, a, b) for a, b in ((0.0, 0.0), (1.0, 2.0), (-3.0, -1.0), (-1.0, 1.0))]
    parts += [v.exp2(), v.sqrt(), v.sin(), v.exp2().neg().maximum(num(0.0, dtype))]
    tests = [a.cast(dtypes.bool) for a in parts]
    for a, b in itertools.permutations(parts, 2):
        tests += [a < b, a.ne(b), a.eq(b), (a < b).where(a, b).cast(dtypes.bool)]
    for u in tests:
        for layer in (u, graph_rewrite(u, symbolic_simple), u.simplify()):
            for number in CORNERS:
                env = {f: float(num(number, dtypes.float32).arg), g: math.nan}
                old, new = value(u, env), value(layer, env)
                assert old == new and layer.vmin <= new <= layer.vmax, (u.render(), number)
