"""Loads of matrices by a warp as steps: rows that some threads are at, dealt to all of them.

What a thread gets is a matter of its number alone. Knows no language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from core.runtime.emulator.memory.places import Access
from core.runtime.emulator.program import Load, MatrixLoad, Space
from core.runtime.emulator.steps import Slot, merged, taking_part, whole_warps

if TYPE_CHECKING:
    from core.runtime.emulator.state import State

_WORD: Final = np.dtype(np.uint32)
_ROWS: Final = 8
_ROW_BYTES: Final = 16


class MatrixStep:
    """A load of matrices as a step."""

    def __init__(self, index: int, instruction: MatrixLoad, address: Slot) -> None:
        self.index, self.instruction = index, instruction
        load = Load(
            line=instruction.line,
            name=instruction.name,
            space=Space.SHARED,
            address=instruction.address,
            offset=instruction.offset,
            item=_WORD,
            results=(),
            align=_ROW_BYTES,
        )
        self.access = Access(index, load, address, _ROW_BYTES // 4)
        self.numbers = tuple(r.number for r in instruction.results)

    def __call__(self, s: State) -> None:
        mask, count = s.mask, s.active
        if self.instruction.guard is not None:
            mask, count = taking_part(s, self.index, self.instruction.guard)
        if not count:
            return
        taking = np.ones(s.lanes, np.bool_) if mask is None else mask
        whole_warps(s, self.instruction, s.in_warps(taking))
        in_warp = s.thread_of_lane % s.code.width
        lanes = np.flatnonzero(taking & (in_warp < _ROWS * len(self.numbers)))
        at = self.access.addresses(s, lanes, True)
        (spot,) = self.access.spots(s, Space.SHARED, at, lanes)
        self.access.profile(s, [spot])
        for who in (lanes, lanes ^ 1):  # more than one thread gets something of each row
            self.access.seen(s, spot, who)
        memory, first = self.access.elements(spot)
        words = np.stack([memory.take(first + i) for i in range(self.access.count)], axis=1)
        halves = words.view(np.uint16).reshape(-1, len(self.numbers), _ROWS, 8)
        every = np.flatnonzero(taking)
        for i, number in enumerate(self.numbers):
            dealt = halves[:, i].transpose(0, 2, 1) if self.instruction.transposed else halves[:, i]
            found = np.zeros(s.lanes, np.uint32)
            found[every] = np.ascontiguousarray(dealt).view(np.uint32).reshape(-1)
            s.slots[number] = found if mask is None else merged(mask, found, s.slots[number])
