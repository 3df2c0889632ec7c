"""Products of register tiles, C += A B, with either of them transposed.

Where the target has an instruction for the dtypes, its lanes multiply base tiles; operands that
lie otherwise are renamed, where every lane holds what the instruction wants of it, or exchanged
through shared memory. Elsewhere each thread sums for the elements of C that it holds. Products are
summed in the dtype of C. Never chooses a precision: an instruction that rounds is used only if
allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from core.errors import DTypeError, ShapeError
from core.tensor_cores import TensorCore
from core.tile.memory.addresses import Points, in_shared, points_of
from core.tile.memory.layout import Layout, deepened, renamed, renaming, together
from core.tile.memory.transfer import exchange, shared_from_registers
from core.tile.order import Place
from core.tile.team import Team
from core.tile.tiles import RT, ST
from core.uop.kernelinfo import AxisType
from core.uop.ops import Ops
from core.uop.uop import UOp


def multiply(team: Team, c: RT, a: RT, b: RT, a_turned: bool, b_turned: bool) -> None:
    """c += a b. `a_turned`: a is K x M, `b_turned`: b is N x K. Raises ShapeError where the tiles
    do not fit, DTypeError where a and b differ in dtype."""
    m, k = a.shape[::-1] if a_turned else a.shape
    inner, n = b.shape[::-1] if b_turned else b.shape
    if inner != k or c.shape != (m, n):
        turned = "t" if a_turned else "", "t" if b_turned else ""
        raise ShapeError(
            f"mma_A{turned[0]}B{turned[1]} of {a.shape} and {b.shape} into {c.shape}",
            hint=f"A is M x K{' given as K x M' * a_turned}, "
            f"B is K x N{' given as N x K' * b_turned}, C is M x N",
        )
    if a.dtype is not b.dtype:
        raise DTypeError(
            f"a product of {a.dtype} and {b.dtype}", hint="copy one of them to a tile of the other"
        )
    core = team.kernel.choice.core(a.dtype, c.dtype)
    if core is None or not _divides(core, m, n, k) or _lies(c, core) is None:
        _by_threads(team, c, a, b, a_turned, b_turned)
    else:
        _by_core(team, core, c, a, b, a_turned, b_turned)


def _divides(core: TensorCore, m: int, n: int, k: int) -> bool:
    return m % core.m == 0 and n % core.n == 0 and k % core.k == 0


def _lies(c: RT, core: TensorCore) -> tuple[int, ...] | None:
    """For each register of C as the instruction wants it, that of the tile."""
    return renaming(c.layout, Layout("acc", *c.shape, renamed(core.c, "m", "n")))


def _operand(team: Team, tile: RT, wanted: Layout) -> tuple[RT, tuple[int, ...]]:
    """A tile in whose lanes the elements lie as `wanted`, and for each register of that layout its
    own."""
    picks = renaming(tile.layout, wanted)
    if picks is not None:
        return tile, picks
    other = team.kernel.tile(tile.dtype, wanted)
    exchange(team, other, tile)
    return other, tuple(range(wanted.count))


def _by_core(
    team: Team, core: TensorCore, c: RT, a: RT, b: RT, a_turned: bool, b_turned: bool
) -> None:
    depth = a.shape[0] if a_turned else a.shape[1]
    deep = together(core, depth)
    left = renamed(deepened(core.a, deep), *("km" if a_turned else "mk"))
    right = renamed(deepened(core.b, deep), *("nk" if b_turned else "kn"))
    wanted_a, wanted_b = Layout("row", *a.shape, left), Layout("col", *b.shape, right)
    a, of_a = _operand(team, a, wanted_a)
    b, of_b = _operand(team, b, wanted_b)
    down, across = c.layout.rows // core.m, c.layout.columns // core.n
    tiles = [(i, j) for i in range(down) for j in range(across)]
    of_c = _lies(c, core)
    assert of_c is not None
    back = tuple(sorted(range(len(of_c)), key=of_c.__getitem__))

    def picks(
        layout: Layout, own: tuple[int, ...], part: int, chosen: Sequence[tuple[int, int]]
    ) -> tuple[int, ...]:
        count = layout.base.count // deep
        return tuple(
            own[position * layout.tiles + i * layout.across + j]
            for position in range(part * count, (part + 1) * count)
            for i, j in chosen
        )

    def build(state: UOp, sources: Sequence[UOp]) -> UOp:
        value_a, value_b = team.read(sources[0], len(of_a)), team.read(sources[1], len(of_b))
        total = team.read(sources[2], len(of_c)).gep(of_c)
        for step, part in product(range(depth // core.k // deep), range(deep)):
            in_a = [(step, i) if a_turned else (i, step) for i, _ in tiles]
            in_b = [(j, step) if b_turned else (step, j) for _, j in tiles]
            own_a = value_a.gep(picks(wanted_a, of_a, part, in_a))
            own_b = value_b.gep(picks(wanted_b, of_b, part, in_b))
            total = UOp(Ops.WMMA, total.dtype, (own_a, own_b, total), core)
        return team.write(state, total.gep(back))

    places = [Place(a.memory), Place(b.memory), Place(c.memory)]
    team.order.effect(build, Place(c.memory), places)


def _by_threads(team: Team, c: RT, a: RT, b: RT, a_turned: bool, b_turned: bool) -> None:
    """Each thread sums for its elements of C, in a loop over K."""
    kernel = team.kernel
    alone = Team(kernel, 1)
    parts: list[ST] = []
    for tile in (a, b):
        rows, columns = tile.shape
        scratch = kernel.scratch(tile.dtype, kernel.warps * rows, columns, len(parts))
        parts.append(scratch.subtile(tile.shape, kernel.warp))
        shared_from_registers(alone, parts[-1], tile)
    left, right = parts
    points, count = points_of(c.layout, kernel.lane), c.layout.count
    zeros = (0,) * count
    steps = a.shape[0] if a_turned else a.shape[1]
    loop = kernel.range(steps, AxisType.REDUCE)
    kernel.order.open(loop)

    def build(state: UOp, sources: Sequence[UOp]) -> UOp:
        at_a = Points(points.row, loop, points.down, zeros)
        at_b = Points(loop, points.column, zeros, points.across)
        found: list[UOp] = []
        for source, part, at, turned in (
            (sources[0], left, at_a, a_turned), (sources[1], right, at_b, b_turned)
        ):  # fmt: skip
            offsets = in_shared(part, at.turned() if turned else at)
            value = source.index(offsets).load(dtype=part.dtype.vec(count))
            found.append(value.cast(c.dtype))
        return team.write(state, found[0] * found[1] + team.read(sources[2], count))

    team.order.effect(build, Place(c.memory), [left.place, right.place, Place(c.memory)])
    kernel.order.close()
