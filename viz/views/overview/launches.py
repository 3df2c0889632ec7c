"""The launches of one process by kernel name and device: how many there were, and how long they
took.

Grows with the trace: each launch is looked at once. Never reads the file.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from viz.budget import take
from viz.read.tracefile import TraceFile

BINS: Final = 16
LATEST: Final = float(1 << 52)
"""Microseconds; a trace may say anything."""
_LAUNCH: Final = 40
"""Bytes that are kept of a launch."""
Times = np.ndarray[Any, np.dtype[np.float64]]


class Launched:
    """The launches of one name on one device. Times are microseconds."""

    def __init__(self, device: str, first: float) -> None:
        self.device = device
        self.first = first
        """When the first one began."""
        self.total = 0.0
        self.us = array("d")
        self._spread: tuple[int, dict[str, Any]] = 0, {}

    def add(self, us: Times) -> None:
        """More of them."""
        self.us.frombytes(us.tobytes())
        self.total += float(us.sum())

    def spread(self) -> dict[str, Any]:
        """How the times are distributed: `Spread` of the page; kept until there is one more."""
        if self._spread[0] != len(self.us):
            self._spread = len(self.us), spread_of(np.array(self.us))
        return self._spread[1]


class Launches:
    """All launches of a file."""

    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._seen = 0
        self.named: dict[str, dict[str, Launched]] = {}
        """By kernel name, and by device in the order of their first launches."""
        self.starts, self.ends = array("d"), array("d")
        """When each launch began and ended."""

    def refresh(self) -> None:
        """Looks at the launches that are new. Raises BudgetError."""
        new = self._file.launches[self._seen :]
        take(len(new), _LAUNCH * len(new))
        self._seen += len(new)
        places: dict[tuple[str, str], list[int]] = {}
        for place, (name, device, *_) in enumerate(new):
            places.setdefault((name, device), []).append(place)
        times = np.array([launch[2:4] for launch in new], np.float64).reshape(-1, 2)
        begins, us = np.clip(times / (1, 1000), 0.0, LATEST).T
        for (name, device), of in places.items():
            devices = self.named.setdefault(name, {})
            known = devices.setdefault(device, Launched(device, float(begins[of[0]])))
            known.add(us[of])
        self.starts.frombytes(begins.tobytes())
        self.ends.frombytes((begins + us).tobytes())

    def all(self) -> Iterator[Launched]:
        """The launches of every kernel on every device."""
        return (launched for devices in self.named.values() for launched in devices.values())

    @property
    def total(self) -> float:
        """Microseconds of all launches together."""
        return sum(launched.total for launched in self.all())


def bounded(value: float) -> float:
    """A time of a trace within what times can be."""
    return 0.0 if value <= 0 else LATEST if value >= LATEST else float(value)


def spread_of(us: Times) -> dict[str, Any]:
    """Median, 90th percentile and range of some times, and a histogram from the fastest to the 95th
    percentile with a little room; `beyond` is how many are slower than that."""
    ordered = np.sort(us)
    low, high = float(ordered[0]), float(ordered[-1])
    median, p90, p95 = (float(q) for q in np.quantile(ordered, (0.5, 0.9, 0.95)))
    end = low + 1.2 * (p95 - low) if p95 > low else low + max(0.1 * low, 0.1)
    inside = ordered[ordered <= end]
    bins, _ = np.histogram(inside, BINS, (low, end))
    return {
        "median": median,
        "p90": p90,
        "low": low,
        "high": high,
        "from": low,
        "to": end,
        "bins": [int(n) for n in bins],
        "beyond": len(ordered) - len(inside),
    }
