"""The rows of the navigator: contexts and rewrites in the order in which they began.

Rows are only ever appended; a row that changes keeps its number and is sent again. Only those of
what was compiled on request may go, and leave their places to others of that kind. Never reads
events.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, cast

from core.origintext import split_origin
from viz.format.cells import as_text
from viz.read.records import Context, Rewrite

MAX_CALLS: Final = 256
MAX_NAME: Final = 200
GONE: Final = "gone"
"""The status of a row that stands for nothing any more."""
_NOWHERE: Final = -2
"""What is above such a row: neither a row nor the root."""


@dataclass
class Row:
    """One row, in the form of the page."""

    row: int
    parent: int
    kind: str
    id: int
    name: str
    label: str
    steps: int
    declines: int
    ms: float
    nodes: int
    status: str
    caller: str
    calls: str
    """Of a kernel: names of the user's calls that it computes, such as "conv2d, relu"."""
    target: str = ""
    """Of a kernel that was compiled on request, below its row: what it was compiled for. What is
    below is no part of what the program did, and is not counted above."""
    arch: str = ""
    """Of a kernel of the program: the target that it was compiled for."""
    text: bool = False
    """Of a rewrite: whether it has texts of the compiler's own, before and after it."""
    what: str = ""
    """Of a context that is a "group": what its compiler calls it, such as "pipeline"."""


class Tree:
    """All rows of a run."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._of_entry: dict[int, int] = {}
        self._born: list[int] = []
        self._changed: list[int] = []
        self._time = 0
        self._told: dict[int, list[int]] = {}
        """Steps and declines below a row that it has not been told of."""
        self._free: list[int] = []
        """Rows of what has been dropped: the next ones of that kind take their places, the first
        one first, so that none comes before the one above it, but for that of a kernel."""

    def row_of(self, entry: int) -> int:
        """The row of a context or rewrite; -1 where there is none."""
        return self._of_entry.get(entry, -1)

    def tick(self) -> None:
        """What is added or changed from here on is newer than what the page has seen."""
        self._time += 1

    def since(self, seen: int) -> list[Row]:
        """Rows from number `seen` on, and older ones that changed after that many were there."""
        if not 0 < seen <= len(self.rows):
            return self.rows.copy()
        had = self._born[seen - 1]
        older = [r for r in self.rows[:seen] if self._changed[r.row] > had]
        return older + self.rows[seen:]

    def add_process(self, entry: int, name: str) -> None:
        """A row above everything of a further process of the run."""
        self._append(entry, -1, "context", name, "group")

    def put(
        self,
        entry: Context | Rewrite,
        number: int,
        parent: int,
        place: Callable[[str], str],
        target: str | None = None,
        has_text: bool = False,
    ) -> None:
        """Adds a row or brings it up to date. `number` and `parent` count in the whole run; `place`
        shortens "file:line". After the last one, `settle` counts. `target`, even "": of a kernel
        that was compiled on request, whose rows may be dropped again; see Row.target."""
        at = self._of_entry.get(number)
        error = entry.error is not None
        status = "error" if error else "open" if entry.us is None else "ok"
        ms = (entry.us or 0) / 1000
        if isinstance(entry, Context):
            label = entry.role or "group"
            if at is None:
                at = self._append(number, self.row_of(parent), "context", entry.name, label, target)
            calls = "" if target else calls_of(entry) or ""
            arch = as_text(entry.meta.get("target"), MAX_NAME) if label == "kernel" else ""
            what = "" if entry.role else entry.kind[:MAX_NAME]
            self._set(at, name=entry.name, status=status, ms=ms, calls=calls, arch=arch, what=what)
            return
        if at is None:
            at = self._append(number, self.row_of(parent), "rewrite", entry.name, "pass", target)
        row = self.rows[at]
        more = entry.matches - row.steps, entry.declines - row.declines
        caller = place(entry.caller)
        self._set(at, status=status, ms=ms, nodes=entry.nodes, caller=caller, text=has_text)
        self._count(at, *more)

    def drop(self, numbers: Iterable[int]) -> None:
        """Takes these entries away; their rows stay, marked as gone, until others need them."""
        for at in filter(lambda at: at >= 0, map(self.row_of, numbers)):
            del self._of_entry[self.rows[at].id]
            self.rows[at] = Row(at, _NOWHERE, "context", 0, "", "group", 0, 0, 0.0, 0, GONE, "", "")
            self._changed[at] = self._time
            heapq.heappush(self._free, at)

    def _append(
        self, entry: int, parent: int, kind: str, name: str, label: str, target: str | None = None
    ) -> int:
        row = Row(0, parent, kind, entry, name, label, 0, 0, 0.0, 0, "ok", "", "", target or "")
        if target is not None and self._free:
            row.row = at = heapq.heappop(self._free)
            self.rows[at] = row
            self._changed[at] = self._time
        else:
            row.row = at = len(self.rows)
            self.rows.append(row)
            self._born.append(self._time)
            self._changed.append(self._time)
        self._of_entry[entry] = at
        return at

    def _set(self, at: int, **fields: object) -> None:
        row = self.rows[at]
        for name, value in fields.items():
            if getattr(row, name) != value:
                setattr(row, name, value)
                self._changed[at] = self._time

    def _count(self, at: int, steps: int, declines: int) -> None:
        """Adds to a rewrite's counts, and to what the contexts around it are going to be told."""
        if not steps and not declines:
            return
        row = self.rows[at]
        self._set(at, steps=row.steps + steps, declines=row.declines + declines)
        if row.parent >= 0:
            told = self._told.setdefault(row.parent, [0, 0])
            told[0] += steps
            told[1] += declines

    def settle(self) -> None:
        """Brings the counts of contexts up to date, after all that was `put`: each row tells the
        one above it once, however deep they are nested."""
        waiting = [-at for at in self._told]
        heapq.heapify(waiting)
        while waiting:
            at = -heapq.heappop(waiting)  # the last one first: what is above a row came before it
            steps, declines = self._told.pop(at)
            row = self.rows[at]
            if row.kind == "context":
                self._set(at, steps=row.steps + steps, declines=row.declines + declines)
            if row.parent >= 0 and not row.target:
                if row.parent not in self._told:
                    heapq.heappush(waiting, -row.parent)
                told = self._told.setdefault(row.parent, [0, 0])
                told[0] += steps
                told[1] += declines


def calls_of(context: Context) -> str | None:
    """The names of the user's calls that a kernel computes, each once; None where that was not
    recorded."""
    origins = context.meta.get("metadata")
    if not isinstance(origins, list):
        return None
    texts = [o for o in cast("list[object]", origins)[:MAX_CALLS] if isinstance(o, str)]
    names = dict.fromkeys(split_origin(text)[1][:MAX_NAME] for text in texts)
    return ", ".join(name for name in names if name)
