"""The threads of a batch of blocks: their registers, which of them are active, their memory.

A lane is one thread of the batch; threads of a block are next to each other, x first. A register is
an array of one element per lane, or of one element that all lanes share; such arrays are never
changed in place, so that a copy of the list of registers is a snapshot of them. Runs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from core.helpers import prod
from core.runtime.emulator.memory.globalmemory import GlobalMemory, Region
from core.runtime.emulator.memory.races import SharedShadow
from core.runtime.emulator.program import Code, Data, Dim, Load, Space, Store
from core.runtime.numeric import Array

ROW: Final = 16
"""The shared memory of a block and the local memory of a thread take a multiple of this."""


@dataclass(frozen=True, eq=False)
class Launch:
    """What a kernel is started with: blocks, threads per block, the bytes of its parameters (laid
    out as `Code.parameters` says), the memory that it may touch, and the shared memory that the
    launch adds to what the text declares."""

    grid: Dim
    block: Dim
    params: bytes
    regions: tuple[Region, ...]
    shared_bytes: int = 0


@dataclass(frozen=True)
class Checks:
    """What is checked beyond bounds, alignment and barriers, which always are. `initialised`: reads
    of registers, shared and local memory that nothing wrote; `content`: the same of global memory;
    `races`: between threads of a block in shared memory."""

    initialised: bool = True
    content: bool = True
    races: bool = True


@dataclass(frozen=True, slots=True)
class Touched:
    """Memory that an instruction wrote: `nbytes` at each address of its space (of global memory:
    from the start of `region`), by the threads in `lanes` (None: all). `values` are the elements
    of each access, an array for each with an element per thread, `before` what was there."""

    space: Space
    region: Region | None
    at: Array
    nbytes: int
    lanes: Array | None
    values: tuple[Array, ...]
    before: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Accessed:
    """Memory that an instruction read or (`stores`) wrote: `nbytes` at each address `at`, as the
    kernel sees them, by the threads in `lanes`. `region`: of global memory."""

    space: Space
    region: Region | None
    stores: bool
    nbytes: int
    lanes: Array
    at: Array


@dataclass(slots=True)
class Spot:
    """A part of an access: the memory, the byte offset in it of each lane's address, and which
    lanes they are (None: all that take part). `region` where it is global memory."""

    space: Space
    memory: Array
    at: Array
    lanes: Array | None
    region: Region | None = None

    def address(self, s: State) -> Array:
        """The address of each lane as the kernel sees it: in global memory the device's, else
        from the start of what the block or the thread has."""
        if self.region is not None:
            return self.at + self.region.address
        if self.space is Space.SHARED:
            base = s.shared_base
        elif self.space is Space.LOCAL:
            base = s.local_base
        else:
            return self.at
        return self.at - (base if self.lanes is None else base[self.lanes])


class Flight(Protocol):
    """Copies of an instruction to shared memory that have not arrived."""

    @property
    def lanes(self) -> Array:
        """The threads whose copies these are."""
        ...

    def land(self, s: State, arrived: Array) -> Flight | None:
        """Those that arrive do; the others, if any."""
        ...

    @property
    def group(self) -> Array:
        """The number of each thread's group."""
        ...


@dataclass(slots=True)
class Waiting:
    """Threads that run later: from block `at`, until block `join`."""

    at: int
    mask: Array | None
    join: int


class Watcher(Protocol):
    """Receives what threads do, where it is counted."""

    def enter(self, s: State) -> None:
        """A basic block begins."""
        ...

    def access(self, instruction: Load | Store, width: int, s: State, spot: Spot) -> None:
        """Threads load or store `width` bytes each at a spot."""
        ...


