"""A search in words."""

from __future__ import annotations

from dataclasses import replace

from core.beam.report import MOST, report_of, summary_of
from core.passes.optimize.search import Found, Try
from core.uop.kernelinfo import Opt, OptOps

UPCAST, UNROLL = ((Opt(op, 0, 4),) for op in (OptOps.UPCAST, OptOps.UNROLL))
TRAIL = (Try(0, (), 2e-6), Try(1, UPCAST, 1.5e-6), Try(1, UNROLL, None, "it crashed"))
FOUND = Found(UPCAST, 1.5e-6, 2e-6, 4, 1, 2, 0, 1, True, TRAIL)


def test_one_line_sums_it_up() -> None:
    assert summary_of(FOUND, counted=False) == (
        "width 4, 1 round, 2 tried, 0 duplicates, 1 failed, best 1.50 us, chosen without it 2.00 us"
    )
    late = replace(FOUND, cost=12000.0, first=None, duplicates=1, rounds=2, in_time=False)
    assert summary_of(late, counted=True) == (
        "width 4, 2 rounds, 2 tried, 1 duplicate, 1 failed, best 12,000 instructions, "
        "chosen without it unknown; ended by the limit of time"
    )


def test_all_that_was_tried_is_listed_the_cheapest_first() -> None:
    _, found, without, empty, *lines = report_of(FOUND, (), counted=False).splitlines()
    assert found.split() == ["found", "UPCAST(0,", "4)"]
    assert (without.split(), empty) == (["without", "none"], "")
    assert [line.split()[2:] for line in lines] == [
        ["1.50", "us", "UPCAST(0,", "4)"],
        ["2.00", "us", "none"],
        ["it", "crashed", "UNROLL(0,", "4)"],
    ]


def test_what_was_predicted_stands_beside_what_was_measured() -> None:
    guessed = replace(FOUND, trail=(replace(TRAIL[0], predicted=1.25), *TRAIL[1:]))
    lines = report_of(guessed, (), counted=False).splitlines()
    assert lines[-2].split()[2:] == ["2.00", "us", "predicted", "1.25", "us", "none"]


def test_a_long_list_says_what_it_leaves_out() -> None:
    many = replace(FOUND, trail=TRAIL * MOST)
    assert report_of(many, (), counted=False).splitlines()[-1] == f"and {2 * MOST} more"
