"""What each line of a kernel did: threads, divergence, bytes, sectors, bank conflicts.

`Profile` collects while a kernel runs, `Counters` is what it found. What an access costs is the
model of `banks.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from core.runtime.emulator.memory.banks import SECTOR, extra, wavefronts
from core.runtime.emulator.program import Branch, Exit, Load, Space, Store
from core.runtime.numeric import Array

if TYPE_CHECKING:
    from core.runtime.emulator.prepare import Prepared
    from core.runtime.emulator.state import Spot, State


@dataclass(slots=True)
class LineCounters:
    """One line. `threads`: how often a thread ran it, of the `lanes` that the warps that ran it
    have. `warps`: how often a warp did, `divergent` of these with some of its threads only.
    `loaded` and `stored`: bytes by space.

    `sectors` that its global accesses touch, and `least`, how few could hold as many bytes.
    `conflicts`: extra wavefronts of its accesses of shared memory; `ways`: the wavefronts of the
    slowest phase of one, 0 where there is none.
    """

    threads: int = 0
    lanes: int = 0
    warps: int = 0
    divergent: int = 0
    loaded: Counter[str] = field(default_factory=Counter[str])
    stored: Counter[str] = field(default_factory=Counter[str])
    sectors: int = 0
    least: int = 0
    conflicts: int = 0
    ways: int = 0


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
            divergent, lanes = 0, s.lanes
        else:
            rows = s.in_warps(s.mask)
            full = s.in_warps(np.ones(s.lanes, np.bool_))
            active = np.any(rows, axis=1)
            warps = int(active.sum())
            divergent = int((active & np.any(rows != full, axis=1)).sum())
            lanes = int(full[active].sum())
        for i in range(block.first, block.last + (block.leave is not None)):
            line = self._line(self._kernel.code.instructions[i].line)
            line.warps += warps
            line.divergent += divergent
            line.lanes += lanes

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

    def access(self, instruction: Load | Store, width: int, s: State, spot: Spot) -> None:
        """Threads load or store `width` bytes each at a spot."""
        line = self._line(instruction.line)
        count = s.lanes if spot.lanes is None else spot.lanes.size
        moved = line.stored if isinstance(instruction, Store) else line.loaded
        moved[spot.space.value] += count * width
        lanes = s.lane_numbers if spot.lanes is None else spot.lanes
        at = np.broadcast_to(spot.address(s), lanes.shape)
        if spot.space is Space.GLOBAL:
            self._sectors(line, s, lanes, at, width)
        elif spot.space is Space.SHARED:
            self._banks(line, s, lanes, at, width)

    def _sectors(self, line: LineCounters, s: State, lanes: Array, at: Array, width: int) -> None:
        warps = _warps(s, lanes)
        sectors = np.concatenate([at // SECTOR, (at + width - 1) // SECTOR])
        pairs = np.unique(np.stack([np.concatenate([warps, warps]), sectors]), axis=1)
        line.sectors += pairs.shape[1]
        least = -(-np.bincount(warps) * width // SECTOR)
        line.least += int(least.sum())

    def _banks(self, line: LineCounters, s: State, lanes: Array, at: Array, width: int) -> None:
        threads = s.thread_of_lane[lanes] % s.code.width
        taken = wavefronts(_warps(s, lanes), threads, s.code.width, at, width)
        line.conflicts += extra(taken)
        line.ways = max(line.ways, int(taken.max(initial=0)))


def _warps(s: State, lanes: Array) -> Array:
    per_block = -(-s.threads // s.code.width)
    return s.block_of_lane[lanes] * per_block + s.thread_of_lane[lanes] // s.code.width
