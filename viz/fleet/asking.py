"""SQL over a folder of packed runs, by DuckDB: one SELECT that reads these tables and no file.

Each table is a view of its files. The configuration is locked before the query begins, with the
folder as the only place that may be read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from decimal import Decimal
from math import isfinite
from typing import Any, Final

from core.errors import TraceError
from viz.fleet.folder import Folder, folder_at, module
from viz.fleet.layout import CONTENTS, RUN, TABLES, day_of, files_of

SECONDS: Final = 60.0
MEMORY: Final = 4 << 30
"""Bytes that DuckDB may take for a query."""
MEMORY_SAID: Final = f"this query needs more than {MEMORY >> 30} GB of memory"
_TYPES: Final = {"string": "VARCHAR", "double": "DOUBLE", "int64": "BIGINT", "int32": "INTEGER"}
_OF_RUNS: Final = {table: {**RUN, **columns} for table, columns in TABLES.items()}


def is_packed(address: str) -> bool:
    """Whether a folder holds packed runs; an address is taken for one."""
    if "://" in address:
        return True
    try:
        return bool(files_of(folder_at(address), "runs"))
    except (OSError, ValueError):  # a name that no file can have
        return False


def ask(
    folder: Folder, sql: str, seconds: float = SECONDS, day: str | None = None
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows of one SELECT, over the runs of a day alone where one is given. Raises
    TraceError for SQL that is wrong, does anything but read the tables, or takes too long."""
    with closing(Tables(folder, day=day)) as tables:
        return tables.ask(sql, seconds)


def late(seconds: float, sql: str) -> TraceError:
    """The error of a query that takes longer than it may."""
    return TraceError(
        f"this query takes more than {seconds:g} seconds", sql, "ask for less: a WHERE"
    )


class Tables:
    """A connection to the tables of a folder, of the batches that there were when it was made, of
    a `day` alone where one is given; those of `held` are read once. Threads may share it. Raises
    TraceError where there are none."""

    def __init__(self, folder: Folder, held: Sequence[str] = (), day: str | None = None) -> None:
        duckdb = module("duckdb")
        self._folder = folder
        self._runs = [name for name in self._listed("runs") if day in (None, day_of(name))]
        if not self._runs:
            raise TraceError(
                "this folder holds no packed runs",
                folder.address,
                "uopviz pack RUNS... --to FOLDER",
            )
        self._db = duckdb.connect(":memory:")
        folder.attach(self._db)
        self._lock = threading.Lock()
        self._made = {*held}
        """The tables that the connection has."""
        try:
            for table in held:
                self._db.execute(f"CREATE TABLE {table} AS {self._source(table)}")
        except duckdb.Error as error:
            self._db.close()
            raise TraceError(
                f"a table of the folder cannot be read ({_line(error)})",
                folder.address,
                "remove that file, and pack its runs again",
            ) from error
        _restrict(self._db, folder.roots)

    def close(self) -> None:
        """Closes the connection."""
        self._db.close()

    def ask(
        self, sql: str, seconds: float = SECONDS, parameters: tuple[Any, ...] = ()
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """See `ask`."""
        db = self._db.cursor()
        try:
            return _answer(db, sql, seconds, parameters, lambda: self._name_tables(db, sql))
        finally:
            db.close()

    def _name_tables(self, db: Any, sql: str) -> None:
        """Makes the tables that a query may mean: making one lists its files, and reads the head
        of each."""
        said = sql.lower()
        with self._lock:
            for table in (*_OF_RUNS, *CONTENTS):
                if table in said and table not in self._made:
                    db.execute(f"CREATE VIEW {table} AS {self._source(table)}")
                    self._made.add(table)

    def _source(self, table: str) -> str:
        """What a table is made of."""
        columns = CONTENTS[table] if table in CONTENTS else _OF_RUNS[table]
        files = self._runs if table == "runs" else self._listed(table)
        if files:
            names = ", ".join(_quoted(self._folder.located(name)) for name in files)
            options = "union_by_name = true, hive_partitioning = true"
            return f"SELECT * FROM read_parquet([{names}], {options})"
        nothing = ", ".join(f'NULL::{_TYPES[kind]} AS "{name}"' for name, kind in columns.items())
        return f"SELECT {nothing} WHERE false"

    def _listed(self, table: str) -> list[str]:
        """The files of a table."""
        try:
            return files_of(self._folder, table, None if table == "runs" else self._runs)
        except Exception as error:  # each library of addresses has its own
            raise TraceError(
                f"the folder cannot be read ({error})", self._folder.address, "check the address"
            ) from error


def merged(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], sql: str, seconds: float = SECONDS
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows of one SELECT over a table `parts` of these rows. Raises TraceError as
    `ask`."""
    arrow = module("pyarrow")
    values = [*zip(*rows, strict=True)] or [()] * len(columns)
    with closing(module("duckdb").connect(":memory:")) as db:
        db.register("rows", arrow.table([arrow.array([*v]) for v in values], names=[*columns]))
        db.execute("CREATE TABLE parts AS SELECT * FROM rows")
        db.unregister("rows")
        _restrict(db, ())
        return _answer(db, sql, seconds, (), lambda: None)


def _restrict(db: Any, roots: Sequence[str]) -> None:
    """Lets a connection read files of `roots` and nothing else from now on, within bounds."""
    db.execute(f"SET memory_limit = '{MEMORY >> 20}MiB'")
    db.execute("SET temp_directory = ''")  # what does not fit is an error, and no file
    db.execute(f"SET allowed_directories = [{', '.join(map(_quoted, roots))}]")
    db.execute("SET enable_external_access = false")
    db.execute("SET lock_configuration = true")


def _answer(
    db: Any, sql: str, seconds: float, parameters: tuple[Any, ...], prepare: Callable[[], None]
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows of one SELECT. `prepare` is called once it is known to be one."""
    duckdb = module("duckdb")
    try:
        sql.encode()
        statements = duckdb.extract_statements(sql)
    except (UnicodeEncodeError, duckdb.Error) as error:
        raise TraceError(f"this query failed: {_line(error)}", sql) from error
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise TraceError("this query failed: a query only reads", sql, "give one SELECT")
    timer = threading.Timer(seconds, db.interrupt)
    try:
        prepare()
        timer.start()
        found = db.execute(statements[0], [*parameters]) if parameters else db.execute(sql)
        names = [column[0] for column in found.description or ()]
        return names, [tuple(_plain(value) for value in row) for row in found.fetchall()]
    except duckdb.InterruptException as error:
        raise late(seconds, sql) from error
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        raise TraceError(MEMORY_SAID, sql, "ask for less: a WHERE, or fewer columns") from error
    except duckdb.Error as error:
        raise TraceError(
            f"this query failed: {_line(error)}",
            sql,
            "the tables are " + ", ".join((*TABLES, *CONTENTS)),
        ) from error
    finally:
        timer.cancel()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _plain(value: Any) -> Any:
    """A value as JSON has it: dates and lists as text, NULL for what is no number."""
    if isinstance(value, Decimal | float):
        return float(value) if isfinite(value) else None
    return value if isinstance(value, int | str | None) else str(value)


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
