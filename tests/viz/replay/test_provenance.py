"""Where the nodes of a kernel come from, as read from a trace."""

from __future__ import annotations

from pathlib import Path

from viz.views.store import Store
from viz.write.writer import TraceWriter


def test_events_of_nodes_that_do_not_exist_tell_nothing(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.viz", {}) as t:
        leaf = t.node("CONST", arg="1")
        ast, other = t.node("ADD", src=(leaf,)), t.node("ADD", src=(leaf,), arg="2")
        rule = t.rule("any")
        kernel = t.context_begin("kernel", "kernel")
        step = t.rewrite_begin("pass", ast, context=kernel)
        t.rebuild(step, ast, 1_000_000)
        t.match(step, rule, ast, 1_000_001, {}, ns=1)
        t.rewrite_end(step, ast)
        t.kernel(kernel, "kernel", ast=ast)
        t.artifact(kernel, "c", "cpu", "x\n", lines=[[other]])
        t.context_end(kernel)
    store = Store(tmp_path / "t.viz")
    data = store.kernel(kernel)
    store.close()
    assert data is not None
    assert data["artifacts"][0]["error"] is None
    assert data["artifacts"][0]["origins"] == [[ast]]
