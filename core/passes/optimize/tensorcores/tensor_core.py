"""The opt TC: a reduce of products becomes tiles that the lanes of a warp multiply together.

TC(choice, (row, level, use)): `choice` counts the ways to do it (products.py) from the likely best;
`row` is the number of the target's instruction, -1 for the best that loses no precision (TF32 with
ALLOW_TF32); `level` 0 to 2 says what is allowed; `use` 1 multiplies by the instruction, 2 only
splits the loops as for it and multiplies lane by lane, which shows whether the layout is right.

Rows and columns of a tile lie in lanes and positions as the layout of C says, so an element of the
product is where the loops around it want it. A and B are read at the places that their own layouts
say. Raises CompileError where it does not apply. Never picks one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import CompileError
from core.helpers import ceildiv
from core.passes.optimize.kernel import Kernel, replace_range, spread_ranges
from core.passes.optimize.pad import pad_loop
from core.passes.optimize.tensorcores.products import PADDED, Product, products
from core.tensor_cores import Fragment
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.kernelinfo import AxisType, Opt

MULTIPLY, SHAPE_ONLY = 1, 2
"""What `use` may be."""


@rule(UPat(Ops.REDUCE, name="red"))
def multiply_matrices(ctx: Mapping[UOp, UOp], red: UOp) -> UOp | None:
    """reduce(a * b, k) -> reduce(wmma(a, b), k / K)"""
    return ctx.get(red)


tiling = PatternMatcher(
    [multiply_matrices, replace_range, spread_ranges], name="optimize: tensor core"
)


def apply_tensor_core(kernel: Kernel, opt: Opt) -> None:
    """Applies a TC opt; where it does not apply, the kernel stays as it was."""
    row, level, use = _numbers(opt)
    if not kernel.target.tensor_cores:
        raise _refuse(opt, f"{kernel.target.name} has no tensor cores")
    if not kernel.local_allowed:
        raise _refuse(opt, "NOLOCALS was applied")
    if kernel.loops(AxisType.WARP):
        raise _refuse(opt, "the lanes of a warp work together already")
    found = products(kernel, row, level)
    if opt.axis is None or not 0 <= opt.axis < len(found):
        raise _refuse(opt, f"the kernel has {len(found)} such products", "they count from 0")
    chosen = found[opt.axis]
    threads = kernel.lanes(AxisType.LOCAL, AxisType.GROUP_REDUCE) * chosen.core.threads
    if threads > kernel.target.threads_max:
        raise _refuse(opt, f"a work group would have {threads} threads")
    _tile(kernel, _padded(kernel, chosen, row, f"optimize: {opt}"), use, f"optimize: {opt}")


def _refuse(opt: Opt, why: str, hint: str = "") -> CompileError:
    return CompileError(f"{opt} does not apply: {why}", hint=hint)


def _numbers(opt: Opt) -> tuple[int, int, int]:
    arg = opt.arg
    if (
        not isinstance(arg, tuple)
        or len(arg) != 3
        or not (arg[0] >= -1 and 0 <= arg[1] <= PADDED and arg[2] in (MULTIPLY, SHAPE_ONLY))
    ):
        raise _refuse(opt, "it takes (row, level, use)", "such as TC(0, (-1, 2, 1))")
    return arg


def _padded(kernel: Kernel, chosen: Product, row: int, name: str) -> Product:
    """The product with loops that the instruction's sizes divide."""
    loops = [chosen.m, chosen.n, chosen.k]
    for at, (loop, amount) in enumerate(chosen.tiles):
        size = loop.src[0].arg
        if size % amount:
            loops[at] = pad_loop(kernel, loop, ceildiv(size, amount) * amount, name, products=True)
    return next(
        p for p in products(kernel, row) if [p.m, p.n, p.k] == loops and p.core == chosen.core
    )


@dataclass(frozen=True, slots=True)
class _Lanes:
    """The lane of a warp and the position among its elements, for one matrix."""

    layout: Fragment
    lane: UOp
    position: UOp

    def at(self, letter: str, loop: UOp, tile: UOp) -> UOp:
        """What replaces a loop: where the element is, in the tile with this number."""
        within = self.layout.coordinate(letter, self.lane, self.position)
        size = self.layout.size(letter)
        return (tile.cast(loop.dtype) * size + within.cast(loop.dtype)).cast(loop.dtype)


def _tile(kernel: Kernel, p: Product, use: int, name: str) -> None:
    lane = kernel.new_loop(p.core.threads, AxisType.WARP, (*kernel.path[p.n], 1))
    a, b = p.core.near
    down, across = _tiles(kernel, p.m, p.core.m), _tiles(kernel, p.n, p.core.n)
    c = _Lanes(p.core.c, lane, _positions(kernel, p.core.c, p.n))
    placed = {p.m: c.at("m", p.m, down), p.n: c.at("n", p.n, across)}
    if use == SHAPE_ONLY:
        _replace(kernel, placed, name)
        kernel.split(p.k, p.core.k, AxisType.UNROLL, False, name)
        return
    along = _tiles(kernel, p.k, p.core.k)
    left = _Lanes(a, lane, _positions(kernel, a, p.m))
    right = _Lanes(b, lane, _positions(kernel, b, p.n))
    kernel.operand_lanes.update(x.position for x in (left, right) if x.position.op is Ops.RANGE)
    positions = [x.position for x in (left, right, c) if x.position.op is Ops.RANGE]
    product = UOp(
        Ops.WMMA,
        p.core.dtype_out,
        (
            p.a.substitute({p.m: left.at("m", p.m, down), p.k: left.at("k", p.k, along)}),
            p.b.substitute({p.n: right.at("n", p.n, across), p.k: right.at("k", p.k, along)}),
            *positions,
        ),
        p.core,
    )
    rest = [r for r in p.red.src[1:] if r is not p.k]
    rest += [along] if along.op is Ops.RANGE else []
    placed[p.red] = product.reduce(Ops.ADD, *rest)
    _replace(kernel, placed, name)
    del kernel.path[p.k]


def _replace(kernel: Kernel, placed: dict[UOp, UOp], name: str) -> None:
    for loop in placed:
        kernel.path.pop(loop, None)
    kernel.sink = graph_rewrite(kernel.sink, tiling, placed, bottom_up=True, name=name)


def _tiles(kernel: Kernel, loop: UOp, amount: int) -> UOp:
    """The number of a tile along a loop: a loop, or 0 where there is one tile."""
    count = loop.src[0].arg // amount
    if count == 1:
        return UOp.const(loop.dtype, 0)
    return kernel.new_loop(count, loop.arg[1], (*kernel.path[loop], 0))


def _positions(kernel: Kernel, layout: Fragment, beside: UOp) -> UOp:
    """The position among a lane's elements: lanes of a vector, or 0 where there is one."""
    if layout.count == 1:
        return UOp.const(beside.dtype, 0)
    return kernel.new_loop(layout.count, AxisType.UPCAST, (*kernel.path[beside], 2))
