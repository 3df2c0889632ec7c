"""Which passes of a trace are checked, and in which parts. Never checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from core.prove.decide import Options
from viz.views.store import Store

PART: Final = 400
"""Steps of a part; a pass is never cut."""


@dataclass(frozen=True)
class Part:
    """Passes of a trace to be checked, by their numbers in the run; `rules`: by name, only these;
    `seconds`: after this time, the rest is not checked; `files`: the names of the files of its
    processes, in the order in which the passes are numbered, by name where there are none."""

    path: str
    rewrites: tuple[int, ...]
    rules: frozenset[str] = frozenset()
    seconds: float = 600.0
    options: Options = field(default_factory=Options)
    files: tuple[str, ...] = ()


def parts_of(store: Store, part: Part, jobs: int) -> Iterator[Part]:
    """Divides passes into parts of about equal work; neighbours, which have much in common, stay
    together."""
    counts = steps_of(store)
    chosen: list[int] = []
    total = sum(counts.get(number, 0) for number in part.rewrites)
    most = max(PART, total // (8 * jobs))
    steps = 0
    for number in part.rewrites:
        chosen.append(number)
        steps += 1 + counts.get(number, 0)
        if steps >= most:
            yield _with(part, chosen)
            chosen, steps = [], 0
    if chosen:
        yield _with(part, chosen)


def _with(part: Part, rewrites: Sequence[int]) -> Part:
    return replace(part, rewrites=tuple(rewrites))


def steps_of(store: Store) -> dict[int, int]:
    """How many steps each pass of a run has, by its number."""
    return {
        process.id(number): rewrite.matches
        for process in store.processes
        for number, rewrite in process.file.rewrites.items()
    }
