"""What one answer about a trace may cost: memory, items and processor time.

A few bytes of a trace may unpack to millions of items. So code that unpacks, decodes or walks first
takes what it is about to make or read from the budget in force. What does not fit is left out, and
the answer says so; an answer that cannot do without it is a BudgetError. Never measures what is
there already, and never waits.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from core.errors import BudgetError

MEMORY: Final = 1 << 30
"""Bytes that the parts of one answer may take together."""
ITEMS: Final = 60_000_000
"""Nodes, edges, events, numbers that are looked at: the same on every machine."""
SECONDS: Final = 20.0
"""Processor time. Answers about the largest passes that the page shows take about three."""
LIGHT: Final = 1 << 28
"""Bytes of an answer that any number of threads may make at once; LIGHT_SECONDS its time."""
LIGHT_SECONDS: Final = 5.0
_OFTEN: Final = 4_000
"""Items after which the clock is looked at."""


class TooHeavyError(Exception):
    """An answer is not light. Not a BudgetError: parts are left out only of answers that used their
    whole budget."""


class Budget:
    """What is left to `what`, such as "the answer". One thread at a time takes from it."""

    light = False
    """Whether memory and time are only those of a light answer."""

    def __init__(
        self,
        what: str,
        memory: int = MEMORY,
        items: int = ITEMS,
        seconds: float = SECONDS,
    ) -> None:
        self.what = what
        self.memory, self.items, self.seconds = memory, items, seconds
        self._until = 0.0
        self._unseen = 0

    def start(self) -> None:
        """Time runs from here on, in the thread that calls."""
        self._until = time.thread_time() + self.seconds

    @property
    def seconds_left(self) -> float:
        """Processor time that is left."""
        return max(0.0, self._until - time.thread_time())

    def take(self, items: int = 1, memory: int = 0) -> None:
        """Takes what is needed next. Raises BudgetError, and takes nothing, where there is not that
        much left; TooHeavyError where that is only because the answer was to be light."""
        if items > self.items:
            raise self._spent("would look at too much")
        if memory > self.memory:
            raise self._heavy("would take too much memory")
        self._unseen += items
        if self._unseen > _OFTEN:
            self._unseen = 0
            if time.thread_time() > self._until:
                self._unseen = _OFTEN  # and so from now on
                raise self._heavy("would take too long")
        self.items -= items
        self.memory -= memory

    def _heavy(self, how: str) -> Exception:
        return TooHeavyError() if self.light else self._spent(how)

    def _spent(self, how: str) -> BudgetError:
        return BudgetError(
            f"{self.what} {how}",
            hint="the trace is very large, or made to do harm; its other parts are still shown",
        )


_in_force: ContextVar[Budget | None] = ContextVar("budget", default=None)
_light: ContextVar[bool] = ContextVar("light", default=False)


@contextmanager
def light() -> Generator[None]:
    """Answers that the block makes are light, or TooHeavyError."""
    token = _light.set(True)
    try:
        yield
    finally:
        _light.reset(token)


@contextmanager
def within(budget: Budget) -> Generator[Budget]:
    """What the block takes is taken from `budget`, whose time runs from now on."""
    token = _in_force.set(budget)
    budget.start()
    try:
        yield budget
    finally:
        _in_force.reset(token)


@contextmanager
def answering(what: str = "the answer") -> Generator[Budget]:
    """The block makes an answer, or a part of the one that is being made."""
    budget = _in_force.get()
    if budget is not None:
        yield budget
    else:
        budget = Budget(what)
        if _light.get():
            budget.light = True
            budget.memory = min(budget.memory, LIGHT)
            budget.seconds = min(budget.seconds, LIGHT_SECONDS)
        with within(budget):
            yield budget


@contextmanager
def part(share: float, seconds: float = SECONDS) -> Generator[None]:
    """The block may take `share` of what is left, so that something stays for what comes after it;
    and at most `seconds`."""
    whole = _in_force.get()
    if whole is None:
        with within(Budget("the answer", seconds=seconds)):
            yield
        return
    limits = int(whole.memory * share), int(whole.items * share)
    own = Budget(whole.what, *limits, min(seconds, whole.seconds_left * share))
    own.light = whole.light
    try:
        with within(own):
            yield
    finally:
        whole.memory -= limits[0] - own.memory
        whole.items -= limits[1] - own.items


def take(items: int = 1, memory: int = 0) -> None:
    """Takes from the budget in force, if there is one. Raises BudgetError."""
    budget = _in_force.get()
    if budget is not None:
        budget.take(items, memory)
