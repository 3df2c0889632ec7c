"""The search of an exported file that holds no trace, over the answers that it holds.

Finds names, calls, rules, ops, files, lines of sources and of texts of passes, as
`viz/views/search/find.py` finds them in a trace, in the same order. Structures it does not find,
and says so: the page inside the file does. What lies in the file may be anything; what is not of
the form of an answer is left out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final, cast

from core.errors import BudgetError
from viz.budget import Budget, take, within
from viz.format.cells import as_int, as_text
from viz.views.runs.process import STRIDE
from viz.views.search.find import GROUPS, KINDS, PER_GROUP, group_of, search_result
from viz.views.search.index import Text
from viz.views.search.shape import is_structural
from viz.views.search.textlines import MAX_LINES, changed_lines, lines_with

Data = dict[str, Any]
_ENTRY: Final = 5_000
"""Items of the budget of a search that a kernel or pass takes, so that the clock is looked at."""


class HeldSearch:
    """The answers that are searched: the `rows` of the run; `index` gives its SearchIndex, None in
    a file without one, `kernel` the answer about a kernel and `texts` that about the texts of a
    pass, None where the file does not have it; `name` is that of the file."""

    def __init__(
        self,
        rows: Sequence[Data],
        index: Callable[[], object],
        kernel: Callable[[int], object],
        texts: Callable[[int], object],
        name: str,
    ) -> None:
        live = (row for row in rows if row.get("status") != "gone")
        self._rows = sorted(live, key=lambda row: cast("int", row["id"]))
        self._kernel, self._texts, self._name = kernel, texts, name
        self._read_index = index

    @functools.cached_property
    def _index(self) -> Data | None:
        """None as well where the index has the form of earlier versions, by kinds of hits."""
        index = self._read_index()
        made = cast("Data", index) if isinstance(index, dict) else {}
        return made if "texts" in made and isinstance(made.get("hits"), dict) else None

    def find(self, text: str) -> Data:
        """SearchResult of the page; `problem` says what was not searched."""
        wanted = text.strip()
        if not wanted:
            return search_result([], {})
        ops = [as_text(op) for op in _list((self._index or {}).get("ops"))]
        if is_structural(wanted, lambda: ops):
            return search_result([], {}, None, self._problem("nodes by their structure"))
        found: dict[str, list[Data]] = {group: [] for group in GROUPS}
        place_of = {row["id"]: row["row"] for row in self._rows}
        missing: list[int] = []
        folded = wanted.casefold()
        hits = [
            *self._named(folded),
            *self._lines("source", self._kernels(), lambda at: self._sources(at, folded), missing),
            *self._lines("text", self._passes(), lambda at: self._changed(at, folded), missing),
        ]
        for number, kind, said, source in sorted(hits, key=lambda hit: hit[0] // STRIDE):
            hit = {"row": place_of.get(number, -1), "kind": kind, "text": said}
            hit |= {"step": None, "node": None, "passes": 1, "source": source}
            found[group_of(number, kind)].append(hit)
        problem = None
        if missing:
            problem = self._problem(
                f"texts of {len(missing):,} kernels and passes, which are not in this file,"
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

    def _named(self, wanted: str) -> Iterator[tuple[int, str, str, None]]:
        """Number, kind and text of what has `wanted`, which is folded, in the order of the index;
        without an index, of rows by their names."""
        if self._index is None:
            for row in self._rows:
                if row["id"] % STRIDE and wanted in as_text(row.get("name")).casefold():
                    kernel = "kernel" if row.get("label") == "kernel" else "group"
                    kind = "pass" if row.get("kind") == "rewrite" else kernel
                    yield row["id"], kind, as_text(row.get("name")), None
            return
        texts = [_text(text) for text in _list(self._index["texts"])]
        kinds = [text.kind(wanted) for text in texts]
        entries, numbers = (_list(self._index["hits"].get(key)) for key in ("entry", "text"))
        take(len(entries), 100 * len(entries))
        for entry, number in zip(entries, numbers, strict=False):
            kind = kinds[number] if isinstance(number, int) and 0 <= number < len(kinds) else None
            if kind is not None:
                yield as_int(entry), kind, texts[number].shown, None

    def _kernels(self) -> list[int]:
        """The numbers of finished kernels."""
        return [
            row["id"]
            for row in self._rows
            if row.get("label") == "kernel" and row.get("status") != "open"
        ]

    def _passes(self) -> list[int]:
        """The numbers of passes with texts."""
        return [row["id"] for row in self._rows if row.get("text") is True]

    def _lines(
        self,
        kind: str,
        numbers: Sequence[int],
        lines_of: Callable[[int], Iterator[tuple[Data, str]] | None],
        missing: list[int],
    ) -> Iterator[tuple[int, str, str, Data]]:
        """Lines of texts of these kernels or passes; `missing` gets the numbers of those that the
        file does not have. Each has memory of its own, as no text is kept."""
        counts: dict[int, int] = {}
        for number in numbers:
            take(_ENTRY)
            process, found = number // STRIDE, list[tuple[Data, str]]()
            is_whole = False
            with (
                suppress(BudgetError),
                within(Budget("the search in the texts of a kernel or a pass")),
            ):
                lines = lines_of(number)
                if lines is not None:
                    for line in islice(lines, MAX_LINES):
                        found.append(line)
                    is_whole = True
            if not found and not is_whole:
                missing.append(number)
            room = MAX_LINES - counts.get(process, 0)
            counts[process] = counts.get(process, 0) + len(found)
            yield from ((number, kind, said, line) for line, said in found[: max(0, room)])

    def _sources(self, kernel: int, wanted: str) -> Iterator[tuple[Data, str]] | None:
        """The lines of the sources of a kernel that have `wanted`, with their places; None where
        the file does not have them."""
        answer = self._kernel(kernel)
        if not isinstance(answer, dict):
            return None
        texts = _list(cast("Data", answer).get("artifacts"))
        return (line for text in texts for line in _found(text, kernel, wanted))

    def _changed(self, rewrite: int, wanted: str) -> Iterator[tuple[Data, str]] | None:
        """The same of the lines that a pass changed."""
        answer = self._texts(rewrite)
        if not isinstance(answer, dict):
            return None
        sides = {when: cast("Data", answer).get(when) for when in ("before", "after")}
        known = {when: cast("Data", side) for when, side in sides.items() if isinstance(side, dict)}
        texts = {when: as_text(side.get("text"), 1 << 25) for when, side in known.items()}
        return (
            ({"kind": as_text(known[when].get("kind")), "target": when, "line": number}, line)
            for when, number, line in changed_lines(wanted, texts.get("before"), texts.get("after"))
        )


def _found(text: object, kernel: int, wanted: str) -> Iterator[tuple[Data, str]]:
    """The lines of an artifact of a kernel that have `wanted`, with their places."""
    fields = cast("Data", text) if isinstance(text, dict) else {}
    if fields.get("passes") not in (None, kernel):
        return  # compiled on request, and found with its own passes
    where = {"kind": as_text(fields.get("kind")), "target": as_text(fields.get("target"))}
    for number, line in lines_with(wanted, as_text(fields.get("text"), 1 << 25)):
        yield {**where, "line": number}, line


def _text(item: object) -> Text:
    """A text of an index; one that is found by nothing where it is none."""
    fields = cast("Data", item) if isinstance(item, dict) else {}
    pairs = (_list(pair) for pair in _list(fields.get("kinds")))
    kinds = tuple((p[0], as_text(p[1])) for p in pairs if len(p) == 2 and p[0] in KINDS)
    return Text(as_text(fields.get("shown")), kinds)


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
