"""Linear programs written by hand, which no pass had a hand in: one per thing renderers must do.

Each is built in the order in which it runs; `Program.add` collects the nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from core.dtype import AddrSpace, ConstType, DType, dtypes
from core.uop.kernelinfo import AxisType
from core.uop.ops import Ops
from core.uop.uop import UOp


@dataclass
class Build:
    """Collects nodes in order; a node that is already there stays where it is."""

    uops: list[UOp] = field(default_factory=list[UOp])

    def add(self, u: UOp) -> UOp:
        for s in u.src:
            if s not in self.uops and s.op in (Ops.CONST, Ops.VCONST):
                self.uops.append(s)
        if u not in self.uops:
            self.uops.append(u)
        return u

    def pointer(self, number: int, dtype: DType, size: int) -> UOp:
        return self.add(UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), number))

    def memory(self, number: int, dtype: DType, size: int, local: bool = False) -> UOp:
        op = Ops.DEFINE_LOCAL if local else Ops.DEFINE_REG
        space = AddrSpace.LOCAL if local else AddrSpace.REG
        return self.add(UOp(op, dtype.ptr(size, space), (), number))

    def loop(self, bound: int | UOp, number: int, kind: AxisType = AxisType.LOOP) -> UOp:
        return self.add(UOp.range(bound, number, kind))

    def index(self, pointer: UOp, offset: UOp | int, gate: UOp | None = None) -> UOp:
        return self.add(pointer.index(offset, gate=gate))

    def load(
        self,
        pointer: UOp,
        offset: UOp | int,
        lanes: int = 1,
        gate: UOp | None = None,
        other: UOp | None = None,
    ) -> UOp:
        dtype = pointer.dtype.base.vec(lanes)
        place = self.index(pointer, offset, gate)
        return self.add(place.load(*(() if other is None else (other,)), dtype=dtype))

    def store(self, pointer: UOp, offset: UOp | int, value: UOp) -> UOp:
        return self.add(self.index(pointer, offset).store(value))

    def end(self, loop: UOp, last: UOp) -> UOp:
        return self.add(last.end(loop))

    def done(self) -> list[UOp]:
        return [*self.uops, UOp.sink(self.uops[-1])]


def const(dtype: DType, value: ConstType) -> UOp:
    return UOp.const(dtype, value)


def elementwise() -> list[UOp]:
    """Vectors of 4: out[i] = a[i] * b[i] + 1.5."""
    b, f = Build(), dtypes.float32
    out, x, y = (b.pointer(n, f, 64) for n in range(3))
    i = b.loop(16, 0)
    at = b.add(i * 4)
    product = b.add(b.load(x, at, 4) * b.load(y, at, 4))
    total = b.add(product + const(f.vec(4), 1.5))
    b.end(i, b.store(out, at, total))
    return b.done()


def matrix_vector() -> list[UOp]:
    """An accumulator in a register array of one, read after its loop."""
    b, f = Build(), dtypes.float32
    out, m, v = b.pointer(0, f, 8), b.pointer(1, f, 96), b.pointer(2, f, 12)
    i = b.loop(8, 0)
    acc = b.memory(0, f, 1)
    start = b.store(b.add(acc.after(i)), 0, const(f, 0.0))
    j = b.loop(12, 1, AxisType.REDUCE)
    inside = b.add(acc.after(start, j))
    a = b.load(m, b.add(b.add(i * 12) + j))
    so_far = b.load(inside, 0)
    fused = b.add(UOp(Ops.MULACC, f, (a, b.load(v, j), so_far)))
    done = b.end(j, b.store(inside, 0, fused))
    b.end(i, b.store(out, i, b.load(b.add(acc.after(done)), 0)))
    return b.done()


def gated() -> list[UOp]:
    """Loads with a gate, of one element and of four; and a store under an IF."""
    b, f = Build(), dtypes.float32
    out, x = b.pointer(0, f, 40), b.pointer(1, f, 16)
    i = b.loop(8, 0)
    inside = b.add(i < 4)
    at = b.add(i * 4)
    four = b.load(x, at, 4, inside, const(f.vec(4), -1.0))
    one = b.load(x, at, 1, inside, const(f, 7.0))
    b.store(out, at, four)
    odd = b.add(b.add(i & 1).ne(0))
    branch = b.add(UOp(Ops.IF, dtypes.void, (odd,)))
    b.store(out, b.add(i + 32), one)
    last = b.add(UOp(Ops.ENDIF, dtypes.void, (branch,)))
    b.end(i, last)
    return b.done()


def lane_gates() -> list[UOp]:
    """Vector loads with a gate for each lane, of 4 floats and of 8 halves."""
    b = Build()
    out, halves = b.pointer(0, dtypes.float32, 32), b.pointer(1, dtypes.float16, 64)
    x, y = b.pointer(2, dtypes.float32, 30), b.pointer(3, dtypes.float16, 60)
    i = b.loop(8, 0)
    at, wide = b.add(i * 4), b.add(i * 8)
    lanes = b.add(b.add(at.broadcast(4)) + UOp.const(dtypes.int32.vec(4), (0, 1, 2, 3)))
    gate = b.add(lanes < UOp.const(dtypes.int32.vec(4), 30))
    b.store(out, at, b.load(x, at, 4, gate, const(dtypes.float32.vec(4), -1.0)))
    eight = b.add(b.add(wide.broadcast(8)) + UOp.const(dtypes.int32.vec(8), tuple(range(8))))
    some = b.add(eight < UOp.const(dtypes.int32.vec(8), 60))
    last = b.store(halves, wide, b.load(y, wide, 8, some, const(dtypes.float16.vec(8), 0.5)))
    b.end(i, last)
    return b.done()


def variable_loop() -> list[UOp]:
    """A loop of n iterations, where n may be 0."""
    b, t = Build(), dtypes.int32
    out = b.pointer(0, t, 1)
    n = b.add(UOp.variable("n", 0, 100))
    acc = b.memory(0, t, 1)
    start = b.store(acc, 0, const(t, 5))
    i = b.loop(n, 0)
    inside = b.add(acc.after(start, i))
    done = b.end(i, b.store(inside, 0, b.add(b.load(inside, 0) + i)))
    b.store(out, 0, b.load(b.add(acc.after(done)), 0))
    return b.done()


def narrow() -> list[UOp]:
    """int8, uint8 and bool in memory, computed with and stored back."""
    b = Build()
    out, flags = b.pointer(0, dtypes.int8, 32), b.pointer(1, dtypes.bool, 32)
    x, y = b.pointer(2, dtypes.int8, 32), b.pointer(3, dtypes.uint8, 32)
    i = b.loop(8, 0)
    at = b.add(i * 4)
    a, c = b.load(x, at, 4), b.load(y, at, 4)
    total = b.add(a + b.add(c.bitcast(dtypes.int8.vec(4))))
    b.store(flags, at, b.add(total < const(dtypes.int8.vec(4), 0)))
    b.end(i, b.store(out, at, total))
    return b.done()


def halves() -> list[UOp]:
    """Eight float16 at once, through float32 and bfloat16."""
    b = Build()
    out, short = b.pointer(0, dtypes.float16, 64), b.pointer(1, dtypes.bfloat16, 64)
    x = b.pointer(2, dtypes.float16, 64)
    i = b.loop(8, 0)
    at = b.add(i * 8)
    a = b.load(x, at, 8)
    wide = b.add(a.cast(dtypes.float32))
    b.store(short, at, b.add(wide.cast(dtypes.bfloat16)))
    b.end(i, b.store(out, at, b.add(a + const(dtypes.float16.vec(8), 0.333251953125))))
    return b.done()


def register_arrays() -> list[UOp]:
    """A register array indexed by constants only, and one indexed by a loop variable."""
    b, f = Build(), dtypes.float32
    out, x = b.pointer(0, f, 8), b.pointer(1, f, 8)
    fixed, moving = b.memory(0, f, 4), b.memory(1, f, 8)
    first = b.store(fixed, 0, b.load(x, 0, 4))
    i = b.loop(8, 0)
    inside = b.add(moving.after(first, i))
    filled = b.end(i, b.store(inside, i, b.add(b.load(x, i) * 2.0)))
    j = b.loop(8, 1)
    back = b.add(UOp.const(dtypes.int32, 7) - j)
    value = b.add(
        b.load(b.add(moving.after(filled, j)), back) + b.load(b.add(fixed.after(first)), 2)
    )
    b.end(j, b.store(out, j, value))
    return b.done()


def shared() -> list[UOp]:
    """GPU only: a work group of 32 turns its part of the input around in shared memory."""
    b, f = Build(), dtypes.float32
    out, x = b.pointer(0, f, 128), b.pointer(1, f, 128)
    group, item = b.add(UOp.special(4, "gidx0")), b.add(UOp.special(32, "lidx0"))
    memory = b.memory(0, f, 32, local=True)
    at = b.add(b.add(group * 32) + item)
    put = b.store(memory, item, b.load(x, at))
    barrier = b.add(UOp(Ops.BARRIER, dtypes.void, (put,)))
    back = b.add(UOp.const(dtypes.int32, 31) - item)
    b.store(out, at, b.load(b.add(memory.after(barrier)), back))
    return b.done()


ON_ALL: dict[str, Callable[[], list[UOp]]] = {
    "elementwise": elementwise,
    "matrix_vector": matrix_vector,
    "gated": gated,
    "lane_gates": lane_gates,
    "variable_loop": variable_loop,
    "narrow": narrow,
    "halves": halves,
    "register_arrays": register_arrays,
}
ON_GPU: dict[str, Callable[[], list[UOp]]] = {**ON_ALL, "shared": shared}
