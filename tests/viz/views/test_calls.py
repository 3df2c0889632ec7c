"""The user's calls behind nodes and kernels: recorded, shown, searched, asked for."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import viz
from core import Tensor
from viz.cli import main
from viz.read.records import Context
from viz.share.reopened import open_run
from viz.views.nodes.history import node_history
from viz.views.store import Store
from viz.views.tree import calls_of


def record(path: Path) -> None:
    a, b = Tensor.rand(113, 71).realize(), Tensor.rand(71, 59).realize()
    with viz.record(path):
        (a @ b).softmax(1).realize()


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recorded by a process of its own: equal nodes are one, and one that another test keeps alive
    (a constant of its softmax) has the line of that test."""
    path = tmp_path_factory.mktemp("calls") / "t.viz"
    code = "import sys; from pathlib import Path; from tests.viz.views.test_calls import record; "
    code += "record(Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    return path


@pytest.fixture(scope="module")
def store(trace: Path) -> Iterator[Store]:
    made = Store(trace)
    yield made
    made.close()


def rows(store: Any) -> list[dict[str, Any]]:
    return [row for row in store.tree()["rows"] if row["label"] == "kernel"]


def test_rows_of_kernels_name_their_calls(store: Store) -> None:
    calls = [row["calls"] for row in rows(store)]
    assert calls[0] == "matmul"
    assert set(calls) == {"matmul", "softmax"}
    assert all(not row["calls"] for row in store.tree()["rows"] if row["label"] != "kernel")


def test_a_kernel_says_the_line_and_the_call(store: Store) -> None:
    kernel = store.kernel(rows(store)[0]["id"])
    assert kernel is not None
    (call,) = kernel["tensorCalls"]
    assert call.startswith("tests/viz/views/test_calls.py:")
    assert call.endswith(" matmul")


def test_search_finds_kernels_and_passes_by_call(store: Store) -> None:
    found = store.search("SoftMax")["hits"]
    tree = store.tree()["rows"]
    labels = {tree[hit["row"]]["label"] for hit in found}
    assert {hit["kind"] for hit in found} == {"call"}
    assert labels == {"kernel", "pass"}
    kernels = [hit["text"] for hit in found if tree[hit["row"]]["label"] == "kernel"]
    assert kernels == [f"{r['name']}: softmax" for r in rows(store) if r["calls"] == "softmax"]
    passes = [hit for hit in found if tree[hit["row"]]["label"] == "pass"]
    assert all(
        hit["text"].startswith("softmax at tests/viz/views/test_calls.py:") for hit in passes
    )


def test_a_file_is_still_found_as_a_file(store: Store) -> None:
    found = [h for h in store.search("test_calls.py")["hits"] if "softmax" in h["text"]]
    assert {hit["kind"] for hit in found} == {"file"}


def test_bundles_and_histories_have_line_and_call(store: Store) -> None:
    kernelize = next(row for row in store.tree()["rows"] if row["name"] == "views")
    bundle = store.bundle(kernelize["id"])
    assert bundle is not None
    assert any(o.endswith(" softmax") and "/test_calls.py:" in o for o in bundle["origins"])
    node = next(
        n
        for n, op in zip(bundle["nodes"]["id"], bundle["nodes"]["op"], strict=True)
        if bundle["ops"][op] == "EXP2"
    )
    history = node_history(store, node, kernelize["id"], 60)
    assert history is not None
    assert history["rows"][0]["line"].endswith(" softmax")


def test_the_command_line_shows_and_finds_calls(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(trace)]) == 0
    assert "  matmul\n" in capsys.readouterr().out
    assert main(["query", str(trace), "SELECT DISTINCT calls FROM contexts ORDER BY 1"]) == 0
    assert capsys.readouterr().out.split() == ["calls", "matmul", "softmax"]
    sql = "SELECT count(*) > 0 FROM nodes WHERE origin LIKE '%test_calls.py:% softmax'"
    assert main(["query", str(trace), sql]) == 0
    assert capsys.readouterr().out.split()[-1] == "1"


def test_an_exported_file_has_calls(trace: Path, tmp_path: Path) -> None:
    file = tmp_path / "t.html"
    assert main(["export", str(trace), "-o", str(file)]) == 0
    with closing(open_run(file)) as exported:
        assert next(row["calls"] for row in rows(exported)) == "matmul"
        assert "call" in {hit["kind"] for hit in exported.search("matmul")["hits"]}


def test_a_redacted_file_keeps_calls_and_hides_folders(trace: Path, tmp_path: Path) -> None:
    file = tmp_path / "t.html"
    assert main(["export", str(trace), "--redact", "-o", str(file)]) == 0
    with closing(open_run(file)) as exported:
        views = next(row for row in exported.tree()["rows"] if row["name"] == "views")
        bundle = exported.bundle(views["id"])
    assert bundle is not None
    origins = [line for lines in bundle["origins"] for line in lines.split("\n")]
    assert any(re.fullmatch(r"test_calls\.py:\d+ softmax", origin) for origin in origins)
    assert all(re.fullmatch(r"test_calls\.py:\d+( [\w.]+)?", origin) for origin in origins)


@pytest.mark.parametrize(
    ("recorded", "names"),
    [
        (None, None),
        ("a.py:1 relu", None),
        ([], ""),
        ([3, None, {"a": 1}, "a.py:1", "a.py:1 relu", "b.py:2 relu", "b.py:2 sum"], "relu, sum"),
        (["a.py:1 " + "x" * 10_000] * 3, "x" * 200),
    ],
)
def test_calls_of_a_damaged_trace(recorded: object, names: str | None) -> None:
    context = Context(1, 0, "k", "kernel", {"metadata": recorded}, 0, 0, None, None)
    assert calls_of(context) == names
