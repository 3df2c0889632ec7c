"""A trace as SQL tables, the packed parts too, for `uopviz query`.

The tables are made in memory from what the strict reader understands, so that a damaged or hostile
file is no more than missing rows. Only SELECT runs, with the functions listed here. SQLite cannot
be interrupted within one call of a function, so a query runs in a thread that is left behind where
it does not end, and texts are not padded without bound. Never touches the file.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from contextvars import copy_context
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, Final, NamedTuple

from core.errors import TraceError
from viz.budget import Budget, take, within
from viz.dialect.registry import dialect_of
from viz.format import schema
from viz.format.events import MatchField
from viz.format.rows import ARTIFACT_HEADS, CONTEXTS, META, REWRITES, RULE_TOTALS, RULES
from viz.format.table import Table
from viz.read.tracefile import TraceFile
from viz.views.runs.process import STRIDE
from viz.views.tree import calls_of

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
LENGTH: Final = 1 << 26
"""Bytes of a value that a query may make: a trace holds no longer ones."""
MEMORY: Final = 1 << 32
"""Bytes that the tables of one query may take; ITEMS is how many values they may have."""
ITEMS: Final = 1 << 32
_LISTED: Final = """
    abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws cos
    cosh count cume_dist current_date current_time current_timestamp date datetime degrees
    dense_rank exp first_value floor format glob group_concat hex if ifnull iif instr json
    json_array json_array_length json_error_position json_extract json_group_array
    json_group_object json_insert json_object json_patch json_pretty json_quote json_remove
    json_replace json_set json_type json_valid julianday lag last_value lead length like likelihood
    likely ln log log10 log2 lower ltrim max median min mod nth_value ntile nullif octet_length
    percent_rank percentile percentile_cont percentile_disc pi pow power printf quote radians random
    randomblob rank replace round row_number rtrim sign sin sinh soundex sqlite_version sqrt
    strftime string_agg substr substring subtype sum tan tanh time timediff total trim trunc typeof
    unhex unicode unistr unistr_quote unixepoch unlikely upper zeroblob -> ->>
"""
FUNCTIONS: Final = frozenset(_LISTED.split())
"""What a query may call: arithmetic on its values, of all versions of SQLite. None loads code,
opens a file, writes a log, tells addresses of this process or reads structures that others made."""
_TABLE_FUNCTIONS: Final = ("json_each", "json_tree")
_PADDED: Final = re.compile(r"%[-+ #0!,]*(\*|\d*)(?:\.(\*|\d*))?l*(.)", re.DOTALL)
"""A place of a format: its width, its precision, and what is put there."""
_STEPS: Final = 100_000
"""Instructions of SQLite after which a query looks whether it was stopped."""
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
    db = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        for name, view in VIEWS.items():
            db.execute(f"CREATE TABLE {name}({TABLES[name]})")
            if name in sql.lower():
                for at, file in enumerate(files):
                    numbers = "of_run(?)" if at else "?"
                    values = ",".join(numbers if c.of_run else "?" for c in view.columns)
                    db.create_function("of_run", 1, _numbering(at * STRIDE))
                    rows = _paid(view.rows(file))
                    db.executemany(f"INSERT INTO {name} VALUES({values})", rows)
        if only is not None:
            _keep(db, only)
        for name in _TABLE_FUNCTIONS:  # their first use declares them, which no query may
            db.execute(f"SELECT 0 FROM {name}('[]')")
        db.commit()
        db.execute("PRAGMA query_only=ON")
    except BaseException:
        db.close()
        raise
    denied: list[str] = []
    try:
        return _selected(db, sql, denied)
    except TimeoutError as error:
        raise TraceError(
            f"this query takes more than {SECONDS:g} seconds",
            where=sql,
            hint="ask for less: a WHERE that leaves fewer rows to join, or one --kernel",
        ) from error
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise TraceError(
            f"this query failed: {denied[0] if denied else error}",
            where=sql,
            hint="one SELECT over the tables " + ", ".join(TABLES),
        ) from error


def _selected(
    db: sqlite3.Connection, sql: str, denied: list[str]
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows; what was refused is put into `denied`. Closes the database, at the
    latest when SQLite lets go of it. Raises TimeoutError, and at once whatever a signal raises."""
    answer: Future[tuple[list[str], list[tuple[Any, ...]]]] = Future()
    stopped = Event()

    def select() -> None:
        with closing(db):
            try:
                cursor = db.execute(sql)
                names = [column[0] for column in cursor.description or ()]
                answer.set_result((names, [*_paid(cursor)]))
            except BaseException as error:
                answer.set_exception(error)

    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LENGTH)
    for name in ("printf", "format"):
        db.create_function(name, -1, _formatting(denied), deterministic=True)
    db.set_authorizer(_reading_only(denied))
    db.set_progress_handler(stopped.is_set, _STEPS)
    Thread(target=copy_context().run, args=(select,), name="query", daemon=True).start()
    try:
        return answer.result(SECONDS)
    finally:
        stopped.set()
        if not answer.done():
            db.interrupt()  # sooner than the handler, which also stops what has yet to begin


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


