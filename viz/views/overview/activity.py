"""What a run did when: the time of schedules, of compiling, of launches, and the rest; and memory.

Every moment counts once, as the first of run, compile and schedule that any process was at. Never
reads the events of a pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from viz.budget import take
from viz.read.records import Context, Rewrite
from viz.read.tracefile import TraceFile
from viz.views.overview.launches import LATEST, Times, bounded
from viz.views.runs.process import Process
from viz.views.timeline import MAX_MEMORY, shift_of

BINS: Final = 320
KINDS: Final = ("run", "compile", "schedule")
"""In the order in which they win."""
_SPAN: Final = 120
"""Bytes of a span or of a size while they are put together."""
Data = dict[str, Any]


def activity_data(processes: Sequence[Process], seconds: float) -> Data:
    """The parts of the run in the form `Activity` of the page. `seconds`: how long it took, as far
    as it says. Raises BudgetError."""
    spans: dict[str, list[Times]] = {kind: [] for kind in KINDS}
    sizes: list[tuple[Times, Times]] = []
    for process in processes:
        file, shift = process.file, shift_of(processes[0].file, process.file)
        schedule, compiled = _worked(file)
        launched = process.launches
        take(len(launched.starts), _SPAN * len(launched.starts))
        runs = np.array([launched.starts, launched.ends]).T.reshape(-1, 2)
        mine = {"schedule": schedule, "compile": compiled, "run": runs}
        for kind, times in mine.items():
            spans[kind].append(np.clip(times + shift, 0.0, None))
        sizes += _sizes(file, shift)
    merged = {kind: _merged(np.concatenate(parts)) for kind, parts in spans.items()}
    last = max((float(found[-1, 1]) for found in merged.values() if len(found)), default=0.0)
    last = max([last, *(float(time[-1]) for time, _ in sizes)])
    end = max(last, bounded(1e6 * seconds), 1.0)
    edges = np.linspace(0.0, end, BINS + 1)
    parts: list[Data] = []
    strip: Data = {}
    so_far = np.empty((0, 2))
    before, total = np.zeros(BINS), 0.0
    for kind in KINDS:
        so_far = _merged(np.concatenate((so_far, merged[kind])))
        covered = np.diff(_covered(so_far, edges))
        whole = float(np.sum(so_far[:, 1] - so_far[:, 0]))
        own = merged[kind]
        reach = [float(own[0, 0]), float(own[-1, 1])] if len(own) else None
        parts.append({"kind": kind, "us": whole - total, "reach": reach})
        strip[kind] = _shares(covered - before, end / BINS)
        before, total = covered, whole
    parts.append({"kind": "rest", "us": max(0.0, end - total), "reach": None})
    memory, peak = _memory(sizes, edges)
    return {"end": end, "parts": parts, "strip": strip, "memory": memory, "peak": peak}


def _worked(file: TraceFile) -> tuple[Times, Times]:
    """When schedules were made, and when something else was compiled: kernels, and passes outside
    of schedules. What has no end yet goes to the latest moment that the file knows of."""
    contexts, rewrites = [*file.contexts.values()], [*file.rewrites.values()]
    take(2 * (len(contexts) + len(rewrites)), _SPAN * (len(contexts) + len(rewrites)))
    scheduling: dict[int, bool] = {0: False}
    for context in contexts:  # a context begins after the one around it
        scheduling[context.id] = context.role == "schedule" or scheduling.get(context.parent, False)
    latest = max(float(_spans(part, 0.0).max(initial=0.0)) for part in (contexts, rewrites))
    schedule = [c for c in contexts if c.role == "schedule"]
    kernels = [c for c in contexts if c.role == "kernel"]
    passes = [r for r in rewrites if not r.parent and not scheduling.get(r.context, False)]
    compiled = np.concatenate((_spans(kernels, latest), _spans(passes, latest)))
    return _spans(schedule, latest), compiled


def _spans(entries: Sequence[Context | Rewrite], latest: float) -> Times:
    """Begin and end of each; of one that has no end, `latest`, or its begin if that is later."""
    begun = np.array([entry.start for entry in entries], np.float64).clip(0.0, LATEST)
    took = [math.nan if entry.us is None else entry.us for entry in entries]
    ended = begun + np.array(took, np.float64).clip(0.0, LATEST)
    ended = np.where(np.isnan(ended), np.maximum(begun, latest), ended)
    return np.stack((begun, ended), axis=1)


def _merged(spans: Times) -> Times:
    """The same stretches of time without overlap, in order."""
    spans = spans[spans[:, 1] > spans[:, 0]]
    if not len(spans):
        return spans
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    reached = np.maximum.accumulate(spans[:, 1])
    begins = np.concatenate(([True], spans[1:, 0] > reached[:-1]))
    first = np.flatnonzero(begins)
    last = np.concatenate((first[1:] - 1, [len(spans) - 1]))
    return np.stack((spans[first, 0], reached[last]), axis=1)


def _covered(spans: Times, at: Times) -> Times:
    """How much of the time before each moment lies in the (merged) spans."""
    if not len(spans):
        return np.zeros(len(at))
    sums = np.cumsum(spans[:, 1] - spans[:, 0])
    values = np.stack((np.concatenate(([0.0], sums[:-1])), sums), axis=1)
    return np.interp(at, spans.reshape(-1), values.reshape(-1))


def _shares(us: Times, width: float) -> list[int]:
    """Each in per mille of a bin."""
    return [int(n) for n in np.clip(np.rint(1000 * us / width), 0, 1000)]


def _sizes(file: TraceFile, shift: float) -> list[tuple[Times, Times]]:
    """Of each device of a process: when its allocated bytes changed, and by how much."""
    known = file.memory[:MAX_MEMORY]
    take(len(known), _SPAN * len(known))
    by_device: dict[str, list[tuple[float, float]]] = {}
    for one in known:
        by_device.setdefault(one.device, []).append((bounded(one.time), bounded(one.allocated)))
    found: list[tuple[Times, Times]] = []
    for sizes in by_device.values():
        both = np.array(sorted(sizes, key=lambda one: one[0]))
        found.append((np.clip(both[:, 0] + shift, 0.0, None), np.diff(both[:, 1], prepend=0.0)))
    return found


def _memory(sizes: list[tuple[Times, Times]], edges: Times) -> tuple[list[int], int]:
    """The most bytes that all devices together held in each bin, and at all; nothing where no
    size is known."""
    if not sizes:
        return [], 0
    time = np.concatenate([times for times, _ in sizes])
    order = np.argsort(time, kind="stable")
    held = np.cumsum(np.concatenate([changes for _, changes in sizes])[order])
    first = np.searchsorted(time[order], edges)  # of each bin; the state before it lasts into it
    padded = np.concatenate(([0.0], held))
    most = [float(padded[a : z + 1].max()) for a, z in pairwise(first)]
    return [int(max(0.0, n)) for n in most], int(max(0.0, float(padded.max())))
