"""`execute`: all blocks of a launch, many at once, each instruction on all of their threads.

Threads that diverge reconverge at the immediate post-dominator of the branch. Knows no language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import numpy as np

from core.errors import RunError
from core.helpers import prod
from core.runtime.emulator.counters import Profile
from core.runtime.emulator.faults import fault
from core.runtime.emulator.flow import BasicBlock
from core.runtime.emulator.memory.globalmemory import GlobalMemory
from core.runtime.emulator.prepare import Prepared
from core.runtime.emulator.program import Branch
from core.runtime.emulator.state import Launch, State, Waiting, data_region
from core.runtime.emulator.steps import blank, taking_part
from core.runtime.numeric import Array

LANES: Final = 1 << 14
"""Threads that run at once, at least a block: their registers stay in a processor's caches."""
_HURRY: Final = 64
"""Basic blocks between two looks at `stop`."""
MAX_THREADS: Final = 1024
"""Threads of the largest block."""


def execute(
    kernel: Prepared, launch: Launch, limit: int | None = None, profile: Profile | None = None
) -> None:
    """Runs a kernel to its end; memory is changed in place. `limit`: basic blocks that one batch of
    blocks may run, for kernels that may never end. `profile` receives what each line does.

    Raises FaultError for what a GPU leaves undefined or answers with an error, with the line, its
    text, the block and the thread; RunError for a launch that no GPU accepts.
    """
    for state in batches(kernel, launch):
        state.profile = profile
        with np.errstate(all="ignore"):
            Machine(kernel, state).run(limit)
        if profile is not None:
            profile.finish(state)


