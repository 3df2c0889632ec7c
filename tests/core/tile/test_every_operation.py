"""Every group operation with every layout, number of warps and dtype, on the reference and on the
emulated GPUs, against NumPy on small whole numbers, which every dtype holds exactly; and what the
vendors' tools say of the texts.

A few of each operation are tried; `--fuzz N` tries N of all, and one more than there are all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from random import Random

import numpy as np
import pytest

from core import tile
from core.compile import compile_kernel, sources_for
from core.dtype import DType, dtypes
from core.target import targets
from core.tile import LAYOUTS, RT, Group, Kernel
from core.toolchain.nvidia_tools import find_tool
from core.toolchain.ptxas import assemble
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests import fuzzing
from tests.core.tile.running import ON, Array, run

DTYPES = tuple(d for d in dtypes.all if d is not dtypes.bool)
MOVES = (
    "load and store", "zero", "clear", "ones", "copy", "transpose", "shared tiles",
    "copies of shared tiles", "subtiles",
)  # fmt: skip
"""What bool takes part in, too."""
TARGETS = ("sm_90", "gfx942", "gfx1100")
WARPS = (1, 2, 4, 8)
LOWEST = {
    **{d: 0 for d in dtypes.ints if dtypes.is_unsigned(d)},
    **{d: -(1 << (d.bits - 1)) for d in dtypes.ints if not dtypes.is_unsigned(d)},
    dtypes.fp8e4m3: -448,
}
"""Of dtypes without an infinity."""


def side_of(dtype: DType) -> int:
    """Rows and columns of a warp's tile: as many as the instructions for bytes want, and no more
    where two such tiles of 8 warps would not fit into shared memory."""
    return 32 if dtype.itemsize < 4 else 16


@dataclass(frozen=True)
class Made:
    """What a kernel is made of; `x` is what was loaded."""

    ker: Kernel
    group: Group
    x: RT
    dtype: DType
    layout: str

    def tile(self, layout: str | None = None, dtype: DType | None = None) -> RT:
        return self.ker.rt(dtype or self.dtype, (self.side, self.side), layout or self.layout)

    @property
    def side(self) -> int:
        return side_of(self.dtype)

    @property
    def rows(self) -> int:
        return self.side * self.ker.warps

    def give(self, result: RT) -> None:
        """Stores a tile as the kernel's result."""
        self.group.store(self.ker.gl(dtypes.float64, (self.rows, self.side)), result)


Build = Callable[[Made], None]
Want = Callable[[Array, int, DType], Array]
"""Of what is loaded, the number of warps and the dtype."""


def of_warps(values: Array, warps: int) -> Array:
    return values.reshape(warps, values.shape[1], values.shape[1])


def turned(values: Array, warps: int, _: DType) -> Array:
    return of_warps(values, warps).swapaxes(1, 2).reshape(values.shape)


def filled(name: str, *more: int) -> Build:
    def build(m: Made) -> None:
        getattr(m.group, name)(m.x, *more)
        m.give(m.x)

    return build


def least(values: Array, _: int, dtype: DType) -> Array:
    return np.full_like(values, LOWEST.get(dtype, -np.inf))


def copied(m: Made) -> None:
    for layout in LAYOUTS:
        other = m.tile(layout)
        m.group.copy(other, m.x)
        m.group.copy(m.x, other)
    m.give(m.x)


def transposed(m: Made) -> None:
    other = m.tile()
    m.group.transpose(other, m.x)
    m.give(other)


def mapped(m: Made) -> None:
    by_row, by_column = m.ker.rv(m.dtype, m.x), m.ker.rv(m.dtype, m.x, "column")
    m.group.ones(by_row)
    m.group.fill(by_column, 2)
    m.group.map(m.x, lambda v, r, c, k: v * c + r + k, m.x, by_row, by_column, 3)
    m.give(m.x)


def indexed(m: Made) -> None:
    m.group.map_indexed(m.x, lambda v, r, c: (r % 4 < c % 3).where(v, v.const_like(1)))
    m.give(m.x)


def where_indexed(values: Array, *_: object) -> Array:
    row, column = np.indices(values.shape)
    return np.where(row % 4 < column % 3, values, 1)


