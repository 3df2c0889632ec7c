"""What each line of a kernel did: threads, divergence, bytes, sectors, bank conflicts.

`Profile` collects while a kernel runs, `Counters` is what it found. Figures are those of a GPU
whose warps run in lockstep and whose caches hold nothing: a model, not a measurement.
Source: NVIDIA, "CUDA C++ Programming Guide", compute capability 5.x and later (shared memory of 32
banks of 4 bytes, global memory in sectors of 32 bytes). Shared memory serves as many neighbouring
threads at once as ask for 128 bytes together: half of a warp of 64 that read 4 bytes each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from core.runtime.emulator.program import Branch, Exit, Load, Space, Store
from core.runtime.numeric import Array

if TYPE_CHECKING:
    from core.runtime.emulator.prepare import Prepared
    from core.runtime.emulator.state import State

SECTOR: Final = 32
"""Bytes that global memory moves at once."""
BANKS: Final = 32
"""Words of 4 bytes that shared memory serves at once."""


@dataclass(slots=True)
class LineCounters:
    """One line. `threads`: how often a thread ran it. `warps`: how often a warp did, `divergent` of
    these with some of its threads only. `loaded` and `stored`: bytes by space.

    `sectors` that its global accesses touch, and `least`, how few could hold as many bytes.
    `conflicts`: turns of shared memory beyond the first of each access.
    """

    threads: int = 0
    warps: int = 0
    divergent: int = 0
    loaded: Counter[str] = field(default_factory=Counter[str])
    stored: Counter[str] = field(default_factory=Counter[str])
    sectors: int = 0
    least: int = 0
    conflicts: int = 0


@dataclass(frozen=True)
class Counters:
    """A whole launch, or several: by line of the text (from 1) and, as counts of threads, by
    instruction."""

    lines: Mapping[int, LineCounters]
    kinds: Mapping[str, int]

    @property
    def threads(self) -> int:
        """Instructions that threads ran, counted once for each thread."""
        return sum(self.kinds.values())


class Profile:
    """Collects counters of launches of one kernel."""

    def __init__(self, kernel: Prepared) -> None:
        self._kernel = kernel
        self._lines: dict[int, LineCounters] = {}
        self._kinds: Counter[str] = Counter()

    def counters(self) -> Counters:
        """What was counted so far."""
        return Counters(dict(sorted(self._lines.items())), dict(self._kinds))

    def _line(self, number: int) -> LineCounters:
        return self._lines.setdefault(number, LineCounters())

    def enter(self, s: State) -> None:
        """A basic block begins."""
        block = self._kernel.flow.blocks[s.at]
        if s.mask is None:
            warps = s.blocks * -(-s.threads // s.code.width)
            divergent = 0
        else:
            rows = s.in_warps(s.mask)
            full = s.in_warps(np.ones(s.lanes, np.bool_))
            active = np.any(rows, axis=1)
            warps = int(active.sum())
            divergent = int((active & np.any(rows != full, axis=1)).sum())
        for i in range(block.first, block.last + (block.leave is not None)):
            line = self._line(self._kernel.code.instructions[i].line)
            line.warps += warps
            line.divergent += divergent

    def finish(self, s: State) -> None:
        """A batch of blocks is done: how often each instruction ran."""
        code, flow = self._kernel.code, self._kernel.flow
        for count, block in zip(s.block_counts, flow.blocks, strict=True):
            for i in range(block.first, block.last + (block.leave is not None)):
                instruction = code.instructions[i]
                leaves = isinstance(instruction, Branch | Exit)
                guarded = instruction.guard is not None and not leaves
                threads = s.guarded.get(i, 0) if guarded else count
                if threads:
                    self._line(instruction.line).threads += threads
                    self._kinds[instruction.name] += threads

    def access(
        self, instruction: Load | Store, width: int, s: State, at: Array, lanes: Array | None
    ) -> None:
        """A load or store of `width` bytes by the threads in `lanes` (None: all)."""
        space = instruction.space
        line = self._line(instruction.line)
        count = s.lanes if lanes is None else lanes.size
        moved = line.stored if isinstance(instruction, Store) else line.loaded
        moved[space.value] += count * width
        if space in (Space.GLOBAL, Space.SHARED):
            every = s.lane_numbers if lanes is None else lanes
            where = np.broadcast_to(at, every.shape).astype(np.int64)
            if space is Space.GLOBAL:
                self._sectors(line, s, every, where, width)
            else:
                self._banks(line, s, every, where, width)

    def _sectors(self, line: LineCounters, s: State, lanes: Array, at: Array, width: int) -> None:
        warps = _warps(s, lanes)
        sectors = np.concatenate([at // SECTOR, (at + width - 1) // SECTOR])
        pairs = np.unique(np.stack([np.concatenate([warps, warps]), sectors]), axis=1)
        line.sectors += pairs.shape[1]
        least = -(-np.bincount(warps) * width // SECTOR)
        line.least += int(least.sum())

    def _banks(self, line: LineCounters, s: State, lanes: Array, at: Array, width: int) -> None:
        threads = s.thread_of_lane[lanes] % s.code.width
        line.conflicts += conflicts(_warps(s, lanes), threads, s.code.width, at, width)


def conflicts(warp: Array, lane: Array, wave: int, at: Array, width: int) -> int:
    """Turns of shared memory beyond the first of an access of `width` bytes from the bytes `at`, by
    these lanes of these warps of `wave` lanes each."""
    words = max(1, width // 4)
    turn = lane // max(1, BANKS // words)
    group = warp * max(1, words * wave // BANKS) + turn
    found = np.unique(
        np.concatenate([np.stack([group, at // 4 + i]) for i in range(words)], axis=1), axis=1
    )
    bank = found[0] * BANKS + found[1] % BANKS
    turns = np.bincount(bank, minlength=(int(bank.max()) // BANKS + 1) * BANKS)
    most = turns.reshape(-1, BANKS).max(axis=1)
    return int(np.maximum(most - 1, 0).sum())


def _warps(s: State, lanes: Array) -> Array:
    per_block = -(-s.threads // s.code.width)
    return s.block_of_lane[lanes] * per_block + s.thread_of_lane[lanes] // s.code.width
