"""The SQLite side of writing a trace: making the file, and all-or-nothing transactions.

Never overwrites a file that is not a trace.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.errors import TraceError
from viz import schema
from viz.environment import cache_folder


def create(path: Path, info: Mapping[str, object]) -> sqlite3.Connection:
    """A new trace file holding `info` as its meta rows. Raises TraceError."""
    try:
        # command lines may hold what other users of the machine should not read
        mode = 0o700 if path.parent == cache_folder() else 0o777
        path.parent.mkdir(mode, parents=True, exist_ok=True)
        _make_room(path)
        db = sqlite3.connect(path, check_same_thread=False, timeout=5)
        db.execute("PRAGMA page_size=1024")  # a blob wastes half a page on average
        db.executescript(f"BEGIN;{schema.DDL}COMMIT;")
        with db:
            rows = [(key, json.dumps(value, default=str)) for key, value in info.items()]
            db.executemany("INSERT OR REPLACE INTO meta VALUES(?,?)", rows)
        db.execute("PRAGMA journal_mode=WAL")  # the header, which readers check, is in the file now
        # A killed process loses nothing that it has written; only a power cut could. Waiting for
        # the disk took up to a minute of the program's time on a busy machine.
        db.execute("PRAGMA synchronous=OFF")
    except (sqlite3.Error, OSError) as error:
        raise TraceError(
            f"the trace cannot be made: {error}",
            where=str(path),
            hint="choose another file with VIZ_TRACE",
        ) from error
    return db


def write(
    db: sqlite3.Connection, path: Path, batches: Sequence[tuple[str, Sequence[Sequence[object]]]]
) -> None:
    """Statements with their rows as one transaction. Raises TraceError where it fails, e.g. on a
    full disk; the file then is as it was before."""
    try:
        with db:
            for statement, rows in batches:
                db.executemany(statement, rows)
    except (sqlite3.Error, OSError, OverflowError) as error:
        raise TraceError(
            f"the trace cannot be written: {error}",
            where=str(path),
            hint="free some space, or choose another file with VIZ_TRACE",
        ) from error


def _make_room(path: Path) -> None:
    """Removes an earlier trace of this name; any other file is not ours to overwrite."""
    if path.exists() and path.stat().st_size:
        with path.open("rb") as file:
            head = file.read(72)
        if head[:15] != b"SQLite format 3" or head[68:72] != schema.APPLICATION_ID.to_bytes(4):
            raise TraceError(
                "this file is not a trace and is not overwritten",
                where=str(path),
                hint="choose another file with VIZ_TRACE",
            )
    for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        name.unlink(missing_ok=True)
