"""Alignment of sequences: held against the textbook's table, and against what it may cost."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import BudgetError
from tests.effort import at_most
from viz.budget import Budget, within
from viz.compare.matching.align import align, align_levels, fill, longest_increasing
from viz.compare.matching.keys import Keys


def keys(values: list[int]) -> Keys:
    return np.array(values, np.uint64)


def longest(a: list[int], b: list[int]) -> int:
    """The length of the longest common subsequence, by the table."""
    row = [0] * (len(b) + 1)
    for one in a:
        before = row.copy()
        for j, other in enumerate(b, 1):
            row[j] = before[j - 1] + 1 if one == other else max(before[j], row[j - 1])
    return row[-1]


def check(a: list[int], b: list[int], pairs: list[tuple[int, int]]) -> None:
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < k and j < m for (i, j), (k, m) in itertools.pairwise(pairs))


values = st.lists(st.integers(0, 5), max_size=30)


@settings(max_examples=300, deadline=None)
@given(values, values)
def test_pairs_are_equal_and_in_order(a: list[int], b: list[int]) -> None:
    pairs = align(keys(a), keys(b))
    check(a, b, pairs)
    assert len(pairs) >= 0.5 * longest(a, b)


@pytest.mark.parametrize("count", [3, 19, 40, 3000])
def test_a_key_that_moved_across_others_leaves_these_together(count: int) -> None:
    a, b = [*[0] * count, 1], [1, *[0] * (count + 9)]
    pairs = align(keys(a), keys(b))
    check(a, b, pairs)
    assert len(pairs) == count


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 5), max_size=11), st.lists(st.integers(0, 5), max_size=11))
def test_of_short_ones_the_longest_is_found(a: list[int], b: list[int]) -> None:
    assert len(align(keys(a), keys(b))) == longest(a, b)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(1, 60), st.integers(0, 6))
def test_edits_of_a_sequence_leave_the_rest_aligned(seed: int, size: int, edits: int) -> None:
    choose = random.Random(seed)
    a = [choose.randrange(1 << 60) for _ in range(size)]
    b = a.copy()
    for _ in range(edits):
        at = choose.randrange(len(b) + 1)
        if choose.random() < 0.5:
            b.insert(at, choose.randrange(1 << 60))
        elif b:
            del b[min(at, len(b) - 1)]
    assert len(align(keys(a), keys(b))) == longest(a, b)


@given(st.permutations(range(12)))
def test_longest_increasing(order: list[int]) -> None:
    chosen = [order[at] for at in longest_increasing(order)]
    assert chosen == sorted(chosen)
    assert len(chosen) == longest(order, sorted(order))


@settings(max_examples=100, deadline=None)
@given(values, values)
def test_what_lies_between(a: list[int], b: list[int]) -> None:
    pairs = align(keys(a), keys(b))
    gaps = fill(pairs, len(a), len(b))
    assert sorted([i for i, _ in pairs] + [i for gap, _ in gaps for i in gap]) == [*range(len(a))]
    assert sorted([j for _, j in pairs] + [j for _, gap in gaps for j in gap]) == [*range(len(b))]


def test_levels_fill_what_the_ones_before_left() -> None:
    exact = keys([1, 2, 3, 4]), keys([1, 9, 3, 8])
    loose = keys([0, 7, 0, 5]), keys([0, 7, 0, 6])
    found = align_levels([exact[0], loose[0]], [exact[1], loose[1]])
    assert found == [(0, 0, 0), (1, 1, 1), (2, 2, 0)]


@pytest.mark.parametrize("symbols", [2, 50, 20_000, 1 << 60])
@pytest.mark.parametrize("related", [True, False])
def test_long_sequences_take_near_linear_time(symbols: int, related: bool) -> None:
    """100,000 keys with one in a hundred changed, and unrelated ones, however often keys repeat."""
    choose = np.random.default_rng(1)
    a = choose.integers(0, symbols, 100_000).astype(np.uint64)
    other = choose.integers(0, symbols, 100_000).astype(np.uint64)
    b = np.where(choose.random(100_000) < 0.01, other, a) if related else other
    with at_most(700):
        pairs = align(a, b)
    if related:
        assert len(pairs) > 95_000


def test_the_budget_is_kept() -> None:
    a = keys([*range(10_000)])
    with pytest.raises(BudgetError), within(Budget("steps", items=1000)):
        align(a, a[::-1].copy())
