"""`Group`: the operations of one or several warps that work together on tiles.

Each is one call and one effect or a few; where it is done is in the modules that this one calls.
Destinations come first. Raises at the user's line.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.dtype import ConstType, dtypes
from core.errors import DTypeError, ShapeError
from core.tile.calls import call
from core.tile.checks import check_number, is_number
from core.tile.elementwise import Function, Operand, copied, fill, mapped
from core.tile.memory import transfer
from core.tile.memory.asynchronous import check_copied
from core.tile.product import multiply
from core.tile.reduce import Combine, reduced
from core.tile.team import Building, Team
from core.tile.tiles import GL, RT, RV, ST, SV, Registers, Window
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp

LEAST_FP8E4M3 = -448.0
"""It has no infinities."""
Memory = Window | GL | ST | SV | RT | RV


class Group:
    """`warps` warps of a kernel. With one, every warp does the same on its own tiles. With several,
    each holds its part of a taller tile: rows further down.

    Called with a number, the groups of so many warps.
    """

    def __init__(self, kernel: Building, warps: int) -> None:
        self._kernel, self._team = kernel, Team(kernel, warps)

    @property
    def warps(self) -> int:
        """How many warps work together."""
        return self._team.warps

    @call
    def __call__(self, warps: int) -> Group:
        """Groups of `warps` warps. Raises ShapeError where they do not divide the kernel's."""
        return group_of(self._kernel, warps)

    # elements

    @call
    def fill(self, dst: Registers, value: ConstType) -> None:
        """Every element of a register tile or vector becomes `value`."""
        _check_registers("fill", REGISTERS, dst)
        fill(self._team, dst, value)

    @call
    def zero(self, dst: Registers) -> None:
        """Every element becomes 0."""
        _check_registers("zero", REGISTERS, dst)
        fill(self._team, dst, 0)

    clear = zero

    @call
    def ones(self, dst: Registers) -> None:
        """Every element becomes 1."""
        _check_registers("ones", REGISTERS, dst)
        fill(self._team, dst, 1)

    @call
    def neg_inf(self, dst: Registers) -> None:
        """Every element becomes the smallest number: minus infinity, of floats that have one."""
        _check_registers("neg_inf", REGISTERS, dst)
        finite = dst.dtype is dtypes.fp8e4m3
        fill(self._team, dst, LEAST_FP8E4M3 if finite else dtypes.min(dst.dtype))

    @call
    def copy(self, dst: Registers, src: Registers) -> None:
        """dst = src, converted to its dtype and layout."""
        _check_registers("copy", REGISTERS, dst, src)
        copied(self._team, dst, src)

    @call
    def transpose(self, dst: RT, src: RT) -> None:
        """dst = src with rows and columns exchanged, of each warp's own tile."""
        _check_registers("transpose", (RT,), dst, src)
        copied(self._team, dst, src, turned=True)

    @call
    def map(self, dst: Registers, function: Function, *operands: Operand) -> None:
        """dst = function(operands), element by element. Operands are tiles and vectors, which are
        repeated along the other axis, and numbers; without any, dst itself. `function` takes and
        gives nodes: `lambda x, y: x * y + 1.0`."""
        _check_registers("map", REGISTERS, dst, *_tiles_of(operands))
        mapped(self._team, dst, function, operands or (dst,), False)

    @call
    def map_indexed(self, dst: Registers, function: Function, *operands: Operand) -> None:
        """As `map`, of the row and the column, too, which come last: of the element in the tile of
        the whole group; of a vector, one number."""
        _check_registers("map_indexed", REGISTERS, dst, *_tiles_of(operands))
        mapped(self._team, dst, function, operands or (dst,), True)

    # reduces

    @call
    def row_reduce(
        self, dst: RV, src: RT, op: Ops | Combine = Ops.ADD, accumulate: bool = False
    ) -> None:
        """dst = the elements of each row combined by `op`, an op or function of two nodes that is
        associative and commutative; with `accumulate`, and with what dst holds."""
        self._reduce(dst, src, op, accumulate, "row")

    @call
    def col_reduce(
        self, dst: RV, src: RT, op: Ops | Combine = Ops.ADD, accumulate: bool = False
    ) -> None:
        """dst = the elements of each column combined by `op`, over all warps of the group; as
        `row_reduce`."""
        self._reduce(dst, src, op, accumulate, "column")

    def _reduce(self, dst: RV, src: RT, op: Ops | Combine, accumulate: bool, each: str) -> None:
        what = "row_reduce" if each == "row" else "col_reduce"
        _check_registers(what, (RV,), dst)
        _check_registers(what, (RT,), src)
        if (dst.axis == "m") is not (each == "row"):
            other = "row" if each == "column" else "column"
            raise ShapeError(
                f"a vector with an element for each {other}, where each {each} is reduced",
                hint=f'make it with ker.rv(dtype, like=tile, each="{each}")',
            )
        if isinstance(op, Ops):
            if op not in GroupOp.Associative:
                known = ", ".join(sorted(o.name for o in GroupOp.Associative))
                raise DTypeError(f"a reduce by {op.name}", hint=f"one of {known}, or a function")
            chosen = op
            reduced(self._team, dst, src, lambda x, y: x.alu(chosen, y), accumulate)
        else:
            reduced(self._team, dst, src, op, accumulate)

    # products

    @call
    def mma_AB(self, c: RT, a: RT, b: RT) -> None:
        """c += a b."""
        _check_registers("mma_AB", (RT,), c, a, b)
        multiply(self._team, c, a, b, False, False)

    @call
    def mma_ABt(self, c: RT, a: RT, b: RT) -> None:
        """c += a b^T."""
        _check_registers("mma_ABt", (RT,), c, a, b)
        multiply(self._team, c, a, b, False, True)

    @call
    def mma_AtB(self, c: RT, a: RT, b: RT) -> None:
        """c += a^T b."""
        _check_registers("mma_AtB", (RT,), c, a, b)
        multiply(self._team, c, a, b, True, False)

    @call
    def mma_AtBt(self, c: RT, a: RT, b: RT) -> None:
        """c += a^T b^T."""
        _check_registers("mma_AtBt", (RT,), c, a, b)
        multiply(self._team, c, a, b, True, True)

    # between memories

    @call
    def load(
        self, dst: Memory, src: Memory, fill: ConstType = 0, asynchronous: bool = False
    ) -> None:
        """dst = src, towards the registers; outside of a global view, `fill`.

        With `asynchronous`, to a shared tile: it arrives while the kernel goes on, and may be read
        after `ker.wait()`. Targets that cannot do that load at once. Raises ShapeError for a pair
        of memories between which nothing is loaded, or not asynchronously; DTypeError where
        asynchronous elements would be converted, and for a `fill` that is no number."""
        src = src[0] if isinstance(src, GL) else src
        if isinstance(src, Window):
            check_number("a load with fill", fill, src.gl.dtype)
        if asynchronous and not (isinstance(dst, ST) and isinstance(src, Window)):
            raise _unsupported("an asynchronous load", dst, src, "a shared tile from a global view")
        if isinstance(dst, ST) and isinstance(src, Window):
            if asynchronous:
                check_copied(dst, src, fill)
            transfer.shared_from_global(self._team, dst, src, fill, asynchronous)
        elif isinstance(dst, RT | RV) and isinstance(src, Window):
            transfer.registers_from_global(self._team, dst, src, fill)
        elif isinstance(dst, RT) and isinstance(src, ST):
            transfer.registers_from_shared(self._team, dst, src)
        elif isinstance(dst, RV) and isinstance(src, SV):
            transfer.vector_from_shared(self._team, dst, src)
        else:
            raise _unsupported("load", dst, src, _LOADS)

    @call
    def store(self, dst: Memory, src: Memory) -> None:
        """dst = src, away from the registers; what is outside of a global view is not stored.
        Raises ShapeError for a pair of memories between which nothing is stored."""
        dst = dst[0] if isinstance(dst, GL) else dst
        if isinstance(dst, Window) and isinstance(src, ST):
            transfer.global_from_shared(self._team, dst, src)
        elif isinstance(dst, Window) and isinstance(src, RT | RV):
            transfer.global_from_registers(self._team, dst, src)
        elif isinstance(dst, ST) and isinstance(src, RT):
            transfer.shared_from_registers(self._team, dst, src)
        elif isinstance(dst, SV) and isinstance(src, RV):
            transfer.shared_from_vector(self._team, dst, src)
        else:
            raise _unsupported("store", dst, src, _STORES)


