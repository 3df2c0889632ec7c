"""Traces and exported files that earlier versions wrote, of a product of two matrices and a relu:
before traces said their dialect, in each version of both formats that there was until then.

Written by those versions themselves, not by tests that imitate them; see `tests/viz/share/older/`.
"""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import pytest

from viz.share.copy import write_trace
from viz.share.html import export_html
from viz.share.reopened import open_run
from viz.views.answers import BUNDLE, KERNEL, RULE_TOTALS, SEARCH
from viz.views.runs.run import Run
from viz.views.store import Store

OLDER = Path(__file__).parent / "older"
TRACES = (1, 2, 3)
EXPORTS = (1, 2, 3, 4)


def unpacked(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(lzma.decompress((OLDER / f"{name}.xz").read_bytes()))
    return path


def kernel_of(run: Run) -> dict[str, Any]:
    """The only kernel of the run that multiplies."""
    found = [run.ask(KERNEL, r["id"]) for r in run.tree()["rows"] if r["label"] == "kernel"]
    (kernel,) = [one for one in found if "fmul" in one["artifacts"][0]["text"]]
    return kernel


def check_is_shown(run: Run) -> None:
    """As the run was, in the words of its compiler."""
    said = run.run()
    assert said["dialect"]["name"] == "uopviz" and said["dialect"]["ops"]["MUL"]["commutes"] is True
    assert not any("dialect" in problem["what"] for problem in said["problems"])
    steps = 0
    for row in run.tree()["rows"]:
        if row["kind"] == "rewrite" and row["steps"]:
            bundle = run.ask(BUNDLE, row["id"])
            assert len(bundle["steps"]) == row["steps"]
            steps += row["steps"]
            assert all(len(bundle["nodes"][n]) == len(bundle["nodes"]["id"]) for n in ("op", "arg"))
    assert steps > 50 and sum(r["matches"] for r in run.ask(RULE_TOTALS)["rows"]) >= steps
    kernel = kernel_of(run)
    assert kernel["name"].startswith("r_") and any(kernel["artifacts"][0]["lines"])
    assert any("demo.py" in call for call in kernel["tensorCalls"]), kernel["tensorCalls"]
    nodes = run.ask(SEARCH, "MUL(x, y)")
    assert nodes["total"] > 0 if run.compiles else "holds no trace" in nodes["problem"]["what"]
    assert run.ask(SEARCH, kernel["name"])["total"] > 0
    run.close()


@pytest.mark.parametrize("version", TRACES)
def test_a_trace_of_before_dialects(tmp_path: Path, dist: Path, version: int) -> None:
    store = Store(unpacked(tmp_path, f"trace{version}.viz"))
    assert store.run()["format"]["trace"] == version
    assert store.compiles and len(store.kernels()) >= 1, "its kernels can be compiled"
    assert store.kernel_graph(store.kernels()[0]) is not None
    write_trace(store, tmp_path / "copy.viz")
    (tmp_path / "now.html").write_text(export_html(store).html)
    check_is_shown(store)
    check_is_shown(Store(tmp_path / "copy.viz"))
    check_is_shown(open_run(tmp_path / "now.html"))


@pytest.mark.parametrize("version", EXPORTS)
def test_an_exported_file_of_before_dialects(tmp_path: Path, version: int) -> None:
    run = open_run(unpacked(tmp_path, f"export{version}.html"))
    assert run.run()["format"]["export"] == version
    assert isinstance(run, Store) == (version > 1), "version 1 held answers and no trace"
    check_is_shown(run)
