"""Rows of the navigator: what a compiler calls its contexts."""

from __future__ import annotations

from pathlib import Path

from viz.views.store import Store
from viz.write.writer import TraceWriter


def test_a_context_has_the_name_of_its_kind(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "a.viz", {}) as t:
        for kind in ("kernel", "pipeline"):
            t.context_end(t.context_begin(f"a {kind}", kind))
    store = Store(tmp_path / "a.viz")
    rows = store.tree()["rows"]
    assert [(row["label"], row["what"]) for row in rows] == [("kernel", ""), ("group", "pipeline")]
    store.close()
