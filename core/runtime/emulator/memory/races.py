"""Who wrote and who read which shared memory since the last barrier.

A stamp is the block's barrier count and the thread's number plus one, in 32 bits. Each granule (the
smallest piece that any instruction of the kernel accesses there, at most 4 bytes) keeps the stamp
of its last writer and of its last reader. Two threads race where both access a granule between two
barriers and one of them changes it; writes of the value that is already there change nothing.

Copies in flight are noted, too: their destination must not be accessed until they have arrived.

Approximate in one way only: where several threads write one new value at once, a read of it by yet
another thread is not reported.
"""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np

from core.runtime.numeric import Array

_THREAD_BITS: Final = 11
_MANY: Final = (1 << _THREAD_BITS) - 1
"""The thread number of several threads; a block has at most 1024."""
_LAST: Final = (1 << (32 - _THREAD_BITS)) - 1


class Threads(Protocol):
    """What the stamps need to know of a batch of threads."""

    blocks: int
    shared: Array
    block_of_lane: Array
    thread_of_lane: Array
    journal: list[tuple[Array, Array, Array]] | None


class SharedShadow:
    """The stamps of the shared memory of a batch. Indices are those of granules."""

    def __init__(self, s: Threads, granule: int) -> None:
        self._s, self.granule = s, granule
        self.writer = np.zeros(s.shared.size // granule, np.uint32)
        self.reader = np.zeros(s.shared.size // granule, np.uint32)
        self.flying = np.zeros(s.shared.size // granule, np.uint32)
        """The thread, plus one, whose copy to a granule is on its way."""
        self._count = np.ones(s.blocks, np.uint32)
        self._restamp()

    def _restamp(self) -> None:
        self._epoch = (self._count << np.uint32(_THREAD_BITS))[self._s.block_of_lane]
        self.stamp = self._epoch | (self._s.thread_of_lane + 1).astype(np.uint32)

    def barrier(self, blocks: Array | None) -> None:
        """The threads of `blocks` (a bool each; None: of all) have met."""
        self._journal(self._count, np.arange(self._count.size))
        self._count += 1 if blocks is None else blocks.astype(np.uint32)
        if int(self._count.max()) >= _LAST:  # start anew: what came before is long done
            self._count[:] = 2
            self.writer[self.writer != 0] = 1 << _THREAD_BITS
            self.reader[:] = 0
        self._restamp()

    def _journal(self, array: Array, at: Array) -> None:
        if self._s.journal is not None:
            self._s.journal.append((array, at, array[at]))

    def restored(self) -> None:
        """What is journalled was put back."""
        self._restamp()

    def unwritten(self, at: Array) -> Array:
        """Where nothing was ever written."""
        return self.writer[at] == 0

    def read(self, at: Array, lanes: Array | slice) -> Array:
        """Notes that `lanes` read granules; says which of them race, and with whom: the other
        thread's number plus one, 0 for none."""
        stamp, epoch = self.stamp[lanes], self._epoch[lanes]
        writer = self.writer[at]
        other = np.where((writer > epoch) & (writer != stamp), writer - epoch, 0)
        other[other == _MANY] = 0
        before = self.reader[at]
        self._journal(self.reader, at)
        shared = (before > epoch) & (before != stamp)
        self.reader[at] = np.where(shared, epoch | _MANY, stamp)
        crowd = self.reader[at] != stamp
        if crowd.any():
            self.reader[at[crowd]] = epoch[crowd] | _MANY
        return other

    def write(self, at: Array, lanes: Array | slice, changed: Array) -> Array:
        """Notes that `lanes` write granules, of which some change; says which of them race, and
        with whom: the other thread's number plus one (many: its largest), 0 for none."""
        stamp, epoch = self.stamp[lanes], self._epoch[lanes]
        writer, reader = self.writer[at], self.reader[at]
        changed = changed | (writer == 0)
        raced = np.where((writer > epoch) & (writer != stamp), writer - epoch, 0)
        read = np.where((reader > epoch) & (reader != stamp), reader - epoch, 0)
        own = at[changed]
        self._journal(self.writer, own)
        self.writer[own] = stamp[changed]
        crowd = self.writer[own] != stamp[changed]
        if crowd.any():
            self.writer[own[crowd]] = epoch[changed][crowd] | _MANY
        return np.where(changed, np.maximum(raced, read), 0)

    def launch(self, at: Array, lanes: Array) -> Array:
        """Notes that copies by `lanes` to granules are on their way; says which of them meet
        another one, and whose: its thread's number plus one, 0 for none."""
        own = (self._s.thread_of_lane[lanes] + 1).astype(np.uint32)
        before = self.flying[at]
        self._journal(self.flying, at)
        self.flying[at] = own
        now = self.flying[at]
        return np.where(before != 0, before, np.where(now != own, now, 0))

    def land(self, at: Array) -> None:
        """Notes that copies to granules have arrived."""
        self._journal(self.flying, at)
        self.flying[at] = 0

    def thread(self, number: int) -> str:
        """What `read` and `write` say, in words."""
        return "other threads" if number == _MANY else f"thread {number - 1} of the block"
