"""Lines of kernels' recorded source texts that have a text in them. Keeps no text."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from core.errors import BudgetError
from viz.budget import answering, take
from viz.read.records import Context
from viz.read.tracefile import TraceFile
from viz.views.kernels import KernelReader

MAX_LINE: Final = 300
"""Characters of a line that are shown."""
MAX_LINES: Final = 2_000
"""Lines of one query that are kept; the others are not looked for."""
_QUERIES: Final = 8
"""Queries whose progress is kept."""


@dataclass(frozen=True)
class Line:
    """A line of a source of a kernel context; `place`: its kind, target and number from 1."""

    context: int
    text: str
    place: tuple[str, str, int]


@dataclass
class _Progress:
    last: int = 0
    """Contexts up to this number have been searched."""
    lines: list[Line] = field(default_factory=list[Line])


class SourceTexts:
    """The texts of one file's kernels."""

    def __init__(self, file: TraceFile, kernels: KernelReader) -> None:
        self._file, self._kernels = file, kernels
        self._progress: OrderedDict[str, _Progress] = OrderedDict()

    def search(self, text: str, until: float = float("inf")) -> tuple[list[Line], float]:
        """Lines with `text`, whatever its case, kernel by kernel; and the part of the kernels that
        has been looked at, 1.0 for all: it grows by one or more kernels until `time.monotonic()` is
        `until`."""
        wanted = text.casefold()
        progress = self._progress.pop(wanted, None) or _Progress()
        self._progress[wanted] = progress
        while len(self._progress) > _QUERIES:
            self._progress.popitem(last=False)
        kernels = [
            context
            for context in [*self._file.contexts.values()]
            if context.role == "kernel" and context.us is not None
        ]
        left = sorted((c for c in kernels if c.id > progress.last), key=lambda c: c.id)
        for at, context in enumerate(left):
            if len(progress.lines) >= MAX_LINES:
                break
            if at and time.monotonic() > until:
                return progress.lines, 1 - (len(left) - at) / len(kernels)
            progress.lines += self._found(context, wanted)[: MAX_LINES - len(progress.lines)]
            progress.last = context.id
        return progress.lines, 1.0

    def _found(self, context: Context, wanted: str) -> list[Line]:
        """The lines of a kernel's sources that have `wanted`, which is folded; of those that are
        too large to be searched at once, the first ones. Each kernel has a budget of its own: all
        of them together may take as long as the user searches."""
        found: list[Line] = []
        with suppress(BudgetError), answering("the search in the sources of a kernel"):
            for kind, target, source in self._kernels.texts(context):
                for number, line in lines_with(wanted, source):
                    if len(found) < MAX_LINES:
                        found.append(Line(context.id, line, (kind, target, number)))
        return found


def lines_with(wanted: str, source: str) -> Iterator[tuple[int, str]]:
    """The lines of a source with `wanted`, which is case-folded, and their numbers from 1. Raises
    BudgetError."""
    take(len(source) // 64, len(source))
    if wanted in source.casefold():
        for number, line in enumerate(source.splitlines(), 1):
            if wanted in line.casefold():
                yield number, line.strip()[:MAX_LINE]
