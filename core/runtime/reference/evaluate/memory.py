"""Memory of a kernel that is being evaluated: global memory, shared memory and registers.

Shared memory has a row for each work group, registers have one for each thread, and either may have
one for each iteration of a loop that is evaluated at once. What nothing has written is poisoned.
Where loops that a program runs in sequence are evaluated at once, every element that one iteration
writes and another one uses is found: CarriedError asks for an evaluation in sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.dtype import DType
from core.helpers import prod
from core.runtime.numeric import Array, from_memory, to_memory
from core.uop.facts.meaning_arrays import numpy_dtype


class CarriedError(Exception):
    """An iteration needs what another one stores."""


class Rows:
    """Memory with a row for each point of some axes."""

    def __init__(
        self, dtype: DType, size: int, lengths: Sequence[int], own: Sequence[int], checked: bool
    ) -> None:
        """`lengths` are those of all axes, `own` the axes along which rows lie. `checked`: reading
        an element that nothing has written in its row raises CarriedError."""
        self.dtype, self.size = dtype.scalar(), size
        rows = prod(lengths[i] for i in own)
        kind = numpy_dtype(self.dtype)
        poison = np.nan if kind.kind == "f" else False if kind.kind == "b" else np.iinfo(kind).max
        self.data: Array = np.full(rows * size, poison, kind)
        self.written: Array | None = np.zeros(rows * size, np.bool_) if checked else None
        shape = [lengths[i] if i in own else 1 for i in range(len(lengths))]
        self.first: Array = (np.arange(rows, dtype=np.int64) * size).reshape(*shape, 1)

    def read(self, elements: Array, wanted: Array) -> Array:
        """The values at `elements` of each row, anything where they are not `wanted`."""
        at = self.first + elements
        if self.written is not None and bool((wanted & ~self.written[at]).any()):
            raise CarriedError
        return self.data[at]

    def write(self, elements: Array, values: Array, wanted: Array) -> None:
        """Stores values where they are `wanted`: of several for one element, the last."""
        at, values, wanted = np.broadcast_arrays(self.first + elements, values, wanted)
        kept = at[wanted]
        self.data[kept] = values[wanted]
        if self.written is not None:
            self.written[kept] = True


class Whole:
    """Global memory: an argument of the kernel."""

    def __init__(self, dtype: DType, data: Array, owners: Owners | None) -> None:
        self.dtype, self.data, self.owners = dtype.scalar(), data, owners
        self.size: int = data.shape[-1]

    def read(self, elements: Array, wanted: Array) -> Array:
        """The values at `elements`, anything where they are not `wanted`."""
        if self.owners is not None:
            self.owners.reads(elements, wanted)
        return from_memory(self.data[elements], self.dtype)

    def write(self, elements: Array, values: Array, wanted: Array) -> None:
        """Stores values where they are `wanted`: of several for one element, the last."""
        if self.owners is not None:
            self.owners.writes(elements, wanted)
        at, values, wanted = np.broadcast_arrays(elements, values, wanted)
        self.data[at[wanted]] = to_memory(values[wanted], self.dtype)


class Owners:
    """Which iteration of loops that run in sequence has read and written each element."""

    NOBODY, SEVERAL = -1, -2

    def __init__(self, size: int) -> None:
        self._reader = np.full(size, self.NOBODY, np.int64)
        self._writer = np.full(size, self.NOBODY, np.int64)
        self.iteration: Any = np.zeros((1,), np.int64)
        """The number of the iteration at each point of the axes."""

    def reads(self, elements: Array, wanted: Array) -> None:
        """Raises CarriedError where another iteration has written an element."""
        at, who = self._touched(elements, wanted)
        written = self._writer[at]
        if bool(((written != self.NOBODY) & (written != who)).any()):
            raise CarriedError
        before = self._reader[at].copy()
        self._reader[at] = who
        several = ((before != self.NOBODY) & (before != who)) | (self._reader[at] != who)
        self._reader[at[several]] = self.SEVERAL

    def writes(self, elements: Array, wanted: Array) -> None:
        """Raises CarriedError where another iteration has read or written an element."""
        at, who = self._touched(elements, wanted)
        for held in (self._reader, self._writer):
            before = held[at]
            if bool(((before != self.NOBODY) & (before != who)).any()):
                raise CarriedError
        self._writer[at] = who

    def _touched(self, elements: Array, wanted: Array) -> tuple[Array, Array]:
        at, who, wanted = np.broadcast_arrays(elements, self.iteration, wanted)
        return at[wanted], who[wanted]