def reduced(each: str, op: Ops | Callable[[UOp, UOp], UOp], more: bool) -> Build:
    def build(m: Made) -> None:
        vector = m.ker.rv(m.dtype, m.x, "row" if each == "row" else "column")
        m.group.ones(vector)
        reduce = m.group.row_reduce if each == "row" else m.group.col_reduce
        reduce(vector, m.x, op, accumulate=more)
        length = m.rows if each == "row" else m.side
        m.group.store(m.ker.gl(dtypes.float64, (length,)), vector)

    return build


def through_shared(m: Made) -> None:
    whole, back = m.ker.st(m.dtype, (m.rows, m.side)), m.tile()
    m.group.store(whole, m.x)
    m.group.load(back, whole)
    m.give(back)


def copies_of_shared(m: Made) -> None:
    """From one view to another, without registers."""
    whole = m.ker.st(m.dtype, (m.rows, m.side))
    m.group.store(whole, m.x)
    m.group.store(m.ker.gl(dtypes.float64, (m.rows, m.side)), whole)


def subtiles(m: Made) -> None:
    """Each warp exchanges the halves of its tile."""
    whole = m.ker.st(m.dtype, (m.rows, m.side))
    own = whole.subtile((m.side, m.side), m.ker.warp_id)
    m.ker.warp.store(own, m.x)
    left, right = (m.tile() for _ in range(2))
    m.ker.warp.load(left, own)
    m.ker.warp.transpose(right, left)
    m.ker.warp.store(own, right)
    m.ker.warp.load(m.x, own)
    m.give(m.x)


def vectors(each: str) -> Build:
    """Global memory, registers, shared memory, registers, global memory."""

    def build(m: Made) -> None:
        length = m.rows if each == "row" else m.side
        vector = m.ker.rv(m.dtype, m.x, "row" if each == "row" else "column")
        shared = m.ker.sv(m.dtype, length)
        given = m.ker.gl(dtypes.float64, (length,))
        m.group.map_indexed(vector, lambda v, i: (i % 5).cast(v.dtype), vector)
        m.group.store(shared, vector)
        m.group.zero(vector)
        m.group.load(vector, shared)
        m.group.store(given, vector)

    return build


def product_of(a_turned: bool, b_turned: bool) -> Build:
    def build(m: Made) -> None:
        wide = dtypes.int32 if dtypes.is_int(m.dtype) else dtypes.float32
        wide = m.dtype if m.dtype in (dtypes.float64, dtypes.int16, dtypes.uint8) else wide
        total = m.tile("acc", wide)
        m.group.ones(total)
        name = f"mma_A{'t' * a_turned}B{'t' * b_turned}"
        getattr(m.group, name)(total, m.x, m.x)
        m.give(total)

    return build


def squared(a_turned: bool, b_turned: bool) -> Want:
    def want(values: Array, warps: int, _: DType) -> Array:
        x = of_warps(values, warps)
        a, b = (x.swapaxes(1, 2) if t else x for t in (a_turned, b_turned))
        return (1 + a @ b).reshape(values.shape)

    return want


