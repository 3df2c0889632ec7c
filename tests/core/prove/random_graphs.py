"""Random graphs of every kind that the prover reads, over a few variables, loops and memories.

All follow from a source of random choices. Graphs are well-formed by their dtypes; what they
compute may be undefined, overflow, or lie outside of memory. Never evaluates anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from core.dtype import DType, PtrDType, dtypes
from core.errors import UopvizError
from core.shape import ShapeTracker
from core.uop import GroupOp, Ops, UOp
from core.uop.facts.meaning import UNLESS_NAN, UNLESS_ZERO
from core.uop.kernelinfo import AxisType

INTS: Final = (
    dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16,
    dtypes.int32, dtypes.uint32, dtypes.int64, dtypes.uint64,
)  # fmt: skip
FLOATS: Final = (
    dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64,
    dtypes.fp8e4m3, dtypes.fp8e5m2,
)  # fmt: skip
_ON_INTS: Final = (
    Ops.ADD, Ops.ADD, Ops.SUB, Ops.MUL, Ops.MUL, Ops.IDIV, Ops.IDIV, Ops.MOD, Ops.MOD, Ops.MAX,
    Ops.AND, Ops.OR, Ops.XOR, Ops.NEG, Ops.SHL, Ops.SHR, Ops.MULACC, Ops.POW,
)  # fmt: skip
_ON_FLOATS: Final = (
    Ops.ADD, Ops.SUB, Ops.MUL, Ops.FDIV, Ops.MAX, Ops.NEG, Ops.RECIPROCAL, Ops.SQRT, Ops.TRUNC,
    Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS, Ops.MULACC, Ops.POW,
)  # fmt: skip
_ON_BOOLS: Final = (Ops.AND, Ops.OR, Ops.XOR, Ops.CMPNE, Ops.CMPEQ, Ops.CMPLT, Ops.MAX)
_COMPARE: Final = (Ops.CMPLT, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ)
_REDUCES: Final = (Ops.ADD, Ops.ADD, Ops.MUL, Ops.MAX)


class Graphs:
    """One family of random graphs, and what they share."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.ints = [dtypes.int32, rng.choice(INTS)]
        self.floats = [dtypes.float32, rng.choice(FLOATS)]
        self.nodes: list[UOp] = [self._variable(name) for name in "abc"[: rng.randint(1, 3)]]
        self.nodes.append(UOp.variable("n", 0, rng.randint(1, 4)))
        if rng.random() < 0.5:
            self.nodes.append(UOp(Ops.DEFINE_VAR, dtypes.bool, (), ("p", False, True)))
        if rng.random() < 0.4:
            ends = (-math.inf, math.inf)
            self.nodes.append(UOp(Ops.DEFINE_VAR, rng.choice(self.floats), (), ("f", *ends)))
        if rng.random() < 0.4:
            self.nodes.append(UOp.range(rng.randint(1, 6), 0))
        self._loops = 1

    def _variable(self, name: str) -> UOp:
        rng, dtype = self.rng, self.rng.choice(self.ints)
        low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
        start = max(low, rng.choice((0, 0, 0, 1, -3, -9, low, high - 5)))
        if rng.random() < 0.25:
            return UOp.variable(name, low, high, dtype)
        return UOp.variable(name, start, min(high, start + rng.choice((1, 3, 12, 40))), dtype)

    def scalar(self) -> UOp:
        """A number or bool, after some steps."""
        recipes = (
            [self.arithmetic] * 8 + [self.choice] * 3 + [self.comparison] * 3 + [self.logic] * 2
            + [self.cast] * 3 + [self.promised] + [self.load] * 3 + [self.reduce] * 2
            + [self.vector] + [self.lane] + [self.unrolled] + [self.element]
        )  # fmt: skip
        for _ in range(self.rng.randint(2, 9)):
            made = self.rng.choice(recipes)()
            if made is not None:
                self.nodes.append(made)
        return self.nodes[-1]

    # operands

    def operand(self, dtype: DType | None = None, recent: bool = True) -> UOp | None:
        """One of the nodes, more often a late one; or a constant."""
        found = [u for u in self.nodes if dtype is None or u.dtype == dtype]
        if dtype is not None and (not found or self.rng.random() < 0.3):
            return self.constant(dtype)
        if not found:
            return None
        return self.rng.choice(found[-3:] if recent and self.rng.random() < 0.6 else found)

    def constant(self, dtype: DType) -> UOp:
        """A constant, of a vector a VCONST at times."""
        if dtype.count > 1 and self.rng.random() < 0.5:
            return UOp.const(dtype, tuple(self._number(dtype.scalar()) for _ in range(dtype.count)))
        return UOp.const(dtype, self._number(dtype.scalar()))

    def _number(self, dtype: DType) -> int | float | bool:
        rng = self.rng
        if dtypes.is_bool(dtype):
            return rng.random() < 0.5
        if dtypes.is_float(dtype):
            corners = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, math.inf, math.nan, -2.5)
            return rng.choice(corners)
        low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
        wide = (low, high, high >> 1, dtype.bits, dtype.bits - 1, 1 << (dtype.bits - 2))
        value = rng.choice((0, 1, 2, 2, 3, 4, 4, 5, 6, 7, 8, 12, 16, -1, -1, -2, -3, *wide))
        return min(max(value, low), high)

    def number(self) -> UOp | None:
        """A node of integers or floats."""
        u = self.operand()
        return None if u is None or dtypes.is_bool(u.dtype.scalar()) else u

    def condition(self, count: int = 1) -> UOp | None:
        """A bool, or a vector of them."""
        u = self.operand(dtypes.bool.vec(count))
        if u is None or u.op is Ops.CONST or self.rng.random() < 0.3:
            found = [x for x in self.nodes if x.dtype.count == count]
            x = self.rng.choice(found) if found else None
            return x.alu(self.rng.choice(_COMPARE), self.constant(x.dtype)) if x else u
        return u

    # recipes

    def arithmetic(self) -> UOp | None:
        x = self.number()
        if x is None:
            return None
        op = self.rng.choice(_ON_FLOATS if dtypes.is_float(x.dtype.scalar()) else _ON_INTS)
        others = [self.operand(x.dtype) for _ in range(2 if op is Ops.MULACC else 1)]
        if op in GroupOp.Unary:
            return x.alu(op)
        if any(o is None for o in others):
            return None
        if op in (Ops.SHL, Ops.SHR) and self.rng.random() < 0.8:
            others = [UOp.const(x.dtype, self.rng.randint(0, x.dtype.scalar().bits))]
        return UOp(op, x.dtype, (x, *(o for o in others if o is not None)))

    def comparison(self) -> UOp | None:
        x = self.operand()
        y = self.operand(x.dtype) if x is not None else None
        if x is None or y is None:
            return None
        if dtypes.is_bool(x.dtype.scalar()) and x.dtype.count == 1 and self.rng.random() < 0.5:
            return x.logical_not()
        return x.alu(self.rng.choice(_COMPARE), y)

    def logic(self) -> UOp | None:
        x = self.condition()
        y = self.condition()
        return None if x is None or y is None else UOp(self.rng.choice(_ON_BOOLS), x.dtype, (x, y))

    def choice(self) -> UOp | None:
        x = self.operand()
        if x is None:
            return None
        y, c = self.operand(x.dtype), self.condition(x.dtype.count)
        return None if y is None or c is None else c.where(x, y)

    def cast(self) -> UOp | None:
        x = self.operand()
        if x is None:
            return None
        dtype = self.rng.choice((*self.ints, *INTS, *self.floats, *FLOATS, dtypes.bool))
        dtype = dtype.vec(x.dtype.count)
        if self.rng.random() < 0.2 and not dtypes.is_bool(x.dtype.scalar()):
            same = [d for d in (*INTS, *FLOATS) if d.itemsize == x.dtype.scalar().itemsize]
            return x.bitcast(self.rng.choice(same).vec(x.dtype.count))
        return x.cast(dtype)

    def promised(self) -> UOp | None:
        """An op that is undefined for some values, mostly where these are ruled out."""
        x = self.number()
        if x is None or x.dtype.count > 1:
            return None
        rng = self.rng
        if dtypes.is_float(x.dtype):
            cast = UOp(Ops.CAST, rng.choice(self.ints), (x,), UNLESS_NAN)
            return x.ne(x).where(self.constant(cast.dtype), cast) if rng.random() < 0.6 else cast
        y = self.operand(x.dtype)
        if y is None:
            return None
        divided = UOp(rng.choice((Ops.IDIV, Ops.MOD)), x.dtype, (x, y), UNLESS_ZERO)
        if rng.random() < 0.6:
            other = rng.choice((x, self.constant(x.dtype)))
            return y.alu(Ops.CMPEQ, y.const_like(0)).where(other, divided)
        return divided

    def memory(self, dtype: DType | None = None) -> UOp:
        rng = self.rng
        dtype = dtype or rng.choice((*self.ints, *self.floats, dtypes.bool))
        return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(rng.choice((8, 64))), (), rng.randint(0, 2))

    def offset(self, size: int) -> UOp | None:
        """An index, mostly inside of memory of `size` elements."""
        x = self.operand(self.rng.choice((dtypes.int32, dtypes.index)))
        if x is None:
            return None
        y = self.operand(x.dtype)
        if y is not None and self.rng.random() < 0.3:
            x = x + y
        if x.vmin < 0 or x.vmax >= size:
            x = (x % size).alu(Ops.MAX, x.const_like(0)) if self.rng.random() < 0.8 else x
        return x

    def place(self, memory: UOp) -> UOp | None:
        """An element of memory, perhaps under a gate."""
        assert isinstance(memory.dtype, PtrDType)
        at = self.offset(memory.dtype.size)
        if at is None:
            return None
        if self.rng.random() < 0.4 and (gate := self.condition()) is not None:
            return UOp(Ops.INDEX, memory.dtype, (memory, at, gate))
        return UOp(Ops.INDEX, memory.dtype, (memory, at))

    def load(self) -> UOp | None:
        place = self.place(self.memory())
        if place is None:
            return None
        base = place.dtype.base
        if len(place.src) > 2:
            other = self.operand(base)
            return None if other is None else place.load(other)
        if self.rng.random() < 0.2:
            return place.load(dtype=base.vec(2))
        return place.load()

    def loop(self, kind: AxisType = AxisType.REDUCE) -> UOp:
        """A loop of its own, whose length may be made of variables."""
        rng = self.rng
        self._loops += 1
        n: UOp | int = rng.choice((1, 2, 3, 4, 4, 5))
        if rng.random() < 0.4 and kind is AxisType.REDUCE:
            small = next(u for u in self.nodes if u.op is Ops.DEFINE_VAR and u.arg[0] == "n")
            limit = small.const_like(rng.randint(1, 4))
            n = rng.choice((
                small, small + 1, (small < limit).where(small, limit), small * 2, (small + 3) // 4,
            ))  # fmt: skip
        return UOp.range(n, self._loops, kind)

    def inside(self, loops: Sequence[UOp]) -> UOp | None:
        """A value that uses some loops; what is made on the way is forgotten."""
        kept = len(self.nodes)
        self.nodes += loops
        recipes = (self.arithmetic, self.arithmetic, self.choice, self.comparison, self.load,
                   self.load, self.cast)  # fmt: skip
        for _ in range(self.rng.randint(1, 4)):
            made = self.rng.choice(recipes)()
            if made is not None:
                self.nodes.append(made)
        value = self.nodes[-1]
        del self.nodes[kept:]
        return value

    def reduce(self) -> UOp | None:
        loops = [self.loop() for _ in range(self.rng.choice((1, 1, 2)))]
        body = self.inside(loops)
        if body is None or body.dtype.count > 1:
            return None
        return body.reduce(self.rng.choice(_REDUCES), *loops)

    def unrolled(self) -> UOp | None:
        """Loops that are lanes: gathered by a CONTRACT, or reduced."""
        rng = self.rng
        r = self.loop(rng.choice((AxisType.UPCAST, AxisType.UNROLL)))
        body = self.inside([r])
        size = int(r.src[0].arg)
        if body is None or body.dtype.count > 1 or size == 1:
            return None
        if rng.random() < 0.5:
            return body.reduce(rng.choice(_REDUCES), r)
        return UOp(Ops.CONTRACT, body.dtype.vec(size), (body,), ((r.arg[0], size),))

    def vector(self) -> UOp | None:
        x = self.operand()
        if x is None or x.dtype.count > 1:
            return None
        others = [self.operand(x.dtype) for _ in range(self.rng.choice((1, 1, 3)))]
        return UOp.vectorize(x, *(o for o in others if o is not None))

    def lane(self) -> UOp | None:
        found = [u for u in self.nodes if u.dtype.count > 1]
        if not found:
            return None
        u = self.rng.choice(found)
        picks = tuple(self.rng.randrange(u.dtype.count) for _ in range(self.rng.choice((1, 1, 2))))
        return u.gep(picks)

    # shaped values

    def element(self) -> UOp | None:
        """An element of a shaped value."""
        value = self.shaped()
        if value is None or value.shape is None:
            return None
        at: list[UOp] = []
        for n in value.shape:
            self._loops += 1
            x = self.operand(dtypes.int32)
            small = x is not None and x.vmin >= 0 and x.vmax < n
            if x is None or not small:
                if n < 1:
                    return None
                x = UOp.range(n, self._loops)
            at.append(x)
        gate = self.condition() if self.rng.random() < 0.3 else None
        return value.index(*at, gate=gate)

    def shaped(self) -> UOp | None:
        """A value of some shape: views of memory, movements, elementwise ops, reduces."""
        rng = self.rng
        shape = tuple(rng.choice((1, 2, 2, 3, 4)) for _ in range(rng.randint(1, 3)))
        dtype = rng.choice((*self.ints, *self.floats, dtypes.bool))
        value = self._viewed(dtype, shape)
        for _ in range(rng.randint(1, 4)):
            try:
                value = rng.choice((self._moved, self._moved, self._computed, self._folded))(value)
            except UopvizError:
                continue
            if value.size > 256:
                return None
        return value

    def _viewed(self, dtype: DType, shape: tuple[int, ...]) -> UOp:
        rng, st = self.rng, ShapeTracker.from_shape(shape)
        memory = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(max(8, st.size)), (), 3 + rng.randint(0, 1))
        return UOp(Ops.LOAD, dtype, (memory.view(st),))

    def _moved(self, value: UOp) -> UOp:
        rng, shape = self.rng, value.shaped
        match rng.randint(0, 6):
            case 0:
                return value.permute(rng.sample(range(len(shape)), len(shape)))
            case 1:
                return value.expand(tuple(rng.randint(1, 3) if n == 1 else n for n in shape))
            case 2:
                return value.pad(tuple((rng.randint(0, 2), rng.randint(0, 2)) for _ in shape))
            case 3:
                begins = [rng.randrange(n) for n in shape]
                ends = [rng.randint(b + 1, n) for b, n in zip(begins, shape, strict=True)]
                return value.shrink(tuple(zip(begins, ends, strict=True)))
            case 4:
                return value.flip(tuple(rng.random() < 0.5 for _ in shape))
            case 5:
                return value.reshape((value.size,) if rng.random() < 0.5 else (1, *shape))
            case _:
                st = ShapeTracker.from_shape(shape)
                steps: list[Callable[[ShapeTracker], ShapeTracker]] = [
                    lambda t: t.permute(tuple(reversed(range(len(t.shape))))),
                    lambda t: t.pad(tuple((0, 1) for _ in t.shape)),
                    lambda t: t.flip(tuple(k == 0 for k in range(len(t.shape)))),
                    lambda t: t.reshape((math.prod(t.shape),)),
                    lambda t: t.reshape((1, *t.shape)),
                ]
                for step in rng.sample(steps, 2):
                    st = step(st)
                return value.view(st)

    def _computed(self, value: UOp) -> UOp:
        kept, self.nodes = self.nodes, [value]
        made = self.rng.choice((self.arithmetic, self.comparison, self.cast))()
        self.nodes = kept
        whole = made is not None and all(s.shape == value.shape for s in made.src)
        return made if made is not None and whole and made.shape == value.shape else value

    def _folded(self, value: UOp) -> UOp:
        axes = [axis for axis in range(len(value.shaped)) if self.rng.random() < 0.5]
        return value.r(self.rng.choice(_REDUCES), axes) if axes else value

    # writes

    def writes(self) -> UOp:
        """Stores, in loops or not, in an order."""
        rng = self.rng
        made: list[UOp] = []
        for _ in range(rng.randint(1, 3)):
            loops = [self.loop(AxisType.LOOP) for _ in range(rng.choice((0, 1, 1, 2)))]
            body = [s for s in (self.stored(loops) for _ in range(rng.choice((1, 1, 2)))) if s]
            if not body:
                continue
            inside = [r for r in loops if any(r in s.ranges for s in body)]
            work = UOp.group(*body)
            made.append(work.end(*inside) if inside else work)
        return UOp.sink(*made)

    def stored(self, loops: Sequence[UOp]) -> UOp | None:
        kept = len(self.nodes)
        self.nodes += loops
        dtype = self.rng.choice((*self.ints, *self.floats, dtypes.bool))
        memory = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(64), (), self.rng.randint(0, 1))
        at = self.rng.choice([*loops, None])
        place = UOp(Ops.INDEX, memory.dtype, (memory, at)) if at is not None else self.place(memory)
        value = self.inside([])
        if value is not None and (value.dtype != dtype or self.rng.random() < 0.2):
            value = self.operand(dtype) if self.rng.random() < 0.5 else value.cast(dtype)
        del self.nodes[kept:]
        if place is None or value is None or value.dtype != dtype:
            return None
        return place.store(value)
