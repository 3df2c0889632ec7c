"""`import uopviz`: each object says what the views, the commands and the trace itself say."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import uopviz
import viz
from core.errors import TraceError
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.viz.samples import random_graph, rules
from viz.replay.graphtext import step_text
from viz.views.nodes.history import node_history


@pytest.fixture
def run(trace: Path) -> Iterator[uopviz.Run]:
    with uopviz.open(trace) as made:
        yield made


def test_names_are_there_without_the_repository(tmp_path: Path) -> None:
    """As installed: nothing of this folder is on the path but by the installation."""
    code = (
        "import sys, uopviz; assert not [m for m in sys.modules if m.startswith('viz')];"
        "[getattr(uopviz, name) for name in dir(uopviz)]; print(uopviz.Run.__module__)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("viz.api.run\n", "")


def test_kernels_and_passes_are_those_of_the_tree(run: uopviz.Run) -> None:
    rows = run.store.tree()["rows"]
    kernels = [row for row in rows if row["label"] == "kernel"]
    assert [(k.number, k.name, k.step_count) for k in run.kernels] == [
        (row["id"], row["name"], row["steps"]) for row in kernels
    ]
    passes = [row["id"] for row in rows if row["kind"] == "rewrite"]
    assert [one.number for one in run.passes] == passes
    assert [one.name for one in run.kernel("kernel_1").passes] == ["simplify"]
    assert run.kernel("kernel_1").rewrite("simp").number == passes[-1]
    assert run.kernel("kernel_0").text("llvm").text == "define\nret\n"
    with pytest.raises(TraceError, match="no text 'ptx'"):
        run.kernel("kernel_0").text("ptx")
    with pytest.raises(TraceError, match="no kernel 'no'"):
        run.kernel("no")


def test_matches_are_those_of_sql(run: uopviz.Run) -> None:
    sql = "SELECT rewrite, step, rule, before, after, us FROM matches ORDER BY 1, 2"
    rows = run.query(sql).rows
    made = run.matches()
    assert [tuple(row) for row in made._rows.tolist()] == rows
    assert len(made) == run.facts["totals"]["steps"]
    counts = Counter(step.rule.name for step in made)
    assert counts == {rule.name: rule.matches for rule in run.rules if rule.matches}
    for rule in run.rules:
        found = run.matches(rule=rule.name)
        assert len(found) == rule.matches
        assert {step.rule.name for step in found} <= {rule.name}
    first, second = (run.matches(kernel=f"kernel_{i}") for i in range(2))
    assert len(first) + len(second) + run.passes[0].step_count == len(made)
    assert [step.number for step in first[1:3]] == [2, 3]


def test_a_step_has_the_graphs_of_the_page(run: uopviz.Run) -> None:
    one = run.rewrite("tidy")
    bundle = run.store.bundle(one.number)
    assert bundle is not None
    for step in one.steps:
        texts = step_text(bundle, step.number)
        assert texts == {"before": step.before.text, "after": step.after.text}
        assert step.data["before"] == step.before.text
        bound = step.bindings
        assert [f"u{bound[b['name']].number}" for b in step.data["bindings"]] == [
            f"u{b['number']}" for b in step.data["bindings"]
        ]
    assert one.before.text == one.step(1).before.text
    assert one.after.text == one.steps[-1].after.text
    with pytest.raises(TraceError, match="no step 0"):
        one.step(0)


def test_graphs_as_networkx_are_the_recorded_ones(tmp_path: Path) -> None:
    sink = random_graph(3)
    with viz.record(tmp_path / "run.viz"):
        result = graph_rewrite(sink, rules, name="tidy")
    with uopviz.open(tmp_path / "run.viz") as run:
        one = run.rewrite("tidy")
        for graph, root in ((one.before, sink), (one.after, result)):
            made, nodes = graph.to_networkx(), root.toposort()
            assert Counter(nx.get_node_attributes(made, "op").values()) == Counter(
                node.op.name for node in nodes
            )
            assert made.number_of_edges() == sum(len(node.src) for node in nodes)
            assert nx.is_directed_acyclic_graph(made)
            assert graph.root.op == "SINK"
            assert [s.op for s in graph.root.sources] == [s.op.name for s in root.src]


def test_the_history_of_a_node_is_that_of_the_page(run: uopviz.Run) -> None:
    step = run.matches(rule="subtract")[0]
    rows = node_history(run.store, step.replacement.number, step.rewrite.number, 60)
    assert rows is not None
    events = step.replacement.history()
    assert [(e.kind, e.rewrite, e.step, e.node) for e in events] == [
        (r["kind"], r["rewrite"], r["step"], r["node"]) for r in rows["rows"]
    ]
    here = [e for e in events if e.node == step.replacement.number]
    assert {e.rule for e in here} >= {"subtract"}


def recorded(path: Path, kernels: int) -> Path:
    with viz.record(path):
        for i in range(kernels):
            with context(f"kernel_{i}", "kernel"):
                graph_rewrite(random_graph(10 + i), rules, name="simplify")
    return path


def test_a_difference_names_what_was_changed(tmp_path: Path) -> None:
    both, one = recorded(tmp_path / "both.viz", 2), recorded(tmp_path / "one.viz", 1)
    assert uopviz.diff(both, both).equal
    found = uopviz.diff(both, one)
    states = {(pair.a, pair.b): pair.state for pair in found.kernels}
    assert states == {("kernel_0", "kernel_0"): "equal", ("kernel_1", None): "removed"}
    assert not found.equal
    assert found.totals["kernels"] == (2, 1)
    assert found.failed("removed-kernels") and not found.failed("added-kernels")
    with uopviz.open(both) as run, pytest.raises(TraceError, match="one run"):
        uopviz.diff(run, run)


def test_tables_are_arrow_streams(run: uopviz.Run) -> None:
    arrow: Any = import_module("pyarrow")
    kernels = arrow.table(run.kernels)
    assert kernels.column("name").to_pylist() == [k.name for k in run.kernels]
    matches = arrow.table(run.matches())
    assert matches.num_rows == len(run.matches())
    assert matches.column("rule").to_pylist() == [s.rule.name for s in run.matches()]
    assert arrow.table(run.query("SELECT 1 AS a, 'x' AS b")).to_pylist() == [{"a": 1, "b": "x"}]
    assert arrow.table(run.query("SELECT id FROM rules WHERE 0")).num_rows == 0
    with pytest.raises(TraceError, match="one name"):
        arrow.table(run.query("SELECT 1, 1"))


def test_a_table_without_pyarrow_says_what_to_install(
    run: uopviz.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(TraceError, match="pyarrow") as raised:
        run.kernels.__arrow_c_stream__()
    assert "pip install" in raised.value.hint


def test_a_file_that_is_no_trace_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "no.viz").write_text("no trace")
    with pytest.raises(TraceError):
        uopviz.open(tmp_path / "no.viz")
    with pytest.raises(TraceError, match="no such trace"):
        uopviz.open("never recorded")
