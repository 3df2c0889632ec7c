"""Runs written into a folder of Parquet tables, in batches.

A batch is a file of each table, `TABLE/date=DATE/BATCH.parquet`, written under another name and
renamed; that of `runs` comes last, and a batch without it does not exist for readers. One packer
works in a folder at a time: a second one waits. A run that is there already, by its bytes, is not
packed again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from core.errors import BudgetError, TraceError
from viz.fleet.tables import RUN, SORTED, TABLES, VERSION, Packed, packed, run_id
from viz.format.schema import SUFFIX
from viz.views.store import Store

HINT: Final = "pip install 'uopviz[fleet]'"
BATCH: Final = 50
"""Runs of a batch: rows of one rule stand together, and row groups are of a useful size."""
GROUP: Final = 122_880
"""Rows of a row group, as DuckDB has them."""
_LOCK: Final = ".packing"

if os.name == "posix":
    import fcntl


def arrow(name: str = "pyarrow") -> Any:
    """A module of pyarrow. Raises TraceError where it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        raise TraceError("folders of runs need pyarrow and duckdb", hint=HINT) from error


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
    folder: Path,
    redact: bool = False,
    tell: Callable[[float, str], None] = lambda share, name: None,
) -> Done:
    """Packs runs. A file that cannot be read is one failure, and the others are packed. Raises
    TraceError where nothing can be written."""
    arrow()
    done = Done()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            _remove_leftovers(folder)
            known = _known(folder)
            waiting: list[Packed] = []
            for at, path in enumerate(paths):
                tell(at / max(1, len(paths)), path.name)
                _take(path, known, waiting, done, redact)
                if len(waiting) == BATCH:
                    _write(folder, waiting, done)
                    waiting = []
            if waiting:
                _write(folder, waiting, done)
    except OSError as error:
        raise TraceError(
            f"the folder cannot be written ({error.strerror or error})",
            str(folder),
            "check the disk and the rights; what is packed already stays",
        ) from error
    return done


def _take(path: Path, known: set[str], waiting: list[Packed], done: Done, redact: bool) -> None:
    store: Store | None = None
    try:
        number = run_id(path)
        if number in known:
            done.known += 1
            return
        store = Store(path)
        waiting.append(packed(store, number, redact))
        known.add(number)
    except (TraceError, BudgetError) as error:
        done.failed.append((str(path), error.what))
    finally:
        if store is not None:
            store.close()


def batches(folder: Path) -> list[Path]:
    """The files of the table `runs`: one for each batch that there is."""
    return sorted(folder.glob("runs/date=*/*.parquet"))


def files_of(folder: Path, table: str) -> list[Path]:
    """The files of a table, of all batches that there are."""
    names = {path.name for path in batches(folder)}
    return sorted(p for p in folder.glob(f"{table}/date=*/*.parquet") if p.name in names)


def drop_before(folder: Path, date: str) -> int:
    """Removes the batches of before a date, and says how many."""
    old = [path for path in batches(folder) if path.parent.name.removeprefix("date=") < date]
    for path in old:
        path.unlink()  # without it, the rest of the batch does not exist
    with _alone(folder):
        _remove_leftovers(folder)
    return len(old)


def _known(folder: Path) -> set[str]:
    parquet = arrow("pyarrow.parquet")
    found: set[str] = set()
    for path in batches(folder):
        found.update(parquet.ParquetFile(path).read(columns=["run_id"])["run_id"].to_pylist())
    return found


def _remove_leftovers(folder: Path) -> None:
    """Removes what a packer left that was ended."""
    names = {path.name for path in batches(folder)}
    for table in TABLES:
        for path in folder.glob(f"{table}/date=*/*"):
            if path.name not in names:
                path.unlink(missing_ok=True)


def _write(folder: Path, runs: Sequence[Packed], done: Done) -> None:
    """Writes a batch for each day of its runs."""
    for date in sorted({run.date for run in runs}):
        own = [run for run in runs if run.date == date]
        numbers = ",".join(sorted(run.head["run_id"] for run in own))
        name = hashlib.sha256(numbers.encode()).hexdigest()[:20] + ".parquet"
        for table in sorted(TABLES, key=lambda table: table == "runs"):  # that one last
            count = _write_table(folder / table / f"date={date}" / name, table, own)
            done.matches += count if table == "matches" else 0
        done.packed += len(own)


def _write_table(path: Path, table: str, runs: Sequence[Packed]) -> int:
    pa, parquet = arrow(), arrow("pyarrow.parquet")
    parts = [_arrow_table(pa, table, run) for run in runs]
    whole = pa.concat_tables(parts).unify_dictionaries()
    if table in SORTED:
        keys = [_ranks(pa, whole[name]) for name in SORTED[table]]
        whole = whole.take(pa.array(np.lexsort(keys[::-1])))
    whole = whole.replace_schema_metadata({"uopviz": str(VERSION)})
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        parquet.write_table(whole, temporary, compression="zstd", row_group_size=GROUP)
        os.replace(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return int(whole.num_rows)


def _arrow_table(pa: Any, table: str, run: Packed) -> Any:
    """The rows of a run; texts as dictionaries, which are stored once for a batch."""
    columns = run.tables[table]
    count = max((len(_values(values)) for values in columns.values()), default=0)
    texts = pa.dictionary(pa.int32(), pa.string())
    made = {
        name: pa.DictionaryArray.from_arrays(pa.array([0] * count, pa.int32()), [run.head[name]])
        for name in RUN
    }
    for name, kind in TABLES[table].items():
        values = columns[name]
        if isinstance(values, tuple):
            made[name] = pa.DictionaryArray.from_arrays(pa.array(values[0]), values[1])
        elif kind == "string":
            made[name] = pa.array(values, pa.string()).dictionary_encode().cast(texts)
        else:
            made[name] = pa.array(values, pa.type_for_alias(kind))
    return pa.table(made)


def _ranks(pa: Any, column: Any) -> Any:
    """What to sort by: numbers, or the ranks of texts."""
    whole = column.combine_chunks()
    if not pa.types.is_dictionary(whole.type):
        return whole.to_numpy(zero_copy_only=False)
    order = np.argsort(np.asarray(whole.dictionary.to_pylist(), np.str_), kind="stable")
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    codes = whole.indices.to_numpy(zero_copy_only=False)
    return ranks[codes] if len(codes) else codes


def _values(values: Any) -> Any:
    return values[0] if isinstance(values, tuple) else values


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Waits until no other packer works in a folder."""
    with (folder / _LOCK).open("w") as file:
        if os.name == "posix":
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
