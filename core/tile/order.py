"""In which order a tile kernel reads and writes its memory: states, loops and barriers.

Every operation is an effect: a store, or several, at the *state* of the memory that it writes,
which is the memory AFTER all that has to happen before. The next state comes after that effect.
Barriers are made here and nowhere else: an access of shared memory that may meet one by another
thread since the last barrier gets a BARRIER before it. Asynchronous stores, COMMITs and WAITs stay
in the order of the program. Never looks at what is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from core.dtype import AddrSpace, PtrDType, dtypes
from core.errors import CompileError
from core.tile.checks import check_loops, check_written
from core.uop.kernelinfo import AxisType
from core.uop.ops import Ops
from core.uop.uop import UOp


@dataclass(eq=False, slots=True)
class Memory:
    """What a DEFINE_* stands for. `stages`: equal parts that are used in turn; `order` is that of
    the kernel that it is part of."""

    define: UOp
    order: Order
    stages: int = 1
    writes: tuple[UOp, ...] = ()
    """What has happened when its content is what was last written."""
    reads: tuple[UOp, ...] = ()
    """What has read this content since."""
    written: bool = False

    @property
    def shared(self) -> bool:
        """Whether other threads see it."""
        dtype = self.define.dtype
        return isinstance(dtype, PtrDType) and dtype.addrspace is not AddrSpace.REG

    @property
    def local(self) -> bool:
        """Whether the threads of one work group see it."""
        return self.define.op is Ops.DEFINE_LOCAL


@dataclass(frozen=True, slots=True)
class Place:
    """A memory, or one stage of it (None: any)."""

    memory: Memory
    stage: UOp | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """An access since the last barrier; `place` None: in the iteration before, or of what has
    arrived, any access of shared memory, or of global memory that was stored to before."""

    place: Place | None
    wrote: bool
    effect: UOp | None

    def meets(self, place: Place, writes: bool) -> bool:
        """Whether another access may not be moved past this one."""
        if self.place is None:
            return place.memory.local or place.memory.written
        if self.place.memory is not place.memory or not (writes or self.wrote):
            return False
        return not _apart(self.place.stage, place.stage, place.memory.stages)


@dataclass(slots=True)
class Block:
    """The kernel (loop None), or the body of a loop, while it is built."""

    loop: UOp | None
    effects: list[UOp] = field(default_factory=lambda: list[UOp]())
    touched: dict[Memory, bool] = field(default_factory=lambda: dict[Memory, bool]())
    """Memory that was read, or (True) written."""
    pending: list[Access] = field(default_factory=lambda: list[Access]())
    barrier: UOp | None = None


_OWN = {Ops.DEFINE_LOCAL: "shared memory", Ops.DEFINE_REG: "a register tile or vector"}
"""Memory that holds nothing at first."""
Build = Callable[[UOp, Sequence[UOp]], UOp]
"""The effect at the states of the memory written and of those read."""


class Order:
    """The effects of one kernel so far.

    `threads`: where one thread does what all threads of a work group would, the numbers of warps
    and lanes that stand for them; `number` gives loops their numbers. Each effect is then a loop
    over all of them, and no wait is needed.
    """

    def __init__(self, threads: tuple[UOp, ...] = (), number: Callable[[], int] = int) -> None:
        self.threads, self._number = threads, number
        self.blocks = [Block(None)]
        self.outer: tuple[UOp, ...] = ()
        """Loops over work groups, where these run one after the other."""
        self.last: tuple[UOp, ...] = ()
        """The last COMMIT or WAIT, or the loop that holds it."""
        self.uncommitted: list[UOp] = []
        """Asynchronous effects since then that are of no group yet."""
        self.in_flight: dict[Memory, None] = {}
        """Global memory that asynchronous effects may still read."""
        self.ended = False
        """Whether the kernel is finished."""

    @property
    def alone(self) -> bool:
        """Whether one thread does all."""
        return bool(self.threads)

    @property
    def loops(self) -> tuple[UOp, ...]:
        """The open loops, outermost first."""
        return tuple(b.loop for b in self.blocks if b.loop is not None)

    def effect(
        self,
        build: Build,
        writes: Place,
        reads: Sequence[Place] = (),
        after: tuple[UOp, ...] = (),
    ) -> UOp:
        """Something that writes one memory and reads others, once `after` has happened. Raises
        CompileError where the kernel is finished or another one, where it writes what asynchronous
        effects may still read, reads what nothing was written to, or uses a loop that has ended."""
        if self.ended:
            raise CompileError(
                "an operation on tiles of a finished kernel, which it would not be part of",
                hint="do it in the kernel's with block, before ker.finish()",
            )
        if any(place.memory.order is not self for place in (writes, *reads)):
            raise CompileError(
                "an operation on a tile or view of another kernel",
                hint="a kernel has its own: make them by ker.gl, ker.st, ker.rt and so on",
            )
        if writes.memory in self.in_flight:
            raise CompileError(
                "a store to memory that asynchronous loads may still read",
                hint="wait for them before it: ker.wait()",
            )
        for place, wrote in [*((r, False) for r in reads), (writes, True)]:
            self._wait(place, wrote)
        sources = [self._state(r.memory, False) for r in reads]
        effect = build(self._state(writes.memory, True, after), sources)
        check_loops(effect, (*self.loops, *self.outer, *self.threads))
        for place, state in zip(reads, sources, strict=True):
            if not place.memory.written and (name := _OWN.get(place.memory.define.op)):
                check_written(effect, state, name)
        made = self._by_all(effect)
        block = self.blocks[-1]
        block.effects.append(made)
        for place in reads:
            self._touch(place, False, made)
        self._touch(writes, True, made)
        writes.memory.writes, writes.memory.reads = (made,), ()
        for place in reads:
            if place.memory is not writes.memory:
                place.memory.reads += (made,)
        return made

    def copy(self, build: Build, writes: Place, reads: Place) -> None:
        """An effect of asynchronous stores: they may happen at any time up to a `wait`. Where one
        thread does all, they are stores like others."""
        made = self.effect(build, writes, [reads], self.last)
        if not self.alone:
            self.uncommitted.append(made)
            self.in_flight[reads.memory] = None

    def commit(self) -> None:
        """The copies since the last group are a group."""
        if self.alone:
            return
        self._mark(UOp(Ops.COMMIT, dtypes.void, (*self.uncommitted, *self.last, *self.loops)))
        self.uncommitted = []

    def wait(self, behind: int) -> None:
        """Until the copies of all groups but the last `behind` have arrived."""
        if self.alone:
            return
        if self.uncommitted:
            self.commit()
        waited = UOp(Ops.WAIT, dtypes.void, (*self.last, *self.loops), behind)
        self._mark(waited)
        self.blocks[-1].pending.append(Access(None, True, waited))
        if not behind:
            self.in_flight = {}

    def finish(self) -> tuple[UOp, ...]:
        """What has to happen at the end besides what is stored: no copy outlives its kernel."""
        if self.in_flight:
            self.wait(0)
        return self.last

    def _mark(self, node: UOp) -> None:
        self.blocks[-1].effects.append(node)
        self.last = (node,)

    def _by_all(self, effect: UOp) -> UOp:
        """The effect of every thread."""
        if not self.threads:
            return effect
        loops = {
            thread: UOp.range(int(thread.vmax) + 1, self._number(), AxisType.REDUCE)
            for thread in self.threads
            if thread.op is Ops.RANGE
        }
        return effect.substitute(loops).end(*loops.values())

    def open(self, loop: UOp) -> None:
        """A loop begins."""
        if self.uncommitted:
            self.commit()
        outstanding = [a.effect for a in self.blocks[-1].pending]
        self.blocks.append(Block(loop))
        self.blocks[-1].pending = [Access(None, True, e) for e in outstanding or [None]]

    def close(self) -> None:
        """The innermost loop ends."""
        if self.uncommitted:
            self.commit()
        body = self.blocks.pop()
        assert body.loop is not None
        outer = self.blocks[-1]
        if not body.effects:
            return
        end = UOp.group(*dict.fromkeys(body.effects)).end(body.loop)
        outer.effects.append(end)
        if self.last and self.last[0] in body.effects:
            self.last = (end,)
        for memory, wrote in body.touched.items():
            if wrote:
                memory.writes, memory.reads = (end,), ()
            else:
                memory.reads = (*(e for e in memory.reads if e not in body.effects), end)
            outer.touched[memory] = outer.touched.get(memory, False) or wrote
        if any(a.place is None and a.effect in body.effects for a in body.pending):
            outer.pending.append(Access(None, True, end))  # a wait that no barrier followed
        outer.pending += [
            Access(Place(memory), wrote, end)
            for memory, wrote in body.touched.items()
            if memory.shared and not self.alone
        ]

    def _state(self, memory: Memory, writes: bool, after: tuple[UOp, ...] = ()) -> UOp:
        before = [*memory.writes, *(memory.reads if writes else ()), *after]
        if memory.shared:
            found = next((b.barrier for b in reversed(self.blocks) if b.barrier is not None), None)
            before += [] if found is None else [found]
        return memory.define.after(*dict.fromkeys(before), *self.outer, *self.loops)

    def _touch(self, place: Place, wrote: bool, effect: UOp) -> None:
        memory, block = place.memory, self.blocks[-1]
        block.touched[memory] = block.touched.get(memory, False) or wrote
        memory.written |= wrote
        if memory.shared and not self.alone:
            block.pending.append(Access(place, wrote, effect))

    def _wait(self, place: Place, writes: bool) -> None:
        """A barrier, where this access needs one before it."""
        block = self.blocks[-1]
        if self.alone or not place.memory.shared:
            return
        if not any(access.meets(place, writes) for access in block.pending):
            return
        effects = [a.effect for b in self.blocks for a in b.pending if a.effect is not None]
        earlier = [b.barrier for b in self.blocks if b.barrier is not None]
        block.barrier = UOp(
            Ops.BARRIER, dtypes.void, (*dict.fromkeys([*effects, *earlier[-1:]]), *self.loops)
        )
        block.effects.append(block.barrier)
        block.pending = []


def _apart(a: UOp | None, b: UOp | None, stages: int) -> bool:
    """Whether two numbers of stages are different in every iteration."""
    if a is None or b is None:
        return False
    (one, more), (other, less) = _stage(a, stages), _stage(b, stages)
    return one is other and (more - less) % stages != 0


def _stage(u: UOp, stages: int) -> tuple[UOp | None, int]:
    """(x, c) where `u` is (x + c) modulo `stages`."""
    u = u.simplify()
    if u.op is Ops.MOD and u.src[1].op is Ops.CONST and u.src[1].arg == stages:
        u = u.src[0]
    if u.op is Ops.CONST:
        return None, u.arg
    if u.op is Ops.ADD and u.src[1].op is Ops.CONST:
        return u.src[0], u.src[1].arg
    return u, 0