def group_of(kernel: Building, warps: int) -> Group:
    """Groups of `warps` warps. Raises ShapeError where they do not divide the kernel's."""
    if type(warps) is not int or warps < 1 or kernel.warps % warps:
        raise ShapeError(
            f"a group of {warps!r} warps in a kernel with {kernel.warps}",
            hint="a number that divides the kernel's, which is ker.warps",
        )
    return Group(kernel, warps)


_NAMES: dict[type[object], str] = {
    Window: "a window of a global view",
    GL: "a global view",
    ST: "a shared tile",
    SV: "a shared vector",
    RT: "a register tile",
    RV: "a register vector",
}
_LOADS = (
    "a shared tile or registers from a global view, a register tile from a shared tile, a register "
    "vector from a shared vector"
)
_STORES = (
    "a shared tile or registers to a global view, a register tile to a shared tile, a register "
    "vector to a shared vector"
)


def _tiles_of(operands: Sequence[object]) -> list[object]:
    """Those that are no numbers, nor nodes."""
    return [x for x in operands if not isinstance(x, UOp) and not is_number(x)]


REGISTERS = (RT, RV)
"""What is computed with."""


def _check_registers(what: str, kinds: tuple[type[object], ...], *given: object) -> None:
    """Raises ShapeError for what is none of `kinds`."""
    for x in given:
        if not isinstance(x, kinds):
            known = " or ".join(_NAMES[kind] for kind in kinds)
            raise ShapeError(
                f"{what} of {_NAMES.get(type(x), type(x).__name__)}",
                hint=f"it takes {known}: load what is in other memory into registers first",
            )


def _unsupported(what: str, dst: object, src: object, known: str) -> ShapeError:
    names = [_NAMES.get(type(x), f"{type(x).__name__}") for x in (dst, src)]
    return ShapeError(f"{what} of {names[1]} to {names[0]}", hint=f"what there is: {known}")
