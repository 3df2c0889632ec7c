"""Source texts of kernels in one file, and the nodes behind their lines, decoded on demand.

Keeps the block of each kind that was asked for last. Trusts no place that a row names.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from core.errors import TraceError
from viz.format.blocks import ARTIFACT_LINES, TEXT_LINES
from viz.format.cells import as_int, as_text
from viz.format.pack import Ints, adds_up
from viz.format.rows import ArtifactRow
from viz.format.texts import unpack_texts
from viz.read.database import Database
from viz.read.eventblocks import block_data

_KEPT = 16
"""Bytes that are kept of a number of a block: itself, and what it adds up to."""
MAX_LENGTH = 1 << 25
"""Characters of a text of version 1, which stands in its row."""


class ArtifactBlocks:
    """Blocks of kinds TEXTS and TEXT_LINES of one file."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._texts: tuple[int, list[str]] = 0, []
        self._lines: tuple[int, _Lines] = 0, _Lines(*[np.zeros(0, np.int64)] * 3)

    def text(self, where: object) -> str:
        """The text at a place; in version 1 that is the text itself. Raises TraceError where it
        cannot be read."""
        if not isinstance(where, list):
            return as_text(where, MAX_LENGTH)
        block, at = _place(cast("list[Any]", where))
        if self._texts[0] != block:
            self._texts = block, unpack_texts(block_data(self._db, block))
        if not 0 <= at < len(self._texts[1]):
            raise TraceError("the text of an artifact is missing")
        return self._texts[1][at]

    def lines(self, row: ArtifactRow, where: object) -> tuple[Ints, Ints]:
        """The number of nodes behind each line of a text, and all of these: at a place, or in
        version 2 in the row. Raises TraceError where they cannot be read, and BudgetError."""
        if row.lines:
            counts, nodes = ARTIFACT_LINES.unpack(row.lines, each=_KEPT).values()
            if not adds_up(counts, nodes):
                raise TraceError("an artifact is damaged")
            return counts, nodes
        if not isinstance(where, list):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        return self.placed_lines(cast("list[Any]", where))

    def placed_lines(self, where: list[Any]) -> tuple[Ints, Ints]:
        """The same of a text that has no row. Raises TraceError and BudgetError."""
        block, at = _place(where)
        if self._lines[0] != block:
            columns = TEXT_LINES.unpack(block_data(self._db, block), each=_KEPT)
            self._lines = block, _Lines(*columns.values())
        return self._lines[1].of(at)


class _Lines:
    """A block of kind TEXT_LINES. Raises TraceError where its columns do not fit together."""

    def __init__(self, lines: Ints, lengths: Ints, nodes: Ints) -> None:
        if not (adds_up(lines, lengths) and adds_up(lengths, nodes)):
            raise TraceError("the nodes behind the lines of artifacts are damaged")
        self._lengths, self._nodes = lengths, nodes
        self._ends = np.cumsum(lines)
        self._starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))

    def of(self, at: int) -> tuple[Ints, Ints]:
        if not 0 <= at < len(self._ends):
            raise TraceError("the nodes behind the lines of an artifact are missing")
        first, end = int(self._ends[at - 1]) if at else 0, int(self._ends[at])
        return self._lengths[first:end], self._nodes[self._starts[first] : self._starts[end]]


def _place(where: list[Any]) -> tuple[int, int]:
    block, at = (as_int(n, -1) for n in (*where, -1, -1)[:2])
    return block, at
