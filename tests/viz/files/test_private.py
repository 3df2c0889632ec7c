"""What is kept in the user's cache is the user's own: nothing of others is read there, and nothing
is kept where others could put something."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core import private
from core.errors import FolderError
from core.helpers import notice
from core.private import cache_root, is_own, kept_folder, make_private, read_own
from core.runtime.disk.download import fetch
from core.toolchain.diskcache import DiskCache
from viz.environment import bytecode_folder
from viz.vouching import vouch
from viz.work.peakcache import keep_peak, known_peaks

pytestmark = pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
STRANGER = 12345
PEAK = {"device": "CPU", "processor": "x", "flops": 1.0, "bytes": 1.0, "measured": "now"}


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    notice.cache_clear()
    return tmp_path / "cache"


def planted(folder: Path) -> dict[Path, bytes]:
    """All files below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def shared(base: Path) -> None:
    base.mkdir(mode=0o777)
    base.chmod(0o777)


def open_to_others(base: Path) -> None:
    (base / "uopviz").mkdir(parents=True)
    (base / "uopviz").chmod(0o777)


def link(base: Path) -> None:
    base.mkdir()
    (base.parent / "elsewhere").mkdir()
    (base / "uopviz").symlink_to(base.parent / "elsewhere")


def file(base: Path) -> None:
    base.mkdir()
    (base / "uopviz").write_text("no folder")


def of_a_stranger(base: Path) -> None:
    (base / "uopviz").mkdir(parents=True)
    os.chown(base / "uopviz", STRANGER, STRANGER)


def under_a_stranger(base: Path) -> None:
    base.mkdir()
    os.chown(base, STRANGER, STRANGER)


def linked_through_a_stranger(base: Path) -> None:
    (base.parent / "theirs" / "mine").mkdir(parents=True)
    os.chown(base.parent / "theirs", STRANGER, STRANGER)
    base.symlink_to(base.parent / "theirs" / "mine")


def circle(base: Path) -> None:
    base.symlink_to(base.with_name("back"))
    base.with_name("back").symlink_to(base)


WRONG: list[Callable[[Path], None]] = [shared, open_to_others, link, file, circle]
if hasattr(os, "getuid") and os.getuid() == 0:  # only root gives files away
    WRONG.extend([of_a_stranger, under_a_stranger, linked_through_a_stranger])


@pytest.mark.parametrize("wrong", WRONG, ids=[wrong.__name__ for wrong in WRONG])
def test_nothing_is_kept_where_others_could_put_something(
    base: Path,
    wrong: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    wrong(base)
    before = planted(base.parent)
    made: list[int] = []

    def make() -> bytes:
        made.append(1)
        return b"code"

    for kind in ("cubin", "search"):
        for _ in range(2):
            assert DiskCache(kind, 1 << 20).get(("a",), make) == b"code"
    assert len(made) == 4
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    bytecode_folder.cache_clear()
    assert bytecode_folder() is None
    bytecode_folder.cache_clear()
    source = base.parent / "source"
    source.write_bytes(b"data")
    found = fetch(source.as_uri())
    assert found.read_bytes() == b"data"
    assert not found.resolve().is_relative_to(base.parent)
    assert stat.S_IMODE(found.parent.stat().st_mode) == 0o700
    assert vouch("x.py", "1") == ""
    keep_peak(PEAK)
    assert known_peaks() == []
    with pytest.raises((FolderError, OSError)):
        make_private(cache_root())
    source.unlink()
    assert planted(base.parent) == before
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith("uopviz: nothing is kept in your cache: ")
    assert "XDG_CACHE_HOME" in said[0]


def test_files_of_others_are_not_read(base: Path) -> None:
    """Where they were planted before the folder was made safe."""
    kept, source = DiskCache("cubin", 1 << 20), base.parent / "source"
    source.write_bytes(b"data")
    kept.get(("a",), lambda: b"code")
    fetched = fetch(source.as_uri())
    assert kept.get(("a",), lambda: b"other") == b"code"
    assert fetched.is_relative_to(base)
    for path in planted(base):
        moved = base.parent / path.name
        path.rename(moved)
        path.symlink_to(moved)
        assert not is_own(path)
        with pytest.raises(OSError, match="symbolic link"):
            read_own(path)
    assert kept.get(("a",), lambda: b"other") == b"other"
    source.write_bytes(b"new data")
    assert fetch(source.as_uri()).read_bytes() == b"new data"
    fetched.chmod(0o666)
    assert read_own(fetched) is None
    if os.getuid() == 0:
        os.chown(fetched, STRANGER, STRANGER)
        fetched.chmod(0o600)
        assert read_own(fetched) is None
        source.write_bytes(b"newer data")
        assert fetch(source.as_uri()).read_bytes() == b"newer data"


def test_folders_are_made_for_their_owner(base: Path) -> None:
    (base.parent / "disk").mkdir()
    base.symlink_to("disk/../disk")  # the user's own link, to where there is room
    folder = base / "uopviz" / "cubin"
    assert kept_folder("cubin") == folder
    for made in (folder, folder.parent):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
        made.chmod(0o755)
    assert kept_folder("cubin") == folder
    assert {stat.S_IMODE(made.stat().st_mode) for made in (folder, folder.parent)} == {0o700}


def test_the_group_of_the_user_alone_is_nobody_else(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base.mkdir()
    base.chmod(0o775)
    own = os.getgid()

    def is_own_group(number: int) -> bool:
        return number == own

    monkeypatch.setattr(private, "_is_own_group", is_own_group)
    assert kept_folder("cubin") is not None
    own = -1
    assert kept_folder("cubin") is None


def test_where_there_is_no_home(
    base: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "")
    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert DiskCache("cubin", 1 << 20).get(("a",), lambda: b"code") == b"code"
    assert "HOME is not set" in capsys.readouterr().err


@pytest.mark.parametrize("closed", [None, "closed"])
def test_who_cannot_be_told_is_not_stopped(
    base: Path, closed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared(base)
    if closed:
        with Path(os.devnull).open("w") as stream:
            monkeypatch.setattr(sys, "stderr", stream)
    else:
        monkeypatch.setattr(sys, "stderr", None)
    assert kept_folder("cubin") is None
