"""Folders of traces: which belong together, several processes, and what stops or dies."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.viz.compare.made import RULES, program, record
from tests.viz.test_cli import run
from viz.command.diffs import diffolders
from viz.compare.folders import compare_files, pair_traces, traces_of

ROOT = Path(__file__).parents[3]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Three equal pairs, and one that differs."""
    made = record(program(1, kernels=2), tmp_path / "made.viz").path
    other = record(replace(program(1, kernels=2), rules=RULES[1:]), tmp_path / "other.viz").path
    a, b = tmp_path / "A", tmp_path / "B"
    for folder in (a, b):
        (folder / "inner").mkdir(parents=True)
        for name in ("one.viz", "two.viz", "inner/one.viz"):
            shutil.copy(made, folder / name)
    shutil.copy(made, a / "changed.viz")
    shutil.copy(other, b / "changed.viz")
    return a, b


def test_each_pair_is_compared(folders: tuple[Path, Path], capsys: Capture) -> None:
    code, out, err = run(capsys, "diff", *folders, "--jobs", "2")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0] == "4 pairs of traces: 1 differs, 3 equal"
    assert [line.split()[:2] for line in lines[2:]] == [["differs", "changed.viz"]]
    shutil.copy(folders[0] / "changed.viz", folders[1] / "changed.viz")
    assert run(capsys, "diff", *folders)[0] == 0


def test_conditions_and_traces_of_one_side(folders: tuple[Path, Path], capsys: Capture) -> None:
    a, b = folders
    code, out, _ = run(capsys, "diff", a, b, "--json", "--fail-on", "gone-rules", "--jobs", "1")
    data = json.loads(out)
    assert code == 1
    assert {p["name"]: p["failed"] for p in data["pairs"] if p["failed"]} == {
        "changed.viz": ["gone-rules: add_zero"]
    }
    assert run(capsys, "diff", a, b, "--fail-on", "errors")[0] == 0
    (b / "changed.viz").rename(b / "new.viz")
    code, out, _ = run(capsys, "diff", a, b)
    assert code == 1
    assert "1 only in A, 1 only in B" in out


def test_what_cannot_be_read_is_one_line(folders: tuple[Path, Path], capsys: Capture) -> None:
    a, b = folders
    (b / "two.viz").write_text("no trace")
    code, out, _ = run(capsys, "diff", a, b, "--json", "--fail-on", "errors")
    data = json.loads(out)
    assert code == 2
    assert [p["name"] for p in data["pairs"] if p["error"]] == ["two.viz"]
    assert (data["compared"], data["of"]) == (4, 4)


def test_traces_belong_together_by_path_then_by_program(tmp_path: Path) -> None:
    a, b = tmp_path / "A", tmp_path / "B"
    for folder, names in (
        (a, ("net-20261122-023023-12374.viz", "net-20261122-033023-1.viz", "x.viz", "run.p7.viz")),
        (b, ("net-20261123-010203-7.viz", "x.viz", "deep/x.viz", "run.t0003.viz", "y.txt")),
    ):
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
    found = {
        (pair.a and pair.a.name, pair.b and str(pair.b.relative_to(b)))
        for pair in pair_traces(a, b)
    }
    assert found == {
        ("net-20261122-023023-12374.viz", "net-20261123-010203-7.viz"),
        ("net-20261122-033023-1.viz", None),
        (None, "deep/x.viz"),
        ("x.viz", "x.viz"),
    }
    assert [path.name for path in traces_of(a)] == [
        "net-20261122-023023-12374.viz",
        "net-20261122-033023-1.viz",
        "x.viz",
    ]


def test_a_folder_without_traces(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "A").mkdir()
    (tmp_path / "B").mkdir()
    code, out, err = run(capsys, "diff", tmp_path / "A", tmp_path / "B")
    assert (code, out) == (2, "")
    assert err.startswith("uopviz: there is no trace in this folder")


def test_what_was_compared_before_a_stop_is_said(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    whole = diffolders._compare_all

    def stopped(*arguments: Any) -> Iterator[dict[str, Any]]:
        made = whole(*arguments)
        yield next(made)
        yield next(made)
        made.close()
        raise KeyboardInterrupt

    monkeypatch.setattr(diffolders, "_compare_all", stopped)
    code, out, _ = run(capsys, "diff", *folders, "--jobs", "1")
    assert code == 130
    assert "2 pairs of traces" in out and "stopped: 2 pairs were not compared" in out


def test_ctrl_c_ends_every_process(folders: tuple[Path, Path]) -> None:
    a, b = folders
    for i in range(300):
        for folder in (a, b):
            os.link(folder / "one.viz", folder / f"more_{i}.viz")
    process = subprocess.Popen(
        [sys.executable, "-m", "viz", "diff", str(a), str(b), "--json", "--whole", "--jobs", "2"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(3)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    if process.returncode == 130:  # it was not done by then
        assert err == "uopviz: interrupted\n"
        if out:
            data = json.loads(out)
            assert len(data["pairs"]) == data["compared"] < data["of"] == 304
    else:
        assert process.returncode == 1 and json.loads(out)["compared"] == 304
    until = time.monotonic() + 20
    while _lives(process.pid):
        assert time.monotonic() < until, "a process of its group is left"
        time.sleep(0.1)


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def die_at_two(name: str, *arguments: Any) -> dict[str, Any]:
    if name == "two.viz":
        os._exit(9)
    return compare_files(name, *arguments)


def test_a_process_that_dies_takes_only_its_own_pair_with_it(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(diffolders, "compare_files", die_at_two)
    code, out, _ = run(capsys, "diff", *folders, "--json", "--jobs", "2")
    data = json.loads(out)
    assert code == 2
    assert data["compared"] == data["of"] == 4
    errors = {pair["name"]: pair["error"] for pair in data["pairs"]}
    assert "died" in errors.pop("two.viz")
    assert set(errors.values()) == {None}
