"""Long sums: like terms combined at once, in linear time."""

from __future__ import annotations

import random

import pytest

from core.dtype import DType, dtypes
from core.uop import UOp
from core.uop.engine.observe import recording
from core.uop.symbolic import merge_sums, simplify
from core.uop.symbolic.measure import measure
from tests.core.uop.evaluator import value
from tests.core.uop.symbols import var, x, y

LEAVES = 20


def terms(rng: random.Random, n: int, dtype: DType = dtypes.int32) -> list[UOp]:
    leaves = [var(f"v{k}", 0, 9, dtype) for k in range(LEAVES)]
    return [
        rng.choice(leaves) * rng.randint(1, 5) + (rng.randint(0, 3) if k % 5 == 0 else 0)
        for k in range(n)
    ]


def total_of(parts: list[UOp], shape: str) -> UOp:
    """Their sum: nested to the left, to the right, or as a balanced tree."""
    while len(parts) > 1:
        if shape == "tree":
            pairs = [parts[k : k + 2] for k in range(0, len(parts), 2)]
            parts = [p[0] + p[1] if len(p) == 2 else p[0] for p in pairs]
        elif shape == "left":
            parts[0] = parts[0] + parts.pop(1)
        else:
            last = parts.pop()
            parts[-1] = parts[-1] + last
    return parts[0]


@pytest.mark.parametrize("shape", ["left", "right", "tree"])
@pytest.mark.parametrize("dtype", [dtypes.int32, dtypes.int8, dtypes.uint8])
def test_long_sums_keep_their_value(shape: str, dtype: DType) -> None:
    seed = random.randrange(1 << 30)
    rng = random.Random(seed)
    u = total_of(terms(rng, 300, dtype), shape)
    simpler = simplify(u)
    assert len(simpler.toposort()) <= 4 * LEAVES + 2
    assert measure(merge_sums(u)) < measure(u)
    for _ in range(20):
        env = {v: rng.randint(0, 9) for v in u.toposort() if v.arg is not None and not v.src}
        env = {v: n for v, n in env.items() if isinstance(v.arg, tuple)}
        assert value(u, env) == value(simpler, env), f"seed {seed}"


@pytest.mark.parametrize("shape", ["left", "right", "tree"])
def test_ten_times_the_terms_are_at_most_twelve_times_the_steps(shape: str) -> None:
    steps: list[int] = []
    for n in (2_000, 20_000):
        u = total_of(terms(random.Random(n), n), shape)
        with recording() as recorded:
            simplify(u)
        steps.append(len(recorded.events) + len(u.toposort()))
    assert steps[1] <= 12 * steps[0], steps


def test_shared_parts_are_taken_apart_once() -> None:
    """2 ** 100 terms, written with 100 nodes."""
    u = x + y
    for _ in range(100):
        u = u + u
    assert simplify(u).render() == "0"
    u = x * 3 + y
    for k in range(100):
        u = u + u if k < 2 else u + x
    assert simplify(u) is x * 110 + y * 4


def test_sums_that_share_parts_take_linear_time() -> None:
    """Each prefix of a long sum is used: none is taken apart again."""
    steps: list[int] = []
    for n in (300, 3_000):
        total, uses = x, x
        for k in range(n):
            total = total + var(f"v{k % LEAVES}", 0, 9) * (k % 3 + 1)
            uses = uses.maximum(total % 97)
        with recording() as recorded:
            merge_sums(uses)
        steps.append(len(recorded.events))
    assert steps[1] <= 12 * steps[0], steps


def test_short_sums_are_left_to_the_rules() -> None:
    u = x + y + x
    assert merge_sums(u) is u
    assert simplify(u) is x * 2 + y


def test_what_cancels_is_gone() -> None:
    parts = [var(f"v{k}") for k in range(50)]
    u = total_of([*parts, *(v * -1 for v in parts)], "left")
    assert simplify(u).render() == "0"
