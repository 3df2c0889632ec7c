"""Open contexts and rewrites, and those that have changed since the last flush.

Most rewrites begin and end between two flushes: these are packed, the others have rows that change.
Knows nothing of their events but the counts in their rows. Never touches a file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

from viz.format import schema
from viz.format.blocks import REWRITES
from viz.format.rows import ContextRow, RewriteRow, plain_text
from viz.write.numbering import Block

_cells: Final = attrgetter(*REWRITES.names)


@dataclass
class Changes:
    """What has changed since the last flush: rows, and rewrites that never had one."""

    contexts: list[ContextRow] = field(default_factory=list[ContextRow])
    rewrites: list[RewriteRow] = field(default_factory=list[RewriteRow])
    packed: list[Block] = field(default_factory=list[Block])


class Entries:
    """The rows of contexts and rewrites, which share one numbering."""

    def __init__(self) -> None:
        self._last = 0
        self._contexts: dict[int, ContextRow] = {}
        self._rewrites: dict[int, RewriteRow] = {}
        self._changed_contexts: dict[int, ContextRow] = {}
        self._changed_rewrites: dict[int, RewriteRow] = {}
        self._in_rows: set[int] = set()
        """The open rewrites that have a row."""

    def next(self) -> int:
        """The number of the next context or rewrite."""
        self._last += 1
        return self._last

    def put_context(self, row: ContextRow) -> None:
        """Adds a context. Where it has ended already, it is written and forgotten."""
        self._changed_contexts[row.id] = row
        if row.us is None:
            self._contexts[row.id] = row

    def rename_context(self, number: int, name: str) -> None:
        """Gives an open context another name."""
        row = self._changed_contexts[number] = self._contexts[number]
        row.name = plain_text(name)

    def end_context(self, number: int, at: int, error: Mapping[str, object] | None) -> None:
        """Ends an open context at a time in us."""
        row = self._changed_contexts[number] = self._contexts.pop(number)
        row.us = max(0, at - row.start)
        row.error = json.dumps(error) if error else None

    def put_rewrite(self, row: RewriteRow) -> None:
        """Adds a rewrite, which is open until `close_rewrite`. Where it has ended already, it is
        not written before that."""
        self._rewrites[row.id] = self._changed_rewrites[row.id] = row

    def rewrite(self, number: int) -> RewriteRow:
        """The row of an open rewrite, or of one that has ended since the last `take`; it is written
        next time. Raises KeyError for any other."""
        row = self._rewrites.get(number) or self._changed_rewrites[number]
        self._changed_rewrites[number] = row
        return row

    def close_rewrite(self, number: int) -> RewriteRow:
        """The row of a rewrite that ends now, to be completed by the caller."""
        row = self._changed_rewrites[number] = self._rewrites.pop(number)
        return row

    def is_open(self, rewrite: int) -> bool:
        """Whether a rewrite has not ended."""
        return rewrite in self._rewrites

    def take(self) -> Changes:
        """What is new or has changed since the last call."""
        found = Changes([*self._changed_contexts.values()])
        ended: list[RewriteRow] = []
        later: dict[int, RewriteRow] = {}
        for row in self._changed_rewrites.values():
            is_open = row.id in self._rewrites
            if is_open and row.us is not None:
                later[row.id] = row
            elif is_open:
                self._in_rows.add(row.id)
                found.rewrites.append(row)
            elif row.id in self._in_rows or row.us is None or row.error is not None:
                self._in_rows.discard(row.id)
                found.rewrites.append(row)
            else:
                ended.append(row)
        if ended:
            columns = list(zip(*map(_cells, ended), strict=True))
            found.packed = [Block(schema.REWRITES, 0, len(ended), REWRITES.pack(columns))]
        self._changed_contexts, self._changed_rewrites = {}, later
        return found
