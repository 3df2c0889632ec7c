"""Open contexts and rewrites, and those that have changed since the last flush.

Most rewrites begin and end between two flushes: these are packed, the others have rows that change.
A row is never changed in place: another one takes its place by one assignment, see `log.py`. What
follows from events (`Counts`) is added to the rows when they are written. Never touches a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Final, NamedTuple, TypeVar

from core.errors import TraceError
from viz.format import schema
from viz.format.blocks import REWRITES
from viz.format.rows import ContextRow, RewriteRow, plain_text
from viz.write.log import Block

MAX_ENDED: Final = 256
"""Contexts that have ended and are remembered: they may turn out to have failed."""

T = TypeVar("T")
_cells: Final = attrgetter(*REWRITES.names)
_fields: Final = attrgetter(*(field.name for field in fields(RewriteRow)))


@dataclass(slots=True)
class Counts:
    """What events add to the row of their rewrite; `block`: the one that holds them, or 0."""

    matches: int = 0
    rebuilds: int = 0
    declines: int = 0
    empty: int = 0
    block: int = 0


_NONE: Final = Counts()


class _Rewrite(NamedTuple):
    """A rewrite; not `open`: no events of it are to come."""

    row: RewriteRow
    open: bool


@dataclass(frozen=True, slots=True)
class Changes:
    """What has changed since the last flush: rows, rewrites that never had one, and what forgets
    that they have changed."""

    contexts: list[ContextRow]
    rewrites: list[RewriteRow]
    packed: list[Block]
    forget: Callable[[], None]


class Entries:
    """The rows of contexts and rewrites, which share one numbering."""

    def __init__(self) -> None:
        self._last = 0
        self._contexts: dict[int, ContextRow] = {}
        self._rewrites: dict[int, _Rewrite] = {}
        """Open rows as of the last flush, with the counts of that time. A row that has ended but is
        not closed is not in the file."""
        self._changed_contexts: dict[int, ContextRow] = {}
        self._changed_rewrites: dict[int, _Rewrite] = {}
        """Open rows as they are now; their counts are not used where there is an older row."""
        self._ended: dict[int, ContextRow] = {}
        """The contexts that ended last, which are in the file."""

    def next(self) -> int:
        """The number of the next context or rewrite."""
        self._last += 1
        return self._last

    def put_context(self, row: ContextRow) -> None:
        """Adds a context; with its `us`, one that has ended."""
        self._changed_contexts[row.id] = row

    def rename_context(self, number: int, name: str) -> None:
        """Gives an open context another name. Raises TraceError."""
        row = self._context(number)
        if row.us is not None:
            raise _unknown("context", number)
        self._changed_contexts[number] = replace(row, name=plain_text(name))

    def end_context(self, number: int, at: int, error: Mapping[str, object] | None) -> None:
        """Ends an open context at a time in us; nothing where that is known. Raises TraceError."""
        row = self._context(number)
        if row.us is None:
            us, text = max(0, at - row.start), json.dumps(error) if error else None
            self._changed_contexts[number] = replace(row, us=us, error=text)

    def fail_context(self, number: int, error: Mapping[str, object]) -> None:
        """A context that is open, or was one of the last to end, has failed. Raises TraceError."""
        row = self._ended.get(number) or self._context(number)
        self._changed_contexts[number] = replace(row, error=json.dumps(error))

    def put_rewrite(self, row: RewriteRow) -> None:
        """Adds a rewrite, which is open until `close_rewrite`. Where it has ended already, it is
        not written before that."""
        self._changed_rewrites[row.id] = _Rewrite(row, True)

    def rewrite(self, number: int) -> RewriteRow:
        """The row of a rewrite that is open or has ended since the last flush; without its counts.
        Raises TraceError for any other."""
        return self._rewrite(number).row

    def open_rewrite(self, number: int) -> RewriteRow:
        """The row of an open rewrite. Raises TraceError for any other."""
        found = self._rewrite(number)
        if not found.open:
            raise _unknown("rewrite", number)
        return found.row

    def close_rewrite(self, number: int) -> None:
        """Closes a rewrite: no more events of it will come. Raises TraceError for one that is not
        open."""
        self._changed_rewrites[number] = _Rewrite(self.rewrite(number), False)

    def end_rewrite(
        self, number: int, at: int, result: int, nodes: int, error: Mapping[str, object] | None
    ) -> None:
        """Ends an open rewrite at a time in us, and closes it; nothing where that is known. Raises
        TraceError."""
        row, is_open = self._rewrite(number)
        if is_open:
            us, text = max(0, at - row.start), json.dumps(error) if error else None
            row = _copy(row)
            row.us, row.result, row.nodes, row.error = us, result, nodes, text
            self._changed_rewrites[number] = _Rewrite(row, False)

    def is_open(self, rewrite: int) -> bool:
        """Whether a rewrite has not ended."""
        found = self._changed_rewrites.get(rewrite) or self._rewrites.get(rewrite)
        return found is not None and found.open

    def take(self, counts: Mapping[int, Counts]) -> Changes:
        """What is new or has changed since the last flush, with the counts that events of so many
        rewrites add to it."""
        contexts, rewrites = self._changed_contexts.copy(), self._changed_rewrites.copy()
        rows: list[RewriteRow] = []
        ended: list[RewriteRow] = []
        made: dict[int, _Rewrite] = {}
        for number in rewrites | dict(counts):
            before = self._rewrites.get(number)
            now = rewrites.get(number) or self._rewrites[number]
            row = _counted(now.row, (before or now).row, counts.get(number, _NONE))
            made[number] = _Rewrite(row, now.open)
            in_rows = before is not None and before.row.us is None
            if now.open and row.us is not None:
                continue
            (rows if now.open or in_rows or row.us is None or row.error else ended).append(row)
        packed: list[Block] = []
        if ended:
            columns = list(zip(*map(_cells, ended), strict=True))
            packed = [Block(schema.REWRITES, 0, len(ended), REWRITES.pack(columns))]

        def forget() -> None:
            for number, context in contexts.items():
                if context.us is not None:
                    self._ended[number] = context
                _settle(self._contexts, number, context, context.us is None)
                _remove(self._changed_contexts, number, context)
            while len(self._ended) > MAX_ENDED:
                self._ended.pop(next(iter(self._ended)), None)
            for number, rewrite in made.items():
                _settle(self._rewrites, number, rewrite, rewrite.open)
                _remove(self._changed_rewrites, number, rewrites.get(number))

        return Changes([*contexts.values()], rows, packed, forget)

    def _context(self, number: int) -> ContextRow:
        found = self._changed_contexts.get(number) or self._contexts.get(number)
        if found is None:
            raise _unknown("context", number)
        return found

    def _rewrite(self, number: int) -> _Rewrite:
        found = self._changed_rewrites.get(number) or self._rewrites.get(number)
        if found is None:
            raise _unknown("rewrite", number)
        return found


def _counted(row: RewriteRow, before: RewriteRow, new: Counts) -> RewriteRow:
    """A row with the counts of an older one and the new ones."""
    if new is _NONE and row is before:
        return row
    row = _copy(row)
    row.matches = before.matches + new.matches
    row.rebuilds = before.rebuilds + new.rebuilds
    row.declines = before.declines + new.declines
    row.empty = before.empty + new.empty
    row.first_block = before.first_block or new.block
    row.last_block = new.block or before.last_block
    return row


def _copy(row: RewriteRow) -> RewriteRow:
    """Another row of the same cells: `dataclasses.replace` takes ten times as long."""
    return RewriteRow(*_fields(row))


def _settle(known: dict[int, T], number: int, item: T, is_open: bool) -> None:
    """Keeps what is open as it is now, and forgets what is not."""
    if is_open:
        known[number] = item
    else:
        known.pop(number, None)


def _remove(changed: dict[int, T], number: int, item: T | None) -> None:
    """It has changed no more, unless it has since."""
    if item is not None and changed.get(number) is item:
        del changed[number]


def _unknown(what: str, number: int) -> TraceError:
    return TraceError(
        f"no open {what} has the number {number}",
        hint=f"the number is what {what}_begin returned, until {what}_end",
    )
