"""Runs in an object store that speaks the protocol of S3: a server on this machine. A part of `make
nightly`, which installs it."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from core.errors import TraceError
from tests.viz.fleet.test_fleet import write_run
from viz.cli import main
from viz.fleet import lock
from viz.fleet.asking import ask
from viz.fleet.folder import LocalFolder, folder_at
from viz.fleet.layout import CONTENTS, TABLES
from viz.fleet.packing import drop_before, pack

BUCKET = "s3://runs/deep"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    if not find_spec("moto") or not find_spec("s3fs"):
        pytest.skip("moto and s3fs are not installed: a part of make nightly has them")
    threaded: Any = import_module("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    threaded.start()
    host, port = threaded.get_host_and_port()
    yield f"http://{host}:{port}"
    threaded.stop()


@pytest.fixture
def store(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty folder; what a process needs to know of it is in the environment."""
    s3fs: Any = import_module("s3fs")
    told = {"ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x", "DEFAULT_REGION": "us-east-1"}
    for name, value in {**told, "ENDPOINT_URL": server}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    s3fs.S3FileSystem.clear_instance_cache()
    files = s3fs.S3FileSystem()
    if files.exists("runs"):
        files.rm("runs", recursive=True)
    files.mkdir("runs")
    return BUCKET


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traces")
    choose = random.Random(1)
    for commit in range(8):
        for run in range(3):
            write_run(folder / f"c{commit}-{run}.viz", commit, run, choose)
    return folder


def test_it_has_the_rows_of_a_folder(
    store: str, traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    local = str(tmp_path / "runs")
    for to in (local, store):
        assert main(["pack", str(traces), "--to", to, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["packed"] == 24
        assert main(["pack", str(traces), "--to", to, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["known"] == 24
    for table in (*TABLES, *CONTENTS):
        sql = f"SELECT * FROM {table} ORDER BY ALL"
        assert ask(folder_at(store), sql) == ask(LocalFolder(Path(local)), sql), table
    said: list[Any] = []
    sql = "SELECT rule, count(*) AS matches FROM matches GROUP BY rule ORDER BY rule"
    for to in (local, store):
        for given in (["query", to, sql], ["since", to, "--metric", "rule-matches"]):
            assert main([*given, "--json"]) == 0
            said.append(json.loads(capsys.readouterr().out))
    assert said[:2] == said[2:]
    assert {row["commit"] for row in said[1]["changes"]} == {"commit3", "commit5", "commit6"}
    for hostile in ("SELECT * FROM '/etc/passwd'", "SELECT * FROM 's3://other/x.parquet'"):
        with pytest.raises(TraceError, match="this query failed"):
            ask(folder_at(store), hostile)
    assert drop_before(folder_at(store), "9999-01-01") == 1
    with pytest.raises(TraceError, match="no packed runs"):
        ask(folder_at(store), "SELECT 1")


def test_packers_at_once_where_one_is_gone(
    store: str, traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "LEASE", 2.0)
    import_module("s3fs").S3FileSystem().pipe_file("runs/deep/.packers/gone", b"x")
    paths = sorted(traces.glob("*.viz"))
    threads = [
        threading.Thread(target=pack, args=(part, folder_at(store)))
        for part in (paths[:16], paths[8:], paths)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for table in ("runs", "matches"):
        rows = ask(folder_at(store), f"SELECT run_id, count(*) FROM {table} GROUP BY 1")[1]
        assert len(rows) == 24
        assert table != "runs" or {count for _, count in rows} == {1}
    (twice,) = ask(folder_at(store), "SELECT count(*) - count(DISTINCT text) FROM sources")[1]
    assert twice == (0,)


def test_a_bucket_that_is_not_there_is_one_error(store: str, capsys: Any) -> None:
    assert main(["query", "s3://nowhere/runs", "SELECT 1"]) == 2
    assert "nowhere" in capsys.readouterr().err
