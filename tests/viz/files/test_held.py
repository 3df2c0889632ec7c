"""Who reads a trace takes no locks from who writes or reads it in the same process."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import TraceError
from viz.files.descriptors import Held
from viz.read.database import Database
from viz.views.store import Store
from viz.write.writer import TraceWriter

ASK = """
import fcntl, struct, sys
with open(sys.argv[1], "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 0, 0)
        print("free")
    except OSError:
        print("locked")
"""


def locked(path: Path) -> bool:
    """Whether another process sees locks of this one on the file."""
    run = [sys.executable, "-c", ASK, str(path)]
    said = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    return said.strip() == "locked"


def test_reading_a_trace_that_is_written_here_leaves_its_locks(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    writer = TraceWriter(path, {"run": "a"})
    writer.node("ADD")
    writer.flush()
    assert locked(path)
    store = Store(path)
    assert locked(path)
    Store(path).close()
    assert locked(path)
    store.refresh()
    store.close()
    assert locked(path), "the writer's"
    writer.finish()
    assert not locked(path)
    Store(path).close()


def test_a_second_reader_leaves_the_locks_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    TraceWriter(path, {"run": "a"}).finish()
    with sqlite3.connect(path) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM meta").fetchone()
        first = Database(path)
        assert locked(path)
        Database(path).close()
        assert locked(path)
        first.close()
    reader.close()


def test_descriptors_do_not_pile_up(tmp_path: Path) -> None:
    path, other = tmp_path / "t.viz", tmp_path / "other"
    TraceWriter(path, {"run": "a"}).finish()
    other.write_bytes(b"no trace" * 100)
    with pytest.raises(TraceError):
        Store(other)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        Store(path).close()
        with pytest.raises(TraceError, match="not a trace"):
            Store(other)
    assert len(os.listdir("/proc/self/fd")) <= before


def test_a_file_that_takes_the_place_of_another_has_its_own_head(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one")
    first = Held(path)
    (tmp_path / "new").write_bytes(b"two")
    os.replace(tmp_path / "new", path)
    second, third = Held(path), Held(path)
    assert (first.head(3), second.head(3), third.head(9)) == (b"one", b"two", b"two")
    second.release()
    second.release()
    assert third.head(3) == b"two"
    first.release()
    third.release()
