"""A trace as SQL tables, the packed parts too, for `uopviz query`.

The tables are made in memory from what the strict reader understands, so that a damaged or hostile
file is no more than missing rows. Only SELECT runs; never touches the file.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from core.errors import TraceError
from viz.budget import Budget, take, within
from viz.format import schema
from viz.read.tracefile import TraceFile
from viz.replay.argtext import arg_text
from viz.views.process import STRIDE
from viz.views.tree import calls_of

TABLES: Final = {
    "meta": "key TEXT, value TEXT",
    "contexts": "id INTEGER, parent INTEGER, name TEXT, kind TEXT, calls TEXT,"
    " start_us INTEGER, us INTEGER, error TEXT",
    "rewrites": "id INTEGER, parent INTEGER, context INTEGER, name TEXT, matcher TEXT, caller TEXT,"
    " bottom_up INTEGER, sink INTEGER, result INTEGER, nodes INTEGER, start_us INTEGER, us INTEGER,"
    " matches INTEGER, rebuilds INTEGER, declines INTEGER, error TEXT",
    "rules": "id INTEGER, name TEXT, matcher TEXT, file TEXT, line INTEGER, equation TEXT,"
    " source TEXT",
    "rule_totals": "pass TEXT, rule INTEGER, matches INTEGER, declines INTEGER, us REAL,"
    " tries INTEGER",
    "nodes": "id INTEGER, op TEXT, dtype TEXT, arg TEXT, origin TEXT",
    "edges": "node INTEGER, position INTEGER, source INTEGER",
    "matches": "rewrite INTEGER, step INTEGER, rule INTEGER, before INTEGER, after INTEGER,"
    " us INTEGER",
    "rebuilds": "rewrite INTEGER, step INTEGER, old INTEGER, new INTEGER",
    "declines": "rewrite INTEGER, step INTEGER, rule INTEGER, node INTEGER",
    "launches": "name TEXT, device TEXT, start_us INTEGER, ns INTEGER, bytes INTEGER",
    "artifacts": "context INTEGER, kind TEXT, target TEXT",
}
"""What can be asked for; docs/trace-format.md describes the columns."""

_NUMBERS: Final = frozenset(
    ("id", "parent", "context", "rewrite", "rule", "sink", "result", "node", "source", "before",
     "after", "old", "new")
)  # fmt: skip
_OF_ENTRY: Final = {
    "contexts": "id",
    "rewrites": "id",
    "matches": "rewrite",
    "rebuilds": "rewrite",
    "declines": "rewrite",
    "artifacts": "context",
}
"""The column that says to which context or rewrite a row belongs."""
SECONDS: Final = 60.0
MEMORY: Final = 1 << 32
"""Bytes that the tables of one query may take; ITEMS is how many values they may have."""
ITEMS: Final = 1 << 32
_VALUE: Final = 12
"""Bytes of a value in a table, apart from its text."""


class Part(NamedTuple):
    """A part of a run: the numbers of its contexts and rewrites, and the name of its launches."""

    entries: Collection[int]
    name: str


def run_query(
    files: Sequence[TraceFile], sql: str, only: Part | None = None
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows of one SELECT over the files of a run, or over a part of it. Numbers of
    the file at position n are n * STRIDE higher than in the file. Raises TraceError for SQL that is
    wrong, writes, or takes too long, and BudgetError where the tables would be too large."""
    with within(Budget("this query", MEMORY, ITEMS, 10 * SECONDS)):
        return _run(files, sql, only)


def _run(
    files: Sequence[TraceFile], sql: str, only: Part | None
) -> tuple[list[str], list[tuple[Any, ...]]]:
    db = sqlite3.connect(":memory:")
    try:
        for name, columns in TABLES.items():
            db.execute(f"CREATE TABLE {name}({columns})")
            if name in sql.lower():
                for at, file in enumerate(files):
                    values = ",".join(_value(c) if at else "?" for c in columns.split(","))
                    db.create_function("of_run", 1, _numbering(at * STRIDE))
                    rows = _paid(_rows(file, name))
                    db.executemany(f"INSERT INTO {name} VALUES({values})", rows)
        if only is not None:
            _keep(db, only)
        db.commit()
        db.execute("PRAGMA query_only=ON")
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1 << 28)
        deadline = time.monotonic() + SECONDS
        db.set_progress_handler(lambda: int(time.monotonic() > deadline), 100_000)
        db.set_authorizer(_allow_reading)
        cursor = db.execute(sql)
        return [column[0] for column in cursor.description or ()], [*_paid(cursor)]
    except (sqlite3.Error, sqlite3.Warning) as error:
        denied = "not authorized" in str(error)
        raise TraceError(
            f"this query failed: {'a query only reads' if denied else error}",
            where=sql,
            hint="one SELECT over the tables " + ", ".join(TABLES),
        ) from error
    finally:
        db.close()


