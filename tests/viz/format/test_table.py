"""Tables that are declared by the classes of their rows."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.viz.format.test_old_traces import VERSION2
from viz.format import rows
from viz.format.blocks import PACKED
from viz.format.table import String, Table


@dataclass(slots=True)
class Row:
    """A row with every type that a column may have."""

    id: int
    pass_: String
    text: str
    data: bytes
    us: int | None = None
    error: str | None = None


TABLE = Table("things", Row)


def test_the_statements() -> None:
    assert TABLE.ddl == (
        "CREATE TABLE things(id INTEGER PRIMARY KEY, pass INTEGER NOT NULL, text TEXT NOT NULL, "
        "data BLOB NOT NULL, us INTEGER, error TEXT);"
    )
    names = "id, pass, text, data, us, error"
    assert TABLE.select == f"SELECT {names} FROM things"
    assert TABLE.insert == f"INSERT OR REPLACE INTO things({names}) VALUES(?, ?, ?, ?, ?, ?)"
    assert [column.name for column in TABLE.columns if column.string] == ["pass"]


def test_a_key_of_two_columns() -> None:
    table = Table("pairs", Row, "id", "pass")
    assert "id INTEGER NOT NULL" in table.ddl
    assert table.ddl.endswith("error TEXT, PRIMARY KEY(id, pass)) WITHOUT ROWID;")


def test_rows_come_back() -> None:
    db = sqlite3.connect(":memory:")
    db.execute(TABLE.ddl)
    made = [Row(1, 2, "a", b"b"), Row(2, 0, "", b"", 5, "e")]
    db.executemany(TABLE.insert, map(TABLE.cells, made))
    assert [TABLE.read(cells) for cells in db.execute(TABLE.select)] == made
    db.close()


cells = st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=5))


@given(st.lists(cells, min_size=6, max_size=6))
def test_cells_of_other_types_are_empty(found: list[object]) -> None:
    row = TABLE.read(found)
    assert type(row.id) is int and type(row.pass_) is int
    assert type(row.text) is str and type(row.data) is bytes
    assert row.us is None or type(row.us) is int
    assert row.error is None or type(row.error) is str


@pytest.mark.parametrize("table", rows.TABLES, ids=lambda table: table.name)
def test_tables_are_those_of_old_files(table: Table[object]) -> None:
    """A column that is added needs a higher version, and a reader that does without it."""
    asked = f"PRAGMA table_info({table.name})"
    new, old = sqlite3.connect(":memory:"), sqlite3.connect(f"file:{VERSION2}?mode=ro", uri=True)
    new.executescript(rows.DDL)
    assert new.execute(asked).fetchall() == old.execute(asked).fetchall()
    new.close()
    old.close()


def test_a_block_whose_columns_have_not_one_length_is_no_rows() -> None:
    names = {columns.name: columns for columns in PACKED}
    launches = names["launches"]
    whole = [[1, 2], [3, 3], [10, 20], [5, 6], [0, 1]]
    assert launches.rows(launches.pack(whole), 0) == [(1, 3, 10, 5, 0), (2, 3, 20, 6, 1)]
    with pytest.raises(Exception, match="a block of launches is damaged"):
        launches.rows(launches.pack([*whole[:4], [0]]), 0)
