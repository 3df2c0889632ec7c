"""Layouts and swizzles as data: every element is somewhere, once; nothing meets in a bank."""

from __future__ import annotations

import numpy as np
import pytest

from core.dtype import dtypes
from core.passes.lanes import sink_lanes
from core.target import targets
from core.tile import LAYOUTS, Layout, Swizzle
from core.tile.memory.layout import Choice, coordinates, renaming
from core.uop.engine.rewrite import graph_rewrite
from core.uop.facts.meaning import evaluate
from core.uop.ops import Ops
from core.uop.symbolic import symbolic_index
from core.uop.uop import UOp

TARGETS = [t for t in targets.values() if t.wave > 1]


def layout(target: str, name: str, rows: int = 64, columns: int = 64) -> Layout:
    choice = Choice(targets[target])
    dtype = dtypes.float if name == "acc" else dtypes.half
    return Layout(name, rows, columns, choice.base(name, dtype, (rows, columns)))


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("target", [t.name for t in TARGETS])
def test_lanes_hold_every_element(target: str, name: str) -> None:
    found = layout(target, name)
    rows, columns = coordinates(found)
    assert rows.shape == (found.base.threads, found.count)
    assert found.base.threads == targets[target].wave
    assert {*(rows * 64 + columns).ravel()} == {*range(64 * 64)}


def test_conversions_that_are_free() -> None:
    """On NVIDIA an accumulator is an operand A; on AMD's CDNA it is an operand B."""
    assert renaming(layout("sm_80", "acc"), layout("sm_80", "row")) is not None
    assert renaming(layout("sm_80", "acc"), layout("sm_80", "col")) is None
    assert renaming(layout("gfx942", "acc"), layout("gfx942", "row")) is None
    assert renaming(layout("gfx942", "acc"), layout("gfx1100", "acc")) is None
    assert renaming(layout("sm_80", "row"), layout("sm_80", "row", 32, 64)) is None


@pytest.mark.parametrize("target", [t.name for t in TARGETS])
def test_a_vector_is_where_its_tile_is(target: str) -> None:
    for name in LAYOUTS:
        whole = layout(target, name)
        rows, _ = coordinates(whole.along("m"))
        held = [{*line} for line in rows]
        assert all({*line} <= own for line, own in zip(coordinates(whole)[0], held, strict=True))


@pytest.mark.parametrize("item", [1, 2, 4, 8])
@pytest.mark.parametrize("columns", [8, 16, 24, 32, 48, 64, 128])
@pytest.mark.parametrize("mixed", [False, True])
def test_places_are_a_permutation(item: int, columns: int, mixed: bool) -> None:
    places = Swizzle(columns, item, mixed)
    row, column = UOp.variable("row", 0, 31), UOp.variable("column", 0, columns - 1)
    at = places.at(row, column)
    seen = {(r, c): value(at, r, c) for r in range(32) for c in range(columns)}
    assert {*seen.values()} == {*range(32 * columns)}
    assert all(places.place(r, c) == found for (r, c), found in seen.items())


def test_threads_that_read_elements_at_once() -> None:
    """A column of short rows meets in banks, whatever the swizzle; one of long rows does not."""
    rows, column = range(0, 32, 4), [3] * 8
    assert not Swizzle(16, 2).apart(rows, column)
    assert not Swizzle(64, 2, mixed=False).apart(range(8), column)
    assert Swizzle(64, 2).apart(range(8), column)
    assert Swizzle(16, 2).apart([0, 0], [2, 3]), "one word"


@pytest.mark.parametrize("item", [2, 4])
@pytest.mark.parametrize("columns", [16, 32, 48, 64, 128])
def test_places_of_many_are_those_of_each(item: int, columns: int) -> None:
    places = Swizzle(columns, item)
    row, column = UOp.variable("row", 0, 31), UOp.variable("column", 0, columns - 1)
    down, across = (0, 0, 16, 16), (0, 1, 0, 1)
    found = places.of_many(row, column, down, across)
    each = [graph_rewrite(found.gep(i), sink_lanes + symbolic_index) for i in range(4)]
    for r in (0, 3, 6, 13):
        for c in range(0, columns, 2):
            want = [
                value(places.at(row, column), r + d, c + a)
                for d, a in zip(down, across, strict=True)
            ]
            assert [value(u, r, c) for u in each] == want


@pytest.mark.parametrize("columns", [32, 64, 128])
def test_eight_rows_of_a_piece_are_in_different_banks(columns: int) -> None:
    places = Swizzle(columns, 2)
    row, column = UOp.variable("row", 0, 31), UOp.variable("column", 0, columns - 1)
    at = places.at(row, column)
    for first in range(0, 32, 8):
        banks = [value(at, first + r, 8) * 2 % 128 // 16 for r in range(8)]
        assert len({*banks}) == 8


def value(u: UOp, row: int, column: int) -> int:
    """What a node is for a row and a column."""
    known: dict[UOp, int] = {}
    for node in u.toposort():
        if node.op is Ops.DEFINE_VAR:
            known[node] = row if node.arg[0] == "row" else column
        elif node.op is Ops.CONST:
            known[node] = node.arg
        else:
            known[node] = int(evaluate(node.op, node.dtype, [known[s] for s in node.src]))
    assert isinstance(known[u], int | np.integer)
    return known[u]
