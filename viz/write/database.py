"""The SQLite side of writing a trace: making the file, and all-or-nothing transactions.

What a new trace may replace is judged by `viz/files/claim.py`.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from core.errors import TraceError
from viz.environment import in_cache, private_folder
from viz.files.claim import Claim
from viz.files.claim import claim as claim_trace
from viz.format import schema

Made = tuple[sqlite3.Connection, Claim]


def create(path: Path, info: Mapping[str, object], claim: Claim | None = None) -> Made:
    """A new trace file holding `info` as its meta rows, in the place that was claimed for it.
    Raises TraceError, also where another process writes this trace."""
    try:
        claim = claim or _claimed(path, str(info.get("run", "")))
        try:
            db = _open(path, info)
        except BaseException:
            claim.release()
            raise
    except (sqlite3.Error, OSError) as error:
        raise cannot_be_made(path, error) from error
    return db, claim


def make_folder(path: Path) -> None:
    """Makes the folder of a trace. That of the cache is for its owner only: command lines may hold
    what other users of the machine should not read. Raises OSError and TraceError."""
    if in_cache(path):
        private_folder(path.parent)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)


def put_in_place(made: Path, path: Path) -> None:
    """Moves a finished trace to `path`, in the place of an earlier one. Raises TraceError where
    something else lies there or another process writes it."""
    try:
        claim = _claimed(path, "")
        try:
            os.replace(made, path)
        finally:
            claim.release()
    except OSError as error:
        raise cannot_be_made(path, error) from error


def cannot_be_made(path: Path, error: Exception) -> TraceError:
    """What is said where a trace cannot be made."""
    return TraceError(
        f"the trace cannot be made: {error}",
        where=str(path),
        hint="choose another file with VIZ_TRACE",
    )


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


def _claimed(path: Path, run: str) -> Claim:
    make_folder(path)
    found = claim_trace(path, run)
    if isinstance(found, Claim):
        return found
    raise TraceError(
        "another program is writing this trace", where=str(path), hint="choose another file"
    )


def _open(path: Path, info: Mapping[str, object]) -> sqlite3.Connection:
    db = sqlite3.connect(path, check_same_thread=False, timeout=5)
    try:
        db.execute("PRAGMA page_size=1024")  # a blob wastes half a page on average
        db.executescript(f"BEGIN;{schema.DDL}COMMIT;")
        with db:
            rows = [(key, json.dumps(value, default=str)) for key, value in info.items()]
            db.executemany("INSERT OR REPLACE INTO meta VALUES(?,?)", rows)
        db.execute("PRAGMA journal_mode=WAL")  # the header, which readers check, is in the file now
        # A killed process loses nothing that it has written; only a power cut could. Waiting for
        # the disk took up to a minute of the program's time on a busy machine.
        db.execute("PRAGMA synchronous=OFF")
    except BaseException:
        db.close()
        raise
    return db
