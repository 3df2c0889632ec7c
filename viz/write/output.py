"""Collects the parts of a trace, and writes what is new in them as one transaction.

Each part collects one kind of thing. A flush turns what is new in all of them into rows and blocks,
and writes these as one transaction.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

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
from viz.write.captured import CapturedValues
from viz.write.database import Batch, TraceDatabase
from viz.write.entries import Entries
from viz.write.events.eventlog import EventLog
from viz.write.events.trytimes import TryTimes
from viz.write.events.visits import VisitCounts
from viz.write.log import Block, Log, Taken
from viz.write.numbering import Numbering
from viz.write.texts.artifacts import Artifacts
from viz.write.texts.passtexts import PassTexts


class Samples:
    """Rows of a kind of block that is a list of numbers, such as launches."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._new: Log[array[int]] = Log()

    def add(self, *row: int) -> None:
        """A row, in the order of the columns."""
        self._new.add(array("q", row))

    def extend(self, rows: Sequence[tuple[int, ...]]) -> None:
        """Several rows, all or none."""
        self._new.extend([array("q", row) for row in rows])

    def take(self) -> Taken:
        """A block of the rows since the last flush."""
        rows, end = self._new.items(), self._new.forgotten
        blocks: list[Block] = []
        if rows:
            data = self._columns.pack(list(zip(*rows, strict=True)))
            blocks.append(Block(self._columns.kind, 0, len(rows), data))
            end += len(rows)
        return Taken(blocks, lambda: self._new.forget(end))


class Lines:
    """Lines of the user's program."""

    def __init__(self) -> None:
        self._new: Log[UserLines] = Log()

    def add(self, part: UserLines) -> None:
        """Some lines of a file."""
        self._new.add(part)

    def take(self) -> Taken:
        """A block of the lines since the last flush."""
        new, end = self._new.items(), self._new.forgotten
        blocks: list[Block] = []
        if new:
            blocks.append(Block(schema.USER_LINES, 0, len(new), pack_user_lines(new)))
            end += len(new)
        return Taken(blocks, lambda: self._new.forget(end))


@dataclass(frozen=True, slots=True)
class _Flush:
    """What one flush writes, the number of the last block of it, and what has all parts forget
    that they had it."""

    batches: list[Batch]
    last_block: int
    forget: list[Callable[[], None]]


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
        self.pass_texts = PassTexts()
        self.user_lines = Lines()
        self.captured = CapturedValues()
        self._kernels: Log[KernelRow] = Log()
        self._meta: Log[MetaRow] = Log()
        self._last_block = 0
        self._taken: _Flush | None = None
        """What may be in the file, and has to be written again where that is not known."""
        self.finished = False
        """Whether the file holds everything; it may still be open."""

    def kernel(self, row: KernelRow) -> None:
        """Adds the program of a kernel context, in the place of an earlier one."""
        self._kernels.add(row)

    def meta(self, key: str, value: object) -> None:
        """Sets one of schema.META."""
        self._meta.add(MetaRow(key, json.dumps(value, default=str)))

    def flush(self) -> None:
        """Writes what is new, all or nothing. Raises TraceError. One that fails or is interrupted
        loses nothing: the next one writes what it has taken, in the place of what it has written
        of it, and then the rest."""
        self.settle()
        self._taken = self._take()
        self.settle()

    def settle(self) -> None:
        """Writes what a flush has taken that was cut off."""
        if (taken := self._taken) is None:
            return
        if any(rows for _, rows in taken.batches):
            self.database.write(taken.batches)
        for forget in taken.forget:
            forget()
        self._last_block = taken.last_block
        self._taken = None

    def finish(self, ended: float | None = None) -> None:
        """Writes what is new, and that the run ended after so many seconds, and closes the file;
        which says so where that fails. Raises TraceError. An interrupt is raised once this is done;
        the next one at once, and then this can be called again. Afterwards it does nothing."""
        try:
            self._finish(ended)
        except BaseException as error:
            if not isinstance(error, Exception):
                self._finish(ended)
            raise

    def _finish(self, ended: float | None) -> None:
        if not self.finished:
            try:
                if ended is not None:
                    self.meta("ended", ended)
                self.flush()
                self.database.merge()
            except Exception as error:
                self.stopped(error.what if isinstance(error, TraceError) else repr(error))
                raise
            self.finished = True
        self.database.close()

    def stopped(self, why: str) -> None:
        """Says in the trace why it could not be written to its end, if that can be written, and
        closes it."""
        with suppress(TraceError):
            self.database.write([(META, [MetaRow("stopped", json.dumps(why))])])
        self.finished = True
        self.database.close()

    def _take(self) -> _Flush:
        blocks: list[BlockRow] = []

        def number(found: Iterable[Block]) -> None:
            for block in found:
                at = self._last_block + len(blocks) + 1
                blocks.append(BlockRow(at, block.kind, block.first, block.count, block.data))

        parts = (
            *(self.numbers, self.visits, self.tries, self.gated, self.origins),
            *(self.launches, self.memory, self.user_lines, self.captured),
        )
        taken = [part.take() for part in parts]
        number(block for part in taken for block in part.blocks)
        events = self.events.take(self._last_block + len(blocks) + 1)
        number(events.blocks)
        artifacts = self.artifacts.take(self._last_block + len(blocks) + 1)
        blocks += artifacts.blocks
        pass_texts = self.pass_texts.take(self._last_block + len(blocks) + 1)
        blocks += pass_texts.blocks
        changes = self.entries.take(events.counts)
        number(changes.packed)
        kernels, meta = self._kernels.items(), self._meta.items()
        kernels_end = self._kernels.forgotten + len(kernels)
        meta_end = self._meta.forgotten + len(meta)
        batches: list[Batch] = [
            (BLOCKS, blocks),
            (ARTIFACTS, artifacts.rows),
            (CONTEXTS, changes.contexts),
            (REWRITES, changes.rewrites),
            (RULE_TOTALS, events.totals),
            (KERNELS, kernels),
            (META, meta),
        ]
        forget = [
            *(part.forget for part in taken),
            *(artifacts.forget, pass_texts.forget, changes.forget),
            events.forget,  # after `changes`: it looks which rewrites are still open
            lambda: self._kernels.forget(kernels_end),
            lambda: self._meta.forget(meta_end),
        ]
        return _Flush(batches, self._last_block + len(blocks), forget)
