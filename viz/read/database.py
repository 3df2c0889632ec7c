"""Opens an untrusted trace file read-only, and reads as many rows as can be read.

A trace may be cut off, damaged or made to harm: the file is opened read-only, nothing in its schema
is run, and every value is checked for its type. What cannot be read is a Problem, never a crash.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TypeVar, cast
from urllib.parse import quote

from core.errors import TraceError
from viz.budget import take
from viz.files.descriptors import Held
from viz.files.regular import kind_of
from viz.files.walfile import pages_in_log
from viz.format import schema
from viz.format.rows import RULES, TABLES
from viz.format.table import Table
from viz.terminal import shell_word

R = TypeVar("R")
READ_ERRORS: Final = (sqlite3.Error, UnicodeError, OverflowError)
"""What reading a damaged file raises; SQLite's own messages may not be valid text."""

MAX_CELL: Final = 1 << 26
"""Bytes of a row; the writer's blocks are at most that before they are compressed."""
MAX_PROBLEMS: Final = 1000
"""Of one file; there may be as many as it has blocks."""
LARGE: Final = 1 << 20
"""Smaller files may take no blocks of the disk at all."""

STEPS: Final = 100_000_000
"""Instructions of SQLite's machine that one statement may take, and STEPS_PER_BYTE more for each
byte of the file: pages that refer to the same pages over and over would take years."""
STEPS_PER_BYTE: Final = 16
STEPS_OF_SCHEMA: Final = 2_000_000
"""The same of reading the list of tables, of which a trace has eight."""
_ITEMS: Final = 4
"""Of a budget, for a row."""
_STEPS_AT_ONCE: Final = 100_000
MAX_CONNECTIONS: Final = 12
"""To one file; further threads share the first one."""


@dataclass(frozen=True)
class Problem:
    """Something that could not be read or that went wrong: what, where, and what to do."""

    what: str
    where: str
    hint: str
    rewrite: int | None = None
    step: int | None = None

    def data(self) -> dict[str, object]:
        """Its fields as plain data."""
        return asdict(self)


class _Own(threading.local):
    """What each thread has of a file: a connection, and the steps left to its statement."""

    db: sqlite3.Connection | None = None
    left = 0


