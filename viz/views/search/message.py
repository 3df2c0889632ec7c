"""What a search looks up besides names, as data: which passes have which rules, ops and places.

An exported file has it, so that its page finds without a server what `viz/views/search/find.py`
finds with one (viz/web/src/data/offline).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from core.origintext import split_origin
from viz.budget import take
from viz.read.tracefile import TraceFile
from viz.views.process import Process
from viz.views.search.index import MAX_TEXT, shown
from viz.views.search.structures import Structures
from viz.views.tree import calls_of

_TEXT: Final = 200
"""Bytes of a text in an answer, apart from its characters."""


class _Texts:
    """Distinct texts, and the place of each among them."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def add(self, text: str) -> int:
        """The place of a text, which may be new."""
        if text not in self._places:
            take(1, _TEXT + 4 * len(text))
        return self._places.setdefault(text, len(self._places))

    def all(self) -> list[str]:
        """All texts, in the order of their places."""
        return [*self._places]


def search_index(
    processes: Sequence[Process], place: Callable[[str], str], seconds: float
) -> dict[str, Any]:
    """SearchIndex of the page, in the order in which hits come. `place`: how "file:line" is shown.
    Events are looked at for about `seconds` more; `done` where all are. Raises BudgetError."""
    until = time.monotonic() + seconds
    ops, places = _Texts(), _Texts()
    calls: list[tuple[int, str]] = []
    called: list[int] = []
    rule: list[tuple[int, int]] = []
    op: list[tuple[int, int]] = []
    at: list[tuple[int, int]] = []
    done = True
    for process in processes:
        file = process.file
        for text in sorted(Structures(file, process.dialect.arg_text).ops()):
            ops.add(text)
        told = {c.id: calls_of(c) for c in [*file.contexts.values()]}
        calls += [(process.id(c), names) for c, names in told.items() if names is not None]
        for rewrite in [*file.rewrites.values()]:
            if told.get(rewrite.context) is not None:
                called.append(process.id(rewrite.id))
        found: dict[str, list[tuple[int, int]]] = {}
        for kind in ("rule", "op", "file"):
            found[kind], part = process.index.all_of(kind, until)
            done = done and part == 1
        names = {number: record.name for number, record in [*file.rules.items()]}
        by_name = sorted((r, names[n], n) for r, n in found["rule"] if n in names)
        rule += [(process.id(r), process.rule(n)) for r, _, n in by_name]
        op += [(process.id(r), ops.add(text)) for r, text in _named(file, found["op"])]
        origins = [(r, place(text)) for r, text in _named(file, found["file"])]
        by_text = sorted((r, shown(*split_origin(origin)), origin) for r, origin in origins)
        at += [(process.id(r), places.add(origin)) for r, _, origin in by_text]
    return {
        "ops": ops.all(),
        "places": [split_origin(text) for text in places.all()],
        "calls": {"context": [c for c, _ in calls], "names": [names for _, names in calls]},
        "called": called,
        "rule": {"rewrite": [r for r, _ in rule], "rule": [number for _, number in rule]},
        "op": {"rewrite": [r for r, _ in op], "op": [number for _, number in op]},
        "place": {"rewrite": [r for r, _ in at], "place": [number for _, number in at]},
        "done": done,
    }


def _named(file: TraceFile, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, str]]:
    """Pairs of a rewrite and a string with the texts of these, as far as one searches them."""
    named = ((rewrite, file.text(string)) for rewrite, string in pairs)
    return sorted((rewrite, text) for rewrite, text in named if 0 < len(text) < MAX_TEXT)
