"""Beam search for the opts of a kernel: which list of opts costs least.

Each round tries every opt that applies to each member of the beam, and the `width` cheapest lists
are the members of the next round: beam search (Lowerre, The Harpy Speech Recognition System, 1976).
A `Trials` says which opts apply and what a list costs: it compiles and runs, and this module never
does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from core.errors import UopvizError
from core.uop.kernelinfo import Opt

Opts = tuple[Opt, ...]


class Trials(Protocol):
    """Programs of one kernel on one device. Each method raises UopvizError where a list of opts
    cannot be tried, and may take as long as the limits that it was made with."""

    def legal(self, opts: Opts) -> Sequence[Opt]:
        """The opts that apply after `opts`, always in the same order."""
        ...

    def compiled(self, opts: Opts) -> str:
        """A text that two programs share where they are the same."""
        ...

    def cost(self, opts: Opts, enough: float) -> float:
        """What one launch costs: seconds, or another measure that grows with them. Measured once
        where it is more than `enough`."""
        ...


@dataclass(frozen=True)
class Limits:
    """What a search may take. `seconds`: all of it; `rounds`: opts that are added to a start at
    most; `slower`: a program that takes so many times as long as the best one is measured only
    once; `gain`: the part by which a cost must be less to count as less, which is more than costs
    vary by themselves."""

    seconds: float = 60.0
    rounds: int = 12
    slower: float = 4.0
    gain: float = 0.0


@dataclass(frozen=True)
class Try:
    """One list of opts. `cost` is None where there is none, and `why` says why."""

    round: int
    opts: Opts
    cost: float | None
    why: str = ""
    predicted: float | None = None
    """Microseconds that a launch was predicted to take, where somebody has asked."""


@dataclass(frozen=True)
class Found:
    """What came of a search. `cost` of `opts` and `first` of the first start, both measured again
    in the end; None where nothing could be measured. `tried` counts programs that were measured,
    `duplicates` those that were the same as one before, `failed` those that could not be compiled
    or run. `in_time`: whether the limit of time did not end it."""

    opts: Opts
    cost: float | None
    first: float | None
    width: int
    rounds: int
    tried: int
    duplicates: int
    failed: int
    in_time: bool
    trail: tuple[Try, ...] = field(repr=False)


Told = Callable[[int, Found], None]
"""Told the round, and what is found so far: costs as they were measured once."""


def search(
    trials: Trials,
    width: int,
    starts: Sequence[Opts] = ((),),
    limits: Limits | None = None,
    told: Told = lambda at, found: None,
    clock: Callable[[], float] = time.monotonic,
) -> Found:
    """The cheapest list of opts that a beam of `width` members finds from each of `starts`.

    Starts share the time that is left evenly. A climb ends where a round's best program costs no
    less than the round's before. In the end the cheapest lists and the first start are measured
    again, so that one lucky measurement does not decide. Of costs that count as equal the first
    start wins, then the shorter list, then the one that comes first as text. Lists that fail are
    counted and left out. Never raises what `trials` raises.
    """
    return _Search(trials, width, limits or Limits(), told, clock).run([tuple(s) for s in starts])


class _Search:
    def __init__(
        self,
        trials: Trials,
        width: int,
        limits: Limits,
        told: Told,
        clock: Callable[[], float],
    ) -> None:
        self._trials, self._width, self._limits, self._told = trials, width, limits, told
        self._clock = clock
        self._end = clock() + limits.seconds
        self._rounds = 0
        self._in_time = True
        self._best = float("inf")
        self._asked: set[Opts] = set()
        self._programs: set[str] = set()
        self._trail: list[Try] = []
        self._duplicates = 0
        self._first: Opts = ()

    def run(self, starts: Sequence[Opts]) -> Found:
        """Climbs from each start."""
        self._first = starts[0] if starts else ()
        for at, start in enumerate(starts):
            share = (self._end - self._clock()) / (len(starts) - at)
            self._climb(start, self._clock() + share)
        measured = sorted((t for t in self._trail if t.cost is not None), key=_rank)
        first = self._first
        last = {t.opts: self._again(t) for t in measured[: self._width]}
        for one in measured:
            if one.opts == first and first not in last:
                last[first] = self._again(one)
        costs = {opts: cost for opts, cost in last.items() if cost is not None}
        enough = min(costs.values(), default=0.0) / (1 - self._limits.gain)
        near = [opts for opts, cost in costs.items() if cost <= enough]
        opts = min(near, key=lambda o: (o != first, len(o), _text(o)), default=first)
        return self._found(
            opts, costs.get(opts), costs.get(first), len(measured), in_time=self._in_time
        )

    def _climb(self, start: Opts, until: float) -> None:
        begun = self._try(start, 0)
        beam = [begun] if begun is not None else []
        for at in range(1, self._limits.rounds + 1):
            if not beam:
                return
            grown: list[Try] = []
            for opts in self._next(beam):
                if self._clock() >= until:
                    self._in_time = False
                    return
                made = self._try(opts, at)
                if made is not None:
                    grown.append(made)
            self._rounds = max(self._rounds, at)
            grown = sorted(grown, key=_rank)[: self._width]
            enough = _cost(beam[0]) * (1 - self._limits.gain)
            if not grown or _cost(grown[0]) >= enough:
                return
            beam = grown

    def _next(self, beam: Sequence[Try]) -> Iterator[Opts]:
        for member in beam:
            try:
                legal = self._trials.legal(member.opts)
            except UopvizError:
                continue
            yield from ((*member.opts, opt) for opt in legal)

    def _try(self, opts: Opts, at: int) -> Try | None:
        """Measures a list; None where it has no cost, or is not new."""
        if opts in self._asked:
            return None
        self._asked.add(opts)
        try:
            program = self._trials.compiled(opts)
            if program in self._programs:
                self._duplicates += 1
                self._trail.append(Try(at, opts, None, "the same program as one before"))
                return None
            self._programs.add(program)
            cost = self._trials.cost(opts, self._limits.slower * self._best)
        except UopvizError as error:
            self._trail.append(Try(at, opts, None, error.what))
            return None
        made = Try(at, opts, cost)
        self._trail.append(made)
        self._best = min(self._best, cost)
        self._told(at, self._so_far())
        return made

    def _so_far(self) -> Found:
        measured = [t for t in self._trail if t.cost is not None]
        best = min(measured, key=_rank)
        first = next((t.cost for t in self._trail if t.opts == self._first), None)
        return self._found(best.opts, best.cost, first, len(measured), in_time=False)

    def _found(
        self, opts: Opts, cost: float | None, first: float | None, tried: int, *, in_time: bool
    ) -> Found:
        return Found(
            opts,
            cost,
            first,
            self._width,
            self._rounds,
            tried,
            self._duplicates,
            len(self._trail) - tried - self._duplicates,
            in_time,
            tuple(self._trail),
        )

    def _again(self, one: Try) -> float | None:
        """The cost of a list, measured once more; what is known of it where there is no time."""
        if self._clock() >= self._end:
            return one.cost
        try:
            return self._trials.cost(one.opts, float("inf"))
        except UopvizError:
            return None


def _cost(one: Try) -> float:
    return float("inf") if one.cost is None else one.cost


def _rank(one: Try) -> tuple[float, int, str]:
    return _cost(one), len(one.opts), _text(one.opts)


def _text(opts: Opts) -> str:
    return " ".join(str(opt) for opt in opts)
