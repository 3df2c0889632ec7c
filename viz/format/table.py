"""Derives DDL, INSERT and SELECT of a table from the class of its rows.

A row is a dataclass. Its fields are the columns, in order; their types say what SQLite stores and
whether a cell may be empty. Cells of an untrusted file are checked against these types
(`Table.read`). Never touches a file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Any, Final, Generic, TypeVar, cast, get_type_hints

from viz.format.cells import as_int

R = TypeVar("R")
_STRING: Final = "number of a text"
String = Annotated[int, _STRING]
"""The number of a text in the blocks of kind STRINGS; as a column it is an integer."""


@dataclass(frozen=True)
class Column:
    """One column: its name, SQLite's type, whether a cell may be empty, and whether its integers
    are numbers of texts."""

    name: str
    type: str
    null: bool
    string: bool


def _int_or_none(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else b""


_TYPES: Final[dict[Any, tuple[Column, Callable[[object], object]]]] = {
    int: (Column("", "INTEGER", False, False), as_int),
    int | None: (Column("", "INTEGER", True, False), _int_or_none),
    String: (Column("", "INTEGER", False, True), as_int),
    str: (Column("", "TEXT", False, False), _text),
    str | None: (Column("", "TEXT", True, False), _text_or_none),
    bytes: (Column("", "BLOB", False, False), _bytes),
}
"""What a field of each type is in SQLite, and how a cell of it is read."""


class Table(Generic[R]):
    """A table called `name` with rows of class `row`; `key` names its primary key, which is the
    first column unless there are several. A field such as `pass_` is the column `pass`."""

    def __init__(self, name: str, row: type[R], *key: str) -> None:
        self.name = name
        self.row = row
        hints = get_type_hints(row, include_extras=True)
        # rows are dataclasses, which no bound of a type variable says without a private module
        fields = [field.name for field in dataclasses.fields(cast("Any", row))]
        self.columns = tuple(
            dataclasses.replace(_TYPES[hints[field]][0], name=field.rstrip("_")) for field in fields
        )
        self.names = tuple(column.name for column in self.columns)
        self.key = key or self.names[:1]
        self.select = f"SELECT {', '.join(self.names)} FROM {name}"
        """Without a condition."""
        marks = ", ".join("?" * len(self.names))
        self.insert = f"INSERT OR REPLACE INTO {name}({', '.join(self.names)}) VALUES({marks})"
        self._cells: Callable[[R], tuple[object, ...]] = attrgetter(*fields)
        self._readers = [_TYPES[hints[field]][1] for field in fields]

    @property
    def ddl(self) -> str:
        """The statement that makes the table. A single integer key is SQLite's row id; a table with
        any other key has none."""
        rowid = self.key == self.names[:1] and self.columns[0].type == "INTEGER"
        cells: list[str] = []
        for column in self.columns:
            is_key = self.key == (column.name,)
            end = " PRIMARY KEY" if is_key else "" if column.null else " NOT NULL"
            cells.append(f"{column.name} {column.type}{end}")
        if len(self.key) > 1:
            cells.append(f"PRIMARY KEY({', '.join(self.key)})")
        return f"CREATE TABLE {self.name}({', '.join(cells)}){'' if rowid else ' WITHOUT ROWID'};"

    def cells(self, row: R) -> tuple[object, ...]:
        """A row as `insert` takes it."""
        return self._cells(row)

    def row_of(self, cells: Sequence[Any]) -> R:
        """A row from cells that are of its types."""
        return self.row(*cells)

    def read(self, cells: Sequence[object]) -> R:
        """A row from cells that may hold anything: 0, "" or None for those of another type."""
        return self.row(*[read(cell) for read, cell in zip(self._readers, cells, strict=True)])
