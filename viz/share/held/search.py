"""The search of an exported file that holds no trace, over the answers that it holds.

Finds names, calls, rules, ops, files and lines of sources, as `viz/views/search/find.py` finds them
in a trace, in the same order. Structures it does not find, and says so: the page inside the file
does. What lies in the file may be anything; what is not of the form of an answer is left out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, cast

from core.errors import BudgetError
from core.origintext import split_origin
from viz.budget import Budget, take, within
from viz.format.cells import as_int, as_text
from viz.views.process import STRIDE
from viz.views.search.find import GROUPS, MAX_LINE, PER_GROUP, group_of, search_result
from viz.views.search.index import shown
from viz.views.search.shape import is_structural

Data = dict[str, Any]
MAX_LINES: Final = 2000
"""Lines of sources that are found of one process."""


_KERNEL: Final = 5_000
"""Items of the budget of a search that a kernel takes, so that the clock is looked at."""


class HeldSearch:
    """The answers that are searched: `rows` and `rules` of the run; `index` gives its SearchIndex,
    None in a file of before there was one, and `kernel` the answer about a kernel, None where the
    file does not have it; `name` is that of the file."""

    def __init__(
        self,
        rows: Sequence[Data],
        rules: Sequence[Data],
        index: Callable[[], object],
        kernel: Callable[[int], object],
        name: str,
    ) -> None:
        live = (row for row in rows if row.get("status") != "gone")
        self._rows = sorted(live, key=lambda row: cast("int", row["id"]))
        self._rules, self._kernel, self._name = rules, kernel, name
        self._read_index = index

    @functools.cached_property
    def _index(self) -> Data | None:
        index = self._read_index()
        return cast("Data", index) if isinstance(index, dict) else None

    def find(self, text: str) -> Data:
        """SearchResult of the page; `problem` says what was not searched."""
        wanted = text.strip()
        if not wanted:
            return search_result([], {})
        ops = self._texts("ops") if self._index is not None else []
        if is_structural(wanted, lambda: ops):
            return search_result([], {}, None, self._problem("nodes by their structure"))
        found: dict[str, list[Data]] = {group: [] for group in GROUPS}
        place_of = {row["id"]: row["row"] for row in self._rows}
        missing: list[int] = []
        folded = wanted.casefold()
        hits = [*self._names(folded), *self._lines(folded, missing)]
        for number, kind, said, source in sorted(hits, key=lambda hit: hit[0] // STRIDE):
            hit = {"row": place_of.get(number, -1), "kind": kind, "text": said}
            hit |= {"step": None, "node": None, "passes": 1, "source": source}
            found[group_of(number, kind)].append(hit)
        problem = None
        if missing:
            problem = self._problem(
                f"sources of {len(missing):,} kernels, which are not in this file,"
            )
        elif self._index is None:
            problem = self._problem("rules, ops and places of passes, of which there is no index,")
        hits_kept = [hit for group in found.values() for hit in group[:PER_GROUP]]
        totals = {name: len(group) for name, group in found.items()}
        return search_result(hits_kept, totals, None, problem)

    def _problem(self, what: str) -> dict[str, str]:
        return {
            "what": f"{what} cannot be searched here: this exported file holds no trace",
            "where": self._name,
            "hint": "open the file itself in a browser, which searches what it holds, or the trace",
        }

    def _names(self, wanted: str) -> Iterator[tuple[int, str, str, None]]:
        """Number, kind and text of what has `wanted`, which is folded."""
        names = {row["id"]: as_text(row.get("name")) for row in self._rows}
        entries = [row for row in self._rows if row["id"] % STRIDE]
        for row in entries:
            if wanted in names[row["id"]].casefold():
                kernel = "kernel" if row.get("label") == "kernel" else "group"
                kind = "pass" if row.get("kind") == "rewrite" else kernel
                yield row["id"], kind, names[row["id"]], None
        if self._index is not None:
            yield from self._in_steps(wanted, names)
        for row in entries:
            caller = as_text(row.get("caller"))
            if row.get("kind") == "rewrite" and wanted in caller.casefold():
                yield row["id"], "file", shown(*split_origin(caller)), None

    def _in_steps(self, wanted: str, names: dict[int, str]) -> Iterator[tuple[int, str, str, None]]:
        for number, text in self._pairs("calls", "context", "names"):
            if wanted in as_text(text).casefold():
                yield number, "call", f"{names.get(number, '')}: {as_text(text)}", None
        places = [_place(place) for place in _list((self._index or {}).get("places"))]
        called = {n for n in _list((self._index or {}).get("called")) if isinstance(n, int)}
        in_file = [wanted in where.casefold() for where, _ in places]
        on_call = [bool(call) and wanted in f"{w} {call}".casefold() for w, call in places]
        at = [
            (number, place)
            for number, place in self._pairs("place", "rewrite", "place")
            if isinstance(place, int) and 0 <= place < len(places)
        ]
        for number, place in at:
            if on_call[place] and not in_file[place] and number not in called:
                yield number, "call", shown(*places[place]), None
        rules = {
            rule["id"]: rule["name"]
            for rule in self._rules
            if any(wanted in as_text(rule.get(key)).casefold() for key in ("name", "equation"))
        }
        for number, rule in self._pairs("rule", "rewrite", "rule"):
            if isinstance(rule, int) and rule in rules:
                yield number, "rule", rules[rule], None
        ops = self._texts("ops")
        for number, op in self._pairs("op", "rewrite", "op"):
            if isinstance(op, int) and 0 <= op < len(ops) and wanted in ops[op].casefold():
                yield number, "op", ops[op], None
        for number, place in at:
            if in_file[place]:
                yield number, "file", shown(*places[place]), None

    def _lines(self, wanted: str, missing: list[int]) -> Iterator[tuple[int, str, str, Data]]:
        """Lines of the recorded sources of finished kernels; `missing` gets the numbers of
        kernels that the file does not have."""
        counts: dict[int, int] = {}
        for row in self._rows:
            if row.get("label") != "kernel" or row.get("status") == "open":
                continue
            take(_KERNEL)
            lines = self._lines_of(row["id"], wanted)
            if lines is None:
                missing.append(row["id"])
                continue
            process = row["id"] // STRIDE
            room = MAX_LINES - counts.get(process, 0)
            counts[process] = counts.get(process, 0) + len(lines)
            yield from ((row["id"], "source", said, line) for line, said in lines[: max(0, room)])

    def _lines_of(self, kernel: int, wanted: str) -> list[tuple[Data, str]] | None:
        """The lines of the sources of a kernel that have `wanted`, with their places; None where
        the file does not have them. Each kernel has memory of its own, as none is kept."""
        found: list[tuple[Data, str]] = []
        try:
            with within(Budget("the search in the sources of a kernel")):
                answer = self._kernel(kernel)
                if not isinstance(answer, dict):
                    return None
                for text in _list(cast("Data", answer).get("artifacts")):
                    found += islice(_found(text, kernel, wanted), MAX_LINES - len(found))
        except BudgetError:
            return found or None
        return found

    def _texts(self, key: str) -> list[str]:
        return [as_text(text) for text in _list((self._index or {}).get(key))]

    def _pairs(self, key: str, first: str, second: str) -> list[tuple[int, Any]]:
        """Two parallel arrays of the index."""
        item = (self._index or {}).get(key)
        columns = cast("Data", item) if isinstance(item, dict) else {}
        numbers, values = _list(columns.get(first)), _list(columns.get(second))
        take(len(numbers), 100 * len(numbers))
        return [(as_int(n), v) for n, v in zip(numbers, values, strict=False)]


def _found(text: object, kernel: int, wanted: str) -> Iterator[tuple[Data, str]]:
    """The lines of an artifact of a kernel that have `wanted`, with their places."""
    fields = cast("Data", text) if isinstance(text, dict) else {}
    if fields.get("passes") not in (None, kernel):
        return  # compiled on request, and found with its own passes
    source = as_text(fields.get("text"), 1 << 25)
    take(len(source) // 64, len(source))
    if wanted in source.casefold():
        where = {"kind": as_text(fields.get("kind")), "target": as_text(fields.get("target"))}
        for number, line in enumerate(source.splitlines(), 1):
            if wanted in line.casefold():
                yield {**where, "line": number}, line.strip()[:MAX_LINE]


def _place(place: object) -> tuple[str, str]:
    parts = [as_text(part) for part in _list(place)]
    return (parts[0], parts[1]) if len(parts) == 2 else ("", "")


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
