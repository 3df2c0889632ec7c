"""Which files a recording of this user vouches for, and who can make such a signature."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import pytest

from viz.vouching import KEY, is_vouched, vouch


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "uopviz"


def test_a_signature_is_of_one_file_in_one_state_by_one_user(folder: Path) -> None:
    proof = vouch("/a.py", "1")
    assert is_vouched("/a.py", "1", proof)
    assert vouch("/a.py", "1") == proof
    for other in (
        ("/b.py", "1", proof),
        ("/a.py", "2", proof),
        ("1\0/a.py", "", proof),
        ("/a.py", "1", ""),
        ("/a.py", "1", proof[:-1]),
        ("/a.py", "1", "ä\ud800"),
    ):
        assert not is_vouched(*other)
    (folder / KEY).unlink()
    assert not is_vouched("/a.py", "1", proof)
    assert not (folder / KEY).exists(), "reading makes no key"
    vouch("/a.py", "1")
    assert not is_vouched("/a.py", "1", proof)


def test_the_key_is_the_users_alone(folder: Path) -> None:
    proof = vouch("/a.py", "1")
    assert stat.S_IMODE((folder / KEY).stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [path.name for path in folder.iterdir()] == [KEY]
    (folder / KEY).chmod(0o640)
    assert not is_vouched("/a.py", "1", proof)
    assert vouch("/a.py", "1") == ""


def _short(path: Path) -> None:
    path.touch(0o600)
    path.write_bytes(b"x")


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [_short, _device, os.mkfifo, Path.mkdir])
def test_a_key_that_is_none(folder: Path, make: Callable[[Path], None]) -> None:
    folder.mkdir()
    make(folder / KEY)
    assert vouch("/a.py", "1") == ""
    assert not is_vouched("/a.py", "1", "0" * 32)


def test_without_a_folder_there_is_no_signature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert vouch("/a.py", "1") == ""


def _sign(name: str) -> str:
    return vouch(name, "1")


def test_processes_that_begin_at_once_have_one_key(folder: Path) -> None:
    with get_context("spawn").Pool(4) as pool:
        assert len(set(pool.map(_sign, ["/a.py"] * 8, chunksize=1))) == 1
