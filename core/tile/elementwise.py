"""Functions of each element of register tiles and vectors: fill, copy, transpose, map.

Operands may lie differently as long as every lane holds what it needs; a copy of others goes
through shared memory. Never moves an element to another row or column, but for transpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from core.dtype import ConstType
from core.errors import DTypeError, ShapeError
from core.tile.checks import check_function, check_number, check_operand, is_number
from core.tile.memory.layout import broadcasting, renaming
from core.tile.memory.transfer import exchange
from core.tile.order import Place
from core.tile.team import Team, spread
from core.tile.tiles import RT, RV, Registers
from core.uop.uop import UOp

Operand: TypeAlias = "Registers | UOp | ConstType"
N: TypeAlias = UOp
Function: TypeAlias = (
    Callable[[N], N]
    | Callable[[N, N], N]
    | Callable[[N, N, N], N]
    | Callable[[N, N, N, N], N]
    | Callable[[N, N, N, N, N], N]
    | Callable[[N, N, N, N, N, N], N]
    | Callable[[N, N, N, N, N, N, N], N]
)
"""Of the elements of operands, and of their row and column where these are asked for."""


def fill(team: Team, dst: Registers, value: ConstType) -> None:
    """Every element becomes `value`. Raises DTypeError for what is no number."""
    check_number("fill with", value, dst.dtype)

    def build(state: UOp, _: Sequence[UOp]) -> UOp:
        return team.write(state, UOp.const(dst.dtype.vec(dst.layout.count), value))

    team.order.effect(build, Place(dst.memory))


def mapped(team: Team, dst: Registers, function: Function, operands: Sequence[Operand],
           indexed: bool) -> None:  # fmt: skip
    """dst = function(operands), element by element; `indexed`: of its row and column, too. Raises
    DTypeError for operands that are no numbers, and for a function that does not take them."""
    for x in operands:
        if not isinstance(x, RT | RV):
            check_operand(x, dst.dtype)
    count, given = len(operands), "an element of each operand"
    if indexed:
        count += 1 if isinstance(dst, RV) else 2
        given += ", then " + ("its number" if isinstance(dst, RV) else "row and column")
    of_any = check_function("map_indexed" if indexed else "map", function, count, given)
    held = [x for x in operands if isinstance(x, RT | RV)]
    picks = {id(x): _picks(dst, x) for x in held}

    def build(state: UOp, sources: Sequence[UOp]) -> UOp:
        states = dict(zip(map(id, held), sources, strict=True))
        values: list[UOp] = []
        for x in operands:
            if isinstance(x, RT | RV):
                values.append(team.read(states[id(x)], x.layout.count).gep(picks[id(x)]))
            else:
                values.append(_scalar(x, dst).broadcast(dst.layout.count))
        values += _indices(team, dst) if indexed else []
        return team.write(state, _result(of_any(*values), dst))

    team.order.effect(build, Place(dst.memory), [Place(x.memory) for x in held])


def copied(team: Team, dst: Registers, src: Registers, turned: bool = False) -> None:
    """dst = src, or (`turned`) src with rows and columns exchanged; converted to its dtype."""
    if isinstance(dst, RT) and isinstance(src, RT):
        shape = src.shape[::-1] if turned else src.shape
        if dst.shape != shape:
            raise ShapeError(
                f"a tile of {src.shape} to one of {dst.shape}",
                hint=f"the other has to be {shape}",
            )
        picks = renaming(src.layout, dst.layout, turned)
        if picks is None or (src.memory is dst.memory and turned):
            exchange(team, dst, src, turned)
            return
    else:
        picks = _picks(dst, src)

    def build(state: UOp, sources: Sequence[UOp]) -> UOp:
        value = team.read(sources[0], src.layout.count).gep(picks)
        return team.write(state, value.cast(dst.dtype))

    team.order.effect(build, Place(dst.memory), [Place(src.memory)])


def _picks(dst: Registers, src: Registers) -> tuple[int, ...]:
    """For each register of `dst`, the one of `src` that goes with it. Raises ShapeError where
    shapes differ, or where it is in another lane."""
    if isinstance(dst, RT) and isinstance(src, RT):
        found, same = renaming(src.layout, dst.layout), dst.shape == src.shape
    elif isinstance(src, RV):
        along = src.axis
        length = dst.layout.rows if along == "m" else dst.layout.columns
        same = src.length == length and (isinstance(dst, RT) or dst.axis == along)
        found = broadcasting(src.layout, along, dst.layout)
    else:
        raise ShapeError(
            "a tile where a vector is computed", hint="reduce it: row_reduce or col_reduce"
        )
    if not same:
        raise ShapeError(
            f"{_named(src)} with {_named(dst)}",
            hint="tiles have one shape; a vector has an element for each row or column",
        )
    if found is None:
        raise ShapeError(
            f"{_named(src)} and {_named(dst)} lie in different lanes",
            hint="copy one into the layout of the other, or make a vector like the tile that it "
            "goes with",
        )
    return found


def _named(x: Registers) -> str:
    if isinstance(x, RT):
        return f"a tile of {x.layout.rows} x {x.layout.columns} in layout {x.layout.name!r}"
    each = "row" if x.axis == "m" else "column"
    return f"a vector of {x.length} for each {each} of a tile in layout {x.layout.name!r}"


def _scalar(x: UOp | ConstType, dst: Registers) -> UOp:
    return x if isinstance(x, UOp) else UOp.const(dst.dtype, x)


def _indices(team: Team, dst: Registers) -> list[UOp]:
    lane, layout = team.kernel.lane, dst.layout
    row = layout.of_lane("m", lane) + team.number * layout.rows
    column = layout.of_lane("n", lane)
    if isinstance(dst, RV):
        at, axis = (row, "m") if dst.axis == "m" else (column, "n")
        return [spread(at, layout.constants("m" if axis == "m" else "n"))]
    return [spread(row, layout.constants("m")), spread(column, layout.constants("n"))]


def _result(value: object, dst: Registers) -> UOp:
    count = dst.layout.count
    if is_number(value):
        check_number("a function of map that gives", value, dst.dtype)
        return UOp.const(dst.dtype.vec(count), value)
    if not isinstance(value, UOp) or value.dtype.count not in (1, count):
        raise DTypeError(
            "the function of map gave no value of an element",
            hint="return arithmetic of its arguments, such as lambda x: x * 2.0",
        )
    wide = value if value.dtype.count == count else value.broadcast(count)
    return wide.cast(dst.dtype)
