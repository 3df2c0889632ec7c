"""What all runs of a server share: jobs and their devices, and the room for answers.

Knows nothing of HTTP, and nothing of any run.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from core.errors import ServerError, UopvizError
from viz.server.answers import Encoded
from viz.server.runs.cluster import Cluster
from viz.server.runs.kept import Kept, Turns
from viz.server.runs.weight import Weight
from viz.work.compiling import Compiler
from viz.work.exports import Exports
from viz.work.jobs import Jobs
from viz.work.keptpeaks import keep_peak
from viz.workbench.kinds import kinds_data

CACHED: Final = 1 << 27
"""Bytes of answers about rewrites that have ended that are kept."""
ANSWERS: Final = 1 << 25
"""Bytes of other answers that are kept until their run has gone on."""
LOOK_AFTER: Final = 1.0
"""Seconds after the first answer at which a worker looks for devices: it takes half a second of a
processor, which the page needs to show its first graph."""

Key = tuple[tuple[int, ...], str]
"""Of a kept answer: the traces that it is about, by their serials, and its path."""


class Machine:
    """Shared by the runs of one server. `devices` answers at once with those that need no looking
    for. `cluster`: what does jobs in its place; it is closed with the machine."""

    def __init__(self, cluster: Cluster | None = None) -> None:
        self._cluster = cluster
        self.jobs = Jobs(cluster)
        self.compiler = Compiler(self.jobs)
        self.exports = Exports(self.jobs)
        self.weight = Weight()
        self.ended: Kept[Key, Encoded] = Kept(CACHED)
        """Answers that never change any more."""
        self.answers: Kept[Key, tuple[tuple[int, ...], Encoded]] = Kept(ANSWERS)
        """Other answers, each with the state of the runs that it was made in."""
        self.making = Turns()
        self.changes = 0
        """Counts what may have changed answers about every run."""
        self.last_request = time.monotonic()
        self.stays: int | None = None
        """Seconds that the page of a program stays after its end while nobody looks at it; None: it
        is served until somebody stops it."""
        self._serials = itertools.count()
        self._gone: list[Callable[[int], None]] = []
        self._devices = ["CPU", "REFERENCE"]
        self._editable: list[dict[str, str]] = []
        self._lock = threading.Lock()
        self._looking: threading.Timer | None = None

    def close(self) -> None:
        """Ends the jobs. Before the runs are closed."""
        if self._looking is not None:
            self._looking.cancel()
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

    def can(self) -> dict[str, Any]:
        """What of the answer about a run depends on this machine. Looks for devices meanwhile."""
        self._look_for_devices()
        can = {"devices": self._devices, "editable": self._editable, "stays": self.stays}
        return can | {"inputs": kinds_data()}

    def measure(self, device: str) -> int:
        """Begins to measure what a device of this machine can do; what comes out is kept. Raises
        ServerError for a device that is not here."""
        if device not in self._devices:
            raise ServerError(
                f"there is no device {device!r}", hint="one of " + ", ".join(self._devices)
            )

        def finish(answer: Any) -> Any:
            keep_peak(answer)
            return answer

        return self.jobs.start({"job": "peaks", "device": device}, finish)

    def _look_for_devices(self) -> None:
        """Asks a worker once which devices are present, and what can be edited for them: opening
        one may take seconds."""

        def finish(answer: Any) -> Any:
            self._devices, self._editable = answer["devices"], answer["editable"]
            self.changes += 1
            return None

        def look() -> None:
            try:
                self.jobs.start({"job": "devices"}, finish)
            except UopvizError:
                self._looking = None

        with self._lock:
            if self._looking is None:
                self._looking = threading.Timer(LOOK_AFTER, look)
                self._looking.daemon = True
                self._looking.start()
