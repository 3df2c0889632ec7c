"""One block of a launch, one instruction at a time, forwards and backwards: what debuggers are made
of.

A session runs in copies of the launch's memory. Going back takes what the instruction changed back,
for the last steps; before these, the block is run again from its start. Draws nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from core.errors import FaultError, RunError
from core.runtime.emulator.machine import Machine, started
from core.runtime.emulator.memory.globalmemory import GlobalMemory, Region
from core.runtime.emulator.prepare import Prepared
from core.runtime.emulator.program import (
    Branch,
    Dim,
    Exit,
    Instruction,
    Load,
    Space,
    Store,
    writes,
)
from core.runtime.emulator.state import (
    Accessed,
    Flight,
    Launch,
    Spot,
    State,
    Touched,
    Waiting,
    data_region,
)
from core.runtime.numeric import Array

KEEP: Final = 10_000
"""Steps that can be taken back without running the block again."""

COMPARISONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


@dataclass(frozen=True)
class Watch:
    """A condition: a value of some thread (None: of any) compared with `wanted`.

    `register` is a name of the text, or None for memory: `space`, `address` and, of global memory,
    the `region` that the address counts from. `kind` is a NumPy dtype's name.
    """

    compare: str
    wanted: float
    kind: str
    register: str | None = None
    thread: int | None = None
    space: Space = Space.GLOBAL
    region: str = ""
    address: int = 0


@dataclass(frozen=True)
class _Before:
    """What an instruction is about to change."""

    at: int
    offset: int
    join: int
    stack: tuple[Waiting, ...]
    masks: tuple[Array | None, Array | None, int, int, bool]
    slots: tuple[tuple[int, Any], ...]
    defined: Mapping[int, Array]
    known: Mapping[int, Array]
    counts: int
    flights: tuple[Flight, ...]
    commits: Array
    journal: list[tuple[Array, Array, Array]]


class _Accesses:
    """Watches what one instruction accesses."""

    def __init__(self) -> None:
        self.found: list[Accessed] = []

    def enter(self, s: State) -> None:
        """A basic block begins."""

    def access(self, instruction: Load | Store, width: int, s: State, spot: Spot) -> None:
        """Threads load or store `width` bytes each at a spot."""
        lanes = s.lane_numbers if spot.lanes is None else spot.lanes
        at = np.broadcast_to(spot.address(s), lanes.shape)
        stores = isinstance(instruction, Store)
        self.found.append(Accessed(spot.space, spot.region, stores, width, lanes, at))


class Session:
    """Block number `block` (x first) of a launch. `steps` instructions were run so far.

    `changed` are the numbers of the registers that the last instruction wrote, `ran` the threads
    that did not skip it, `touched` the memory that it stored to, `accessed` all that it loaded and
    stored.
    """

    def __init__(self, kernel: Prepared, launch: Launch, block: int = 0, keep: int = KEEP) -> None:
        self.kernel, self._launch, self.block = kernel, launch, block
        self._first = [r.content.copy() for r in launch.regions]
        self._written = [None if r.written is None else r.written.copy() for r in launch.regions]
        self._before: deque[_Before] = deque(maxlen=keep)
        self.breakpoints: set[int] = set()
        self.watches: list[Watch] = []
        self._start()

    def _start(self) -> None:
        regions = [
            replace(r, content=c.copy(), written=None if w is None else w.copy())
            for r, c, w in zip(self._launch.regions, self._first, self._written, strict=True)
        ]
        data = [data_region(d) for d in self.kernel.code.data]
        self._memory = GlobalMemory([*regions, *data])
        self.state: State = started(self.kernel, self._launch, self._memory, self.block, 1)
        self._machine = Machine(self.kernel, self.state)
        self._before.clear()
        self._known: dict[int, Array] = {}
        self.steps = 0
        self.changed: tuple[int, ...] = ()
        self.ran: Array = np.zeros(self.state.lanes, np.bool_)
        self.touched: tuple[Touched, ...] = ()
        self.accessed: tuple[Accessed, ...] = ()

    @property
    def done(self) -> bool:
        """Whether every thread has ended."""
        return self._machine.done

    @property
    def instruction(self) -> Instruction | None:
        """The instruction that comes next; None at the end."""
        return None if self.done else self.kernel.code.instructions[self._next()]

    def _next(self) -> int:
        return min(self._machine.index, len(self.kernel.code.instructions) - 1)

    @property
    def line(self) -> int:
        """The line that comes next, from 1; 0 at the end."""
        found = self.instruction
        return 0 if found is None else found.line

    def active(self) -> Array:
        """Which threads will run the next instruction."""
        return self.state.mask_now() if not self.done else np.zeros(self.state.lanes, np.bool_)

    def step(self) -> None:
        """One instruction. Raises FaultError, and stays where it was."""
        if self.done:
            return
        s = self.state
        index = self._next()
        numbers = tuple(dict.fromkeys(writes(self.kernel.code.instructions[index])))
        before = _Before(
            s.at,
            s.offset,
            s.join,
            tuple(replace(w) for w in s.stack),
            (s.mask, s.alive, s.active, s.living, s.full),
            tuple((n, s.slots[n]) for n in numbers),
            dict(s.defined),
            dict(self._known),
            s.block_counts[s.at],
            s.flights,
            s.commits,
            [],
        )
        part = self._taking_part(self.kernel.code.instructions[index])
        s.journal, s.touched, watching = before.journal, [], _Accesses()
        s.profile = watching
        try:
            with np.errstate(all="ignore"):
                self._machine.advance()
        except FaultError:
            self._restore(before)
            raise
        self._before.append(before)
        self.steps += 1
        for number in numbers:
            known = self._known.get(number)
            self._known[number] = part if known is None else known | part
        self.changed, self.ran = numbers, part
        self.touched, self.accessed = tuple(s.touched), tuple(watching.found)

    def _taking_part(self, instruction: Instruction) -> Array:
        mask, guard = self.state.mask_now(), instruction.guard
        if isinstance(instruction, Branch | Exit):
            return mask
        if guard is None or (value := self.state.slots[guard.number]) is None:
            return mask
        holds = self.state.spread(value)
        return mask & (holds if guard.wanted else ~holds)

    def back(self) -> None:
        """Takes the last instruction back."""
        if not self.steps:
            return
        if self._before:
            self._restore(self._before.pop())
            self.steps -= 1
        else:
            wanted = self.steps - 1
            self._start()
            while self.steps < wanted:
                self.step()
        self.changed, self.touched, self.accessed = (), (), ()
        self.ran = np.zeros(self.state.lanes, np.bool_)

    def _restore(self, before: _Before) -> None:
        s = self.state
        for array, at, old in reversed(before.journal):
            array[at] = old
        for number, value in before.slots:
            s.slots[number] = value
        s.at, s.offset, s.join = before.at, before.offset, before.join
        s.stack = [replace(w) for w in before.stack]
        s.mask, s.alive, s.active, s.living, s.full = before.masks
        s.defined, self._known = dict(before.defined), dict(before.known)
        s.block_counts[s.at] = before.counts
        s.flights, s.commits = before.flights, before.commits
        if s.shadow is not None:
            s.shadow.restored()

    def step_line(self) -> None:
        """To the next line that threads run, at least one instruction."""
        line = self.line
        self.step()
        while not self.done and self.line == line and self.state.offset:
            self.step()

    def run_to(self, line: int | None = None, limit: int = 1_000_000) -> str:
        """Until `line` or a breakpoint comes next, a watch holds, or the end; at least one
        instruction. Says which: "line", "breakpoint", "watch" or "end". Raises FaultError, and
        RunError after `limit` instructions."""
        for _ in range(limit):
            self.step()
            if self.done:
                return "end"
            if self.line == line:
                return "line"
            if self.line in self.breakpoints:
                return "breakpoint"
            if any(self.holds(w) for w in self.watches):
                return "watch"
        raise RunError(
            f"{limit} instructions later none of the places to stop was reached",
            f"line {self.line} of kernel {self.kernel.code.name}",
            "set a breakpoint on a line that threads reach",
        )

    def register(self, name: str, kind: str) -> tuple[Array, Array]:
        """(a register's elements as a NumPy dtype, one per thread; which of them were written).
        Raises RunError for a name or width that the kernel does not have."""
        if name not in self.kernel.code.registers:
            raise RunError(f"there is no register {name}", f"kernel {self.kernel.code.name}")
        number = self.kernel.code.registers.index(name)
        s, dtype = self.state, np.dtype(kind)
        value = s.slots[number]
        if value is None:
            return np.zeros(s.lanes, dtype), np.zeros(s.lanes, np.bool_)
        if value.dtype.itemsize != dtype.itemsize:
            raise RunError(
                f"{name} has {value.dtype.itemsize} bytes", f"seen as {kind}", "choose another kind"
            )
        known = self._known.get(number, np.zeros(s.lanes, np.bool_))
        return s.spread(value.view(dtype)), known

    def table(self, first: int = 0, count: int = 32) -> dict[str, list[Any]]:
        """Every register that has a value, of threads `first` up to `first + count`, as the dtype
        that it was last written as; None where nothing was written."""
        found: dict[str, list[Any]] = {}
        last = min(first + count, self.state.lanes)
        for number, name in enumerate(self.kernel.code.registers):
            value = self.state.slots[number]
            if value is None or name == "_":
                continue
            values, known = self.register(name, value.dtype.name)
            part = zip(values[first:last].tolist(), known[first:last].tolist(), strict=True)
            column = [v if k else None for v, k in part]
            if any(v is not None for v in column):
                found[name] = column
        return found

    def memory(
        self, space: Space, address: int, count: int, kind: str, region: str = "", thread: int = 0
    ) -> Array:
        """`count` elements at an address: of a global region by its name, of the block's shared
        memory, or of a thread's local memory. Raises RunError outside of it."""
        s, dtype = self.state, np.dtype(kind)
        if space is Space.GLOBAL:
            content = next((r.content for r in self._memory.regions if r.name == region), None)
        elif space is Space.SHARED:
            content = s.shared[: s.shared_bytes]
        elif space is Space.LOCAL:
            start = thread * s.local_row
            content = s.local[start : start + s.code.local_bytes]
        else:
            content = None
        nbytes = count * dtype.itemsize
        if content is None or address < 0 or address + nbytes > content.size:
            raise RunError(
                f"no {nbytes} bytes at {address} of {region or space.value}",
                f"kernel {self.kernel.code.name}",
            )
        return np.frombuffer(content[address : address + nbytes].tobytes(), dtype)

    def holds(self, watch: Watch) -> bool:
        """Whether a condition holds now. Raises RunError for one that means nothing here."""
        compare = COMPARISONS.get(watch.compare)
        if compare is None:
            raise RunError(f"{watch.compare!r} compares nothing", hint=" ".join(COMPARISONS))
        if watch.register is not None:
            values, known = self.register(watch.register, watch.kind)
        else:
            where = (watch.address, 1, watch.kind, watch.region, watch.thread or 0)
            values = self.memory(watch.space, *where)
            known = np.ones(1, np.bool_)
        found = compare(values, np.dtype(watch.kind).type(watch.wanted)) & known
        if watch.register is not None and watch.thread is not None:
            found = found[watch.thread : watch.thread + 1]
        return bool(found.any())

    def regions(self) -> tuple[Region, ...]:
        """The session's own copies of global memory."""
        return tuple(self._memory.regions)

    def thread(self, lane: int) -> Dim:
        """A thread's x, y and z."""
        return self.state.place(lane)[1]
