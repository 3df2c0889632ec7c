"""Ten thousand packed runs: one batch that is repeated with other times and identities, without
matches, which the page does not read.

Times differ from run to run, and the costliest rules are slower from one commit on. A function of
its arguments. Writes as `pack` does.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.bench.fleet.eras import COMMITS
from tests.bench.fleet.runs import NOISE, START, commit_name
from viz.fleet.folder import folder_at
from viz.fleet.layout import CONTENTS, TABLES
from viz.fleet.packing import BATCH, GROUP, Done, write_batch
from viz.fleet.tables import Columns, Packed, packed
from viz.views.store import Store

SLOWER: Final = 7, 1.5
"""The commit from which on the costliest rule of each program is slower, and how much."""
_TIMES: Final = {"rules": "us", "passes": "us", "kernels": "us", "launches": "ns"}


def write_many(recorded: Mapping[str, Path], to: Path, count: int) -> None:
    """Packs `count` runs, whole batches of them, of the programs in turn."""
    with tempfile.TemporaryDirectory() as place:
        template = Path(place)
        _write_first(recorded, template)
        tables = {table: _only(template / table) for table in (*TABLES, *CONTENTS)}
        costliest = _costliest(tables["rules"])
    batches = -(-count // BATCH)
    for number in range(batches):
        commit = number * COMMITS // batches
        time = (START + timedelta(hours=4 * commit, minutes=number)).isoformat()
        for table in TABLES:
            made = _renamed(tables[table], number, commit_name(commit), time)
            if table in _TIMES:
                slower = costliest if table == "rules" and commit >= SLOWER[0] else None
                made = _retimed(made, _TIMES[table], number, slower)
            _write(made, to / table / f"date={time[:10]}" / f"{number:05}.parquet")
    for table in CONTENTS:
        _write(tables[table], to / table / f"date={START:%Y-%m-%d}" / "all.parquet")


def _write_first(recorded: Mapping[str, Path], folder: Path) -> None:
    """A batch of recordings, each as often as the others."""
    rows = {program: _packed(path) for program, path in recorded.items()}
    programs = [*rows]
    runs: list[Packed] = []
    for at in range(BATCH):
        run = rows[programs[at % len(programs)]]
        head = {**run.head, "run_id": f"{at:032x}", "program": programs[at % len(programs)]}
        runs.append(replace(run, head=head, date="2026-01-01"))
    write_batch(folder_at(folder), runs, {table: set() for table in CONTENTS}, Done())


def _packed(path: Path) -> Packed:
    store = Store(path)
    try:
        run = packed(store, "")
        none: Columns = {name: [] for name in TABLES["matches"]}
        return replace(run, tables={**run.tables, "matches": none})
    finally:
        store.close()


def _only(folder: Path) -> Any:
    (path,) = folder.glob("*/*.parquet")
    columns = ["run_id", "commit", "time"] if "run_id" in pq.read_schema(path).names else []
    return pq.read_table(path, read_dictionary=columns, partitioning=None).combine_chunks()


def _costliest(rules: Any) -> Any:
    """Which rows are of the rule that takes longest in their run."""
    us = np.asarray(rules["us"], np.float64)
    runs = rules["run_id"].combine_chunks().indices.to_numpy()
    most = np.zeros(int(runs.max()) + 1)
    np.maximum.at(most, runs, us)
    return us == most[runs]


def _renamed(table: Any, number: int, commit: str, time: str) -> Any:
    """Another batch: of the same rows, with runs of other names."""
    names = table["run_id"].combine_chunks()
    runs = [f"{number:08x}{text.as_py()[8:]}" for text in names.dictionary]
    if table.num_rows:
        codes = pa.array(np.zeros(table.num_rows, np.int32))
        columns = {
            "run_id": pa.DictionaryArray.from_arrays(names.indices, runs),
            "commit": pa.DictionaryArray.from_arrays(codes, [commit]),
            "time": pa.DictionaryArray.from_arrays(codes, [time]),
        }
        for name, column in columns.items():
            table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def _retimed(table: Any, column: str, number: int, slower: Any) -> Any:
    """With the times of another day: each run, and each row, a little apart."""
    noise = np.random.default_rng(number)
    names = table["run_id"].combine_chunks()
    of_runs = noise.lognormal(0, NOISE, len(names.dictionary) + 1)
    times = np.asarray(table[column], np.float64) * of_runs[names.indices.to_numpy()]
    times *= noise.lognormal(0, 2 * NOISE, len(times))
    if slower is not None:
        times[slower] *= SLOWER[1]
    at = table.schema.get_field_index(column)
    made = pa.array(np.rint(times)).cast(table.schema.field(at).type)
    return table.set_column(at, column, made)


def _write(table: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, compression="zstd", row_group_size=GROUP)
