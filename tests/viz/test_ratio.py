"""How times compare: intervals that hold what they say, and words that the page has, too."""

from __future__ import annotations

import numpy as np
import pytest

from viz.ratio import FEWEST, apart, change_words, figure, interval, interval_words, time_words


def test_the_interval_holds_the_median() -> None:
    random = np.random.default_rng(3)
    held = 0
    for _ in range(1000):
        samples = np.sort(random.exponential(1.0, 50))
        low, high = interval(50)
        held += samples[low] <= np.log(2) <= samples[high]
    assert held >= 940
    assert interval(1) == (0, 0)


@pytest.mark.parametrize("count", [FEWEST, 30, 300])
def test_samples_of_one_distribution_are_not_told_apart(count: int) -> None:
    """In 95 of 100 cases at least, and those that differ by half are."""
    random = np.random.default_rng(count)
    held = found = 0
    for _ in range(400):
        a, b = random.exponential(1.0, (2, count)) + 10
        same, slower = apart(a, b), apart(a, 1.5 * b)
        assert same is not None and slower is not None and same.n == count
        assert same.low <= same.ratio <= same.high
        held += same.low <= 1 <= same.high
        found += slower.low > 1
    assert held >= 380 and (found == 400 or count == FEWEST)


def test_few_launches_are_not_judged() -> None:
    many, few = np.full(100, 4.2), np.full(FEWEST - 1, 2.36)
    assert apart(many, few) is apart(few, many) is None
    assert apart(many, np.zeros(100)) is apart(np.full(9, np.inf), many) is None


@pytest.mark.parametrize(
    ("ratio", "said", "words"),
    [  # the same in viz/web/test/ratio.test.ts
        (0.001, "0.001×", "1000.0× as fast"),
        (0.2, "0.20×", "5.0× as fast"),
        (0.78, "0.78×", "22% less time"),
        (0.993, "0.99×", "0.7% less time"),
        (1.0, "1.00×", "same time"),
        (1.4, "1.40×", "40% more time"),
        (2.13, "2.13×", "2.1× the time"),
        (1234.4, "1,234×", "1234.4× the time"),
    ],
)
def test_words_of_a_ratio(ratio: float, said: str, words: str) -> None:
    assert (figure(ratio), change_words(ratio)) == (said, words)
    assert time_words(ratio, ratio, ratio) == ("no clear difference" if ratio == 1 else words)
    assert time_words(ratio, 0.5 * min(ratio, 1), 2 * max(ratio, 1)) == "no clear difference"


def test_an_interval_in_words() -> None:
    assert interval_words(0.75, 0.814) == "0.75 – 0.81"
