"""Collects the parts of a trace, and writes what is new in them as one transaction.

Each part collects one kind of thing. A flush turns what is new in all of them into rows and blocks,
and writes these as one transaction.
"""

from __future__ import annotations

import json
from contextlib import suppress

from core.errors import TraceError
from viz.format import schema
from viz.format.blocks import GATED, LAUNCHES, MEMORY, ORIGINS, Columns
from viz.format.rows import (
    ARTIFACTS,
    BLOCKS,
    CONTEXTS,
    KERNELS,
    META,
    REWRITES,
    RULE_TOTALS,
    BlockRow,
    KernelRow,
    MetaRow,
)
from viz.format.userlines import UserLines, pack_user_lines
from viz.write.artifacts import Artifacts
from viz.write.captured import CapturedValues
from viz.write.database import Batch, TraceDatabase
from viz.write.entries import Entries
from viz.write.eventlog import EventLog
from viz.write.numbering import Block, Numbering
from viz.write.trytimes import TryTimes
from viz.write.visits import VisitCounts


class Samples:
    """Rows of a kind of block that is a list of numbers, such as launches."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._rows: list[tuple[int, ...]] = []

    def add(self, *row: int) -> None:
        """A row, in the order of the columns."""
        self._rows.append(row)

    def take(self) -> list[Block]:
        """A block of the rows since the last call."""
        rows, self._rows = self._rows, []
        if not rows:
            return []
        data = self._columns.pack(list(zip(*rows, strict=True)))
        return [Block(self._columns.kind, 0, len(rows), data)]


class Lines:
    """Lines of the user's program."""

    def __init__(self) -> None:
        self._new: list[UserLines] = []

    def add(self, part: UserLines) -> None:
        """Some lines of a file."""
        self._new.append(part)

    def take(self) -> list[Block]:
        """A block of the lines since the last call."""
        new, self._new = self._new, []
        return [Block(schema.USER_LINES, 0, len(new), pack_user_lines(new))] if new else []


class Output:
    """The parts of the trace in `database`. `counting`: see `EventLog`."""

    def __init__(self, database: TraceDatabase, counting: bool = True) -> None:
        self.database = database
        self.numbers = Numbering()
        self.entries = Entries()
        self.events = EventLog(self.entries, counting)
        self.visits = VisitCounts()
        self.tries = TryTimes()
        self.launches = Samples(LAUNCHES)
        self.memory = Samples(MEMORY)
        self.gated = Samples(GATED)
        self.origins = Samples(ORIGINS)
        self.artifacts = Artifacts()
        self.user_lines = Lines()
        self.captured = CapturedValues()
        self._kernels: list[KernelRow] = []
        self._meta: list[MetaRow] = []
        self._last_block = 0
        self._cut_off = False

    def kernel(self, row: KernelRow) -> None:
        """Adds the program of a kernel context, in the place of an earlier one."""
        self._kernels.append(row)

    def meta(self, key: str, value: object) -> None:
        """Sets one of schema.META."""
        self._meta.append(MetaRow(key, json.dumps(value, default=str)))

    def flush(self) -> None:
        """Writes what is new, all or nothing. Raises TraceError, also where an earlier call came to
        no end: what that had taken is neither here nor in the file, and the rest is of no use
        without it."""
        if self._cut_off:
            raise TraceError(
                "writing it was interrupted",
                where=str(self.database.path),
                hint="what was written before that is in the file",
            )
        self._cut_off = True
        batches = self._take()
        if any(rows for _, rows in batches):
            self.database.write(batches)
        self._cut_off = False

    def finish(self) -> None:
        """Writes what is new, and closes the file; which says so where that fails. Raises
        TraceError."""
        try:
            self.flush()
            self.database.merge()
        except BaseException as error:
            self.stopped(error.what if isinstance(error, TraceError) else repr(error))
            raise
        self.database.close()

    def stopped(self, why: str) -> None:
        """Says in the trace why it could not be written to its end, if that can be written, and
        closes it."""
        with suppress(TraceError):
            self.database.write([(META, [MetaRow("stopped", json.dumps(why))])])
        self.database.close()

    def _take(self) -> list[Batch]:
        blocks: list[BlockRow] = []
        parts = (
            *(self.numbers, self.visits, self.tries, self.gated, self.origins),
            *(self.launches, self.memory, self.user_lines, self.captured),
        )
        for block in (block for part in parts for block in part.take()):
            blocks.append(self._numbered(block))
        for block in self.events.take(self._last_block + 1):
            blocks.append(self._numbered(block))
        texts, artifacts = self.artifacts.take(self._last_block + 1)
        self._last_block += len(texts)
        changes = self.entries.take()  # after the events, which count in them
        texts += [self._numbered(block) for block in changes.packed]
        kernels, self._kernels = self._kernels, []
        meta, self._meta = self._meta, []
        return [
            (BLOCKS, blocks + texts),
            (ARTIFACTS, artifacts),
            (CONTEXTS, changes.contexts),
            (REWRITES, changes.rewrites),
            (RULE_TOTALS, self.events.totals.take()),
            (KERNELS, kernels),
            (META, meta),
        ]

    def _numbered(self, block: Block) -> BlockRow:
        self._last_block += 1
        return BlockRow(self._last_block, block.kind, block.first, block.count, block.data)
