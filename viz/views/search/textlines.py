"""Lines of the texts of a run that have a text in them: of kernels' recorded sources, and of what
passes changed in the compiler's own texts. Keeps no text.
"""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from core.errors import BudgetError, TraceError
from viz.budget import answering, take
from viz.read.tracefile import TraceFile
from viz.views.kernels.kernels import KernelReader

MAX_LINE: Final = 300
"""Characters of a line that are shown."""
MAX_LINES: Final = 2_000
"""Lines of one query that are kept; the others are not looked for."""
_QUERIES: Final = 8
"""Queries whose progress is kept."""
_NAMES: Final = re.compile(r"%[\w$.-]+(?:#\d+)?", re.ASCII)
"""Names of values in MLIR, HLO and LLVM: a line with other ones is the same line."""


@dataclass(frozen=True)
class Line:
    """A line of a text of a kernel context or a pass. `place`: kind of the text, its target, or
    "before" or "after" the pass, and the number of the line from 1."""

    entry: int
    text: str
    place: tuple[str, str, int]


@dataclass
class _Progress:
    done: set[int] = field(default_factory=set[int])
    """Entries that have been searched."""
    lines: list[Line] = field(default_factory=list[Line])


class LineSearch(ABC):
    """The texts of the entries of one kind in one file."""

    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._progress: OrderedDict[str, _Progress] = OrderedDict()

    @abstractmethod
    def entries(self) -> Sequence[int]:
        """Those that have all of their texts, ascending."""

    @abstractmethod
    def lines_of(self, entry: int, wanted: str) -> Iterator[Line]:
        """The lines of an entry that have `wanted`, which is case-folded. Raises BudgetError, and
        TraceError where a text cannot be read."""

    def search(self, text: str, until: float = float("inf")) -> tuple[list[Line], float]:
        """Lines with `text`, whatever its case, entry by entry; and the part of the entries that
        has been looked at, 1.0 for all: it grows by one or more until `time.monotonic()` is
        `until`."""
        wanted = text.casefold()
        progress = self._progress.pop(wanted, None) or _Progress()
        self._progress[wanted] = progress
        while len(self._progress) > _QUERIES:
            self._progress.popitem(last=False)
        entries = self.entries()
        left = [entry for entry in entries if entry not in progress.done]
        for at, entry in enumerate(left):
            if len(progress.lines) >= MAX_LINES:
                break
            if at and time.monotonic() > until:
                return progress.lines, 1 - (len(left) - at) / len(entries)
            progress.lines += self._found(entry, wanted)[: MAX_LINES - len(progress.lines)]
            progress.done.add(entry)
        return progress.lines, 1.0

    def _found(self, entry: int, wanted: str) -> list[Line]:
        """The lines of an entry; of texts that are too large to be searched at once, the first
        ones. Each entry has a budget of its own: all of them together may take as long as the user
        searches."""
        found: list[Line] = []
        with (
            suppress(BudgetError, TraceError),
            answering("the search in the texts of a kernel or a pass"),
        ):
            for line in self.lines_of(entry, wanted):
                if len(found) < MAX_LINES:
                    found.append(line)
        return found


class SourceTexts(LineSearch):
    """The sources of one file's kernels."""

    def __init__(self, file: TraceFile, kernels: KernelReader) -> None:
        super().__init__(file)
        self._kernels = kernels

    def entries(self) -> Sequence[int]:
        """Kernels that are over."""
        contexts = [*self._file.contexts.values()]
        return sorted(c.id for c in contexts if c.role == "kernel" and c.us is not None)

    def lines_of(self, entry: int, wanted: str) -> Iterator[Line]:
        """Lines of its sources."""
        for kind, target, source in self._kernels.texts(self._file.contexts[entry]):
            for number, line in lines_with(wanted, source):
                yield Line(entry, line, (kind, target, number))


class PassTextLines(LineSearch):
    """What passes of one file changed in the compiler's own texts."""

    def entries(self) -> Sequence[int]:
        """Passes with a text."""
        return self._file.pass_texts.rewrites()

    def lines_of(self, entry: int, wanted: str) -> Iterator[Line]:
        """Lines that it removed, and lines that it added."""
        texts = self._file.pass_texts
        found = {one.after: (self._file.name(one.kind), texts.text(one)) for one in texts.of(entry)}
        before, after = found.get(False), found.get(True)
        pair = before[1] if before else None, after[1] if after else None
        for when, number, line in changed_lines(wanted, *pair):
            kind = (after if when == "after" else before) or ("", "")
            yield Line(entry, line, (kind[0], when, number))


def lines_with(wanted: str, source: str) -> Iterator[tuple[int, str]]:
    """The lines of a source with `wanted`, which is case-folded, and their numbers from 1. Raises
    BudgetError."""
    take(len(source) // 64, len(source))
    if wanted in source.casefold():
        for number, line in enumerate(source.splitlines(), 1):
            if wanted in line.casefold():
                yield number, line.strip()[:MAX_LINE]


def changed_lines(
    wanted: str, before: str | None, after: str | None
) -> Iterator[tuple[str, int, str]]:
    """The lines with `wanted`, which is case-folded, that only one of two texts has, names of
    values aside: which one, their numbers from 1, and themselves. Of one text alone: all lines
    with it. Raises BudgetError."""
    sides = [
        (when, [*lines_with(wanted, text)] if text is not None else [])
        for when, text in (("before", before), ("after", after))
    ]
    counts = [Counter(_plain(line) for _, line in lines) for _, lines in sides]
    for (when, lines), other in zip(sides, reversed(counts), strict=True):
        left = Counter(other)
        for number, line in lines:
            if left[_plain(line)] > 0:
                left[_plain(line)] -= 1
            else:
                yield when, number, line


def _plain(line: str) -> str:
    return _NAMES.sub("%", line)
