"""The devices of this machine: which there are, what can be edited for them, what they can do."""

from __future__ import annotations

import threading
from typing import Any, Final

from core.errors import ServerError, UopvizError
from viz.server.runs.machine import Machine
from viz.work.peakcache import keep_peak

LOOK_AFTER: Final = 1.0
"""Seconds after the first answer at which a worker looks for devices: it takes half a second of a
processor, which the page needs to show its first graph."""


class Devices:
    """Those of a `machine`, at once with those that need no looking for."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._names = ["CPU", "REFERENCE"]
        self._editable: list[dict[str, str]] = []
        self._lock = threading.Lock()
        self._looking: threading.Timer | None = None

    def data(self) -> dict[str, Any]:
        """In the form of the page. Looks for devices meanwhile."""
        self._look_for_devices()
        return {"devices": self._names, "editable": self._editable}

    def measure(self, device: str) -> int:
        """Begins to measure what a device of this machine can do; what comes out is kept. Raises
        ServerError for a device that is not here."""
        if device not in self._names:
            raise ServerError(
                f"there is no device {device!r}", hint="one of " + ", ".join(self._names)
            )

        def finish(answer: Any) -> Any:
            keep_peak(answer)
            return answer

        return self._machine.jobs.start({"job": "peaks", "device": device}, finish)

    def close(self) -> None:
        """Looks for none any more."""
        if self._looking is not None:
            self._looking.cancel()

    def _look_for_devices(self) -> None:
        """Asks a worker once which devices are present, and what can be edited for them: opening
        one may take seconds."""

        def finish(answer: Any) -> Any:
            self._names, self._editable = answer["devices"], answer["editable"]
            self._machine.changes += 1
            return None

        def look() -> None:
            try:
                self._machine.jobs.start({"job": "devices"}, finish)
            except UopvizError:
                self._looking = None

        with self._lock:
            if self._looking is None:
                self._looking = threading.Timer(LOOK_AFTER, look)
                self._looking.daemon = True
                self._looking.start()
