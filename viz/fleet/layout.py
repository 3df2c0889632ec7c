"""The tables of a folder of packed runs: their columns, and which files are theirs.

Every table begins with the columns of RUN, so that none needs a join to be filtered. Never writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from viz.fleet.folder import Folder

VERSION: Final = 1
"""Of the tables. Columns are only added: an older folder has them as NULL."""
RUN: Final = {
    "run_id": "string",
    "commit": "string",
    "compiler": "string",
    "program": "string",
    "time": "string",
}
TABLES: Final[Mapping[str, Mapping[str, str]]] = {
    "runs": {
        "file": "string",
        "path": "string",
        "seconds": "double",
        "kernels": "int64",
        "steps": "int64",
    },
    "passes": {
        "number": "int64",
        "kernel": "string",
        "pass": "string",
        "us": "int64",
        "matches": "int64",
        "declines": "int64",
        "nodes": "int64",
    },
    "matches": {
        "rule": "string",
        "kernel": "string",
        "pass": "int64",
        "step": "int32",
        "us": "int32",
    },
    "rules": {
        "rule": "string",
        "file": "string",
        "line": "int64",
        "matches": "int64",
        "declines": "int64",
        "us": "double",
    },
    "kernels": {
        "number": "int64",
        "kernel": "string",
        "us": "int64",
        "matches": "int64",
        "graph": "string",
    },
    "launches": {"kernel": "string", "device": "string", "ns": "int64", "bytes": "int64"},
    "texts": {
        "kernel": "string",
        "kind": "string",
        "target": "string",
        "registers": "int64",
        "text": "string",
    },
    "checks": {
        "pass": "int64",
        "rule": "string",
        "verdict": "string",
        "steps": "int64",
        "first": "int64",
    },
}
"""The columns of each table behind those of RUN, with their types in Arrow."""
CONTENTS: Final[Mapping[str, Mapping[str, str]]] = {
    "sources": {"text": "string", "source": "string"},
    "nodes": {
        "graph": "string",
        "node": "int64",
        "op": "string",
        "dtype": "string",
        "arg": "string",
        "sources": "string",
    },
}
"""The columns of tables of what runs share, by the digest that stands first: it is stored once,
however many runs have it."""
SORTED: Final[Mapping[str, tuple[str, ...]]] = {
    "matches": ("rule", "kernel", "run_id", "pass", "step"),
    "rules": ("rule", "run_id"),
    "passes": ("pass", "run_id"),
    "kernels": ("kernel", "run_id"),
    "launches": ("kernel", "run_id"),
    "texts": ("kernel", "run_id"),
    "checks": ("rule", "run_id"),
}
"""What the rows of a batch are sorted by, so that a question about one rule or kernel reads little,
and equal values stand together."""


def files_of(folder: Folder, table: str, runs: Sequence[str] | None = None) -> list[str]:
    """The files of a table, of all batches that there are, or of those whose files of `runs` are
    given."""
    if runs is None:
        runs = [name for name in folder.names("runs") if name.endswith(".parquet")]
    if table in CONTENTS:
        return [name for name in folder.names(table) if name.endswith(".parquet")] if runs else []
    there = {name.partition("/")[2] for name in runs}
    return [name for name in folder.names(table) if name.partition("/")[2] in there]


def days_of(folder: Folder) -> list[str]:
    """The days that have runs."""
    return sorted({day_of(name) for name in files_of(folder, "runs")})


def day_of(name: str) -> str:
    """The day of a file, as its folder says it."""
    return name.split("/")[1].removeprefix("date=")
