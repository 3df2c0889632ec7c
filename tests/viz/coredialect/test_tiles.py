"""The tiles of recorded kernels: found at every stage, with the conflicts that the emulator counts,
and never more than a trace can be believed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core import dtypes, tile
from core.tensor_cores import fragment
from core.tile import kernels
from core.uop.data.args import encode_arg
from core.uop.kernelinfo import KernelInfo, TileInfo
from core.uop.uop import UOp
from tests.core.tile.running import conflicts, counted
from tests.viz.coredialect.runs import nodes_at, passes_of, recorded, tiles_of
from viz.share.html import export_html
from viz.share.reopened import open_run
from viz.views.answers import TILES
from viz.views.store import Store
from viz.write.writer import TraceWriter


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = tmp_path_factory.mktemp("product") / "product.viz"
    store = recorded(path, kernels.matmul(64, 64, 64, "sm_80"), "sm_80")
    yield store
    store.close()


def test_every_tile_is_described(product: Store) -> None:
    found = {(t["kind"], t["number"]): t for t in tiles_of(product)["tiles"]}
    assert {key: (t["rows"], t["columns"], t["dtype"]) for key, t in found.items()} == {
        ("ST", 0): (64, 32, "float16"),
        ("ST", 1): (32, 64, "float16"),
        ("RT", 0): (16, 32, "float16"),
        ("RT", 1): (32, 64, "float16"),
        ("RT", 2): (16, 64, "float32"),
    }
    assert [found["RT", i]["layout"] for i in range(3)] == ["row", "col", "acc"]
    assert {found["RT", i]["warps"] for i in range(3)} == {4}
    assert {found["ST", i]["stages"] for i in range(2)} == {2}


def test_tiles_at_every_stage(product: Store) -> None:
    said = tiles_of(product)
    of = dict(zip(said["nodes"]["node"], said["nodes"]["tile"], strict=True))
    passes = passes_of(product)
    assert len(passes) > 10
    for rewrite in passes:
        for op in ("DEFINE_REG", "DEFINE_LOCAL"):
            space = "register" if op == "DEFINE_REG" else "shared"
            nodes = nodes_at(product, rewrite, op)
            assert nodes
            assert {said["tiles"][of[n]]["space"] for n in nodes} == {space}
        assert set(nodes_at(product, rewrite, "WMMA")) <= set(said["wmma"]["node"])
        loads = nodes_at(product, rewrite, "LOAD")
        known = [n for n in (*loads, *nodes_at(product, rewrite, "LDMATRIX")) if n in of]
        assert {said["tiles"][of[n]]["space"] for n in known} == {"register", "shared"}
        assert len(loads) - len([n for n in loads if n in of]) in (0, 8), "those of global memory"


def test_single_registers_are_known_once_vectors_are_gone(product: Store) -> None:
    said = tiles_of(product)
    own = dict(zip(said["nodes"]["node"], said["nodes"]["registers"], strict=True))
    of = dict(zip(said["nodes"]["node"], said["nodes"]["tile"], strict=True))
    last = [n for n in nodes_at(product, passes_of(product)[-1], "LOAD") if n in of]
    found: dict[int, set[int]] = {}
    for node in last:
        if said["tiles"][of[node]]["space"] == "register":
            assert own[node] is not None
            found.setdefault(said["tiles"][of[node]]["number"], set()).update(own[node])
    assert found == {0: set(range(16)), 1: set(range(64)), 2: set(range(32))}
    first = [n for n in nodes_at(product, passes_of(product)[0], "LOAD") if n in of]
    assert {own[n] is None for n in first} == {True}


def test_values_name_the_tiles_that_they_are_computed_from(product: Store) -> None:
    said = tiles_of(product)
    uses = dict(zip(said["uses"]["node"], said["uses"]["tiles"], strict=True))
    sums = [uses[n] for n in nodes_at(product, passes_of(product)[0], "WMMA")]
    assert [{said["tiles"][i]["number"] for i in used} for used in sums] == [{0, 1, 2}] * len(sums)


def columns(swizzle: bool) -> UOp:
    """One warp reads a shared tile by columns."""
    with tile.Kernel("columns", target="sm_80") as ker:
        y, x = ker.gl(dtypes.float, (32, 32)), ker.gl(dtypes.float, (32, 32))
        held, part = (
            ker.st(dtypes.float, (32, 32), swizzle=swizzle),
            ker.rt(dtypes.float, (32, 32), "col"),
        )
        ker.warp.load(held, x)
        ker.warp.load(part, held)
        ker.warp.store(y, part)
    return ker.ast


@pytest.mark.parametrize("swizzle", [True, False])
def test_conflicts_are_those_that_the_emulator_counts(tmp_path: Path, swizzle: bool) -> None:
    ast = columns(swizzle)
    zeros = np.zeros((32, 32), np.float32)
    store = recorded(tmp_path / "t.viz", ast, "sm_80")  # first: what is compiled is kept
    wanted = conflicts(counted(ast, [zeros, zeros], "sm_80"))
    said = tiles_of(store)
    for rewrite in (passes_of(store)[0], passes_of(store)[-1]):
        now = {n for op in ("LOAD", "STORE") for n in nodes_at(store, rewrite, op)}
        here = [a for a in said["accesses"] if a["node"] in now]
        assert sum(a["conflicts"] for a in here) == wanted
    plain = sum(a["plain"] for a in said["accesses"] if a["node"] in now)
    assert plain == (wanted if not swizzle else plain)
    assert (wanted == 0) is swizzle
    assert plain > 0


@pytest.mark.parametrize("target", ["gfx942", "gfx1100", "sm_90", "x86-64"])
def test_tiles_of_other_targets(tmp_path: Path, target: str) -> None:
    store = recorded(tmp_path / "t.viz", kernels.matmul(64, 64, 64, target), target)
    said = tiles_of(store)
    assert len(said["tiles"]) >= 5
    assert said["leftOut"] is None
    if target != "x86-64":
        assert {a["conflicts"] for a in said["accesses"]} == {0}
        assert Counter(a["stores"] for a in said["accesses"])[True] > 0


def test_vectors_of_rows(tmp_path: Path) -> None:
    store = recorded(tmp_path / "t.viz", kernels.softmax(64, 64, "gfx942"), "gfx942")
    vectors = [t for t in tiles_of(store)["tiles"] if t["kind"] == "RV"]
    assert vectors
    assert {(t["rows"], t["columns"]) for t in vectors} == {(16, 1)}
    assert {len(t["base"]["copies"]) for t in vectors} == {16}


def test_an_export_says_the_same(product: Store, tmp_path: Path, dist: Path) -> None:
    wanted = json.loads(json.dumps(tiles_of(product)))
    file = tmp_path / "run.html"
    for budget in (50_000_000, 150_000):  # with the trace inside, and the answers alone
        file.write_text(export_html(product, budget=budget).html)
        run = open_run(file)
        assert run.ask(TILES, run.kernels()[0]) == wanted
        run.close()


def test_a_number_without_a_kernel(product: Store) -> None:
    assert product.tiles(4711) is None


PLACE = "INDEX", "float32* local [64]"


def hostile(path: Path, info: object, memory: str, place: tuple[str, str] = PLACE) -> Store:
    """A kernel whose KernelInfo and memory are what a stranger says."""
    with TraceWriter(path, {"compiler": "uopviz"}) as t:
        kernel = t.context_begin("k", "kernel")
        define = t.node("DEFINE_REG", memory, arg="0")
        local = t.node("DEFINE_LOCAL", "float32* local [64]", arg="0")
        at = t.node("CONST", "int32", arg="3")
        there = t.node(place[0], place[1], (local, at), arg='"x"')
        load = t.node("LOAD", "float32", (there,))
        root = t.node("SINK", "void", (define, load), arg=json.dumps(info))
        step = t.rewrite_begin("pass", root, context=kernel)
        t.rewrite_end(step, root)
        t.kernel(kernel, "k", ast=root)
        t.context_end(kernel)
    return Store(path)


BASE = fragment("n0 n1 m0 m1 m2", "n2")
INFO = encode_arg(KernelInfo("k", (), (TileInfo("RT", 0, 8, 8, 1, "acc", BASE),)))


@pytest.mark.parametrize(
    "memory", ["float32* reg [3]", "float32* reg", "float32", "nonsense", "float32* reg [64000000]"]
)
def test_a_memory_of_another_size_is_no_tile(tmp_path: Path, memory: str) -> None:
    store = hostile(tmp_path / "t.viz", INFO, memory)
    assert tiles_of(store)["tiles"] == []


def test_a_memory_of_its_size_is_a_tile(tmp_path: Path) -> None:
    store = hostile(tmp_path / "t.viz", INFO, "float32* reg [2]")
    assert [t["kind"] for t in tiles_of(store)["tiles"]] == ["RT"]


@pytest.mark.parametrize(
    "info",
    [
        {"kernelinfo": {"name": "k", "opts": [], "tiles": 3}},
        {"kernelinfo": {"name": "k", "opts": [], "tiles": [{}] * 3}},
        {"kernelinfo": 7},
        [1, 2],
        "text",
    ],
)
def test_an_info_that_is_none_gives_no_tiles(tmp_path: Path, info: object) -> None:
    store = hostile(tmp_path / "t.viz", info, "float32* reg [2]")
    assert tiles_of(store)["tiles"] == []


@pytest.mark.parametrize(
    "place",
    [("ADDRESS", "float32* local [64]"), ("AFTER", "float32* local [64]"), ("LOAD", "float32")],
)
def test_addresses_that_make_no_sense(tmp_path: Path, place: tuple[str, str]) -> None:
    info = encode_arg(KernelInfo("k", (), (TileInfo("ST", 0, 8, 8, swizzled=True),)))
    store = hostile(tmp_path / "t.viz", info, "float32* reg [2]", place)
    said = tiles_of(store)
    assert [t["kind"] for t in said["tiles"]] == ["ST"]
    assert said["accesses"] == []
