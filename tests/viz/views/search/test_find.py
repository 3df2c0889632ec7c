"""One search over the whole run: groups, texts of sources, and nodes by their structure."""

from __future__ import annotations

import os
import random
import re
from pathlib import Path
from typing import Any

import pytest

from core import Tensor
from core.dtype import dtypes
from core.errors import TraceError
from core.uop import PatternMatcher, UPat
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp
from tests.viz.replay.engine_graphs import states
from tests.viz.samples import random_graph, rules
from viz import record
from viz.coredialect.adapter import DIALECT
from viz.coredialect.arguments import spell
from viz.dialect.argtext import ArgTexts
from viz.views.search.find import KINDS, PER_GROUP
from viz.views.search.shape import Shape, is_structural, parse
from viz.views.search.structures import Place, Structures
from viz.views.store import Store

IDLE = PatternMatcher([(UPat(Ops.MAX, custom=lambda u: u.arg == 3), lambda: None)], name="idle")

QUERIES = (
    "MUL(x, CONST 2)",
    "MUL(x, CONST -1)",
    "ADD(x, x)",
    "ADD(ADD(x, y), x)",
    "SUB(_, ADD|MUL)",
    "ADD|SUB|MUL(MUL, _)",
    "CONST 0",
    "CONST.int(...)",
    "MAX(...)",
    "ADD(_, ...)",
    "ADD.int(x, ADD(y, x))",
    "DEFINE_VAR",
    "DETACH(MAX(x, y))",
    "_(_)",
)


def _plain(shape: Shape, node: UOp, names: dict[str, UOp]) -> list[dict[str, UOp]]:
    """Every way in which a node is as described: written plainly, as the meaning of a query."""
    if shape.name is not None:
        known = names.get(shape.name, node)
        return [{**names, shape.name: node}] if known is node else []
    if shape.ops is not None and node.op.name.casefold() not in shape.ops:
        return []
    if shape.dtype is not None and str(node.dtype) != shape.dtype:
        return []
    if shape.arg is not None and (node.arg is None or str(node.arg) != shape.arg):
        return []
    if shape.src is None:
        return [names]
    fits = len(node.src) >= len(shape.src) if shape.rest else len(node.src) == len(shape.src)
    if not fits:
        return []
    ways: list[dict[str, UOp]] = []
    commutes = len(shape.src) == 2 and not shape.rest and node.op in GroupOp.Commutative
    for sources in {node.src, node.src[::-1]} if commutes else {node.src}:
        found = [names]
        for part, source in zip(shape.src, sources, strict=False):
            found = [more for one in found for more in _plain(part, source, one)]
        ways += found
    return ways


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Store:
    path = tmp_path_factory.mktemp("find") / "t.viz"
    seed = int(os.environ.get("FUZZ_SEED", "5"))
    print(f"FUZZ_SEED={seed}")
    with record(path):
        for i in range(12):
            with context(f"kernel_{i}", "kernel"):
                graph_rewrite(random_graph(seed * 100 + i), rules, name="simplify")
    return Store(path)


@pytest.mark.parametrize("query", QUERIES)
def test_a_hit_is_where_the_pages_graph_first_has_such_a_node(graphs: Store, query: str) -> None:
    file = graphs.files[0]
    shape = parse(query, DIALECT.commutative)
    structures = Structures(file, ArgTexts(spell))
    found = {place.rewrite: place for place in structures.search(shape)}
    nodes: dict[int, UOp] = {}

    def node(number: int) -> UOp:
        if number not in nodes:
            op, dtype, arg = (
                file.text(int(file.nodes.field(f)[number])) for f in ("op", "dtype", "arg")
            )
            src = tuple(node(s) for s in file.nodes.sources(number))
            shown: Any = ArgTexts(spell)(arg) if arg else None
            nodes[number] = UOp(Ops[op], getattr(dtypes, dtype, dtypes.void), src, shown)
        return nodes[number]

    for rewrite in file.rewrites:
        bundle = graphs.bundle(rewrite)
        assert bundle is not None
        ids = bundle["nodes"]["id"]
        first = None
        for step, state in enumerate(states(bundle)):
            if any(_plain(shape, node(ids[at]), {}) for at, _ in state.values()):
                first = step
                break
        place = found.get(rewrite)
        assert (None if place is None else place.step) == first, (rewrite, place)
        if place is not None:
            assert _plain(shape, node(place.node), {})


def test_queries_that_are_structures_and_those_that_are_texts() -> None:
    structures = ("MUL(x, y)", "CONST 64", "CAST.half(x)", "_(x)", "ADD|SUB(", "MUL.(x)")
    assert all(is_structural(q) for q in structures)
    texts = ("mul", "conv2d", "MUL", "r_32_10", "fma(", "a.py:64", "softmax 3", "DEFINE_VAR", "2 x")
    assert not any(is_structural(q) for q in texts)
    assert is_structural("mul(x, y)", lambda: ["MUL"])
    assert not is_structural("fma(x, y)", lambda: ["MUL"])


