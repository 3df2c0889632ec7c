"""What the operations of a group of warps build on: who works together, and the kernel's memory.

Makes memory and numbers of threads; never an effect of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.dtype import AddrSpace, DType, dtypes
from core.errors import CompileError
from core.target import Target
from core.tensor_cores import COPY
from core.tile.memory.layout import Choice, Layout, lanes_of
from core.tile.memory.swizzle import Swizzle
from core.tile.order import Memory, Order
from core.tile.tiles import RT, ST
from core.uop.kernelinfo import AxisType, TileInfo, TileKind
from core.uop.ops import Ops
from core.uop.uop import UOp

ALIGN = 16
"""Bytes that each memory of a work group begins at a multiple of."""


@dataclass
class Building:
    """A kernel under construction: its target, its order of effects and the memory it has so far.

    `warp` and `lane` number the warps of a work group and the threads of a warp.
    """

    target: Target
    choice: Choice
    order: Order
    warps: int
    warp: UOp
    lane: UOp
    ranges: int = 0
    shared_bytes: int = 0
    scratches: dict[tuple[DType, int, int], Memory] = field(
        default_factory=lambda: dict[tuple[DType, int, int], Memory]()
    )
    counts: dict[AddrSpace, int] = field(default_factory=lambda: dict[AddrSpace, int]())
    tiles: list[TileInfo] = field(default_factory=lambda: list[TileInfo]())
    """What its memories hold, in the order in which they were made."""

    def range(self, n: int | UOp, kind: AxisType) -> UOp:
        """A new loop, numbered in the order of the program."""
        return UOp.range(n, self.number(), kind)

    def number(self) -> int:
        """That of the next loop."""
        self.ranges += 1
        return self.ranges - 1

    def memory(self, dtype: DType, size: int, space: AddrSpace, stages: int = 1) -> Memory:
        """New memory of `size` elements for each of `stages`. Raises CompileError where a work
        group would have more shared memory than the target gives it."""
        if space is AddrSpace.LOCAL:
            wanted = -(-size * stages * dtype.itemsize // ALIGN) * ALIGN
            most = self.target.shared_bytes
            if self.target.has_local and self.shared_bytes + wanted > most:
                raise CompileError(
                    f"{wanted:,} bytes of shared memory, after {self.shared_bytes:,} before; "
                    f"{self.target.name} has {most:,} for a work group",
                    hint="make tiles smaller, or take fewer stages",
                )
            self.shared_bytes += wanted
        if space is AddrSpace.REG and self.order.alone:
            size *= self.warps * lanes_of(self.target)
        number = self.counts.get(space, 0)
        self.counts[space] = number + 1
        op = {
            AddrSpace.GLOBAL: Ops.DEFINE_GLOBAL,
            AddrSpace.LOCAL: Ops.DEFINE_LOCAL,
            AddrSpace.REG: Ops.DEFINE_REG,
        }[space]
        return Memory(UOp(op, dtype.ptr(size * stages, space), (), number), self.order, stages)

    def scratch(self, dtype: DType, rows: int, columns: int, number: int = 0) -> ST:
        """A shared tile that lanes exchange elements through: the same one for all exchanges of
        this size; `number` tells apart what is needed at once."""
        key = dtype, rows * columns, number
        if key not in self.scratches:
            self.scratches[key] = self.memory(dtype, rows * columns, AddrSpace.LOCAL)
        zero = index(0)
        swizzle = Swizzle(columns, dtype.itemsize)
        self.holds(self.scratches[key], "ST", rows, columns, swizzled=swizzle.mixed)
        return ST(self.scratches[key], dtype, rows, columns, swizzle, None, zero, zero, zero)

    def tile(self, dtype: DType, layout: Layout) -> RT:
        """A new register tile."""
        memory = self.memory(dtype, layout.count, AddrSpace.REG)
        self.holds(memory, "RT", layout.rows, layout.columns, layout=layout)
        return RT(memory, dtype, layout)

    def holds(
        self,
        memory: Memory,
        kind: TileKind,
        rows: int,
        columns: int,
        *,
        layout: Layout | None = None,
        swizzled: bool = False,
    ) -> None:
        """Notes what a memory holds, for those who look at the kernel."""
        name, base = (layout.name, layout.base) if layout else ("", None)
        number, warps = memory.define.arg, self.warps
        info = TileInfo(kind, number, rows, columns, warps, name, base, swizzled, memory.stages)
        if info not in self.tiles:
            self.tiles.append(info)


@dataclass(frozen=True)
class Team:
    """`warps` warps of a kernel that work together; `number` is that of a warp among them."""

    kernel: Building
    warps: int

    @property
    def number(self) -> UOp:
        """Of a warp, from 0 to `warps` - 1."""
        if self.warps == 1:
            return index(0)
        return self.kernel.warp % self.warps if self.warps < self.kernel.warps else self.kernel.warp

    @property
    def threads(self) -> int:
        """How many threads they are."""
        return self.warps * self.lanes

    @property
    def thread(self) -> UOp:
        """Of a thread, from 0 to `threads` - 1."""
        return self.number * self.lanes + self.kernel.lane

    def read(self, state: UOp, count: int) -> UOp:
        """All that a lane holds of register memory at a state, as one vector."""
        return state.index(self._own(count)).load(dtype=state.dtype.base.vec(count))

    def write(self, state: UOp, value: UOp) -> UOp:
        """The store of all that a lane holds of register memory at a state."""
        return state.index(self._own(value.dtype.count)).store(value)

    def _own(self, count: int) -> UOp:
        """Where registers begin: where one thread does the work of all, each has its part."""
        if not self.order.alone:
            return index(0)
        return (self.kernel.warp * self.lanes + self.kernel.lane) * count

    @property
    def lanes(self) -> int:
        """Threads of a warp."""
        return lanes_of(self.kernel.target)

    @property
    def order(self) -> Order:
        """The kernel's order of effects."""
        return self.kernel.order


def index(value: int) -> UOp:
    """A constant index."""
    return UOp.const(dtypes.index, value)


def numbers(values: tuple[int, ...], like: UOp) -> UOp:
    """A vector of constants of the dtype of a scalar."""
    return UOp.const(like.dtype.vec(len(values)), values)


def spread(value: UOp, values: tuple[int, ...]) -> UOp:
    """A vector of `value` + each of `values`."""
    return value.broadcast(len(values)) + numbers(values, value)


def owner(layout: Layout, lane: UOp) -> UOp | None:
    """Whether a lane is the first of those that hold the same elements; None where no two do."""
    gates = [(lane // (1 << i) % 2).eq(0) for i, bit in enumerate(layout.base.lanes) if bit == COPY]
    return both(*gates)


def both(*gates: UOp | None) -> UOp | None:
    """All of several conditions; None for none. A single one goes with a vector of others."""
    found = [g for g in gates if g is not None]
    if not found:
        return None
    most = max(g.dtype.count for g in found)
    wide = [g.broadcast(most) if g.dtype.count == 1 else g for g in found]
    gate = wide[0]
    for other in wide[1:]:
        gate = gate & other
    return gate
