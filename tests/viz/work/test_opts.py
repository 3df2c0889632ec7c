"""Optimisations of a kernel as text, and runs with optimisations that someone asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ServerError
from core.uop.kernelinfo import Opt, OptOps
from viz.work.opts import MOST, opts_text, parse_opts

numbers = st.none() | st.integers(0, 10**9 - 1)
axes = st.lists(st.integers(-1, 9), min_size=2, max_size=4).map(tuple)
opts = st.builds(Opt, st.sampled_from(OptOps), numbers, numbers | axes)


@given(st.lists(opts, max_size=MOST).map(tuple))
def test_what_is_written_is_read_again(made: tuple[Opt, ...]) -> None:
    assert parse_opts(opts_text(made)) == made


def test_people_write_them_in_several_ways() -> None:
    upcast, unroll = Opt(OptOps.UPCAST, 0, 4), Opt(OptOps.UNROLL, 1, 0)
    for text in (
        "UPCAST(0, 4) UNROLL(1, 0)",
        " UPCAST(0,4), UNROLL(1,0) ",
        "UPCAST(0,4);UNROLL(1,0)",
    ):
        assert parse_opts(text) == (upcast, unroll)
    assert parse_opts("TC(0,(-1,2,1))") == (Opt(OptOps.TC, 0, (-1, 2, 1)),)
    assert parse_opts("NOLOCALS()") == (Opt(OptOps.NOLOCALS),)
    assert parse_opts("  ") == ()


@pytest.mark.parametrize(
    "text",
    ["UPCAST", "upcast(0, 4)", "UPCAST(0, -1)", "UPCAST(0, 4", "EVAL(0)", "__import__('os')"],
)
def test_what_is_no_optimisation_is_refused(text: str) -> None:
    with pytest.raises(ServerError, match="not an optimisation") as caught:
        parse_opts(text)
    assert "UPCAST(0, 4)" in caught.value.hint


def test_many_are_refused_at_once() -> None:
    with pytest.raises(ServerError, match="too many"):
        parse_opts("UPCAST(0, 2) " * (MOST + 1))
    with pytest.raises(ServerError):
        parse_opts("UPCAST(" * 100_000)