def _numbering(base: int) -> Callable[[Any], Any]:
    return lambda number: number + base if isinstance(number, int) and number else number


def _formatting(denied: list[str]) -> Callable[..., Any]:
    """SQLite's own `format`, but for padding longer than a value can be: SQLite goes on counting
    what it has no room for, which nothing can stop. Why it refuses is put into `denied`."""
    own = sqlite3.connect(":memory:", check_same_thread=False)

    def answer(sql: str, *values: Any) -> Any:
        return own.execute(sql, values).fetchone()[0]

    def formatted(text: Any = None, *values: Any) -> Any:
        left = iter(values)
        for *padding, kind in _PADDED.findall("" if text is None else str(text)):
            for size in padding:
                asked = next(left, None) if size == "*" else size
                if abs(answer("SELECT CAST(coalesce(?, 0) AS INTEGER)", asked)) > LENGTH:
                    denied.append(f"it may not pad a text to more than {LENGTH:,} characters")
                    raise ValueError(denied[-1])
            if kind not in "%n":  # those take no value
                next(left, None)
        return answer(f"SELECT printf({', '.join('?' * (1 + len(values)))})", text, *values)

    return formatted


def _reading_only(denied: list[str]) -> Callable[..., int]:
    """Lets a statement read the tables and call the functions listed here. Why it may not is put
    into `denied`, since SQLite says only that it may not."""

    def check(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        match action:
            case sqlite3.SQLITE_SELECT | sqlite3.SQLITE_RECURSIVE:
                return sqlite3.SQLITE_OK
            case sqlite3.SQLITE_READ if not second or first in _READABLE:
                return sqlite3.SQLITE_OK  # no column: of a WITH table, or of one that is counted
            case sqlite3.SQLITE_READ:
                denied.append(f"it may not read {first}")
            case sqlite3.SQLITE_FUNCTION if second in FUNCTIONS:
                return sqlite3.SQLITE_OK
            case sqlite3.SQLITE_FUNCTION:
                denied.append(f"it may not call {second}()")
            case _:
                denied.append("a query only reads")
        return sqlite3.SQLITE_DENY

    return check


@dataclass(frozen=True)
class _Column:
    """A column, its type in SQL, and whether its integers are numbers of the file that become ones
    of the run."""

    name: str
    type: str
    of_run: bool = False


@dataclass(frozen=True)
class _View:
    """A table of the query: its columns, and its rows of a file."""

    columns: tuple[_Column, ...]
    rows: Callable[[TraceFile], Iterable[Sequence[Any]]]


def _numbers(*names: str) -> tuple[_Column, ...]:
    """Columns of numbers that are unique in a file."""
    return tuple(_Column(name, "INTEGER", of_run=True) for name in names)


def _integers(*names: str) -> tuple[_Column, ...]:
    return tuple(_Column(name, "INTEGER") for name in names)


def _texts(*names: str) -> tuple[_Column, ...]:
    return tuple(_Column(name, "TEXT") for name in names)


def _stored(table: Table[Any], *names: str) -> tuple[_Column, ...]:
    """Columns of a table of the trace, as it declares them; with texts in the place of their
    numbers."""
    known = {column.name: column for column in table.columns}
    return tuple(_Column(n, "TEXT" if known[n].string else known[n].type) for n in names)


def _contexts(file: TraceFile) -> Iterable[Sequence[Any]]:
    for c in file.contexts.values():
        calls = calls_of(c) or None
        yield c.id, c.parent, c.name, c.kind, calls, c.start, c.us, _message(c.error)


def _rewrites(file: TraceFile) -> Iterable[Sequence[Any]]:
    for r in file.rewrites.values():
        yield (
            *(r.id, r.parent, r.context, r.name, r.matcher, r.caller, r.bottom_up),
            *(r.sink, r.result, r.nodes, r.start, r.us, r.matches, r.rebuilds),
            *(r.declines, _message(r.error)),
        )


def _rules(file: TraceFile) -> Iterable[Sequence[Any]]:
    for r in file.rules.values():
        yield r.id, r.name, r.matcher, r.file, r.line, r.equation, str(r.texts.get("source"))


def _totals(file: TraceFile) -> Iterable[Sequence[Any]]:
    tries = file.tries()
    for key in dict.fromkeys((*file.totals, *tries)):
        matches, declines, ns = file.totals.get(key, (0, 0, 0))
        yield file.text(key[0]), key[1], matches, declines, ns / 1000, tries.get(key)


def _artifacts(file: TraceFile) -> Iterable[Sequence[Any]]:
    return [(row.context, row.kind, row.target) for row in file.db.all(ARTIFACT_HEADS)]


def _user_lines(file: TraceFile) -> Iterable[Sequence[Any]]:
    for part in file.user_lines:
        for line, text in enumerate(part.lines, part.first):
            yield part.file, line, text, part.digest


def _captured(file: TraceFile) -> Iterable[Sequence[Any]]:
    for kernel in file.captured.values():
        head = kernel.ast, kernel.name, kernel.device, kernel.launch
        for one in kernel.arguments:
            yield *head, one.number, one.dtype, one.size, one.bytes, kernel.why
        if not kernel.arguments:
            yield *head, None, None, None, 0, kernel.why


def _captured_steps(file: TraceFile) -> Iterable[Sequence[Any]]:
    for step in file.captured_steps.values():
        head = step.context, step.name, step.device, step.replay
        for when, some in (("before", step.before), ("after", step.after)):
            for one in some:
                yield *head, when, one.number, one.dtype, one.size, one.bytes, step.why
        if not step.all:
            yield *head, None, None, None, None, 0, step.why


def _nodes(file: TraceFile) -> Iterable[Sequence[Any]]:
    names = ("op", "dtype", "arg", "origin")
    columns = [file.nodes.field(name).tolist() for name in names]
    arg_text = dialect_of(file.meta).arg_text
    for node in range(1, file.nodes.count + 1):
        op, dtype, arg, origin = (file.text(column[node]) for column in columns)
        yield node, op, dtype, arg_text(arg) if arg else None, origin or None


def _origins(file: TraceFile) -> Iterable[Sequence[Any]]:
    for kernel in file.origins.kernels():
        for node, origins in file.origins.told(kernel):
            for origin in origins:
                yield kernel, node, file.text(origin) or None


def _edges(file: TraceFile) -> Iterable[Sequence[Any]]:
    for node in range(1, file.nodes.count + 1):
        for position, source in enumerate(file.nodes.sources(node)):
            yield node, position, source


def _events(file: TraceFile, wanted: int) -> Iterable[Sequence[Any]]:
    """Events of one kind, with the number of the step (from 1) that they belong to."""
    steps: dict[int, int] = {}
    for arrays in file.event_blocks.all():
        rows = zip(arrays.kind.tolist(), arrays.rewrite.tolist(), arrays.row.tolist(), strict=True)
        matches = arrays.match[:, : MatchField.SIGNATURE].copy()
        matches[:, MatchField.NS] //= 1000  # as microseconds
        numbers = {
            schema.MATCH: matches,
            schema.REBUILD: arrays.rebuild,
            schema.DECLINE: arrays.decline,
        }[wanted]
        for kind, rewrite, row in rows:
            step = steps.get(rewrite, 0)
            if kind == schema.MATCH:
                step = steps[rewrite] = step + 1
            if kind == wanted:
                yield (rewrite, step, *numbers[row].tolist())


def _message(error: dict[str, Any] | None) -> str | None:
    return None if error is None else str(error.get("message", ""))


VIEWS: Final = {
    "meta": _View(
        _stored(META, *META.names),
        lambda file: [(key, str(value)) for key, value in file.meta.items()],
    ),
    "contexts": _View(
        (
            *(*_numbers("id", "parent"), *_stored(CONTEXTS, "name", "kind"), *_texts("calls")),
            *(*_integers("start_us"), *_stored(CONTEXTS, "us", "error")),
        ),
        _contexts,
    ),
    "rewrites": _View(
        (
            *_numbers("id", "parent", "context"),
            *_stored(REWRITES, "name", "matcher", "caller", "bottom_up"),
            *(*_numbers("sink", "result"), *_stored(REWRITES, "nodes"), *_integers("start_us")),
            *_stored(REWRITES, "us", "matches", "rebuilds", "declines", "error"),
        ),
        _rewrites,
    ),
    "rules": _View((*_numbers("id"), *_stored(RULES, *RULES.names[1:]), *_texts("source")), _rules),
    "rule_totals": _View(
        (
            *(*_stored(RULE_TOTALS, "pass"), *_numbers("rule")),
            *_stored(RULE_TOTALS, "matches", "declines"),
            *(_Column("us", "REAL"), *_integers("tries")),
        ),
        _totals,
    ),
    "nodes": _View((*_numbers("id"), *_texts("op", "dtype", "arg", "origin")), _nodes),
    "origins": _View((*_numbers("kernel", "node"), *_texts("origin")), _origins),
    "edges": _View((*_numbers("node"), *_integers("position"), *_numbers("source")), _edges),
    "matches": _View(
        (
            *(*_numbers("rewrite"), *_integers("step")),
            *(*_numbers("rule", "before", "after"), *_integers("us")),
        ),
        lambda file: _events(file, schema.MATCH),
    ),
    "rebuilds": _View(
        (*_numbers("rewrite"), *_integers("step"), *_numbers("old", "new")),
        lambda file: _events(file, schema.REBUILD),
    ),
    "declines": _View(
        (*_numbers("rewrite"), *_integers("step"), *_numbers("rule", "node")),
        lambda file: _events(file, schema.DECLINE),
    ),
    "launches": _View(
        (*_texts("name", "device"), *_integers("start_us", "ns", "bytes")),
        lambda file: file.launches,
    ),
    "user_lines": _View(
        (*_texts("file"), *_integers("line"), *_texts("text", "digest")), _user_lines
    ),
    "captured": _View(
        (
            *(*_numbers("ast"), *_texts("name", "device"), *_integers("launch", "argument")),
            *(*_texts("dtype"), *_integers("size", "bytes"), *_texts("why")),
        ),
        _captured,
    ),
    "captured_steps": _View(
        (
            *(*_numbers("context"), *_texts("name", "device"), *_integers("replay")),
            *(*_texts("moment"), *_integers("memory"), *_texts("dtype")),
            *(*_integers("size", "bytes"), *_texts("why")),
        ),
        _captured_steps,
    ),
    "artifacts": _View((*_numbers("context"), *_texts("kind", "target")), _artifacts),
}
"""The tables that can be asked for."""
TABLES: Final = {
    name: ", ".join(f"{column.name} {column.type}" for column in view.columns)
    for name, view in VIEWS.items()
}
"""The columns of each, as SQL."""
_READABLE: Final = frozenset({*TABLES, *_TABLE_FUNCTIONS, "sqlite_master"})
