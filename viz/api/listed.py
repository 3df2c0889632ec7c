"""Rows for scripts: sequences of typed objects, and the rows of a query, that table libraries read.

`__arrow_c_stream__` is the Arrow PyCapsule interface: `pandas.DataFrame.from_arrow(run.kernels)`,
`polars.from_dataframe`, `duckdb.sql` and `pyarrow.table` take such an object. It needs pyarrow,
which nothing else here does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, Generic, TypeVar, overload

from core.errors import TraceError

T = TypeVar("T")
Columns = Mapping[str, Sequence[Any]]
"""The values of each column, of equal length."""
HINT: Final = "pip install 'uopviz[fleet]'"


def arrow_stream(columns: Columns, requested_schema: object | None) -> object:
    """The columns as a capsule of an Arrow stream. Raises TraceError where pyarrow is missing."""
    try:
        arrow: Any = import_module("pyarrow")
    except ImportError as error:
        raise TraceError("rows as an Arrow table need pyarrow", hint=HINT) from error
    table = arrow.table({name: [*values] for name, values in columns.items()})
    return table.__arrow_c_stream__(requested_schema)


class Listed(Sequence[T], Generic[T]):
    """Objects in their order; the figures of all of them as an Arrow stream."""

    def __init__(self, items: Sequence[T], columns: Callable[[T], Mapping[str, Any]]) -> None:
        self._items, self._columns = items, columns

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Listed[T]: ...
    def __getitem__(self, index: int | slice) -> T | Listed[T]:
        if isinstance(index, slice):
            return Listed(self._items[index], self._columns)
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __repr__(self) -> str:
        return repr([*self._items])

    def rows(self) -> list[dict[str, Any]]:
        """The figures of each object, by name."""
        return [dict(self._columns(item)) for item in self._items]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        rows = self.rows()
        names = list(rows[0]) if rows else []
        return arrow_stream({name: [row[name] for row in rows] for name in names}, requested_schema)


class Table:
    """The answer of a query: `columns` are the names, `rows` the values."""

    def __init__(self, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
        self.columns: tuple[str, ...] = tuple(columns)
        self.rows: list[tuple[Any, ...]] = [*rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"Table({', '.join(self.columns)}: {len(self.rows)} rows)"

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        values = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.columns)
        named = dict(zip(self.columns, values, strict=True))
        if len(named) < len(self.columns):
            raise TraceError(
                "two columns of this query have one name", hint="name them apart: SELECT a AS x"
            )
        return arrow_stream(named, requested_schema)
