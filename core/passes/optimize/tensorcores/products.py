"""Which reduces are products of matrices that a tensor core can do, and along which loops.

A product is a sum over k of a value that depends on row m but not on column n, times one that
depends on n but not on m. Reads the kernel; never changes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product as combinations

from core.dtype import DType, dtypes, least_upper_dtype
from core.helpers import ALLOW_TF32, ceildiv
from core.passes.optimize.access import accesses
from core.passes.optimize.kernel import OUTER, Kernel
from core.tensor_cores import TensorCore
from core.uop import Ops, UOp
from core.uop.kernelinfo import AxisType

EXACT, VALUES, PADDED = range(3)
"""Levels: sums over one loop of loads that the instruction's sizes divide; also of other values and
over several loops; also of other sizes, padded."""


@dataclass(frozen=True, slots=True)
class Product:
    """A reduce that sums a * b over `k`, where `a` has rows `m` and `b` has columns `n`; and the
    instruction for it."""

    core: TensorCore
    red: UOp
    a: UOp
    b: UOp
    m: UOp
    n: UOp
    k: UOp

    @property
    def tiles(self) -> tuple[tuple[UOp, int], ...]:
        """Each loop with how many of its iterations one instruction does."""
        return (self.m, self.core.m), (self.n, self.core.n), (self.k, self.core.k)

    @property
    def divides(self) -> bool:
        """Whether no loop has to be padded."""
        return all(loop.src[0].arg % amount == 0 for loop, amount in self.tiles)

    @property
    def work(self) -> float:
        """Multiplications that padding makes of each one, 1 at least."""
        grown = 1.0
        for loop, amount in self.tiles:
            size = loop.src[0].arg
            grown *= ceildiv(size, amount) * amount / size
        return grown


def operands(red: UOp) -> Iterator[tuple[UOp, UOp]]:
    """The pairs of values whose products a REDUCE sums: as they are multiplied, and as they are
    before casts that keep every number."""
    x = red.src[0]
    if red.arg is not Ops.ADD:
        return
    if x.op is Ops.CAST and x.src[0].op is Ops.MUL and x.src[0].dtype in _rounded_once:
        x = x.src[0]
    if x.op is not Ops.MUL:
        return
    a, b = x.src
    if (before(a), before(b)) != (a, b):
        yield before(a), before(b)
    yield a, b


_rounded_once = (dtypes.float16, dtypes.bfloat16)
"""Dtypes whose products may be summed without being rounded to them first. (Of narrower floats
rounding would be most of the result; of integers, wrapping around.)"""


def before(x: UOp) -> UOp:
    """The value below casts that keep every number."""
    while x.op is Ops.CAST and _keeps(x.src[0].dtype, x.dtype):
        x = x.src[0]
    return x


def _keeps(narrow: DType, wide: DType) -> bool:
    kinds = dtypes.is_float(narrow) is dtypes.is_float(wide)
    return kinds and not dtypes.is_bool(narrow) and least_upper_dtype(narrow, wide) is wide


def rows(kernel: Kernel, select: int) -> tuple[TensorCore, ...]:
    """The instructions to choose from: all that are exact (and with ALLOW_TF32 those that are not),
    or the one with number `select`."""
    found = kernel.target.tensor_cores
    if select >= 0:
        return found[select : select + 1]
    return tuple(core for core in found if core.exact or ALLOW_TF32)


def products(kernel: Kernel, select: int = -1, level: int = PADDED) -> list[Product]:
    """Every way to do a reduce of the kernel with a tensor core, the likely best first: with the
    least padding, columns stored side by side, long loops. `level`: see EXACT."""
    reduces = kernel.reduces
    if not any(any(operands(red)) for red in reduces):
        return []
    ends = [u for u in kernel.sink.toposort() if u.op is Ops.END]
    # a lane stores what is its own: every output is inside both loops
    outer = [
        r
        for r in kernel.loops(*OUTER)
        if r.src[0].op is Ops.CONST and all(r in end.src[1:] for end in ends)
    ]
    found: list[Product] = []
    for red in reduces:
        others = {r for other in reduces if other is not red for r in other.src[1:]}
        own = [r for r in red.src[1:] if r.arg[1] is AxisType.REDUCE and r not in others]
        loops = [r for r in own if r.src[0].op is Ops.CONST]
        found += _of(red, outer, loops, rows(kernel, select), level)
    stride = {
        r: access.stride(r)
        for access in accesses(kernel.sink)[:1]
        for r in {loop for p in found for loop in (p.m, p.n)}
    }

    def badness(p: Product) -> tuple[float, bool, int, int, int]:
        rank = kernel.target.tensor_cores.index(p.core)
        loads = sum(_near(x, p.k) for x in (p.a, p.b))
        return p.work, stride.get(p.n) != 1, rank, -loads, -p.m.src[0].arg

    return sorted(found, key=badness)


def _of(
    red: UOp,
    outer: Sequence[UOp],
    own: Sequence[UOp],
    cores: Sequence[TensorCore],
    level: int,
) -> Iterator[Product]:
    """The ways to do one reduce; of several instructions for the same dtypes, by the first."""
    if level < VALUES and len(red.src) != 2:
        return
    done: set[DType] = set()
    for pair in operands(red):
        of = pair[0].dtype
        if of != pair[1].dtype or of in done:
            continue
        if level < VALUES and not all(x.op is Ops.LOAD for x in pair):
            continue
        fitting = [c for c in cores if (c.dtype_in, c.dtype_out) == (of, red.dtype)]
        done.add(of)
        for core in fitting[:1]:
            for a, b in (pair, pair[::-1]):
                down = [r for r in outer if r in a.ranges and r not in b.ranges]
                across = [r for r in outer if r in b.ranges and r not in a.ranges]
                along = [r for r in own if r in a.ranges & b.ranges]
                for m, n, k in combinations(down, across, along):
                    made = Product(core, red, a, b, m, n, k)
                    if level >= PADDED or made.divides:
                        yield made


def _near(x: UOp, loop: UOp) -> bool:
    """Whether the first load of a value goes to the neighbour with each iteration."""
    found = [a for a in accesses(UOp.sink(x)) if not a.store]
    return bool(found) and found[0].stride(loop) == 1