@pytest.mark.parametrize(("query", "what"), [
    ("MUL(x", "a comma or ) is expected, at character 6"),
    ("MUL(x))", "the query should end, at character 7"),
    ("MUL(x,, y)", "an op, a name or _ is expected, at character 7"),
    ("MUL(..., x)", "... comes last"),
    ("MUL(x, $)", "this cannot be read, at character 7"),
    ("MUL.(x)", "a dtype is expected"),
    ("MUL|(x)", "an op is expected"),
    ("A(" * 20, "nested too deeply"),
    ("A(" + "x, " * 200, "longer than 400"),
])  # fmt: skip
def test_what_is_wrong_with_a_query(graphs: Store, query: str, what: str) -> None:
    with pytest.raises(TraceError, match=re.escape(what)):
        parse(query)

    said = graphs.search(query)
    assert said["hits"] == [] and what in said["problem"]["what"]


def test_numbers_and_texts_of_arguments() -> None:
    assert parse("CONST 0.50").arg == "0.50"
    assert parse('DEFINE_VAR "a b"') == Shape(frozenset({"define_var"}), arg="a b")
    assert parse("CONST -inf").arg == "-inf"
    assert parse("CONST 1e-3").arg == "1e-3"


def test_hits_come_in_groups_and_none_hides_another(tmp_path: Path) -> None:
    with record(tmp_path / "t.viz"):
        for i in range(PER_GROUP + 5):
            with context(f"add_{i}", "kernel"):
                graph_rewrite(random_graph(i), rules, name="add things")
    found = Store(tmp_path / "t.viz").search("add")
    assert found["totals"]["kernel"] == found["totals"]["pass"] == PER_GROUP + 5
    kinds = [hit["kind"] for hit in found["hits"]]
    assert kinds == sorted(kinds, key=KINDS.index)
    assert kinds.count("kernel") == kinds.count("pass") == PER_GROUP and "rule" in kinds
    assert found["total"] == sum(found["totals"].values())


def test_lines_of_sources(tmp_path: Path) -> None:
    with record(tmp_path / "t.viz"):
        (Tensor([1.0, 2.0]).contiguous().realize() * 3.5).realize()
    store = Store(tmp_path / "t.viz")
    hits = [hit for hit in store.search("FMUL")["hits"] if hit["kind"] == "source"]
    assert hits
    for hit in hits:
        row = store.tree()["rows"][hit["row"]]
        kernel = store.kernel(row["id"])
        assert kernel is not None
        source = hit["source"]
        (text,) = (
            one["text"]
            for one in kernel["artifacts"]
            if (one["kind"], one["target"]) == (source["kind"], source["target"])
        )
        assert text.splitlines()[source["line"] - 1].strip() == hit["text"]
        assert "fmul" in hit["text"]


def test_a_search_of_sources_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with record(tmp_path / "t.viz"):
        for n in range(2, 6):
            (Tensor.ones(n, n).contiguous() * n).realize()
    store = Store(tmp_path / "t.viz")
    whole = store.search("float")
    again = Store(tmp_path / "t.viz")
    found = again.search("float", 0.0)
    rounds = 0
    while found["truncated"]:
        found, rounds = again.search("float", 0.0005), rounds + 1
        assert rounds < 10_000
    assert found == whole and whole["totals"]["source"]


def test_structure_over_large_graphs_takes_little(tmp_path: Path) -> None:
    x = UOp.variable("x", 0, 100)
    for i in range(3_000):
        x = x * 3 + i if i % 2 else x + UOp.variable(f"v{random.Random(i).randrange(9)}", 0, 9)
    with record(tmp_path / "t.viz"):
        graph_rewrite(UOp.sink(x), rules, name="deep")
    file = Store(tmp_path / "t.viz").files[0]
    places = Structures(file, ArgTexts(spell)).search(parse("MUL(x, CONST 3)"))
    assert places == [Place(places[0].rewrite, 0, places[0].node, 1_500)]


def test_a_node_that_goes_through_passes_unchanged_is_one_hit(tmp_path: Path) -> None:
    """In each kernel, at the first pass that has it; another node of the same structure is another
    hit."""
    x = UOp(Ops.DEFINE_VAR, dtypes.int, (), ("x", 0, 9))
    const = [UOp(Ops.CONST, dtypes.int, (), value) for value in (64, 3)]
    first, second = (
        UOp(Ops.MUL, dtypes.int, (UOp(Ops.ADD, dtypes.int, (x, c)), const[0])) for c in const
    )
    with record(tmp_path / "t.viz"):
        for kernel, graph in (("k1", first), ("k2", first), ("k3", second)):
            with context(kernel, "kernel"):
                for name in ("one", "two", "three"):
                    graph_rewrite(graph, IDLE, name=name)
    store = Store(tmp_path / "t.viz")
    found, rows = store.search("MUL(_, CONST 64)"), store.tree()["rows"]
    store.close()
    assert found["totals"] == {"node": 3}
    listed = [(rows[rows[h["row"]]["parent"]]["name"], h["passes"]) for h in found["hits"]]
    assert listed == [("k1", 3), ("k2", 3), ("k3", 3)]
    assert {rows[hit["row"]]["name"] for hit in found["hits"]} == {"one"}
    assert len({hit["node"] for hit in found["hits"]}) == 2
