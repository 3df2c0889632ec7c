"""Packed runs at addresses of fsspec, what they share, full disks, lost workers."""

from __future__ import annotations

import errno
import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path
from typing import Any

import fsspec
import pyarrow
import pytest
from pyarrow import parquet

import viz
from core import Tensor
from core.errors import TraceError
from viz.fleet import lock, packing
from viz.fleet.asking import Tables, ask, merged
from viz.fleet.folder import Folder, LocalFolder, folder_at
from viz.fleet.listed import PAGE, Fleet
from viz.fleet.packing import drop_before, pack
from viz.fleet.spread import ask_each_day
from viz.views.store import Store


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("traces")
    made = [folder / f"run{number}.viz" for number in range(3)]
    for number, path in enumerate(made):
        with viz.record(path):
            (Tensor([float(number)] * 4).sqrt() + 1).tolist()
    return made


@pytest.fixture
def memory() -> Iterator[Folder]:
    yield folder_at("memory://runs")
    fsspec.filesystem("memory").rm("/", recursive=True)


TABLES = ("runs", "passes", "matches", "rules", "kernels", "launches", "texts", "sources", "nodes")


def test_an_address_has_the_rows_of_a_folder(
    traces: list[Path], tmp_path: Path, memory: Folder
) -> None:
    local = LocalFolder(tmp_path)
    for folder in (local, memory):
        assert pack(traces[:2], folder).packed == 2
        assert pack(traces, folder).packed == 1
    for table in TABLES:
        sql = f"SELECT * FROM {table} ORDER BY ALL"
        assert ask(memory, sql) == ask(local, sql), table
    with pytest.raises(TraceError):
        ask(memory, "SELECT * FROM read_text('/etc/passwd')")


def test_what_runs_share_is_stored_once(traces: list[Path], tmp_path: Path) -> None:
    folder = LocalFolder(tmp_path)
    pack(traces[:1], folder)
    once = ask(folder, "SELECT count(*) FROM nodes")[1]
    before = folder.names("sources")
    pack(traces, folder)
    assert ask(folder, "SELECT count(DISTINCT graph) FROM kernels")[1][0][0] >= 1
    assert ask(folder, "SELECT count(*) FROM (SELECT DISTINCT * FROM nodes)") == ask(
        folder, "SELECT count(*) FROM nodes"
    )
    assert once[0][0] > 0 and before
    missing = "SELECT count(*) FROM texts WHERE text IS NOT NULL AND text NOT IN "
    assert ask(folder, missing + "(SELECT text FROM sources)")[1] == [(0,)]
    drop_before(folder, "9999-01-01")
    assert [name for table in TABLES for name in folder.names(table)] == []


