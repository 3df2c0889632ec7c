"""What the lanes of a warp do together, lane by lane: the rows of matrices that LDMATRIX loads, as
they are and transposed, and asynchronous copies, of every shipped kernel that has them; and lanes
that take no part. Banks are worked out here from the tables that the page gets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from core import dtypes, tile
from core.tile import kernels
from core.tile.kernels import AttentionShape
from core.uop.uop import UOp
from tests.viz.coredialect.runs import Data, nodes_at, passes_of, recorded, tiles_of
from viz.views.store import Store

SHAPE = AttentionShape(1, 1, 16, 64, warps=1, columns=16)
LANES = range(32)
BANKS: dict[int, Sequence[list[int]]] = {
    64: (
        [0, 16, 8, 24, 20, 4, 28, 12], [16, 0, 24, 8, 4, 20, 12, 28],
        [4, 20, 12, 28, 16, 0, 24, 8],
        [0, 4, 8, 12, 16, 20, 24, 28], [16, 20, 24, 28, 0, 4, 8, 12],
    ),
    32: (
        [0, 16, 8, 24, 12, 28, 4, 20], [8, 24, 0, 16, 4, 20, 12, 28],
        [4, 20, 12, 28, 8, 24, 0, 16],
        [0, 4, 8, 12, 16, 20, 24, 28], [8, 12, 0, 4, 24, 28, 16, 20],
    ),
}  # fmt: skip
"""By columns, the first bank of 8 lanes: of the matrices at rows 0 and 8 of the first columns, and
at row 0 of the next ones; and of the first two turns of 128 bytes that are copied. By hand: row r
of 128 bytes has the key 0 4 2 6 5 1 7 3 4 0 6 2 1 5 3 7, two of 64 bytes have 0 2 3 1 2 0 1 3."""


def square(columns: int, row: int, column: int) -> tuple[int, ...]:
    """The elements where the rows of four matrices begin, the first two below each other: 16 x 16
    elements of a tile."""
    return tuple((row + lane % 16) * columns + column + lane // 16 * 8 for lane in LANES)


def squares(rows: int, columns: int) -> set[tuple[int, ...]]:
    """Those that a tile is made of."""
    return {square(columns, r, c) for r in range(0, rows, 16) for c in range(0, columns, 16)}


def pieces(count: int, step: int) -> set[tuple[int, ...]]:
    """What the lanes of the first warp copy in each of some turns: 8 elements each."""
    return {tuple(turn * step + 8 * lane for lane in LANES) for turn in range(count)}


Wanted = dict[int, set[tuple[int, ...]]]
"""By number of a shared tile: where the lanes begin, of each node."""
KERNELS: dict[str, tuple[Callable[[], UOp], Wanted, Wanted, Wanted, list[int]]] = {
    "matmul": (
        lambda: kernels.matmul(64, 64, 64, "sm_80"),
        # the first of four warps: 16 rows of A; all of B
        {0: squares(16, 32)}, {1: squares(32, 64)}, {0: pieces(2, 1024), 1: pieces(2, 1024)}, [],
    ),
    "attention": (
        lambda: kernels.attention(SHAPE, "sm_80"),
        {0: squares(16, 64)}, {1: squares(16, 64)}, {0: pieces(4, 256), 1: pieces(4, 256)}, [],
    ),
    "keys": (
        lambda: kernels.attention_keys(SHAPE, "sm_80"),
        # 0 and 1 are k and v, which stay; 2 and 3 are q and do, which are also turned
        {number: squares(16, 64) for number in range(4)},
        {2: squares(16, 64), 3: squares(16, 64)}, {2: pieces(4, 256), 3: pieces(4, 256)}, [0, 1],
    ),
    "queries": (
        lambda: kernels.attention_queries(SHAPE, "sm_80"),
        {0: squares(16, 64), 1: squares(16, 64)}, {0: squares(16, 64)},
        {0: pieces(4, 256), 1: pieces(4, 256)}, [],
    ),
}  # fmt: skip


def banks(shared: Data, first: Sequence[int]) -> list[int]:
    """Where lanes begin: piece c of a row lies where piece c XOR the row's key would."""
    found: list[int] = []
    for element in first:
        row, column = divmod(element, shared["columns"])
        assert column % shared["piece"] == 0
        piece = column // shared["piece"]
        group = piece // shared["keys"] * shared["keys"]
        place = group + (piece % shared["keys"] ^ shared["key"][row])
        found.append((row * shared["columns"] * 2 + place * 16) // 4 % 32)
    return found


def transposed(store: Store, rewrite: int) -> dict[int, bool]:
    """Of each LDMATRIX that a pass starts from, whether it turns its matrices."""
    bundle = store.bundle(rewrite)
    assert bundle is not None
    nodes, forms = bundle["nodes"], bundle["args"]
    said = {n: forms[arg] for n, arg in zip(nodes["id"], nodes["arg"], strict=True) if arg >= 0}
    found = {n: said[n] for n in nodes_at(store, rewrite, "LDMATRIX")}
    assert set(found.values()) <= {"(4, False)", "(4, True)"}
    return {n: form == "(4, True)" for n, form in found.items()}


@pytest.mark.parametrize("name", KERNELS)
def test_matrices_and_copies_lane_by_lane(name: str, tmp_path: Path) -> None:
    build, plain, turned, copied, at_once = KERNELS[name]
    store = recorded(tmp_path / "t.viz", build(), "sm_80")
    said = tiles_of(store)
    of = {a["node"]: a for a in said["accesses"]}
    assert said["leftOut"] is None
    for stage in (0, -1):
        rewrite = passes_of(store)[stage]
        found: tuple[Wanted, Wanted, Wanted] = {}, {}, {}
        for node, turns in transposed(store, rewrite).items():
            shared = said["tiles"][of[node]["tile"]]
            found[turns].setdefault(shared["number"], set()).add(tuple(of[node]["first"]))
            assert not of[node]["stores"]
            assert (of[node]["times"], of[node]["width"], of[node]["conflicts"]) == (1, 16, 0)
            assert of[node]["matrices"] == 4
            # in rows as they are, 8 rows of 128 bytes meet in the same banks, of 64 bytes 4
            assert of[node]["plain"] == 4 * (7 if shared["columns"] == 64 else 3)
        for node in nodes_at(store, rewrite, "STORE" if stage == 0 else "COPY_ASYNC"):
            if node not in of or said["tiles"][of[node]["tile"]]["number"] in at_once:
                continue
            shared = said["tiles"][of[node]["tile"]]
            found[2].setdefault(shared["number"], set()).add(tuple(of[node]["first"]))
            assert of[node]["stores"]
            assert (of[node]["times"], of[node]["width"]) == (1, 16)
            assert (of[node]["conflicts"], of[node]["plain"], of[node]["matrices"]) == (0, 0, 0)
        assert found == (plain, turned, copied)
    for shared in said["tiles"]:
        if shared["space"] != "shared":
            continue
        rows, number = square(shared["columns"], 0, 0), shared["number"]
        above, below, right, first, second = BANKS[shared["columns"]]
        assert banks(shared, rows) == above + below + right + [b ^ 4 for b in below]
        if number in copied:
            assert banks(shared, min(copied[number])[:16]) == first + second
    store.close()


def partly() -> UOp:
    """24 pieces of 8 halves for the 32 lanes of a warp, asynchronously and at once."""
    with tile.Kernel("partly", target="sm_80") as ker:
        y, x = ker.gl(dtypes.half, (16, 24)), ker.gl(dtypes.half, (8, 24))
        for number in range(2):
            held = ker.st(dtypes.half, (8, 24))
            ker.group.load(held, x, asynchronous=number == 0)
            ker.wait()
            ker.group.store(y[number, 0], held)
    return ker.ast


def test_lanes_that_take_no_part_are_left_out_at_every_stage(tmp_path: Path) -> None:
    """A gate is part of an address first, then of a load or store, then of a copy."""
    store = recorded(tmp_path / "t.viz", partly(), "sm_80")
    said = tiles_of(store)
    of = {a["node"]: a for a in said["accesses"]}
    wanted = [8 * lane if lane < 24 else -1 for lane in LANES]
    for rewrite in passes_of(store):
        here = [
            of[node]
            for op in ("LOAD", "STORE", "COPY_ASYNC")
            for node in nodes_at(store, rewrite, op)
            if node in of
        ]
        assert [a["first"] for a in here] == [wanted] * 4
        assert sorted(a["stores"] for a in here) == [False, False, True, True]
        assert {(a["times"], a["width"], a["conflicts"]) for a in here} == {(1, 16, 0)}
    store.close()
