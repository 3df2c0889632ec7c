"""What was emulated of the kernels of a run, as the page shows it: no part of the trace.

A server keeps it while it runs, and an exported file holds it. Packed, and within a budget: the
oldest goes first. Never emulates.
"""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, cast

from viz.format.jsontext import to_json

KEPT: Final = 64
"""Emulations that are kept; KEPT_BYTES those of all of them, packed."""
KEPT_BYTES: Final = 1 << 26
_LEVEL: Final = 3
"""Of gzip: a walk of 20,000 steps takes 0.1 s."""
_Way = tuple[int, str, bool]


class Emulations:
    """By kernel; of each device the newest one of the compiler's text, and of an edited text. Safe
    to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._packed: dict[_Way, bytes] = {}

    def add(self, kernel: int, emulation: dict[str, Any]) -> None:
        """Keeps an `Emulation` of the page, in place of an older one of the same text."""
        way = kernel, str(emulation.get("device")), emulation.get("source") is not None
        packed = gzip.compress(to_json(emulation), _LEVEL, mtime=0)
        with self._lock:
            self._packed.pop(way, None)
            self._packed[way] = packed
            while len(self._packed) > KEPT or sum(map(len, self._packed.values())) > KEPT_BYTES:
                del self._packed[next(iter(self._packed))]

    def kernels(self) -> list[int]:
        """The numbers of the kernels of which there is one."""
        with self._lock:
            return sorted({kernel for kernel, *_ in self._packed})

    def of(self, kernel: int) -> list[dict[str, Any]]:
        """Those of a kernel, the newest last."""
        with self._lock:
            packed = [one for (of, *_), one in self._packed.items() if of == kernel]
        return [json.loads(gzip.decompress(one)) for one in packed]

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """(kernel, emulation) of all, the oldest first."""
        with self._lock:
            kept = list(self._packed.items())
        return ((kernel, json.loads(gzip.decompress(one))) for (kernel, *_), one in kept)

    def publish(self, others: Emulations, kernels: Collection[int]) -> None:
        """Takes up those of some kernels for an exported file: without the user's lines in what is
        said of faults, since these may name folders."""
        for kernel, emulation in others:
            if kernel in kernels:
                walk = emulation["walk"] | {"fault": _plain(emulation["walk"].get("fault"))}
                fault = _plain(emulation.get("fault"))  # a file may state none
                self.add(kernel, emulation | {"fault": fault, "walk": walk})


def _plain(fault: dict[str, Any] | None) -> dict[str, Any] | None:
    """A fault without where in the user's program its node comes from."""
    if fault is None:
        return None
    lines = str(fault["where"]).split("\n")
    node = [line.partition(" from ")[0] if line.startswith("node ") else line for line in lines]
    return {**fault, "where": "\n".join(node)}


_NUMBERS: Final = ("line", "threads", "warps", "divergent", "sectors", "least", "conflicts")
_LATER_NUMBERS: Final = ("lanes", "ways")
"""Columns that files of earlier versions lack; so do they the lists of _LATER_WALK."""
_LATER_WALK: Final = ("accesses", "served", "uses")
_LINES: Final[Mapping[str, type]] = dict.fromkeys(
    (*_NUMBERS, *_LATER_NUMBERS, "loaded", "stored"), list
)
_WALK: Final = {
    **dict.fromkeys(("block", "warp", "first", "width"), int),
    **dict.fromkeys(("names", "line", "active", "registers", "memory", "arguments"), list),
    **dict.fromkeys(_LATER_WALK, list),
}
_EMULATION: Final = {
    **dict.fromkeys(("device", "target", "kind", "text"), str),
    **dict.fromkeys(("grid", "threads", "blocks"), list),
    **dict.fromkeys(("counters", "walk"), dict),
}
_MOST_THREADS: Final = 1024


def emulations_in(answer: object) -> list[dict[str, Any]]:
    """The emulations of an answer that a file states, which may hold anything: those that are whole
    enough for a page to show."""
    items = cast("list[Any]", answer) if isinstance(answer, list) else []
    shaped = [_with_later(item) for item in items[:KEPT] if _has(item, _EMULATION)]
    return [item for item in shaped if _is_whole(item)]


