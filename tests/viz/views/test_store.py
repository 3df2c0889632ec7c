"""The store while a run goes on: rows are appended, changed ones sent again, search finds them."""

from __future__ import annotations

from pathlib import Path

from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.viz.samples import random_graph, rules
from viz.coredialect.arguments import spell
from viz.dialect.argtext import ArgTexts
from viz.replay.graphtext import states
from viz.trace import Recorder
from viz.views.runs.places import Places
from viz.views.store import Store


def test_rows_of_a_live_run(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "t.viz").start()
    try:
        seen: dict[int, dict] = {}
        store: Store | None = None
        with context("outer", "schedule"):
            for i in range(3):
                graph_rewrite(random_graph(i), rules, name=f"pass {i}")
                recorder.flush()
                store = store or Store(tmp_path / "t.viz")
                store.refresh()
                answer = store.tree(len(seen))
                assert answer["total"] == i + 2
                for row in answer["rows"]:
                    assert row["row"] in seen or row["row"] == len(seen)
                    seen[row["row"]] = row
                assert seen[0]["status"] == "open"
                assert seen[0]["steps"] == sum(seen[n]["steps"] for n in range(1, i + 2))
        assert store is not None
        recorder.flush()
        store.refresh()
        (changed,) = store.tree(len(seen))["rows"]
        assert (changed["row"], changed["status"]) == (0, "ok")
        assert store.live
        recorder.close()
        store.refresh()
        assert not store.live
        assert store.tree()["rows"] == [seen[i] | (changed if i == 0 else {}) for i in range(4)]
        store.close()
    finally:
        recorder.close()


def test_a_rewrite_grows_while_it_is_looked_at(tmp_path: Path) -> None:
    from viz.write.writer import TraceWriter

    with TraceWriter(tmp_path / "t.viz", {}) as t:
        nodes = [t.node("CONST", arg=str(i)) for i in range(10)]
        rule = t.rule("next")
        step = t.rewrite_begin("count", nodes[0])
        t.flush()
        store = Store(tmp_path / "t.viz")
        for i in range(9):
            t.match(step, rule, nodes[i], nodes[i + 1], {}, 10)
            t.flush()
            store.refresh()
            bundle = store.bundle(step)
            assert bundle is not None
            assert len(bundle["steps"]) == i + 1
            assert store.is_open(step)
        t.rewrite_end(step, nodes[9])
        t.flush()
        store.refresh()
        assert not store.is_open(step)
        store.close()


def test_search(store: Store) -> None:
    rows = {row["row"]: row for row in store.tree()["rows"]}

    def found(text: str, kind: str) -> set[str]:
        hits = store.search(text)["hits"]
        return {rows[hit["row"]]["name"] for hit in hits if hit["kind"] == kind}

    assert found("KERNEL_1", "kernel") == {"kernel_1"}
    assert found("add_zero", "rule") == {"tidy", "simplify"}
    assert found("-> x + x", "rule") == {"tidy", "simplify"}
    assert found("DETACH", "op") <= {"tidy", "simplify"}
    assert found("conftest.py", "file") == {"tidy", "simplify"}
    nothing = {"hits": [], "totals": {}, "total": 0, "truncated": None, "problem": None}
    assert store.search("no such thing") == store.search("  ") == nothing


def test_steps_as_text(store: Store) -> None:
    bundle = store.bundle(2)
    assert bundle is not None
    last = None
    for step in range(1, len(bundle["steps"]) + 1):
        text = store.step_text(2, step)
        assert text is not None
        assert last is None or text["before"] == last
        last = text["after"]
    before, after = states(bundle, 0)
    assert before == after
    assert store.step_text(2, len(bundle["steps"]) + 1) is None


def test_facts_of_nodes(store: Store) -> None:
    bundle = store.bundle(2)
    assert bundle is not None
    nodes = bundle["nodes"]
    variables = [i for i, op in enumerate(nodes["op"]) if bundle["ops"][op] == "DEFINE_VAR"]
    assert {(nodes["lo"][i], nodes["hi"][i]) for i in variables} == {("0", "10")}
    assert next(bundle["args"][nodes["arg"][i]] for i in variables).endswith(", 0, 10)")


def test_arguments_as_text() -> None:
    view = '{"shape": [2, 3], "strides": [3, 1], "offset": 4, "mask": [[0, 1], [0, 3]]}'
    shown = "2x3 strides 3,1 offset 4 mask 0-1,0-3"
    for data, text in (
        ("7", "7"),
        ('"gidx0"', "gidx0"),
        ('{"float": 0.5}', "0.5"),
        ('{"float": "nan"}', "nan"),
        ('{"int": "36893488147419103232"}', "36893488147419103232"),
        ("[1]", "(1,)"),
        ('[0, {"axis": "LOOP"}]', "(0, LOOP)"),
        ('{"dtype": "int8.vec(4)"}', "int8.vec(4)"),
        (f'{{"view": {view}}}', shown),
        (f'{{"shapetracker": [{view}, {view}]}}', " of ".join([shown, shown])),
        ('{"opt": {"op": "UPCAST", "axis": 0, "arg": 4}}', "UPCAST(0, 4)"),
        ('{"kernelinfo": {"name": "r_4", "opts": null}}', "r_4"),
        ('{"tensorcore": {"name": "v_mfma", "dims": [16, 16, 16]}}', "v_mfma"),
        ("not JSON", "not JSON"),
        ("[" * 100_000, "[" * 2000 + "... (98000 more)"),
        ('{"view": {"shape": 3, "mask": 7}}', "scalar mask "),
    ):
        assert ArgTexts(spell)(data) == text


def test_short_names_of_files() -> None:
    places = Places("/home/me/work")
    assert places.place("/home/me/work/a/b.py:3") == "a/b.py:3"
    assert places.file("/usr/lib/python3.11/json/decoder.py") == "json/decoder.py"
    assert places.file("/x/site-packages/numpy/core.py") == "numpy/core.py"
    assert places.file("/elsewhere/c.py") == "/elsewhere/c.py"
    assert places.place("no place") == "no place"
    assert places.full("a/b.py") == "/home/me/work/a/b.py"
    assert places.file("/x/site-packages/a/b.py") == "/x/site-packages/a/b.py", "a/b.py is taken"
    assert places.full("other.py") is None
