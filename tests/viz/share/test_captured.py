"""Copies of a run whose trace holds captured values: they are left out unless asked for."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest

import viz
from core.tensor import Tensor
from viz.cli import main
from viz.share.copy import write_trace
from viz.share.html import export_html
from viz.share.reopened import open_run
from viz.share.sql import run_query
from viz.views.store import Store

LEFT_OUT = "captured values of 2 kernels; uopviz export --values keeps them"
SECRET = np.frombuffer(b"my secret values", np.float32)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace with the values of two kernels."""
    path = tmp_path_factory.mktemp("captured") / "run.viz"
    secret = Tensor(SECRET).realize()
    with viz.record(path, capture="*"):
        (secret * 2).realize()
        secret.sum().realize()
    return path


def holds(path: Path) -> int:
    """How often a file has the values."""
    return path.read_bytes().count(zlib.compress(SECRET.tobytes(), 1))


def test_the_run_holds_them(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert holds(run) == 2
    said = "values: it holds what 2 kernels read in the run, 32 bytes"
    for command in ("show", "stats"):
        assert main([command, str(run)]) == 0
        assert said in capsys.readouterr().out
    store = Store(run)
    columns, rows = run_query(store.files, "select * from captured order by ast")
    assert columns == [
        "ast",
        "name",
        "device",
        "launch",
        "argument",
        "dtype",
        "size",
        "bytes",
        "why",
    ]
    assert [row[2:] for row in rows] == [("CPU", 1, 1, "float32", 4, 16, "")] * 2
    store.close()


def test_a_copy_leaves_them_out_and_says_so(run: Path, tmp_path: Path) -> None:
    store = Store(run)
    path = tmp_path / "copy.viz"
    assert write_trace(store, path) == [LEFT_OUT]
    assert holds(path) == 0
    copy = Store(path)
    assert [problem["what"] for problem in copy.run()["problems"]] == [LEFT_OUT]
    assert [copy.captured(kernel) for kernel in copy.kernels()] == [None, None]
    assert copy.run()["captured"] == {"kernels": 0, "steps": 0, "leftOut": 0, "bytes": 0}
    copy.close()
    store.close()


def test_a_copy_with_them(run: Path, tmp_path: Path) -> None:
    store = Store(run)
    path, part = tmp_path / "copy.viz", tmp_path / "part.viz"
    assert write_trace(store, path, values=True) == []
    copy = Store(path)
    same = [copy.captured(k) == store.captured(k) is not None for k in store.kernels()]
    assert same == [True, True]
    copy.close()
    first, _ = store.kernels()
    write_trace(store, part, kernels=[first], values=True)
    assert holds(part) == 1
    write_trace(store, path, values=True, redact=True)
    assert holds(path) == 0
    store.close()


@pytest.mark.parametrize("values", [False, True])
def test_an_exported_file(run: Path, tmp_path: Path, dist: Path, values: bool) -> None:
    store = Store(run)
    made = export_html(store, values=values)
    file = tmp_path / "run.html"
    file.write_text(made.html)
    opened = open_run(file)
    assert made.unwanted == ([] if values else [LEFT_OUT])
    assert isinstance(opened, Store)
    held = [opened.captured(kernel) for kernel in opened.kernels()]
    assert held == ([store.captured(k) for k in store.kernels()] if values else [None, None])
    opened.close()
    store.close()


def test_the_command(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.viz"
    assert main(["export", str(run), "-o", str(out)]) == 0
    assert f"left out: {LEFT_OUT}" in capsys.readouterr().out
    assert holds(out) == 0
    assert main(["export", str(run), "-o", str(out), "--values"]) == 0
    assert "left out" not in capsys.readouterr().out
    assert holds(out) == 2
    with pytest.raises(SystemExit):
        main(["export", str(run), "-o", str(out), "--values", "--redact"])
    assert "give one of --values and --redact" in capsys.readouterr().err