OPERATIONS: dict[str, tuple[Build, Want]] = {
    "load and store": (lambda m: m.give(m.x), lambda v, *_: v),
    "fill": (filled("fill", 3), lambda v, *_: np.full_like(v, 3)),
    "zero": (filled("zero"), lambda v, *_: np.zeros_like(v)),
    "clear": (filled("clear"), lambda v, *_: np.zeros_like(v)),
    "ones": (filled("ones"), lambda v, *_: np.ones_like(v)),
    "neg_inf": (filled("neg_inf"), least),
    "copy": (copied, lambda v, *_: v),
    "transpose": (transposed, turned),
    "map": (mapped, lambda v, *_: v * 2 + 4),
    "map_indexed": (indexed, where_indexed),
    "row_reduce": (reduced("row", Ops.ADD, False), lambda v, *_: v.sum(1)),
    "row_reduce more": (reduced("row", Ops.ADD, True), lambda v, *_: v.sum(1) + 1),
    "row_reduce function": (
        reduced("row", lambda a, b: a.maximum(b), False), lambda v, *_: v.max(1)
    ),
    "col_reduce": (reduced("column", Ops.ADD, False), lambda v, *_: v.sum(0)),
    "col_reduce more": (reduced("column", Ops.MAX, True), lambda v, *_: v.max(0).clip(1)),
    "col_reduce function": (
        reduced("column", lambda a, b: a.maximum(b), False), lambda v, *_: v.max(0)
    ),
    "shared tiles": (through_shared, lambda v, *_: v),
    "copies of shared tiles": (copies_of_shared, lambda v, *_: v),
    "subtiles": (subtiles, turned),
    "vectors of rows": (vectors("row"), lambda v, *_: np.arange(v.shape[0]) % 5),
    "vectors of columns": (vectors("column"), lambda v, *_: np.arange(v.shape[1]) % 5),
    **{
        f"mma_A{'t' * a}B{'t' * b}": (product_of(a, b), squared(a, b))
        for a, b in product((False, True), repeat=2)
    },
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One of all cases."""

    name: str
    layout: str
    warps: int
    dtype: DType
    target: str

    def __str__(self) -> str:
        return f"{self.name}-{self.layout}-{self.warps}-{self.dtype}-{self.target}"


def values(dtype: DType, warps: int) -> Array:
    """Of -1, 0 and 1, or 0 and 1, few enough of them that sums are small."""
    rng, shape = np.random.default_rng(warps), (warps * side_of(dtype), side_of(dtype))
    low = 0 if dtypes.is_unsigned(dtype) or dtype is dtypes.bool else -1
    return (rng.integers(low, 2, shape) * (rng.random(shape) < 0.1)).astype(np.float64)


def chosen(config: pytest.Config, each: int) -> list[Case]:
    """All cases in an order that goes through the operations in turn; as many as are asked for, or
    `each` of every operation."""
    every = [Case(*c) for c in product(OPERATIONS, LAYOUTS, WARPS, DTYPES, TARGETS)]
    every += [Case(*c) for c in product(MOVES, LAYOUTS, WARPS, [dtypes.bool], TARGETS)]
    random = Random(7)
    random.shuffle(every)
    turns: dict[str, int] = {}
    numbered: list[tuple[int, Case]] = []
    for case in every:
        turns[case.name] = turns.get(case.name, 0) + 1
        numbered.append((turns[case.name], case))
    numbered.sort(key=lambda pair: pair[0])
    return [case for _, case in numbered][: fuzzing.cases(config, each * len(OPERATIONS))]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for name, each in (("case", 2), ("text", 1)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, chosen(metafunc.config, each), ids=str)


def kernel_of(case: Case, target: str) -> UOp:
    """Loads, does the operation and stores."""
    shape, side = values(case.dtype, case.warps).shape, side_of(case.dtype)
    with tile.Kernel("k", warps=case.warps, target=target) as ker:
        x = ker.gl(dtypes.float64, shape)
        held = ker.rt(case.dtype, (side, side), case.layout)
        ker.group.load(held, x)
        OPERATIONS[case.name][0](Made(ker, ker.group, held, case.dtype, case.layout))
    return ker.ast


def test_an_operation(case: Case) -> None:
    given = values(case.dtype, case.warps)
    wanted = np.asarray(OPERATIONS[case.name][1](given, case.warps, case.dtype), np.float64)
    ast = kernel_of(case, case.target)
    assert kernel_of(case, case.target) is ast
    for on in ON:
        zeros = np.full_like(wanted, 99)
        (_, found) = run(ast, [given, zeros], case.target, on)
        np.testing.assert_array_equal(found, wanted, err_msg=on)


def test_vendors_tools_take_its_text(text: Case) -> None:
    """ptxas for sm_80 or sm_90, LLVM for AMD's GPUs."""
    target = "sm_80" if text.target == "sm_90" and text.warps in (1, 4) else text.target
    ast = kernel_of(text, target)
    if targets[target].family == "amd":
        assert any("s_endpgm" in a.text for a in sources_for(ast, targets[target]))
    elif find_tool("ptxas") is not None:
        facts = assemble(compile_kernel(ast, targets[target]).source.text, target).facts
        assert facts.get("spill stores", "0") == "0"