def test_a_full_disk_loses_nothing(
    traces: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = LocalFolder(tmp_path)
    pack(traces[:1], folder)
    before = ask(folder, "SELECT * FROM matches ORDER BY ALL")
    write = LocalFolder.write

    def full(self: LocalFolder, name: str, data: Any) -> None:
        if name.startswith("runs"):
            raise OSError(errno.ENOSPC, "No space left on device")
        write(self, name, data)

    monkeypatch.setattr(LocalFolder, "write", full)
    with pytest.raises(TraceError, match="No space left"):
        pack(traces, folder)
    monkeypatch.undo()
    assert ask(folder, "SELECT * FROM matches ORDER BY ALL") == before
    assert pack(traces, folder).packed == 2


class Losing(Executor):
    """Loses what works on a job, as often as it is told to."""

    def __init__(self, times: int) -> None:
        self.times = times

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self.times:
            self.times -= 1
            future.set_exception(BrokenProcessPool("a worker ended"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_a_lost_worker_is_made_up_for(traces: list[Path], tmp_path: Path) -> None:
    done = pack(traces, LocalFolder(tmp_path / "some"), executor=Losing(2))
    assert (done.packed, done.failed) == (3, [])
    done = pack(traces[:1], LocalFolder(tmp_path / "all"), executor=Losing(99))
    assert done.packed == 0
    assert [file for file, _ in done.failed] == [str(traces[0])]


def test_an_error_that_nobody_expects_is_one_failure(
    traces: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Store.run

    def failing(store: Store) -> dict[str, Any]:
        if store.path == traces[1]:
            raise KeyError("nobody expects it")
        return run(store)

    monkeypatch.setattr(Store, "run", failing)
    done = pack(traces, LocalFolder(tmp_path))
    assert done.packed == 2
    ((file, what),) = done.failed
    assert file == str(traces[1]) and "KeyError" in what


def test_days_that_are_asked_apart_are_merged(traces: list[Path], tmp_path: Path) -> None:
    folder = LocalFolder(tmp_path)
    pack(traces, folder)
    for name in [name for table in TABLES for name in folder.names(table)]:
        if name.partition("/")[0] not in ("sources", "nodes"):  # the same runs, a day later
            other = name.split("/")[0] + "/date=2100-01-01/" + name.rpartition("/")[2]
            folder.write(other, (tmp_path / name).read_bytes())
    sql = "SELECT rule, count(*) AS matches, sum(us) AS us FROM matches GROUP BY rule"
    merge = "SELECT rule, sum(matches) AS matches, sum(us) AS us FROM parts GROUP BY rule"
    order = " ORDER BY rule"
    assert ask_each_day(str(tmp_path), sql, merge + order) == ask(folder, sql + order)
    once = "SELECT count(*) AS graphs FROM nodes"
    rows = ask_each_day(str(tmp_path), once, "SELECT max(graphs), count(*) FROM parts")[1]
    assert rows == [(ask(folder, once)[1][0][0], 2)]
    for wrong in ("SELECT * FROM '/etc/passwd'", "SELECT * FROM runs", "DROP TABLE parts"):
        with pytest.raises(TraceError, match="this query failed"):
            merged(["x"], [(1,)], wrong)
    with pytest.raises(TraceError, match=r"of \d{4}-\d\d-\d\d: this query failed"):
        ask_each_day(str(tmp_path), "nonsense", merge)


def test_what_the_page_asks(traces: list[Path], tmp_path: Path) -> None:
    pack(traces, LocalFolder(tmp_path))
    fleet = Fleet(LocalFolder(tmp_path))
    summary, names = fleet.summary(), fleet.names()
    assert summary["runs"] == 3
    wanted = ask(LocalFolder(tmp_path), "SELECT rule, sum(matches) FROM rules GROUP BY 1")[1]
    assert {(r["name"], r["matches"]) for r in names["rules"]} == set(wanted)
    listed = fleet.runs("", "-time", 0)
    times = [run["time"] for run in listed["runs"]]
    assert listed["total"] == 3 <= PAGE and times == sorted(times, reverse=True)
    kernel = names["kernels"][0]["name"]
    assert fleet.runs(kernel, "time", 0)["total"] == names["kernels"][0]["runs"]
    assert fleet.runs("", "time", PAGE) == {"total": 3, "begin": PAGE, "runs": []}
    assert fleet.runs("there is no such text", "time", 0)["runs"] == []
    assert fleet.runs("' OR 1 = 1 --", "time; DROP TABLE runs", 0)["total"] == 0
    series = fleet.series("rule-matches", names["rules"][0]["name"])
    assert sum(len(p["points"]) for p in series["programs"]) >= 1
    assert fleet.trace(listed["runs"][0]["run"]) in traces
    with pytest.raises(TraceError, match="not among"):
        fleet.trace("nothing")
    newest = "SELECT path FROM runs WHERE time = (SELECT max(time) FROM runs)"
    assert (str(fleet.youngest()),) in ask(LocalFolder(tmp_path), newest)[1]
    json.dumps([summary, names, listed, series], allow_nan=False)
    fleet.prepare().join()
    assert fleet.names() is names  # kept, while no run is added


def test_a_packer_that_is_gone_is_waited_for_no_longer(
    traces: list[Path], memory: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "LEASE", 1.0)
    files = fsspec.filesystem("memory")
    files.makedirs("/runs/.packers", exist_ok=True)
    files.pipe_file("/runs/.packers/gone", b"\xff")
    assert pack(traces[:1], memory).packed == 1
    assert files.find("/runs/.packers") == []


def test_packers_that_find_one_gone_do_not_work_at_once(
    traces: list[Path], memory: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All see at the same time that it is gone."""
    monkeypatch.setattr(lock, "LEASE", 1.0)
    files = fsspec.filesystem("memory")
    files.makedirs("/runs/.packers", exist_ok=True)
    files.pipe_file("/runs/.packers/gone", b"")
    here: list[int] = []
    most: list[int] = []

    def work() -> None:
        with folder_at("memory://runs").alone():
            here.append(1)
            most.append(len(here))
            time.sleep(0.2)
            here.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1, 1, 1]


def test_a_packer_that_stood_still_writes_no_run(
    traces: list[Path], memory: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one took it for gone, and has packed the same runs."""
    files = fsspec.filesystem("memory")
    write = packing.write_table
    monkeypatch.setattr(lock, "_PAUSE", 0.01)

    def still(folder: Folder, name: str, *rest: Any) -> int:
        if name.startswith("rules") and not still_done:
            still_done.append(name)
            for other in files.find("/runs/.packers"):
                files.rm_file(other)
            assert pack(traces[:2], folder_at("memory://runs")).packed == 2
        return write(folder, name, *rest)

    still_done: list[str] = []
    monkeypatch.setattr(packing, "write_table", still)
    with pytest.raises(TraceError, match="stood still"):
        pack(traces, memory)
    monkeypatch.undo()
    assert pack(traces, memory).packed == 1
    count = "SELECT count(*), count(DISTINCT run_id) FROM runs"
    assert ask(memory, count)[1] == [(3, 3)]
    for table, digest in (("sources", "text"), ("nodes", "graph || '/' || node")):
        sql = f"SELECT count(*) - count(DISTINCT {digest}) FROM {table}"
        assert ask(memory, sql)[1] == [(0,)], table


def test_a_run_lies_in_the_folder_whatever_its_date(
    traces: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Store.run

    def hostile(store: Store) -> dict[str, Any]:
        return {**run(store), "started": "../../../.."}

    monkeypatch.setattr(Store, "run", hostile)
    folder = tmp_path / "deep" / "runs"
    assert pack(traces[:1], LocalFolder(folder)).packed == 1
    assert all(path.is_relative_to(folder) for path in tmp_path.rglob("*.parquet"))
    assert ask(LocalFolder(folder), "SELECT DISTINCT date FROM matches")[1] == [("unknown",)]


@pytest.mark.parametrize("table", ["runs", "sources"])
def test_a_file_that_is_no_table_is_an_error(
    table: str, traces: list[Path], tmp_path: Path
) -> None:
    folder = LocalFolder(tmp_path)
    pack(traces[:1], folder)
    (name,) = folder.names(table)
    folder.write(name, b"junk")
    with pytest.raises(TraceError, match=f"{name} is not a table of packed runs"):
        pack(traces, folder)
    with pytest.raises(TraceError, match=r"Parquet"):
        Tables(folder, held=(table,))


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("runs", "seconds", math.nan),
        ("rules", "us", math.inf),
        ("rules", "us", None),
        ("runs", "path", "x" * 100_000),
    ],
    ids=["NaN", "infinite", "NULL", "a name too long for a file"],
)
def test_the_page_can_show_whatever_is_in_the_tables(
    table: str, column: str, value: object, traces: list[Path], tmp_path: Path
) -> None:
    folder = LocalFolder(tmp_path)
    pack(traces[:1], folder)
    ((rule, run),) = ask(folder, "SELECT min(rule), min(run_id) FROM rules")[1]
    (name,) = folder.names(table)
    rows = parquet.ParquetFile(tmp_path / name).read()
    at, field = rows.schema.get_field_index(column), rows.schema.field(column)
    changed = pyarrow.array([value] * rows.num_rows).cast(field.type)
    parquet.write_table(rows.set_column(at, field, changed), tmp_path / name)
    fleet = Fleet(folder)
    json.dumps(
        [
            *(fleet.summary(), fleet.names(), fleet.runs("", "time", 0)),
            fleet.series("rule-time", rule),
        ],
        allow_nan=False,
    )
    with suppress(TraceError):
        fleet.trace(run)


def test_a_query_that_is_no_text_is_an_error(traces: list[Path], tmp_path: Path) -> None:
    pack(traces[:1], LocalFolder(tmp_path))
    with pytest.raises(TraceError, match="this query failed"):
        ask(LocalFolder(tmp_path), "SELECT '\udcff'")
