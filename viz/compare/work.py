"""Two runs compared pair by pair, in slices of bounded time, with a budget for the whole.

What goes beyond the budget is left out and said. Begins anew when one of the runs has gone on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from core.errors import BudgetError
from core.garbage import collector_paused
from viz.budget import Budget, answering, within
from viz.compare.matching.pairing import ScopeMatch, pair_scopes
from viz.compare.matching.rules import Rules
from viz.compare.matching.side import Side
from viz.compare.overview import lost_data, overview_data, waiting_data
from viz.compare.pairs import Pair, compare_pair

Data = dict[str, Any]
_READ: Final = 0.4
"""How much of comparing is done once both runs have been read."""
_SLICE: Final = 0.2
"""Seconds after which reading looks at the clock again."""
_ITEMS: Final = 400_000_000
"""Of what is compared in all; each slice is short, and the whole may take long."""


class Work:
    """The comparison of two runs as they are now."""

    def __init__(self, a: Side, b: Side) -> None:
        self.a, self.b = a, b
        self.version = a.version(), b.version()
        self.rules: Rules | None = None
        self.matches: list[ScopeMatch] = []
        self.pairs: list[Pair] = []
        self._failed: list[str] = []
        self._budget = Budget("the comparison", items=_ITEMS, seconds=math.inf)
        self._slices = self._run()
        self._progress = 0.0
        self._made: Data | None = None

    @property
    def done(self) -> bool:
        """Whether all is in the overview."""
        return self._made is not None

    @property
    def left_out(self) -> list[str]:
        """Sentences of what could not be read or compared."""
        return [*lost_data(self.a, self.b), *self._failed]

    def go_on(self, seconds: float) -> Data:
        """Goes on for about `seconds`; the overview, whole or partial. Raises BudgetError."""
        until = time.monotonic() + seconds
        while self._made is None:
            with within(self._budget), collector_paused():
                progress = next(self._slices, None)
            if progress is not None:
                self._progress = progress
                if time.monotonic() >= until:
                    return waiting_data(self.a, self.b, self._progress)
                continue
            if self.rules is None:
                raise BudgetError("the rules of these runs take too much to be compared")
            with answering("the comparison"):
                self._made = overview_data(self.a, self.b, self.rules, self.pairs, self._failed)
        return self._made

    def _run(self) -> Iterator[float]:
        for at, side in enumerate((self.a, self.b)):
            yield from self._read(at, side)
        with suppress(BudgetError):
            self.rules = Rules(self.a, self.b)
        yield _READ
        if self.rules is None:
            return
        self.matches = self._match()
        count = max(1, len(self.matches))
        for at, match in enumerate(self.matches):
            yield _READ + (1 - _READ) * at / count
            try:
                self.pairs.append(compare_pair(match, self.rules))
            except BudgetError as error:
                left = len(self.matches) - at
                self._failed.append(
                    f"{left:,} of {len(self.matches):,} kernels, schedules and other groups of "
                    f"passes are not compared: {error.what}."
                )
                break

    def _read(self, at: int, side: Side) -> Iterator[float]:
        name = "AB"[at]
        try:
            done = 0.0
            while done < 1.0:
                yield _READ * (at + done) / 2
                done = side.refresh(_SLICE)
            for part in side.parts:
                part.process.launches.refresh()
                part.process.programs.refresh()
        except BudgetError as error:
            self._failed.append(f"{name} is compared only in part: {error.what}.")

    def _match(self) -> list[ScopeMatch]:
        try:
            return pair_scopes(self.a.scopes(), self.b.scopes())
        except BudgetError as error:
            self._failed.append(f"Kernels and schedules are not compared: {error.what}.")
            return []
