"""SQL over a folder of packed runs, by DuckDB: one SELECT that reads these tables and no file.

Each table is a view of its files. The configuration is locked before the query begins, with the
folder as the only place that may be read.
"""

from __future__ import annotations

import threading
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from core.errors import TraceError
from viz.fleet.packing import HINT, batches, files_of
from viz.fleet.tables import RUN, TABLES

SECONDS: Final = 60.0
MEMORY: Final = "4GB"
_TYPES: Final = {"string": "VARCHAR", "double": "DOUBLE", "int64": "BIGINT", "int32": "INTEGER"}


def is_packed(folder: Path) -> bool:
    """Whether a folder holds packed runs."""
    try:
        return folder.is_dir() and bool(batches(folder))
    except OSError:  # a name that no file can have
        return False


def ask(
    folder: Path, sql: str, seconds: float = SECONDS, parameters: tuple[Any, ...] = ()
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows of one SELECT. Raises TraceError for SQL that is wrong, does anything
    but read the tables, or takes too long."""
    try:
        duckdb: Any = import_module("duckdb")
    except ImportError as error:
        raise TraceError("folders of runs need pyarrow and duckdb", hint=HINT) from error
    if not is_packed(folder):
        raise TraceError(
            "this folder holds no packed runs", str(folder), "uopviz pack RUNS... --to FOLDER"
        )
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise TraceError(f"this query failed: {_line(error)}", sql) from error
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise TraceError("this query failed: a query only reads", sql, "give one SELECT")
    db = duckdb.connect(":memory:")
    timer = threading.Timer(seconds, db.interrupt)
    try:
        _prepare(db, folder)
        timer.start()
        found = db.execute(statements[0], [*parameters]) if parameters else db.execute(sql)
        names = [column[0] for column in found.description or ()]
        return names, [tuple(_plain(value) for value in row) for row in found.fetchall()]
    except duckdb.InterruptException as error:
        raise TraceError(
            f"this query takes more than {seconds:g} seconds", sql, "ask for less: a WHERE"
        ) from error
    except duckdb.Error as error:
        raise TraceError(
            f"this query failed: {_line(error)}", sql, "the tables are " + ", ".join(TABLES)
        ) from error
    finally:
        timer.cancel()
        db.close()


def _prepare(db: Any, folder: Path) -> None:
    for table, columns in TABLES.items():
        files = [str(path.absolute()) for path in files_of(folder, table)]
        if files:
            names = ", ".join("'" + name.replace("'", "''") + "'" for name in files)
            source = f"read_parquet([{names}], union_by_name = true, hive_partitioning = true)"
            db.execute(f"CREATE VIEW {table} AS SELECT * FROM {source}")
        else:
            typed = ", ".join(f'"{n}" {_TYPES[t]}' for n, t in {**RUN, **columns}.items())
            db.execute(f"CREATE TABLE {table}({typed})")
    inside = str(folder.absolute()).replace("'", "''")
    db.execute(f"SET memory_limit = '{MEMORY}'")
    db.execute(f"SET allowed_directories = ['{inside}']")
    db.execute("SET enable_external_access = false")
    db.execute("SET lock_configuration = true")


def _plain(value: Any) -> Any:
    """A value as JSON has it: dates and lists as text."""
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, int | float | str | None) else str(value)


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
