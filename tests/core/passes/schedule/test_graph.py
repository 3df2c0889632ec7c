"""The kernel graph as networkx and as DOT text."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from core.helpers import Context
from core.passes.schedule import create_schedule
from core.passes.schedule.graph import kernel_graph, to_dot
from core.uop import Ops, UOp
from tests.core.passes.schedule.evaluate import Graphs


def test_kernel_graph_leads_from_inputs_to_outputs() -> None:
    x = Graphs().buffer(4, 6)
    items, realized = create_schedule(UOp.sink(x.r(Ops.ADD, (1,)).expand((4, 6)) + x))
    graph = kernel_graph(items)
    out = items[-1].bufs[0]
    assert nx.is_directed_acyclic_graph(graph)
    assert next(iter(nx.topological_sort(graph))) is x.base
    assert nx.descendants(graph, x.base) == {0, 1, items[0].bufs[0], out}
    assert realized[next(iter(realized))].base is out


def test_dot_names_every_node() -> None:
    x = Graphs().buffer(4)
    items, _ = create_schedule(UOp.sink(x * x))
    small, large = to_dot(kernel_graph(items)), to_dot(kernel_graph(items, asts=True))
    assert small.startswith("digraph schedule")
    assert "SINK 0" in small
    assert "MUL" not in small
    assert "MUL" in large


def test_items_name_their_devices() -> None:
    x = Graphs().buffer(4)
    items, _ = create_schedule(UOp.sink((x + x).copy_to_device("CPU:1") * 2))
    labels = [label for _, label in kernel_graph(items).nodes(data="label")]
    assert [label for label in labels if not label.startswith("int")] == [
        "SINK 0\nCPU",
        "COPY 1\nCPU:1 from CPU",
        "SINK 2\nCPU:1",
    ]


def test_flag_writes_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    x = Graphs().buffer(4)
    with Context(GRAPH=2):
        create_schedule(UOp.sink(x * x))
    (written,) = tmp_path.glob("schedule-*.dot")
    assert "MUL" in written.read_text(encoding="utf-8")
    assert "PERMUTE" not in written.read_text(encoding="utf-8")
    written.unlink()
    with Context(GRAPH=3):
        create_schedule(UOp.sink((x * x).reshape((2, 2)).permute((1, 0)) + 1))
    (written,) = tmp_path.glob("schedule-*.dot")
    assert "PERMUTE\n(2, 2)" in written.read_text(encoding="utf-8")