class Database:
    """One trace file, read-only. Threads have a connection each, so that a slow statement of one
    holds up no other. Raises TraceError for a file that is no trace at all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self._noted: set[Problem] = set()
        self.version = schema.VERSION
        self.wanted = self.missing = 0
        """Bytes that the file should have, and how many of them it has not."""
        self._own = _Own()
        self._address = "", False
        self._opening = threading.Lock()
        self._connections: list[sqlite3.Connection] = []
        self._closed = False
        self._held = _check_file(path)
        try:
            self._own.db = self._open(path)
            self._tables = self._check()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Closes the file."""
        with self._opening:
            self._closed = True
            for db in self._connections:
                db.close()
            self._held.release()

    @property
    def _db(self) -> sqlite3.Connection:
        db = self._own.db
        if db is None:
            with self._opening:
                db = self._connections[0]
                if not self._closed and len(self._connections) < MAX_CONNECTIONS:
                    with suppress(*READ_ERRORS):  # the file was removed: there is the first one
                        db = self._again() or db
            self._own.db = db
        return db

    def _again(self) -> sqlite3.Connection | None:
        """One more connection to the file; None where another file has taken its place."""
        if not self._held.is_at(self.path):
            return None
        db = self._connect(*self._address)
        if self._held.is_at(self.path):
            return db
        self._connections.remove(db)
        db.close()
        return None

    @property
    def is_replaced(self) -> bool:
        """Whether another file lies in the place of this one, such as that of a later recording."""
        with self._opening:
            return not self._closed and self.path.exists() and not self._held.is_at(self.path)

    def size(self) -> int:
        """Bytes of the file with its log."""
        with self._opening:
            if self._closed:
                return 0
            found = self._held.size()
            if self._held.is_at(self.path):
                with suppress(OSError):
                    found += Path(f"{self.path}-wal").stat().st_size
            return found

    @contextmanager
    def snapshot(self) -> Generator[None]:
        """What is read in the block is of one moment, however much is written meanwhile."""
        with suppress(*READ_ERRORS):  # a damaged file is read without
            self._db.execute("BEGIN")
        try:
            yield
        finally:
            with suppress(*READ_ERRORS):
                self._db.execute("ROLLBACK")

    def problem(self, what: str, hint: str = "", first: bool = False) -> None:
        """Notes a problem of this file, once; `first`: before others, which follow from it."""
        found = Problem(what, self.path.name, hint or "what else the file holds is still shown")
        if found in self._noted:
            return
        if len(self._noted) == MAX_PROBLEMS:
            found = Problem("there are more problems of this kind", found.where, found.hint)
        elif len(self._noted) > MAX_PROBLEMS and not first:
            return
        self._noted.add(found)
        self.problems.insert(0 if first else len(self.problems), found)

    def stored(self) -> int:
        """Bytes of the file, with its log, that are there: a file may claim to be large and hold
        nothing."""
        found = 0
        for path in (self.path, Path(f"{self.path}-wal")):
            with suppress(OSError):
                found += _stored(path.stat())
        return found

    def rows(self, table: Table[R], after: int = 0) -> Iterator[R]:
        """Rows of a table with an integer key above `after`, in order; those behind a damaged place
        too, if they can be reached from the other end. Raises BudgetError."""
        if table.name not in self._tables:
            return
        (key,) = table.key
        select = f"{table.select} WHERE {key} > ? AND {key} < ? ORDER BY {key}"
        last, end = after, 1 << 62
        self._begin()
        try:
            for cells in self._db.execute(select, (last, end)):
                take(_ITEMS)
                if isinstance(cells[0], int):
                    if cells[0] <= last:
                        raise sqlite3.DatabaseError("its rows are out of order")
                    last = cells[0]
                    yield table.read(cells)
            return
        except READ_ERRORS as error:
            self._damaged(table, error)
        behind: list[R] = []
        self._begin()
        try:
            for cells in self._db.execute(select + " DESC", (last, end)):
                if isinstance(cells[0], int):
                    if cells[0] >= end:
                        break
                    end = cells[0]
                    take(_ITEMS, _size(cells))
                    behind.append(table.read(cells))
        except READ_ERRORS:
            pass  # the damaged place, from the other side
        yield from reversed(behind)

    def last(self, table: Table[Any]) -> int:
        """The greatest integer key of a table; 0 where it has no rows, or cannot be read."""
        if table.name not in self._tables:
            return 0
        self._begin()
        try:
            (found,) = self._db.execute(f"SELECT max({table.key[0]}) FROM {table.name}").fetchone()
        except READ_ERRORS as error:
            self._damaged(table, error)
            return 0
        return found if isinstance(found, int) else 0

    def all(self, table: Table[R], each: int = 0) -> list[R]:
        """All rows of a small table, up to a damaged place; `each`: bytes that are going to be kept
        of a row. Raises BudgetError."""
        return self._some(table, "", (), each)

    def where(self, table: Table[R], column: str, value: int) -> list[R]:
        """The rows with this value in a column, up to a damaged place. Raises BudgetError."""
        return self._some(table, f" WHERE {column} = ?", (value,))

    def one(self, table: Table[R], key: int) -> R | None:
        """The row with this integer key, if it can be read."""
        if table.name not in self._tables:
            return None
        self._begin()
        try:
            select = f"{table.select} WHERE {table.key[0]} = ?"
            cells = self._db.execute(select, (key,)).fetchone()
        except READ_ERRORS as error:
            self._damaged(table, error)
            return None
        return None if cells is None else table.read(cells)

    def _some(
        self, table: Table[R], condition: str, values: tuple[int, ...], each: int = 0
    ) -> list[R]:
        found: list[R] = []
        if table.name in self._tables:
            self._begin()
            try:
                for cells in self._db.execute(table.select + condition, values):
                    take(_ITEMS, each + _size(cells))
                    found.append(table.read(cells))
            except READ_ERRORS as error:
                self._damaged(table, error)
        return found

    def _damaged(self, table: Table[Any], error: Exception) -> None:
        stopped = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT
        if stopped and self._own.left >= 0:  # not ended by `_step`, but by Ctrl-C in it
            raise KeyboardInterrupt from error
        self.problem(f"table {table.name} is damaged ({error})")
        if self._own.left < 0:  # what took too long once is not tried again
            self._tables -= {table.name}

    def _begin(self) -> None:
        """Gives the statement that comes next its steps; a live file has grown meanwhile."""
        self._own.left = STEPS
        with suppress(OSError):
            self._own.left += STEPS_PER_BYTE * _stored(self.path.stat())

    def _step(self) -> bool:
        """Called every so many steps; True ends the statement."""
        self._own.left -= _STEPS_AT_ONCE
        return self._own.left < 0

    def _open(self, path: Path) -> sqlite3.Connection:
        head = self._held.head(72)
        wanted = schema.APPLICATION_ID.to_bytes(4)
        if head[:15] != b"SQLite format 3" or head[68:72] != wanted:
            raise TraceError(
                "this file is not a trace",
                where=str(path),
                hint="traces are made by VIZ=1 python program.py",
            )
        page, pages = int.from_bytes(head[16:18]), int.from_bytes(head[28:32])
        status = path.stat()
        page = page if page > 1 else 65536
        self.wanted = pages * page
        self.missing = max(0, self.wanted - status.st_size)
        if self.missing > 0:
            inside = status.st_size // page
            logged = sum(inside < number <= pages for number in pages_in_log(path, page))
            self.missing = max(0, self.missing - logged * page)
        if _stored(status) < status.st_size / 2:
            self.problem(
                "parts of this file hold nothing",
                "it was not copied as a whole; what it holds is shown",
            )
        url = f"file:{quote(os.fsencode(path.absolute()))}?mode=ro"
        # The second form is for a folder where the log of a killed run cannot be indexed; the third
        # reads a file that is shorter than it says.
        attempts = ((url, False), (url + "&immutable=1", False), (url + "&immutable=1", True))
        for address, tolerant in attempts:
            with suppress(*READ_ERRORS):
                db = self._connect(address, tolerant)
                self._address = address, tolerant
                return db
        raise TraceError(
            "this trace cannot be read",
            where=str(path),
            hint="it is cut off or damaged before its first table",
        )

    def _connect(self, url: str, tolerant: bool) -> sqlite3.Connection:
        db = sqlite3.connect(url, uri=True, check_same_thread=False, timeout=2)
        try:
            db.text_factory = _decode
            db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_CELL + LARGE)
            self._own.left = STEPS_OF_SCHEMA
            db.set_progress_handler(self._step, _STEPS_AT_ONCE)
            pragmas = ["query_only=ON", "trusted_schema=OFF", "cell_size_check=ON"]
            for pragma in pragmas + ["writable_schema=ON"] * tolerant:
                db.execute(f"PRAGMA {pragma}")
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except READ_ERRORS:
            db.close()
            raise
        self._connections.append(db)
        return db

    def _check(self) -> frozenset[str]:
        """The tables that are there and are plain tables; a view of that name is not looked at."""
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        self.version = int(version)
        if version > schema.VERSION:
            self.problem(
                f"this trace has format version {version}, newer than {schema.VERSION}",
                "open it with a newer uopviz; what this one understands is shown",
            )
        found: set[str] = set()
        tables = TABLES if self.version >= schema.RULES_PACKED else (*TABLES, RULES)
        names = [table.name for table in tables]
        self._own.left = STEPS_OF_SCHEMA
        try:
            for name, kind, sql in self._db.execute("SELECT name, type, sql FROM sqlite_master"):
                plain = isinstance(sql, str) and sql.upper().startswith("CREATE TABLE")
                if name in names and kind == "table" and plain and self._stored(name):
                    found.add(cast("str", name))
        except READ_ERRORS as error:
            self.problem(f"the list of tables is damaged ({error})")
        for name in names:
            if name not in found:
                self.problem(f"table {name} is missing")
        return frozenset(found)

    def _stored(self, table: str) -> bool:
        """Whether all columns of a table are in the file: none is worked out when it is read."""
        select = "SELECT count(*) FROM pragma_table_xinfo(?) WHERE hidden <> 0"
        return self._db.execute(select, (table,)).fetchone() == (0,)


