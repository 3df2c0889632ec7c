"""Runs packed, compared and asked by local clusters of Dask and Ray: what they say is what this
machine says, whatever becomes of a worker. A part of `make nightly`, which installs both."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from core.errors import ServerError
from tests.viz.fleet.clusters import LOST, POISON, size_of
from tests.viz.fleet.test_fleet import write_run
from viz.cli import main
from viz.fleet.asking import ask
from viz.fleet.folder import LocalFolder
from viz.fleet.layout import CONTENTS, TABLES
from viz.fleet.packing import pack
from viz.workers.executors import each_result, executor_at

ROOT = Path(__file__).parents[3]


def port() -> int:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def dask() -> Iterator[str]:
    distributed: Any = import_module("distributed")
    # else a job that ends its worker is done four times before it is said to be lost
    once: Any = import_module("dask").config.set({"distributed.scheduler.allowed-failures": 0})
    with (
        once,
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
    ):
        yield "dask://" + cluster.scheduler_address.partition("://")[2]


def ray() -> Iterator[str]:
    bin = Path(sys.executable).parent
    client, head = port(), port()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0"}
    command = [str(bin / "ray"), "start", "--head", "--num-cpus=2", f"--port={head}"]
    command += [f"--ray-client-server-port={client}", "--include-dashboard=false", "--block"]
    with subprocess.Popen(command, env=environment, start_new_session=True) as cluster:
        try:
            yield f"ray://127.0.0.1:{client}"
        finally:
            os.killpg(cluster.pid, 15)
            cluster.wait()


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(dask, id="dask", marks=pytest.mark.xdist_group("dask")),
        pytest.param(ray, id="ray", marks=pytest.mark.xdist_group("ray")),
    ],
)
def cluster(request: pytest.FixtureRequest) -> Iterator[str]:
    library = "distributed" if request.param is dask else "ray"
    if not find_spec(library):
        pytest.skip(f"{library} is not installed: a part of make nightly has it")
    yield from request.param()


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traces")
    choose = random.Random(1)
    for number in range(12):
        write_run(folder / f"{number:02}.viz", number % 9, number, choose)
    (folder / "none.viz").write_text("no trace")
    (folder / "cut.viz").write_bytes((folder / "00.viz").read_bytes()[:3000])
    return folder


def test_a_cluster_packs_what_this_machine_packs(
    cluster: str, traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[dict[str, Any]] = []
    for to, more in (("here", []), ("there", ["--executor", cluster])):
        assert main(["pack", str(traces), "--to", str(tmp_path / to), "--json", *more]) == 1
        said.append(json.loads(capsys.readouterr().out))
    assert said[0] == said[1]
    assert said[0]["packed"] == 12 and len(said[0]["failed"]) == 2
    for table in (*TABLES, *CONTENTS):
        sql = f"SELECT * FROM {table} ORDER BY ALL"
        here, there = (ask(LocalFolder(tmp_path / to), sql) for to in ("here", "there"))
        assert here == there, table


def test_a_cluster_says_what_duckdb_says(
    cluster: str, traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = LocalFolder(tmp_path)
    pack([*traces.glob("[0-9]*.viz")], folder)
    sql = 'SELECT rule, "commit", count(*) AS n, sum(us) AS us FROM matches GROUP BY ALL'
    merge = 'SELECT rule, "commit", sum(n) AS n, sum(us) AS us FROM parts GROUP BY ALL'
    order = " ORDER BY ALL"
    columns, rows = ask(folder, sql + order)
    given = ["query", str(tmp_path), sql, "--merge", merge + order, "--executor", cluster]
    assert main([*given, "--json", "--whole"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["columns"] == columns and [tuple(row) for row in said["rows"]] == rows


def test_a_cluster_compares_what_this_machine_compares(
    cluster: str, traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for side, shift in (("a", 0), ("b", 1)):
        (tmp_path / side).mkdir()
        for number in range(3):
            source = traces / f"{number + shift * number:02}.viz"
            shutil.copy(source, tmp_path / side / f"{number}.viz")
    given = ["diff", str(tmp_path / "a"), str(tmp_path / "b"), "--json"]
    codes = [main([*given, *more]) for more in ([], ["--executor", cluster])]
    here, there = capsys.readouterr().out.strip().split("\n{", 1)
    assert json.loads(here) == json.loads("{" + there)
    assert codes[0] == codes[1]


def test_a_lost_worker_is_made_up_for_and_a_poisoned_input_is_one_failure(
    cluster: str, tmp_path: Path
) -> None:
    names = ["a", f"{LOST}1", "b", f"{POISON}", "c", f"{LOST}2", "d"]
    paths = [tmp_path / f"{name}.viz" for name in names]
    for size, path in enumerate(paths):
        path.write_bytes(b"x" * size)
    with executor_at(cluster) as executor:
        results = [*each_result(executor, size_of, paths)]
    assert isinstance(results.pop(3), ServerError)
    assert results == [0, 1, 2, 4, 5, 6]