class State:
    """Blocks `first` up to `first + blocks` of a launch. `mask` says which lanes are active (None:
    all); `full` that no living lane is left out; `active` how many are.

    `slots` are the registers, then what `Prepared.extra` says. With a `journal`, everything that
    is changed in place is noted in it as (array, indices, what was there), and stores of the last
    instruction in `touched`. `flights` are the copies that have not arrived, `commits` how many
    groups of them each lane has ended; both are replaced, never changed.
    """

    def __init__(
        self,
        code: Code,
        launch: Launch,
        memory: GlobalMemory,
        first: int,
        blocks: int,
        checks: Checks,
        granule: int,
    ) -> None:
        self.code, self.launch, self.memory, self.checks = code, launch, memory, checks
        self.first, self.blocks = first, blocks
        self.threads = prod(launch.block)
        self.lanes = blocks * self.threads
        self.slots: list[Any] = [None] * len(code.registers)
        self.defined: dict[int, Array] = {}
        self.at, self.offset, self.join = 0, 0, -1
        self.stack: list[Waiting] = []
        self.mask: Array | None = None
        self.alive: Array | None = None
        self.active = self.living = self.lanes
        self.full = True
        self.lane_numbers = np.arange(self.lanes)
        self.block_of_lane = self.lane_numbers // self.threads
        self.thread_of_lane = self.lane_numbers % self.threads
        self.shared_bytes = code.shared_bytes + launch.shared_bytes
        self.shared_row = -(-self.shared_bytes // ROW) * ROW
        self.shared = np.zeros(self.shared_row * blocks, np.uint8)
        self.shared_base = self.block_of_lane * self.shared_row
        self.local_row = -(-code.local_bytes // ROW) * ROW
        self.local = np.zeros(self.local_row * self.lanes, np.uint8)
        self.local_base = self.lane_numbers * self.local_row
        self.local_written = np.zeros(self.local.size, np.uint8)
        self.params = np.frombuffer(bytearray(launch.params + bytes(-len(launch.params) % ROW)),
                                    np.uint8)  # fmt: skip
        self.constants = np.frombuffer(
            bytearray(code.constants + bytes(-len(code.constants) % ROW)), np.uint8
        )
        self.shadow = SharedShadow(self, granule) if self.shared.size else None
        self.journal: list[tuple[Array, Array, Array]] | None = None
        self.touched: list[Touched] = []
        self.flights: tuple[Flight, ...] = ()
        self.commits = np.zeros(self.lanes, np.int64)
        self.profile: Watcher | None = None
        self.guarded: dict[int, int] = {}
        self.block_counts: list[int] = []
        self._lanes: tuple[Array | None, Array | None] = (None, None)

    def activate(self, mask: Array | None, count: int) -> None:
        """From here on these `count` lanes are active."""
        if mask is not None and count == self.lanes:
            mask = None
        self.mask, self.active = mask, count
        self.full = count == self.living

    def mask_now(self) -> Array:
        """The active lanes."""
        return np.ones(self.lanes, np.bool_) if self.mask is None else self.mask

    def active_lanes(self) -> Array:
        """Their numbers, where some lane is not active."""
        if self._lanes[0] is not self.mask:
            assert self.mask is not None
            self._lanes = self.mask, np.flatnonzero(self.mask)
        assert self._lanes[1] is not None
        return self._lanes[1]

    def first_lane(self) -> int:
        """The first active lane."""
        return 0 if self.mask is None else int(np.argmax(self.mask))

    def in_warps(self, value: Array) -> Array:
        """One element per lane as (warps, width); what fills up the last warp of each block is
        zero."""
        width = self.code.width
        rows = value.reshape(self.blocks, self.threads)
        missing = -self.threads % width
        if missing:
            rows = np.pad(rows, ((0, 0), (0, missing)))
        return rows.reshape(-1, width)

    def from_warps(self, value: Array) -> Array:
        """The opposite of `in_warps`."""
        rows = value.reshape(self.blocks, -1)[:, : self.threads]
        return np.ascontiguousarray(rows).reshape(self.lanes)

    def place(self, lane: int) -> tuple[Dim, Dim]:
        """(block, thread) of a lane."""
        block = self.first + lane // self.threads
        return _split(block, self.launch.grid), _split(lane % self.threads, self.launch.block)

    def special(self, name: str) -> Array:
        """The values of a `program.Special`. KeyError for one that there is none of."""
        kind, _, axis = name.partition(".")
        at = "xyz".index(axis) if axis else 0
        width = self.code.width
        if kind == "tid":
            found = _digit(self.thread_of_lane, self.launch.block, at)
        elif kind == "ctaid":
            blocks = np.arange(self.first, self.first + self.blocks)
            per_block = _digit(blocks, self.launch.grid, at)
            found = per_block if self.blocks == 1 else per_block[self.block_of_lane]
        elif kind == "laneid":
            found = self.thread_of_lane % width
        elif kind == "warpid":
            found = self.thread_of_lane // width
        else:
            found = np.array([_uniform(self, kind, at)])
        return found.astype(np.uint32)

    def spread(self, value: Array) -> Array:
        """A register with one element per lane."""
        return value if value.shape[0] == self.lanes else np.broadcast_to(value, (self.lanes,))


def _uniform(s: State, kind: str, axis: int) -> int:
    match kind:
        case "ntid":
            return s.launch.block[axis]
        case "nctaid":
            return s.launch.grid[axis]
        case "nwarpid":
            return -(-s.threads // s.code.width)
        case "warpsize":
            return s.code.width
        case _:
            raise KeyError(kind)


def _digit(number: Array, sizes: Dim, axis: int) -> Array:
    return number // prod(sizes[:axis]) % sizes[axis]


def _split(number: int, sizes: Dim) -> Dim:
    x, y, _ = sizes
    return number % x, number // x % y, number // (x * y)


def data_region(data: Data) -> Region:
    """The memory of a variable that the text declares, with its first content."""
    content = np.frombuffer(bytearray(data.content), np.uint8)
    return Region(data.name, data.address, content, None, data.writable)