def _check_file(path: Path) -> Held:
    """The file, open. Raises TraceError for what is no file that can be read."""
    try:
        if path.is_dir():
            raise _folder(path)
        held = Held(path)
        for log in (Path(f"{path}-wal"), Path(f"{path}-shm"), Path(f"{path}-journal")):
            with suppress(FileNotFoundError):  # SQLite opens these, and would wait for a pipe
                if kind := kind_of(os.stat(log).st_mode):
                    raise OSError(errno.EINVAL, f"{log.name} is {kind}")
        return held
    except (FileNotFoundError, NotADirectoryError):
        raise TraceError("there is no such trace", str(path), "check the path") from None
    except (OSError, ValueError) as error:
        raise TraceError(
            f"this file cannot be read: {getattr(error, 'strerror', None) or error}",
            where=str(path),
            hint="check who may read it, and the folders above it",
        ) from error


def _folder(path: Path) -> TraceError:
    inside = sorted(p.name for p in path.glob(f"*{schema.SUFFIX}"))
    named = ", ".join(map(shell_word, inside[:4])) + (", ..." if len(inside) > 4 else "")
    hint = f"name a trace in it: {named}" if inside else "there is no trace in it"
    return TraceError("this is a folder", where=str(path), hint=hint)


def _stored(status: os.stat_result) -> int:
    """Bytes that a file has on the disk; small ones may be elsewhere, such as in its entry."""
    blocks = getattr(status, "st_blocks", None)  # counted on POSIX only
    return status.st_size if blocks is None else min(status.st_size, max(LARGE, 512 * blocks))


def _size(row: tuple[Any, ...]) -> int:
    """Bytes of a row with its texts."""
    return 120 + sum(50 + len(cell) if isinstance(cell, str | bytes) else 32 for cell in row)


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
