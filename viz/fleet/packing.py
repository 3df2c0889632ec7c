"""Runs written into a folder of Parquet tables, in batches.

A batch is a file of each table, `TABLE/date=DATE/BATCH.parquet`; that of `runs` comes last, and a
batch without it does not exist for readers. What runs share is stored once, in files that belong to
no batch. A run that is there already, by its bytes, is not packed again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from core.errors import BudgetError, TraceError, UopvizError
from viz.fleet.folder import Folder, module
from viz.fleet.layout import CONTENTS, RUN, SORTED, TABLES, VERSION, day_of, files_of
from viz.fleet.lock import Guard
from viz.fleet.tables import Coded, Packed, packed, run_id
from viz.format.schema import SUFFIX
from viz.views.store import Store
from viz.workers.executors import each_result

BATCH: Final = 50
"""Runs of a batch: rows of one rule stand together, and row groups are of a useful size."""
GROUP: Final = 122_880
"""Rows of a row group, as DuckDB has them."""


@dataclass
class Done:
    """What packing came to."""

    packed: int = 0
    known: int = 0
    """Runs that were there already."""
    failed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Files that are no runs, or cannot be read, and why."""
    matches: int = 0


def traces_in(paths: Sequence[Path]) -> list[Path]:
    """The traces that are meant: files, and all in folders. Raises TraceError where there is no
    such file."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise TraceError("there is no such file or folder", str(path), "check the path")
        found += sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]
    return list(dict.fromkeys(found))


def pack(
    paths: Sequence[Path],
    folder: Folder,
    redact: bool = False,
    tell: Callable[[float, str], None] = lambda share, name: None,
    executor: Executor | None = None,
) -> Done:
    """Packs runs, which `executor` reads. A file that cannot be read is one failure, and the others
    are packed. Raises TraceError where nothing can be written."""
    done = Done()
    module("pyarrow")
    try:
        with folder.alone() as guard:
            _remove_leftovers(folder)
            _pack(paths, folder, redact, tell, executor, done, guard)
    except OSError as error:
        raise _unwritable(folder, error) from error
    return done


def _pack(
    paths: Sequence[Path],
    folder: Folder,
    redact: bool,
    tell: Callable[[float, str], None],
    executor: Executor | None,
    done: Done,
    guard: Guard,
) -> None:
    known = set(_column(folder, files_of(folder, "runs"), "run_id"))
    shared = {
        table: set(_column(folder, folder.names(table), next(iter(columns))))
        for table, columns in CONTENTS.items()
    }
    for begin in range(0, len(paths), BATCH):
        tell(begin / len(paths), paths[begin].name)
        new: list[tuple[Path, str, bool]] = []
        part = paths[begin : begin + BATCH]
        for path, number in zip(part, each_result(executor, _named, part), strict=True):
            if isinstance(number, UopvizError):
                done.failed.append((str(path), number.what))
            elif number in known:
                done.known += 1
            else:
                known.add(number)
                new.append((path, number, redact))
        runs: list[Packed] = []
        for (path, number, _), run in zip(new, each_result(executor, _read, new), strict=True):
            if isinstance(run, UopvizError):
                known.discard(number)
                done.failed.append((str(path), run.what))
            else:
                runs.append(run)
            tell((begin + len(runs)) / len(paths), path.name)
        write_batch(folder, runs, shared, done, guard)


def _named(path: Path) -> str | UopvizError:
    try:
        return run_id(path)
    except TraceError as error:
        return error


def _read(job: tuple[Path, str, bool]) -> Packed | UopvizError:
    """The rows of a run: a job of any machine that reads the file at this path."""
    path, number, redact = job
    store: Store | None = None
    try:
        store = Store(path)
        return packed(store, number, redact)
    except (TraceError, BudgetError) as error:
        return error
    except Exception as error:  # whatever is wrong with one run, the others are packed
        return TraceError(f"it cannot be read ({type(error).__name__}: {error})"[:500], str(path))
    finally:
        if store is not None:
            store.close()


def drop_before(folder: Folder, date: str) -> int:
    """Removes the batches of before a date, and says how many."""
    module("pyarrow")
    try:
        with folder.alone():
            old = [name for name in files_of(folder, "runs") if day_of(name) < date]
            for name in old:
                folder.remove(name)  # without it, the rest of the batch does not exist
            _remove_leftovers(folder)
            if old:
                _remove_unused(folder)
    except OSError as error:
        raise _unwritable(folder, error) from error
    return len(old)


def _unwritable(folder: Folder, error: OSError) -> TraceError:
    return TraceError(
        f"the folder cannot be written ({error.strerror or error})",
        folder.address,
        "check the disk and the rights; what is packed already stays",
    )


def _column(folder: Folder, names: Sequence[str], column: str) -> Iterator[str]:
    parquet = module("pyarrow.parquet")
    for name in names:
        if name.endswith(".parquet"):
            try:
                table = parquet.ParquetFile(folder.read(name)).read(columns=[column])
                found = table[column].to_pylist()
            except (ValueError, KeyError) as error:  # what pyarrow raises
                raise TraceError(
                    f"{name} is not a table of packed runs ({error})",
                    folder.address,
                    "remove that file, and pack its runs again",
                ) from error
            yield from found


def _remove_leftovers(folder: Folder) -> None:
    """Removes what a packer left that was ended."""
    for table in TABLES:
        kept = set(files_of(folder, table))
        for name in folder.names(table):
            if name not in kept or not name.endswith(".parquet"):
                folder.remove(name)
    for table in CONTENTS:
        for name in folder.names(table):
            if not name.endswith(".parquet"):
                folder.remove(name)


def _remove_unused(folder: Folder) -> None:
    """Removes files of contents that no run has any more."""
    for table, of in (("sources", "texts"), ("nodes", "kernels")):
        digest = next(iter(CONTENTS[table]))
        used = set(_column(folder, files_of(folder, of), digest))
        for name in folder.names(table):
            if used.isdisjoint(_column(folder, [name], digest)):
                folder.remove(name)


def write_batch(
    folder: Folder,
    runs: Sequence[Packed],
    shared: dict[str, set[str]],
    done: Done,
    guard: Guard = lambda: None,
) -> None:
    """Writes a batch for each day of its runs. `guard` is called before anything appears."""
    for date in sorted({run.date for run in runs}):
        own = [run for run in runs if run.date == date]
        numbers = ",".join(sorted(run.head["run_id"] for run in own))
        name = f"date={date}/{hashlib.sha256(numbers.encode()).hexdigest()[:20]}.parquet"
        for table in CONTENTS:
            guard()
            _write_contents(folder, f"{table}/{name}", table, own, shared[table])
        for table in sorted(TABLES, key=lambda table: table == "runs"):  # that one last
            if table == "runs":
                guard()
            count = write_table(folder, f"{table}/{name}", table, own)
            done.matches += count if table == "matches" else 0
        done.packed += len(own)


def _write_contents(
    folder: Folder, name: str, table: str, runs: Sequence[Packed], known: set[str]
) -> None:
    """Writes what no file has yet."""
    new = {
        digest: rows
        for run in runs
        for digest, rows in run.contents[table].items()
        if digest not in known
    }
    if new:
        rows = [(digest, *row) for digest in sorted(new) for row in new[digest]]
        columns = zip(CONTENTS[table].items(), zip(*rows, strict=True), strict=True)
        made = {key: _column_of(kind, values) for (key, kind), values in columns}
        _put(folder, name, module("pyarrow").table(made))
        known.update(new)


def write_table(folder: Folder, name: str, table: str, runs: Sequence[Packed]) -> int:
    pa = module("pyarrow")
    whole = pa.concat_tables([_arrow_table(table, run) for run in runs]).unify_dictionaries()
    if table in SORTED:
        keys = [_ranks(whole[name]) for name in SORTED[table]]
        whole = whole.take(pa.array(np.lexsort(keys[::-1])))
    _put(folder, name, whole)
    return int(whole.num_rows)


def _put(folder: Folder, name: str, table: Any) -> None:
    output = module("pyarrow").BufferOutputStream()
    table = table.replace_schema_metadata({"uopviz": str(VERSION)})
    parquet = module("pyarrow.parquet")
    parquet.write_table(table, output, compression="zstd", row_group_size=GROUP)
    folder.write(name, output.getvalue())


def _arrow_table(table: str, run: Packed) -> Any:
    """The rows of a run; texts as dictionaries, which are stored once for a batch."""
    pa = module("pyarrow")
    columns = run.tables[table]
    count = max(map(len, columns.values()))
    made = {
        name: pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), [run.head[name]])
        for name in RUN
    }
    for name, kind in TABLES[table].items():
        made[name] = _column_of(kind, columns[name])
    return pa.table(made)


def _column_of(kind: str, values: Any) -> Any:
    pa = module("pyarrow")
    if isinstance(values, Coded):
        return pa.DictionaryArray.from_arrays(pa.array(values.codes), values.names)
    if kind == "string":
        texts = pa.dictionary(pa.int32(), pa.string())
        return pa.array(values, pa.string()).dictionary_encode().cast(texts)
    return pa.array(values, pa.type_for_alias(kind))


def _ranks(column: Any) -> Any:
    """What to sort by: numbers, or the ranks of texts."""
    whole = column.combine_chunks()
    if not module("pyarrow").types.is_dictionary(whole.type):
        return whole.to_numpy(zero_copy_only=False)
    order = np.argsort(np.asarray(whole.dictionary.to_pylist(), np.str_), kind="stable")
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    codes = whole.indices.to_numpy(zero_copy_only=False)
    return ranks[codes] if len(codes) else codes
