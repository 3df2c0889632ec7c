"""Event blocks of a file, decoded on demand; an LRU cache of them."""

from __future__ import annotations

import bisect
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from core.errors import BudgetError, TraceError
from viz.format.events import Events, MatchField, read_events
from viz.format.pack import Ints
from viz.format.rows import BLOCKS
from viz.format.schema import MATCH
from viz.read.database import Database
from viz.read.records import Rewrite

CACHED_BLOCKS: Final = 24
CACHED_BYTES: Final = 1 << 27
"""Most bytes of the blocks that are kept, apart from the last one."""


def block_data(db: Database, block: int) -> bytes:
    """The packed data of a block. Raises TraceError where it cannot be read."""
    row = db.one(BLOCKS, block)
    if row is None or not row.data:
        raise TraceError(f"block {block} cannot be read")
    return row.data


class EventBlocks:
    """The blocks of events of one file, by number and by position."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._numbers: list[int] = []
        self._decoded: OrderedDict[int, Events | None] = OrderedDict()
        self._decoding = threading.Lock()

    def add(self, block: int) -> None:
        """There is a block with this number."""
        bisect.insort(self._numbers, block)

    def __len__(self) -> int:
        return len(self._numbers)

    def at(self, position: int) -> Events | None:
        """The block at this position of all; None where it cannot be read."""
        return self._block(self._numbers[position])

    def all(self) -> Iterator[Events]:
        """Every readable block, in order."""
        return self._readable(self._numbers)

    def between(self, low: int, high: int) -> Iterator[Events]:
        """The readable blocks with numbers from `low` to `high`, in order."""
        return self._readable(self._numbers[self._range(low, high)])

    def of(self, rewrite: Rewrite) -> Iterator[tuple[Events, Ints]]:
        """The blocks that hold events of a rewrite, each with the positions of its events."""
        for arrays in self.between(*rewrite.blocks):
            positions = arrays.of(rewrite.id)
            if len(positions):
                yield arrays, positions

    def matches(self, rewrite: Rewrite) -> Ints:
        """The matches of a rewrite, in their order: of each the numbers of `MatchField`."""
        found = [
            arrays.match[arrays.row[positions[arrays.kind[positions] == MATCH]]]
            for arrays, positions in self.of(rewrite)
        ]
        return np.concatenate(found) if found else np.empty((0, len(MatchField)), np.int64)

    def has(self, rewrite: Rewrite) -> bool:
        """Whether any of the blocks is there that hold events of a rewrite."""
        found = self._range(*rewrite.blocks)
        return found.start < found.stop

    def _range(self, low: int, high: int) -> slice:
        return slice(bisect.bisect_left(self._numbers, low), bisect.bisect(self._numbers, high))

    def _readable(self, blocks: Iterable[int]) -> Iterator[Events]:
        for block in blocks:
            arrays = self._block(block)
            if arrays is not None:
                yield arrays

    def _block(self, block: int) -> Events | None:
        with self._decoding:
            if block in self._decoded:
                self._decoded.move_to_end(block)
                return self._decoded[block]
            arrays: Events | None = None
            try:
                arrays = read_events(block_data(self._db, block))
            except BudgetError:
                raise  # of this answer: another one may read it
            except TraceError as error:
                self._db.problem(error.what)
            self._decoded[block] = arrays
            size = sum(a.nbytes for a in self._decoded.values() if a is not None)
            while len(self._decoded) > 1 and (
                len(self._decoded) > CACHED_BLOCKS or size > CACHED_BYTES
            ):
                _, dropped = self._decoded.popitem(last=False)
                size -= 0 if dropped is None else dropped.nbytes
            return arrays
