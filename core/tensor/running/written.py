"""Which values are written in a block, for running its kernels again without its Python.

A write waits until its value is asked for, so a captured function may end with writes that no
kernel did yet. Never runs anything, and never keeps a value alive.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from weakref import WeakSet

from core.tensor.state.base import TensorBase
from core.tensor.state.live import memory_of
from core.tensor.state.storage import Storage
from core.uop.ops import Ops
from core.uop.uop import UOp


class Writes:
    """The values written in a block. `unplaced` is called with each that has no memory of its own,
    when it is written."""

    def __init__(self, unplaced: Callable[[Storage[TensorBase]], None] | None) -> None:
        self.unplaced = unplaced
        self._storages: WeakSet[Storage[TensorBase]] = WeakSet()

    def add(self, storage: Storage[TensorBase], placed: bool) -> None:
        """A value is about to be written: in memory that it has (`placed`), or by taking another
        expression."""
        if not placed and self.unplaced is not None:
            self.unplaced(storage)
        self._storages.add(storage)

    def waiting(self) -> list[UOp]:
        """The values that are to be stored in memory, and are not yet."""
        return [s.uop for s in self._seen() if memory_of(s.uop).op is Ops.ASSIGN]

    def unstored(self) -> list[Storage[TensorBase]]:
        """The values that are in no memory yet."""
        return [s for s in self._seen() if memory_of(s.uop).op is not Ops.BUFFER]

    def _seen(self) -> list[Storage[TensorBase]]:
        return [s for s in self._storages if s.places]


_blocks: list[Writes] = []


@contextmanager
def noting_writes(
    unplaced: Callable[[Storage[TensorBase]], None] | None = None,
) -> Generator[Writes]:
    """The values that are written in the block. Blocks may nest: each gets all that is inside."""
    writes = Writes(unplaced)
    _blocks.append(writes)
    try:
        yield writes
    finally:
        _blocks.remove(writes)


def note(storage: Storage[TensorBase], placed: bool) -> None:
    """Tells the blocks around of a write, before it is done."""
    for writes in _blocks:
        writes.add(storage, placed)