def _keep(db: sqlite3.Connection, part: Part) -> None:
    """Empties the tables but for what belongs to a part of the run."""
    db.execute("CREATE TABLE kept(id INTEGER PRIMARY KEY)")
    db.executemany("INSERT OR IGNORE INTO kept VALUES(?)", ((entry,) for entry in part.entries))
    for table, column in _OF_ENTRY.items():
        db.execute(f"DELETE FROM {table} WHERE {column} NOT IN (SELECT id FROM kept)")
    db.execute("DELETE FROM launches WHERE name IS NOT ?", (part.name,))
    db.execute("DROP TABLE kept")


def _paid(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """The rows, each after its memory was taken from the budget."""
    for row in rows:
        texts = sum(len(value) for value in row if isinstance(value, str | bytes))
        take(len(row) + texts // 16, 2 * texts + _VALUE * len(row))
        yield tuple(row)


def _value(column: str) -> str:
    """How a value goes into its column: a number of the file becomes one of the run."""
    return "of_run(?)" if column.split()[0] in _NUMBERS else "?"


def _numbering(base: int) -> Callable[[Any], Any]:
    return lambda number: number + base if isinstance(number, int) and number else number


def _allow_reading(action: int, first: str | None, *_: str | None) -> int:
    reading = (
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
    )
    return sqlite3.SQLITE_OK if action in reading else sqlite3.SQLITE_DENY


def _rows(file: TraceFile, table: str) -> Iterable[Sequence[Any]]:
    match table:
        case "meta":
            return [(key, str(value)) for key, value in file.meta.items()]
        case "contexts":
            return [
                (
                    *(c.id, c.parent, c.name, c.kind),
                    calls_of(c) or None,
                    *(c.start, c.us, _message(c.error)),
                )
                for c in file.contexts.values()
            ]
        case "rewrites":
            return [
                (
                    *(r.id, r.parent, r.context, r.name, r.matcher, r.caller, r.bottom_up),
                    *(r.sink, r.result, r.nodes, r.start, r.us, r.matches, r.rebuilds),
                    *(r.declines, _message(r.error)),
                )
                for r in file.rewrites.values()
            ]
        case "rules":
            return [
                (r.id, r.name, r.matcher, r.file, r.line, r.equation, str(r.texts.get("source")))
                for r in file.rules.values()
            ]
        case "rule_totals":
            tries = file.tries()
            return [
                (file.text(key[0]), key[1], matches, declines, ns / 1000, tries.get(key))
                for key in dict.fromkeys((*file.totals, *tries))
                for matches, declines, ns in (file.totals.get(key, (0, 0, 0)),)
            ]
        case "nodes" | "edges":
            return _nodes(file) if table == "nodes" else _edges(file)
        case "launches":
            return file.launches
        case "artifacts":
            return file.db.all("artifacts", ("context", "kind", "target"))
        case _:
            return _events(file, table)


def _nodes(file: TraceFile) -> Iterable[Sequence[Any]]:
    names = ("op", "dtype", "arg", "origin")
    columns = [file.nodes.field(name).tolist() for name in names]
    for node in range(1, file.nodes.count + 1):
        op, dtype, arg, origin = (file.text(column[node]) for column in columns)
        yield node, op, dtype, arg_text(arg) if arg else None, origin or None


def _edges(file: TraceFile) -> Iterable[Sequence[Any]]:
    for node in range(1, file.nodes.count + 1):
        for position, source in enumerate(file.nodes.sources(node)):
            yield node, position, source


def _events(file: TraceFile, table: str) -> Iterable[Sequence[Any]]:
    """Events with the number of the step (from 1) that they belong to."""
    steps: dict[int, int] = {}
    for arrays in file.all_events():
        rows = zip(arrays.kind.tolist(), arrays.rewrite.tolist(), arrays.row.tolist(), strict=True)
        for kind, rewrite, row in rows:
            step = steps.get(rewrite, 0)
            if kind == schema.MATCH:
                step = steps[rewrite] = step + 1
                if table == "matches":
                    yield (rewrite, step, *arrays.match[row, :4].tolist())
            elif kind == schema.REBUILD and table == "rebuilds":
                yield (rewrite, step, *arrays.rebuild[row].tolist())
            elif kind == schema.DECLINE and table == "declines":
                yield (rewrite, step, *arrays.decline[row].tolist())


def _message(error: dict[str, Any] | None) -> str | None:
    return None if error is None else str(error.get("message", ""))