def _with_later(emulation: dict[str, Any]) -> dict[str, Any]:
    """An emulation with what files of earlier versions lack: nothing is known of it."""
    walk = dict.fromkeys(_LATER_WALK, cast("list[Any]", [])) | emulation["walk"]
    counters = emulation["counters"]
    lines = counters.get("lines")
    if isinstance(lines, dict) and isinstance(number := cast("Any", lines).get("line"), list):
        known = cast("dict[str, Any]", lines)
        none = [0] * len(cast("list[Any]", number))
        lines = {"lanes": known.get("threads"), "ways": none} | known
        counters = {**counters, "lines": lines}
    return {**emulation, "counters": counters, "walk": walk}


def _is_whole(emulation: dict[str, Any]) -> bool:
    counters, walk = emulation["counters"], emulation["walk"]
    if not _has(counters, {"lines": dict, "kinds": dict, "total": int}) or not _has(walk, _WALK):
        return False
    lines = counters["lines"]
    columns = [lines[name] for name in _LINES] if _has(lines, _LINES) else [[], [0]]
    if len({len(column) for column in columns}) != 1 or not 0 < walk["width"] <= _MOST_THREADS:
        return False
    numbers = [n for name in (*_NUMBERS, *_LATER_NUMBERS) for n in lines[name]]
    faults = [f for f in (emulation.get("fault"), walk.get("fault")) if f is not None]
    return (
        all(isinstance(n, int) for n in (*numbers, *walk["line"], *emulation["blocks"]))
        and all(isinstance(n, int) for n in (*emulation["threads"], *emulation["grid"]))
        and len(emulation["blocks"]) == 2
        and all(isinstance(c, dict) for name in ("loaded", "stored") for c in lines[name])
        and all(isinstance(name, str) for name in walk["names"])
        and all(isinstance(a, str) and re.fullmatch("[0-9a-f]{1,256}", a) for a in walk["active"])
        and len(walk["active"]) == len(walk["line"])
        and all(_fits(row, 4) for row in walk["registers"])
        and all(_fits(row, 9) for row in walk["memory"])
        and all(_is_stored(row) for row in walk["memory"])
        and all(_fits(row, 4, first=str) for row in walk["arguments"])
        and all(_are_numbers(row) for row in walk["uses"])
        and all(_is_served(one) for one in walk["served"])
        and all(_is_accessed(row, walk["width"], len(walk["served"])) for row in walk["accesses"])
        and all(_has(f, {"what": str, "where": str, "hint": str, "line": int}) for f in faults)
    )


def _is_stored(row: list[Any]) -> bool:
    """Whether a row of `memory` has as many addresses, values and values of before as threads."""
    columns = row[5:]
    return (
        all(isinstance(column, list) for column in columns)
        and len({len(column) for column in columns}) == 1
        and all(isinstance(value, list) for column in columns[2:] for value in column)
    )


def _is_accessed(row: object, width: int, served: int) -> bool:
    """Whether a row of `accesses` has an address for each lane, which the warp has."""
    if not _fits(row, 8):
        return False
    _, space, region, stores, nbytes, lanes, at, number = cast("list[Any]", row)
    return (
        isinstance(space, str)
        and isinstance(region, str)
        and isinstance(stores, bool)
        and isinstance(nbytes, int)
        and _are_numbers(lanes)
        and _are_numbers(at)
        and len(lanes) == len(at)
        and all(0 <= lane < width for lane in lanes)
        and isinstance(number, int)
        and -1 <= number < served
    )


def _is_served(one: object) -> bool:
    if not _has(one, {"hits": list, "first": list, "ways": int, "extra": int, "least": int}):
        return False
    served = cast("dict[str, Any]", one)
    return _are_numbers(served["first"]) and all(
        _fits(hit, 3) and isinstance(hit[1], int) and _are_numbers(hit[2]) for hit in served["hits"]
    )


def _are_numbers(value: object) -> bool:
    items = cast("list[Any]", value) if isinstance(value, list) else [None]
    return all(isinstance(item, int) for item in items)


def _has(value: object, fields: Mapping[str, type]) -> bool:
    if not isinstance(value, dict):
        return False
    return all(isinstance(cast("Any", value).get(name), kind) for name, kind in fields.items())


def _fits(row: object, length: int, first: type = int) -> bool:
    if not isinstance(row, list):
        return False
    items = cast("list[Any]", row)
    return len(items) == length and isinstance(items[0], first)
