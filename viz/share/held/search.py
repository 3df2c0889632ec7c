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
from viz.budget import Budget, take, within
from viz.format.cells import as_int, as_text
from viz.views.process import STRIDE
from viz.views.search.find import GROUPS, KINDS, PER_GROUP, group_of, search_result
from viz.views.search.index import Text
from viz.views.search.shape import is_structural
from viz.views.search.sourcetexts import MAX_LINES, lines_with

Data = dict[str, Any]
_KERNEL: Final = 5_000
"""Items of the budget of a search that a kernel takes, so that the clock is looked at."""


class HeldSearch:
    """The answers that are searched: the `rows` of the run; `index` gives its SearchIndex, None in
    a file without one, and `kernel` the answer about a kernel, None where the file does not have
    it; `name` is that of the file."""

    def __init__(
        self,
        rows: Sequence[Data],
        index: Callable[[], object],
        kernel: Callable[[int], object],
        name: str,
    ) -> None:
        live = (row for row in rows if row.get("status") != "gone")
        self._rows = sorted(live, key=lambda row: cast("int", row["id"]))
        self._kernel, self._name = kernel, name
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
        hits = [*self._named(folded), *self._lines(folded, missing)]
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
