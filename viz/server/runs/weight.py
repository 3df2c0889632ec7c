"""How many heavy answers are made at once: one.

A light answer, which is nearly every one, is made at once. One that turns out not to be light is
given up, and made again when its turn comes, holding no lock meanwhile. So all answers together
take what the threads' light ones and one heavy one may. Never judges by what a trace says of
itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, TypeVar

from core.errors import ServerError
from viz.budget import TooHeavyError, light

T = TypeVar("T")
WAITING: Final = 2
"""Threads that wait for the turn of their heavy answer; the others are for light ones."""


class Weight:
    """The turns of one server."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._waiting = threading.BoundedSemaphore(WAITING + 1)

    def make(self, make: Callable[[], T]) -> T:
        """What `make` returns, which may be called twice. Raises ServerError where too many wait
        for heavy answers."""
        try:
            with light():
                return make()
        except TooHeavyError:
            pass
        return self.heavy(make)

    def heavy(self, make: Callable[[], T]) -> T:
        """The same of what is known to be heavy, such as a copy of the run."""
        if not self._waiting.acquire(blocking=False):
            raise ServerError(
                "the server is making other very large answers", hint="ask again in a minute"
            )
        try:
            with self._turn:
                return make()
        finally:
            self._waiting.release()
