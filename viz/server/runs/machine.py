"""What all runs of a server share: jobs, and the room for answers.

Knows nothing of HTTP, and nothing of any run.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from viz.jobs.exports import Exports
from viz.jobs.jobs import Elsewhere, Jobs, Kind
from viz.server.answers import Encoded
from viz.server.runs.cache import Cache, Turns
from viz.server.runs.weight import Weight

CACHED: Final = 1 << 27
"""Bytes of answers about rewrites that have ended that are kept."""
ANSWERS: Final = 1 << 25
"""Bytes of other answers that are kept until their run has gone on."""

Key = tuple[tuple[int, ...], str]
"""Of a kept answer: the traces that it is about, by their serials, and its path."""


class Machine:
    """Shared by the runs of one server. `kinds` of jobs are those of its parts. `cluster`: what
    does jobs in its place; it is closed with the machine."""

    def __init__(
        self, kinds: Sequence[dict[str, Kind]] = (), cluster: Elsewhere | None = None
    ) -> None:
        self._cluster = cluster
        self.jobs = Jobs(*kinds, elsewhere=cluster)
        self.exports = Exports(self.jobs)
        self.weight = Weight()
        self.ended: Cache[Key, Encoded] = Cache(CACHED)
        """Answers that never change any more."""
        self.answers: Cache[Key, tuple[tuple[int, ...], Encoded]] = Cache(ANSWERS)
        """Other answers, each with the state of the runs that it was made in."""
        self.making = Turns()
        self.changes = 0
        """Counts what may have changed answers about every run."""
        self.last_request = time.monotonic()
        self.stays: int | None = None
        """Seconds that the page of a program stays after its end while it is closed; None: it
        is served until it is stopped."""
        self._serials = itertools.count()
        self._gone: list[Callable[[int], None]] = []
        self.can: Callable[[], dict[str, Any]] = dict
        """What the parts of the server say of runs whose kernels can be compiled."""

    def close(self) -> None:
        """Ends the jobs. Before the runs are closed."""
        self.jobs.close()
        self.exports.close()
        if self._cluster is not None:
            self._cluster.close()

    def new_serial(self) -> int:
        """The number of a trace that is opened: no two have the same."""
        return next(self._serials)

    def when_gone(self, tell: Callable[[int], None]) -> None:
        """Calls `tell` with the serial of each trace that is no longer open."""
        self._gone.append(tell)

    def forget(self, serial: int) -> None:
        """A trace is no longer open: its answers are not kept."""
        for tell in self._gone:
            tell(serial)
        self.ended.drop(lambda key: serial in key[0])
        self.answers.drop(lambda key: serial in key[0])
