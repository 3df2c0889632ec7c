"""One search over everything in a run: kernels, calls, rules, passes, ops, files, lines of sources
and of what passes changed in the compiler's own texts, and nodes by their structure.

Hits come in groups, each of a bounded number with how many there are in all, so that no group
hides another. What was found in kernels that were compiled on request is a group of its own, so
that the others do not depend on what was looked at. Never looks at what was searched before in the
same time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final

from core.errors import TraceError
from viz.budget import answering, take
from viz.views.runs.process import Process, is_compiled
from viz.views.search.shape import Shape, is_structural, parse
from viz.views.search.structures import Place, Structures

KINDS: Final[tuple[str, ...]] = (
    "kernel",
    "call",
    "rule",
    "pass",
    "group",
    "op",
    "file",
    "source",
    "text",
    "node",
)
"""What a hit is; its group too, where the program itself compiled the kernel."""
COMPILED: Final = "compiled"
"""The group of hits of every kind in kernels that were compiled on request."""
GROUPS: Final[tuple[str, ...]] = (*KINDS, COMPILED)
"""The groups, in the order in which they are shown."""
PER_GROUP: Final = 50
_HIT: Final = 600
"""Bytes of a hit in an answer."""


@dataclass(frozen=True)
class Found:
    """A hit in one process. `entry`: the context or rewrite to open; at `step`, with `node`
    selected, or at `line` (from 1) of the source of this kind and target, or of the text "before"
    or "after" the pass, where it has these."""

    process: Process
    entry: int
    kind: str
    text: str
    step: int | None = None
    node: int | None = None
    passes: int = 1
    """Of a node: the passes of its kernel in which it is found, of which this is the first."""
    source: tuple[str, str, int] | None = None


def find(
    processes: Sequence[Process],
    text: str,
    seconds: float,
    row_of: Callable[[int], int],
    place: Callable[[str], str],
    reading: AbstractContextManager[object],
) -> dict[str, Any]:
    """Everything that has `text`, or nodes of the structure that it describes. `row_of`: the row of
    an entry of the run; `place`: how "file:line" is shown; `reading` is entered to
    read texts of kernels. What cannot be looked at in that many
    seconds is said in `truncated`; the next search for it goes on from there. `problem` says what
    is wrong with a query that can be no structure."""
    wanted = text.strip()
    until = time.monotonic() + seconds
    kept: dict[str, list[Found]] = {group: [] for group in GROUPS}
    totals = {group: len(hits) for group, hits in kept.items()}
    problem: dict[str, str] | None = None
    share = 1.0

    def add(hits: Iterator[Found]) -> None:
        for hit in hits:
            group = group_of(hit.process.id(hit.entry), hit.kind)
            totals[group] += 1
            if len(kept[group]) < PER_GROUP:
                kept[group].append(hit)

    def ops() -> Iterator[str]:
        for process in processes:
            yield from Structures.of(process).ops()

    if wanted and is_structural(wanted, ops):
        try:
            shape = parse(wanted, processes[0].dialect.dialect.commutative)
            with answering("the search for this structure"):
                for process in processes:
                    add(_nodes(process, shape))
        except TraceError as error:
            problem = {"what": error.what, "where": error.where, "hint": error.hint}
    elif wanted:
        folded = wanted.casefold()
        done: list[float] = []
        for process in processes:
            hits, part = process.index.search(folded, place, until)
            add(
                Found(process, hit.entry, hit.text.kind(folded) or "", hit.text.shown)
                for hit in hits
            )
            with reading:
                sources, of_sources = process.source_texts.search(folded, until)
                texts, of_texts = process.pass_texts.search(folded, until)
            for kind, lines in (("source", sources), ("text", texts)):
                add(
                    Found(process, line.entry, kind, line.text, source=line.place) for line in lines
                )
            done.append(min(part, of_sources, of_texts))
        share = sum(done) / len(done) if done else 1.0
    take(len(GROUPS) * PER_GROUP, _HIT * sum(map(len, kept.values())))
    said = None if share == 1 else f"{min(0.99, share):.0%} of the run searched so far."
    hits = [_data(hit, row_of) for group in GROUPS for hit in kept[group]]
    return search_result(hits, totals, said, problem)


def group_of(entry: int, kind: str) -> str:
    """The group of a hit, by the number in the run of its context or rewrite."""
    return COMPILED if is_compiled(entry) else kind


def search_result(
    hits: Sequence[Mapping[str, Any]],
    totals: Mapping[str, int],
    truncated: str | None = None,
    problem: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Hits in the form of the page: SearchResult."""
    return {
        "hits": hits,
        "totals": {group: count for group, count in totals.items() if count},
        "total": sum(totals.values()),
        "truncated": truncated,
        "problem": problem,
    }


def _nodes(process: Process, shape: Shape) -> Iterator[Found]:
    """One hit for a node that is found in several passes of a kernel, where it is found first."""
    structures = Structures.of(process)
    history: dict[tuple[int, int], list[Place]] = {}
    for place in structures.search(shape):
        context = process.file.rewrites[place.rewrite].context
        history.setdefault((context, place.node), []).append(place)
    for (_, node), places in history.items():
        first = places[0]
        more = f" and {first.count - 1:,} more" if first.count > 1 else ""
        text = structures.describe(node) + more
        yield Found(process, first.rewrite, "node", text, first.step, node, len(places))


def _data(hit: Found, row_of: Callable[[int], int]) -> dict[str, Any]:
    return {
        "row": row_of(hit.process.id(hit.entry)),
        "kind": hit.kind,
        "text": hit.text,
        "step": hit.step,
        "node": None if hit.node is None else hit.process.node(hit.node),
        "passes": hit.passes,
        "source": None
        if hit.source is None
        else {"kind": hit.source[0], "target": hit.source[1], "line": hit.source[2]},
    }
