"""The lines of the user's program, as the page gets them."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from viz.files.sources import source_digest
from viz.format import schema
from viz.format.pack import pack_json
from viz.format.rows import BLOCKS, BlockRow
from viz.share.copy import write_trace
from viz.share.sql import run_query
from viz.views.store import Store
from viz.vouching import vouch
from viz.write.database import TraceDatabase
from viz.write.writer import TraceWriter

TEXT = "a = load()\nb = a.relu()\n\nc = b.sum()\n"


@pytest.fixture(autouse=True)
def _key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user with a key of their own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(TEXT)
    return path


@pytest.fixture
def path(tmp_path: Path, program: Path) -> Path:
    """A trace of a program whose lines 1, 2 and 4 became two kernels."""
    info: dict[str, Any] = {
        "cwd": str(tmp_path),
        "process": {"pid": 1, "start": 1, "host": socket.gethostname(), "main": True},
    }
    made = tmp_path / "t.viz"
    with TraceWriter(made, info) as t:
        kernels = [t.context_begin(f"kernel {i}", "kernel") for i in range(2)]
        a = t.node("LOAD", origin=f"{program}:1 load")
        b = t.node("RELU", src=(a,), origin=f"{program}:2 relu")
        c = t.node("SUM", src=(a,), origin=f"{program}:4 sum")
        for kernel, ast in zip(kernels, (b, c), strict=True):
            t.kernel(kernel, "k", ast=ast)
            t.context_end(kernel)
        digest = source_digest(TEXT.splitlines(keepends=True))
        proof = vouch(str(program), digest)
        for first, text in ((1, "a = load()\nb = a.relu()\n"), (4, "c = b.sum()\n")):
            t.user_lines(str(program), first, text, digest=digest, proof=proof)
    return made


def answer(path: Path) -> list[dict[str, Any]]:
    store = Store(path)
    try:
        return store.user_lines()
    finally:
        store.close()


def test_lines_and_what_they_became(path: Path) -> None:
    assert answer(path) == [
        {
            "file": "program.py",
            "cut": False,
            "parts": [
                {"first": 1, "lines": ["a = load()", "b = a.relu()"]},
                {"first": 4, "lines": ["c = b.sum()"]},
            ],
            "kernels": [
                {"line": 1, "kernels": [1, 2]},
                {"line": 2, "kernels": [1]},
                {"line": 4, "kernels": [2]},
            ],
        }
    ]


def test_copies_have_the_lines_and_redacted_ones_have_none(path: Path, tmp_path: Path) -> None:
    store = Store(path)
    write_trace(store, tmp_path / "copy.viz", kernels=[2])
    write_trace(store, tmp_path / "published.viz", published=True)
    write_trace(store, tmp_path / "redacted.viz", redact=True)
    store.close()
    whole = answer(path)[0]
    assert answer(tmp_path / "copy.viz")[0] == whole | {
        "kernels": [{"line": 1, "kernels": [2]}, {"line": 4, "kernels": [2]}]
    }
    assert answer(tmp_path / "published.viz")[0] == whole
    assert answer(tmp_path / "redacted.viz") == []
    for name in ("redacted.viz", "redacted.viz-wal"):
        if (tmp_path / name).exists():
            assert b"relu()" not in (tmp_path / name).read_bytes()


def test_as_a_table(path: Path, program: Path) -> None:
    store = Store(path)
    found = run_query(store.files, "SELECT file, line, text FROM user_lines ORDER BY line")[1]
    store.close()
    assert found == [
        (str(program), line, text)
        for line, text in ((1, "a = load()"), (2, "b = a.relu()"), (4, "c = b.sum()"))
    ]


def test_what_makes_no_sense_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    database = TraceDatabase(path, {})
    items = [
        *(7, None, [], {}, {"file": "a.py"}, {"file": "a.py", "first": -1, "text": "x"}),
        {"file": 5, "first": 1, "text": "x"},
        {"file": "a.py", "first": 1 << 40, "text": "x"},
        {"file": "a.py", "first": 2, "text": ["x"], "digest": 4, "cut": 1},
    ]
    rows = [
        BlockRow(1, schema.USER_LINES, 0, 1, pack_json(items)),
        BlockRow(2, schema.USER_LINES, 0, 1, pack_json({"file": "a.py"})),
        BlockRow(3, schema.USER_LINES, 0, 1, b"damaged"),
    ]
    database.write([(BLOCKS, rows)])
    database.close()
    store = Store(path)
    found = store.user_lines()
    said = [p["what"] for p in store.run()["problems"]]
    store.close()
    assert found == []
    assert "a block of user lines is damaged" in said


def test_too_many_lines_are_no_answer_that_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.viz"
    with TraceWriter(path, {}) as t:
        t.user_lines("a.py", 1, "\n" * 500_000)
    monkeypatch.setattr("viz.read.room.ROOM", 1 << 20)
    store = Store(path)
    assert store.user_lines() == []
    assert any("memory" in p["what"] for p in store.run()["problems"])
    store.close()