def batches(
    kernel: Prepared, launch: Launch, order: Callable[[int], Iterable[int]] = range
) -> Iterator[State]:
    """The blocks of a launch, as many at once as LANES allows. `order` is given the number of these
    batches and says which follow each other. Raises RunError for a launch that no GPU takes."""
    threads, blocks = prod(launch.block), prod(launch.grid)
    if not 0 < threads <= MAX_THREADS or blocks < 1:
        raise RunError(
            f"a launch of {launch.grid} blocks of {launch.block} threads",
            f"kernel {kernel.code.name}",
            f"at least one block, of 1 to {MAX_THREADS} threads",
        )
    if kernel.code.threads not in (None, launch.block):
        raise RunError(
            f"blocks of {launch.block} threads for a kernel made for {kernel.code.threads}",
            f"kernel {kernel.code.name}",
            "launch it with the size that its text declares",
        )
    regions = [*launch.regions, *(data_region(d) for d in kernel.code.data)]
    memory = GlobalMemory(regions)
    at_once = max(1, LANES // threads)
    for number in order(-(-blocks // at_once)):
        first = number * at_once
        yield started(kernel, launch, memory, first, min(at_once, blocks - first))


def started(
    kernel: Prepared, launch: Launch, memory: GlobalMemory, first: int, blocks: int
) -> State:
    """Some blocks of a launch, before their first instruction."""
    s = State(kernel.code, launch, memory, first, blocks, kernel.checks, kernel.granule)
    for register in kernel.unsure:
        s.slots[register.number] = blank(register.kind.itemsize)
    s.slots += [s.special(e) if isinstance(e, str) else e for e in kernel.extra]
    s.block_counts = [0] * len(kernel.flow.blocks)
    s.at = 0 if kernel.flow.blocks else -1
    s.join = len(kernel.flow.blocks)
    return s


class Machine:
    """Runs the blocks of a `State`. `state.at` is the basic block that comes next, `state.offset`
    the instruction in it; `done` says that no thread is left."""

    def __init__(self, kernel: Prepared, state: State) -> None:
        self.kernel, self.state = kernel, state
        blocks = kernel.flow.blocks
        self._end = len(blocks)
        self._full = [kernel.full[b.first : b.last] for b in blocks]
        self._partial = [kernel.partial[b.first : b.last] for b in blocks]

    @property
    def done(self) -> bool:
        """Whether every thread has ended."""
        return self.state.at < 0

    @property
    def index(self) -> int:
        """The instruction that comes next."""
        s = self.state
        return self.kernel.flow.blocks[s.at].first + s.offset

    def run(self, limit: int | None = None, stop: Callable[[], bool] = lambda: False) -> None:
        """Runs to the end, or until `stop`, which is called now and then, returns true. Raises
        FaultError, also after `limit` basic blocks."""
        s, blocks = self.state, self.kernel.flow.blocks
        left = -1 if limit is None else limit
        while s.at >= 0:
            if left % _HURRY == 0 and stop():
                return
            at = s.at
            s.block_counts[at] += s.active
            if s.profile is not None:
                s.profile.enter(s)
            for step in (self._full if s.full else self._partial)[at]:
                step(s)
            self._leave(blocks[at])
            left -= 1
            if left == 0:
                instruction = self.kernel.code.instructions[min(blocks[at].last, blocks[at].first)]
                what = f"{limit} basic blocks have run, and threads are still at work"
                raise fault(s, instruction, "endless", what, s.first_lane())

    def advance(self) -> None:
        """One instruction. Raises FaultError."""
        s = self.state
        block = self.kernel.flow.blocks[s.at]
        index = block.first + s.offset
        if not s.offset:
            s.block_counts[s.at] += s.active
        if index < block.last:
            (self.kernel.full if s.full else self.kernel.partial)[index](s)
            s.offset += 1
            if index + 1 < block.last or block.leave is not None:
                return
        s.offset = 0
        self._leave(block)

    def _leave(self, block: BasicBlock) -> None:
        """Moves the active lanes to the successors of a basic block."""
        s, leave = self.state, block.leave
        if leave is None:
            self._go(block.following)
            return
        self.kernel.full[block.last](s)
        if leave.guard is None:
            self._go(block.taken)
            return
        mask, count = taking_part(s, block.last, leave.guard)
        if not count:
            self._go(block.following)
        elif count == s.active:
            self._go(block.taken)
        elif isinstance(leave, Branch):
            assert mask is not None
            self._part(block, mask, count)
        else:
            assert mask is not None
            self._end_threads(mask)
            self._go(block.following)

    def _part(self, block: BasicBlock, mask: Array, count: int) -> None:
        s = self.state
        if block.join != s.join:
            if block.join != self._end:
                s.stack.append(Waiting(block.join, s.mask, s.join))
            s.join = block.join
        others = ~mask if s.mask is None else s.mask & ~mask
        if block.taken == s.join:
            s.activate(others, s.active - count)
            s.at = block.following
            return
        if block.following != s.join:
            s.stack.append(Waiting(block.following, others, s.join))
        s.activate(mask, count)
        s.at = block.taken

    def _go(self, target: int) -> None:
        """All active lanes to a basic block, where they wait if others are to come there."""
        s = self.state
        if target == self._end:
            self._end_threads(s.mask)
            s.activate(s.mask, 0)
        if not s.active or target == s.join:
            self._resume()
        else:
            s.at = target

    def _end_threads(self, mask: Array | None) -> None:
        s = self.state
        if mask is None:
            s.living, s.alive, s.active = 0, None, 0
            return
        s.alive = ~mask if s.alive is None else s.alive & ~mask
        s.living = int(np.count_nonzero(s.alive))
        left = s.alive if s.mask is None else s.mask & s.alive
        s.activate(left, int(np.count_nonzero(left)))

    def _resume(self) -> None:
        """Goes on with lanes that wait."""
        s = self.state
        while s.stack:
            waiting = s.stack.pop()
            mask = waiting.mask
            if s.alive is not None:
                mask = s.alive if mask is None else mask & s.alive
            count = s.lanes if mask is None else int(np.count_nonzero(mask))
            if count and s.living:
                s.join = waiting.join
                s.activate(mask, count)
                if waiting.at == s.join:
                    continue
                s.at = waiting.at
                return
        s.at = -1
