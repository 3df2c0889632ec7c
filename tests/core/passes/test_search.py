"""The beam search itself, over costs that are made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

import pytest

from core.errors import CompileError
from core.passes.optimize.search import Found, Limits, Opts, search
from core.uop.kernelinfo import Opt, OptOps

A, B, C, D = (Opt(OptOps.UPCAST, axis, 2) for axis in range(4))
ALL = (A, B, C, D)


class Made:
    """Trials whose costs a test has made up; each opt applies once."""

    def __init__(
        self,
        cost: Callable[[Opts], float],
        program: Callable[[Opts], str] = lambda opts: " ".join(map(str, opts)),
        offered: Sequence[Opt] = ALL,
    ) -> None:
        self._cost, self._program, self._offered = cost, program, offered
        self.measured: list[Opts] = []
        self.enough: list[float] = []

    def legal(self, opts: Opts) -> list[Opt]:
        return [opt for opt in self._offered if opt not in opts]

    def compiled(self, opts: Opts) -> str:
        return self._program(opts)

    def cost(self, opts: Opts, enough: float) -> float:
        self.measured.append(opts)
        self.enough.append(enough)
        return self._cost(opts)


Costs = dict[Opts, float]
PLANTED: Costs = {(): 10.0, (A,): 8.0, (B,): 9.0, (A, C): 7.9, (B, D): 2.0, (B, D, A): 2.5}


def planted(opts: Opts) -> float:
    """The best first opt leads nowhere; what follows the second best is the optimum."""
    return PLANTED.get(opts, 20.0)


def test_a_beam_finds_what_a_greedy_search_misses() -> None:
    assert search(Made(planted), 1).opts == (A, C)
    found = search(Made(planted), 2)
    assert (found.opts, found.cost, found.first) == ((B, D), 2.0, 10.0)
    assert found.rounds == 3
    assert found.in_time
    assert [t.opts for t in found.trail if t.round == 1] == [(A,), (B,), (C,), (D,)]


def test_it_ends_where_no_member_gets_better() -> None:
    made = Made(lambda opts: 1.0 + len(opts))
    found = search(made, 4)
    assert (found.opts, found.rounds, found.tried) == ((), 1, 5)


def test_a_gain_too_small_to_count_is_none() -> None:
    costs: Costs = {(): 10.0, (A,): 9.9, (A, B): 9.8}
    made = Made(lambda opts: costs.get(opts, 11.0))
    assert search(made, 2).opts == (A, B)
    found = search(made, 2, limits=Limits(gain=0.05))
    assert (found.opts, found.rounds, found.cost) == ((), 1, 10.0)


def test_of_equal_costs_the_shorter_list_and_then_the_first_as_text_wins() -> None:
    costs: Costs = {(): 3.0, (C,): 1.0, (B,): 1.0, (B, A): 1.0}
    found = [search(Made(lambda o: costs.get(o, 2.0)), width).opts for width in (1, 2, 8)]
    assert found == [(B,)] * 3
    backwards = Made(lambda o: costs.get(o, 2.0), offered=ALL[::-1])
    assert search(backwards, 2).opts == (B,)


def test_the_same_program_is_measured_once() -> None:
    made = Made(lambda opts: 10.0 - len(opts), lambda opts: " ".join(sorted(map(str, opts))))
    found = search(made, 16)
    assert found.opts == ALL
    # one for each set of opts; the 11 others of which a round has several orders
    assert found.tried == 16
    assert found.duplicates == (12 - 6) + (12 - 4) + (4 - 1)
    assert found.failed == 0
    before_the_end = made.measured[: found.tried]
    assert len({frozenset(map(str, opts)) for opts in before_the_end}) == found.tried


def test_what_fails_is_counted_and_left_out() -> None:
    def program(opts: Opts) -> str:
        if opts and opts[-1] == A:
            raise CompileError("no code can be made of A")
        return str(opts)

    def cost(opts: Opts) -> float:
        if opts[-1:] == (B,):
            raise CompileError("its results are wrong")
        return 10.0 - len(opts)

    found = search(Made(cost, program), 4)
    assert set(found.opts) == {C, D}
    assert found.failed == len([t for t in found.trail if t.why])
    assert {t.why for t in found.trail} == {
        "", "no code can be made of A", "its results are wrong",
    }  # fmt: skip
    assert found.tried + found.failed == len(found.trail)


def test_nothing_that_can_be_measured() -> None:
    def refuse(opts: Opts) -> float:
        raise CompileError("it hangs")

    found = search(Made(refuse), 2, ((A,), ()))
    assert (found.opts, found.cost, found.first, found.tried, found.failed) == (
        (A,), None, None, 0, 2,
    )  # fmt: skip


def test_opts_that_cannot_be_listed_end_a_branch() -> None:
    class Ends(Made):
        def legal(self, opts: Opts) -> list[Opt]:
            if opts == (A,):
                raise CompileError("the process crashed")
            return super().legal(opts)

    assert search(Ends(planted), 2).opts == (B, D)


def test_the_limit_of_time_ends_it() -> None:
    seconds = count(0.0, 1.0)
    found = search(Made(planted), 2, limits=Limits(seconds=4.0), clock=lambda: next(seconds))
    assert not found.in_time
    assert 0 < found.tried < 4
    assert found.opts in {(), (A,)}


def test_each_start_has_its_share_of_the_time() -> None:
    seconds = count(0.0, 1.0)
    made = Made(lambda opts: 100.0 - len(opts) - 9 * (opts[:1] == (D,)))
    search(made, 1, ((A,), ()), Limits(seconds=12.0), clock=lambda: next(seconds))
    assert (A,) in made.measured
    assert () in made.measured
    assert any(opts[:1] == (B,) for opts in made.measured)


def test_the_rounds_are_limited() -> None:
    found = search(Made(lambda opts: 9.0 - len(opts)), 1, limits=Limits(rounds=2))
    assert (len(found.opts), found.rounds) == (2, 2)


def test_what_is_enough_follows_the_best_cost() -> None:
    made = Made(planted)
    search(made, 2, limits=Limits(slower=3.0))
    assert made.enough[:3] == [float("inf"), 30.0, 24.0]


def test_a_lucky_measurement_does_not_decide() -> None:
    seen: dict[Opts, int] = {}

    def cost(opts: Opts) -> float:
        seen[opts] = seen.get(opts, 0) + 1
        if opts == (A,):
            return 1.0 if seen[opts] == 1 else 9.0
        others: Costs = {(): 8.0, (B,): 5.0}
        return others.get(opts, 20.0)

    assert search(Made(cost), 2).opts == (B,)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_who_watches_is_told_of_each_measurement(width: int) -> None:
    told: list[tuple[int, Found]] = []
    found = search(Made(planted), width, told=lambda at, best: told.append((at, best)))
    assert [best.tried for _, best in told] == list(range(1, found.tried + 1))
    at, first = told[0]
    assert (at, first.tried, first.cost, first.first) == (0, 1, 10.0, 10.0)
    _, last = told[-1]
    assert (last.opts, last.cost, last.in_time) == (found.opts, found.cost, False)
