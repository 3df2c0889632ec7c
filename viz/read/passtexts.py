"""The compiler's own texts before and after passes: which pass has which, decoded on demand.

Places that a row names are checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from viz.budget import take
from viz.format.blocks import PASS_TEXTS
from viz.read.artifacts import ArtifactBlocks
from viz.read.database import Database

_ROW = 400
"""Bytes that are kept of a row."""


class PassText(NamedTuple):
    """One text; `kind`: the number of the string that names it; `left_out`: lines that are not in
    it."""

    after: bool
    kind: int
    text: tuple[int, int]
    lines: tuple[int, int]
    left_out: int


class PassTexts:
    """Those of one file."""

    def __init__(self, db: Database) -> None:
        self._of: dict[int, list[PassText]] = {}
        self._blocks = ArtifactBlocks(db)

    def add(self, data: bytes) -> None:
        """Takes up a block. Raises TraceError and BudgetError."""
        for rewrite, when, kind, *places, left_out in PASS_TEXTS.rows(data, _ROW):
            take(1, _ROW)
            text, at, lines, lines_at = places
            one = PassText(when > 0, kind, (text, at), (lines, lines_at), max(0, left_out))
            known = self._of.setdefault(rewrite, [])
            if all(other.after != one.after for other in known):
                known.append(one)

    def has(self, rewrite: int) -> bool:
        """Whether a pass has a text."""
        return rewrite in self._of

    def rewrites(self) -> list[int]:
        """The passes that have one."""
        return sorted(self._of)

    def of(self, rewrite: int) -> list[PassText]:
        """The texts of a pass, the one before it first; at most one of each."""
        return sorted(self._of.get(rewrite, ()))

    def text(self, one: PassText) -> str:
        """Raises TraceError where it cannot be read, and BudgetError."""
        return self._blocks.text([*one.text])

    def nodes(self, one: PassText) -> Iterator[list[int]]:
        """The nodes behind each line, where that is known. Raises TraceError and BudgetError."""
        if one.lines[0]:
            counts, nodes = self._blocks.placed_lines([*one.lines])
            take(4 * len(counts) + len(nodes), 500 * len(counts) + 60 * len(nodes))
            flat, at = nodes.tolist(), 0
            for count in counts.tolist():
                yield flat[at : at + count]
                at += count
