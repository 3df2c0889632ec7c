"""Whether a source file has changed: what is compared, and what is not even read."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from viz.files import sources
from viz.files.sources import file_state, lines_today, source_digest

LINES = ["a = 1\n", "b = 'ä'\n"]


def test_endings_of_lines_make_no_change(tmp_path: Path) -> None:
    for raw in ("a = 1\nb = 'ä'\n", "a = 1\r\nb = 'ä'\r\n", "a = 1\nb = 'ä'"):
        (tmp_path / "a.py").write_bytes(raw.encode())
        assert file_state(str(tmp_path / "a.py"), source_digest(LINES)) == "same"
    (tmp_path / "a.py").write_bytes(b"\xff\xfe")
    assert file_state(str(tmp_path / "a.py"), source_digest(LINES)) is None
    assert file_state("a.py", source_digest(LINES)) is None
    assert file_state(str(tmp_path / "a.py"), "") is None


def test_a_file_of_another_text_and_one_that_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.py"
    path.parent.mkdir()
    path.write_text("a = 2\n")
    assert file_state(str(path), source_digest(LINES)) == "changed"
    assert lines_today(path) == ["a = 2\n"]
    path.unlink()
    assert (file_state(str(path), source_digest(LINES)), lines_today(path)) == ("gone", [])
    path.parent.rmdir()
    path.parent.write_text("a file where a folder was")
    assert (file_state(str(path), source_digest(LINES)), lines_today(path)) == ("gone", [])
    path.parent.unlink()
    path.parent.mkdir()
    path.mkdir()
    assert (file_state(str(path), source_digest(LINES)), lines_today(path)) == (None, None)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _large(path: Path) -> None:
    path.write_bytes(b"#" * 101)


@pytest.mark.parametrize("make", [os.mkfifo, _socket, _device, Path.mkdir, _large])
def test_what_is_no_small_regular_file_is_not_read(
    make: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MAX_SOURCE", 100)
    monkeypatch.chdir(tmp_path)
    make(Path("a.py"))
    assert file_state(str(tmp_path / "a.py"), source_digest(LINES)) is None
