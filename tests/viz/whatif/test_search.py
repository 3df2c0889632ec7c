"""The search for the first wrong step, the median's interval, errors in units in the last place."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.trial.difference import ulps_apart
from viz.ratio import FEWEST
from viz.whatif.narrowing.search import MAX_UNKNOWN, first_wrong_step
from viz.whatif.results.inturn import in_turn


@given(st.data())
def test_it_ends_at_a_step_from_right_to_wrong(data: st.DataObject) -> None:
    said = data.draw(st.lists(st.sampled_from([True, False, None]), max_size=40))
    states = [True, *said, False]
    span = first_wrong_step(0, len(states) - 1, lambda n: states[n])
    assert states[span.good] is True
    assert states[span.bad] is False
    assert span.found or all(one is None for one in states[span.good + 1 : span.bad])


@given(st.integers(1, 5000), st.integers(0, 4999))
def test_it_halves(count: int, wrong: int) -> None:
    wrong = min(wrong, count - 1)
    span = first_wrong_step(0, count, lambda n: n <= wrong)
    assert (span.good, span.bad) == (wrong, wrong + 1)
    assert span.asked <= count.bit_length()


def test_it_gives_up_where_too_many_say_nothing() -> None:
    span = first_wrong_step(0, 10_000, lambda n: None)
    assert (span.good, span.bad, span.asked) == (0, 10_000, MAX_UNKNOWN)
    assert not span.found


def test_a_ratio_of_times() -> None:
    made = in_turn(lambda: 1.0, lambda: 3.0, seconds=0)
    assert (made.ratio, made.low, made.high, made.turns) == (3.0, 3.0, 3.0, FEWEST)
    assert (made.old, made.new) == (1e6, 3e6)


def test_units_in_the_last_place() -> None:
    for dtype in (np.float16, np.float32):
        one = np.asarray([1, -1, 0], dtype)
        up = np.asarray([2, -2, 1], dtype)
        assert ulps_apart(np.nextafter(one, up), one) == 1
    zeros = np.asarray([0.0], np.float32)
    assert ulps_apart(zeros, -zeros) == 0
    assert ulps_apart(np.nextafter(zeros, 1), np.nextafter(zeros, -1)) == 2
    wide = np.asarray([1.0])
    assert ulps_apart(wide + 4 * np.spacing(1.0), wide) == 4
