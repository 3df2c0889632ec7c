"""`uopviz import --sources`: lines of the program that a dump names, from a folder, and from
nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.cli import main
from viz.views.store import Store

LOG = """\
// -----// IR Dump Before canonicalize //----- //
module {
  %0 = "t.a"() : () -> i32 loc("/build/app/model.py":2:1)
  "t.use"(%0) : (i32) -> () loc("/build/app/other.py":1:1)
}
// -----// IR Dump After canonicalize //----- //
module {
  %0 = "t.a"() : () -> i32 loc("/build/app/model.py":2:1)
  "t.use"(%0, %0) : (i32, i32) -> () loc("/etc/../passwd":1:1)
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    program = tmp_path / "here" / "app"
    program.mkdir(parents=True)
    (program / "model.py").write_text("x = 1\ny = x + 1\n")
    (tmp_path / "passwd").write_text("secret\n")
    (program.parent / "passwd").symlink_to(tmp_path / "passwd")
    (tmp_path / "a.log").write_text(LOG)
    return tmp_path


def test_lines_are_those_of_the_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["import", str(folder / "a.log"), "--sources", str(folder / "here")]
    assert main([*given, "-o", str(folder / "a.viz")]) == 0
    assert "of 3 files of the program that are named, 1 found" in capsys.readouterr().err
    store = Store(folder / "a.viz")
    (file,) = [one for one in store.user_lines() if one["parts"]]
    assert file["file"].endswith("model.py")
    assert file["parts"] == [{"first": 1, "lines": ["x = 1", "y = x + 1"]}]
    assert "secret" not in str(store.user_lines())
    store.close()


def test_without_a_folder_no_file_is_opened(folder: Path) -> None:
    assert main(["import", str(folder / "a.log"), "-o", str(folder / "a.viz")]) == 0
    store = Store(folder / "a.viz")
    assert store.user_lines() == []
    store.close()


def test_what_is_no_folder_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["import", str(folder / "a.log"), "-o", str(folder / "a.viz")]
    assert main([*given, "--sources", str(folder / "nowhere")]) == 2
    assert "this is no folder" in capsys.readouterr().err


def test_a_dump_without_times_shows_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(folder / "a.viz")
    assert main(["import", str(folder / "a.log"), "-o", path]) == 0
    capsys.readouterr()
    assert main(["show", path, "--tree"]) == 0
    assert main(["show", path, "2"]) == 0
    assert "0 us" not in capsys.readouterr().out
