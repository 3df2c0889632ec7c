"""A timeline in the trace event format, as Perfetto and chrome://tracing open it.

The format is JSON: {"traceEvents": [...]} with complete ("X"), begin ("B"), counter ("C") and
metadata ("M") events, times in microseconds ("Trace Event Format", Google, 2016). The page does the
same in viz/web/src/data/traceEvents.ts, and tests hold both to one file. Never reads a trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any, Final

from viz.views.timeline import KINDS, OPEN

DEVICES_FROM: Final = 1_000_000
"""Devices become threads with numbers from here on, behind the real ones."""

Data = dict[str, Any]


def trace_events(timeline: Data, run: str) -> Data:
    """The message of `viz.views.timeline` as trace events; `run` names the main process."""
    events: list[Data] = []
    named: set[int] = set()
    for position, track in enumerate(timeline["tracks"]):
        pid = track["pid"] or track["process"] + 1
        if pid not in named:
            named.add(pid)
            name = run if track["process"] == 0 else f"process {pid}"
            events.append(_meta("process_name", pid, 0, {"name": name}))
            events.append(_meta("process_sort_index", pid, 0, {"sort_index": track["process"]}))
        events += _MAKERS[track["kind"]](timeline["names"], track, pid, position)
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def is_trace_events(head: bytes) -> bool:
    """Whether a file that begins like this was made from what `trace_events` returns."""
    return head.startswith(b'{"traceEvents": [')


def _thread(names: list[str], track: Data, pid: int, position: int) -> Iterator[Data]:
    tid = track["thread"]
    yield _meta("thread_name", pid, tid, {"name": track["name"]})
    yield _meta("thread_sort_index", pid, tid, {"sort_index": position})
    for i, ts in enumerate(accumulate(track["start"])):
        us, steps = track["us"][i], track["steps"][i]
        event: Data = {
            "ph": "B" if us == OPEN else "X",
            "name": names[track["names"][i]],
            "cat": KINDS[track["kinds"][i]],
            "ts": ts,
        }
        if us != OPEN:
            event["dur"] = us
        yield event | {"pid": pid, "tid": tid, "args": {"id": track["id"][i], "steps": steps}}


def _device(names: list[str], track: Data, pid: int, position: int) -> Iterator[Data]:
    tid = DEVICES_FROM + position
    yield _meta("thread_name", pid, tid, {"name": track["name"]})
    yield _meta("thread_sort_index", pid, tid, {"sort_index": position})
    for i, ts in enumerate(accumulate(track["start"])):
        yield {
            "ph": "X",
            "name": names[track["names"][i]],
            "cat": "launch",
            "ts": ts,
            "dur": track["ns"][i] / 1000,
            "pid": pid,
            "tid": tid,
            "args": {"bytes": track["bytes"][i]},
        }


def _memory(names: list[str], track: Data, pid: int, position: int) -> Iterator[Data]:
    for ts, size in zip(accumulate(track["start"]), track["bytes"], strict=True):
        yield {
            "ph": "C",
            "name": f"{track['name']} memory",
            "ts": ts,
            "pid": pid,
            "args": {"bytes": size},
        }


def _meta(name: str, pid: int, tid: int, args: Data) -> Data:
    return {"ph": "M", "name": name, "pid": pid, "tid": tid, "args": args}


_MAKERS: Final = {"thread": _thread, "device": _device, "memory": _memory}
