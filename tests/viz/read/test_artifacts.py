"""Texts and the nodes behind their lines, in blocks; and blocks that lie."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from core.errors import BudgetError
from viz import TraceWriter
from viz.budget import Budget, within
from viz.format import schema
from viz.format.blocks import TEXT_LINES
from viz.format.pack import pack_json
from viz.format.rows import ARTIFACTS
from viz.read.artifacts import ArtifactBlocks
from viz.read.tracefile import TraceFile
from viz.views.store import Store

HUGE = 1 << 62


def test_texts_of_one_flush_share_their_blocks(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    with TraceWriter(path, {}) as t:
        nodes = [t.node("CONST", arg=str(n)) for n in range(9)]
        kernel = t.context_begin("k", "kernel")
        t.artifact(kernel, "c", "cpu", "a\nb\n", lines=[nodes[:2], [], nodes[2:3]])
        t.artifact(kernel, "asm", "cpu", "no lines")
        t.artifact(kernel, "ptx", "sm_90", "x", lines=[nodes[4:]], facts={"registers": "7"})
        t.context_end(kernel)
    file, store = TraceFile(path), Store(path)
    rows = file.db.all(ARTIFACTS)
    assert [row.lines for row in rows] == [b""] * 3
    assert [len(part) for part in ArtifactBlocks(file.db).lines(rows[1], None)] == [0, 0]
    found = store.kernel(kernel)
    assert found is not None
    assert [(a["kind"], a["text"], a["lines"]) for a in found["artifacts"]] == [
        ("c", "a\nb\n", [[1, 2], [], [3]]),
        ("asm", "no lines", []),
        ("ptx", "x", [[5, 6, 7, 8, 9]]),
    ]
    assert found["artifacts"][2]["facts"] == [{"name": "registers", "value": "7"}]
    file.close()
    store.close()


@pytest.mark.parametrize(
    "columns",
    [
        ([3], [1, 1], [1, 1]),
        ([2], [1, 1], [1]),
        ([2], [-1, 2], [1]),
        ([HUGE], [1], [1]),
        ([1, 1], [HUGE, 1], [1]),
        ([-1, 2], [1], [1]),
    ],
)
def test_lines_that_do_not_add_up(tmp_path: Path, columns: tuple[list[int], ...]) -> None:
    said = said_of(tmp_path / "t.viz", TEXT_LINES.pack(columns), [1, 0])
    assert "lines of artifacts are damaged" in said


@pytest.mark.parametrize("place", [[1, 1], [1, -1], [1, HUGE], [9, 0], [-1, 0], [], ["x", {}]])
def test_places_that_are_not_there(tmp_path: Path, place: list[object]) -> None:
    blob = TEXT_LINES.pack(([2], [1, 1], [1, 1]))
    assert said_of(tmp_path / "t.viz", blob, place)


def test_a_block_of_lines_is_paid_for_before_it_is_made(tmp_path: Path) -> None:
    """Columns of width 0: some bytes stand for millions of numbers."""
    many = 1 << 20
    blob = TEXT_LINES.pack(([many], [0] * many, []))
    assert len(blob) < 10_000
    path = tmp_path / "t.viz"
    write(path, blob, [1, 0])
    file = TraceFile(path)
    (row,) = file.db.all(ARTIFACTS)
    with pytest.raises(BudgetError), within(Budget("the answer", memory=many)):
        ArtifactBlocks(file.db).lines(row, [1, 0])
    file.close()


def said_of(path: Path, blob: bytes, place: list[object]) -> str:
    """What is said of a text whose lines are at `place`, where block 1 is `blob`."""
    write(path, blob, place)
    store = Store(path)
    found = store.kernel(1)
    assert found is not None
    (one,) = found["artifacts"]
    assert one["lines"] == []
    store.close()
    return one["error"]["what"]


def write(path: Path, blob: bytes, place: list[object]) -> None:
    """A trace with block 1 `blob`, and a text whose lines are at `place`."""
    with TraceWriter(path, {}) as t:
        t.node("CONST")
    db = sqlite3.connect(path)
    with db:
        db.execute("DELETE FROM blocks")
        db.execute("INSERT INTO blocks VALUES (1, ?, 0, 1, ?)", (schema.TEXT_LINES, blob))
        db.execute("INSERT INTO contexts VALUES (1, 0, 'k', 'kernel', '{}', 1, 0, 1, NULL)")
        body = pack_json({"text": "two\nlines", "lines": place})
        db.execute("INSERT INTO artifacts VALUES (1, 1, 'c', 'cpu', ?, x'')", (body,))
    db.close()
