"""Compiled code on disk: found again, made again where it is damaged, never taken from others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.toolchain.diskcache import DiskCache, Taken, keep_nothing


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    return tmp_path / "uopviz" / "code"


class Maker:
    def __init__(self, code: bytes = b"code") -> None:
        self.code, self.calls = code, 0

    def __call__(self) -> bytes:
        self.calls += 1
        return self.code


def test_is_made_once(folder: Path) -> None:
    make = Maker()
    assert [DiskCache("code", 99).get(("a", "b"), make) for _ in range(2)] == [b"code"] * 2
    assert make.calls == 1


@pytest.mark.parametrize("other", [("ab", ""), ("a",), ("a", "b", ""), ("b", "a")])
def test_other_texts_are_other_code(folder: Path, other: tuple[str, ...]) -> None:
    kept = DiskCache("code", 999)
    kept.get(("a", "b"), Maker(b"one"))
    assert kept.get(other, Maker(b"two")) == b"two"


@pytest.mark.parametrize("damage", [b"", b"x", bytes(40)])
def test_damaged_code_is_made_again(folder: Path, damage: bytes) -> None:
    kept, make = DiskCache("code", 99), Maker()
    kept.get(("a",), make)
    (file,) = folder.iterdir()
    file.write_bytes(damage)
    assert kept.get(("a",), make) == b"code"
    assert make.calls == 2


def test_the_longest_unused_goes_first(folder: Path) -> None:
    kept = DiskCache("code", 100)  # two of 36 bytes
    for number, name in enumerate("abc"):
        kept.get((name,), Maker())
        for file in folder.iterdir():
            if file.stat().st_mtime > 1000:
                os.utime(file, (number, number))
    first = Maker()
    kept.get(("a",), first)
    last = Maker()
    kept.get(("c",), last)
    assert (first.calls, last.calls) == (1, 0)


def test_what_making_raises_is_not_kept(folder: Path) -> None:
    def fails() -> bytes:
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        DiskCache("code", 99).get(("a",), fails)
    assert DiskCache("code", 99).get(("a",), Maker()) == b"code"


def test_what_is_taken_is_told(folder: Path) -> None:
    kept = DiskCache("code", 999)
    kept.get(("a",), Maker())
    assert kept.taken() == Taken(folder, 1, 36, 999)


def test_files_are_counted_now_and_then_and_the_size_is_bounded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, counted = DiskCache("code", 132 * 100), 0
    trim = DiskCache._trim

    def counting(self: DiskCache, folder: Path) -> None:
        nonlocal counted
        counted += 1
        trim(self, folder)

    monkeypatch.setattr(DiskCache, "_trim", counting)
    for number in range(400):
        kept.keep([((str(number),), bytes(100))])
    taken = kept.taken()
    assert taken is not None and taken.nbytes < 1.2 * taken.most
    assert counted < 300


def test_a_process_that_keeps_nothing_still_finds(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = DiskCache("code", 999)
    kept.get(("a",), Maker())
    monkeypatch.setattr("core.toolchain.diskcache._Keeping.allowed", True)
    keep_nothing()
    assert kept.get(("b",), Maker()) == b"code"
    taken = kept.taken()
    assert taken is not None and taken.files == 1
    found = Maker()
    assert kept.get(("a",), found) == b"code"
    assert found.calls == 0
