"""SQLite file of a trace that is written: how it is made, and all-or-nothing transactions.

What a new trace may replace is judged by `viz/files/claim.py`.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from core.errors import TraceError
from viz.environment import in_cache, private_folder
from viz.files.claim import Claim
from viz.files.claim import claim as claim_trace
from viz.format.rows import DDL, META, MetaRow
from viz.format.table import Table

Batch = tuple[Table[Any], Sequence[Any]]
"""A table, and rows for it."""


class TraceDatabase:
    """A new trace file that holds `info` as its meta rows, in the place that was claimed for it.
    Raises TraceError where it cannot be made, also where another process writes this trace."""

    def __init__(self, path: Path, info: Mapping[str, object], claim: Claim | None = None) -> None:
        self.path = path
        try:
            self._claim = claim or _claimed(path, str(info.get("run", "")))
            try:
                self._db = _open(path, info)
            except BaseException:
                self._claim.release()
                raise
        except (sqlite3.Error, OSError) as error:
            raise cannot_be_made(path, error) from error

    @property
    def lost(self) -> bool:
        """Whether the file was removed or replaced since it was made: what is written to it is not
        to be found any more."""
        return self._claim.lost

    def write(self, batches: Sequence[Batch]) -> None:
        """Rows as one transaction, in the place of earlier ones with the same key. Raises
        TraceError where it fails, e.g. on a full disk; the file then is as it was before."""
        try:
            with self._db as db:
                for table, rows in batches:
                    db.executemany(table.insert, map(table.cells, rows))
        except (sqlite3.Error, OSError, OverflowError) as error:
            raise TraceError(
                f"the trace cannot be written: {error}",
                where=str(self.path),
                hint="free some space, or choose another file with VIZ_TRACE",
            ) from error

    def merge(self) -> None:
        """Merges the log into the file, which then stands alone."""
        with suppress(sqlite3.OperationalError):  # a reader holds the file: the log is complete
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.execute("PRAGMA journal_mode=DELETE")

    def close(self) -> None:
        """Closes the file, and gives up the right to write it."""
        with suppress(sqlite3.Error):
            self._db.close()
        self._claim.release()

    def abandon(self) -> sqlite3.Connection:
        """The connection, for the child of a fork to keep unused: closing it would be taken for
        the parent's doing."""
        return self._db


def make_folder(path: Path) -> None:
    """Makes the folder of a trace. That of the cache is for its owner only: command lines may hold
    what other users of the machine should not read. Raises OSError and TraceError."""
    if in_cache(path):
        private_folder(path.parent)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)


def put_in_place(made: Path, path: Path) -> None:
    """Moves a finished trace to `path`, in the place of an earlier one without logs. Raises
    TraceError where something else lies there or another process writes it."""
    try:
        claim = _claimed(path, "", make=False)
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


def _claimed(path: Path, run: str, make: bool = True) -> Claim:
    make_folder(path)
    found = claim_trace(path, run, make=make)
    if isinstance(found, Claim):
        return found
    raise TraceError(
        "another program is writing this trace", where=str(path), hint="choose another file"
    )


def _open(path: Path, info: Mapping[str, object]) -> sqlite3.Connection:
    db = sqlite3.connect(path, check_same_thread=False, timeout=5)
    try:
        # A killed process loses nothing that it has written; only a power cut could. Waiting for
        # the disk took up to a minute of the program's time on a busy machine.
        db.execute("PRAGMA synchronous=OFF")
        db.execute("PRAGMA page_size=512")  # of pages that small blobs share a part stays empty
        db.executescript(f"BEGIN;{DDL}COMMIT;")
        with db:
            rows = [MetaRow(key, json.dumps(value, default=str)) for key, value in info.items()]
            db.executemany(META.insert, map(META.cells, rows))
        db.execute("PRAGMA journal_mode=WAL")  # the header, which readers check, is in the file now
    except BaseException:
        db.close()
        raise
    return db


def change_meta(path: Path, values: Mapping[str, object]) -> None:
    """Sets rows of META in a trace that nobody writes. Raises TraceError where it is none."""
    rows = [MetaRow(key, json.dumps(value)) for key, value in values.items()]
    try:
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("PRAGMA trusted_schema=OFF")
            db.execute("PRAGMA synchronous=OFF")  # see _open
            db.executemany(META.insert, map(META.cells, rows))
    except sqlite3.Error as error:
        raise TraceError(f"the trace is damaged: {error}", where=str(path)) from error
