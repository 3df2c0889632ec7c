"""Exports as jobs: how far they are, what they leave behind, and what ends them."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from flask.testing import FlaskClient

import viz.jobs.jobs
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.core.runtime.asts import add
from tests.viz.samples import random_graph, rules
from tests.viz.server.client import ended
from viz.jobs.exports import Exports
from viz.jobs.jobs import Job, Jobs
from viz.share.reopened import open_run
from viz.trace import Recorder
from viz.views.answers import EMULATED
from viz.views.store import Store
from viz.work.emulation import emulate


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this process makes its temporary folders."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    made = Jobs()
    yield made
    made.close()


@pytest.fixture
def exports(jobs: Jobs, dist: Path, temporary: Path) -> Iterator[Exports]:
    made = Exports(jobs)
    yield made
    jobs.close()
    made.close()


@pytest.fixture(scope="module")
def long_trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose export takes a second or so."""
    path = tmp_path_factory.mktemp("long") / "long.viz"
    recorder = Recorder(path).start()
    try:
        for i in range(250):
            with context(f"kernel_{i}", "kernel", target="x86-64"):
                graph_rewrite(random_graph(i), rules, name="simplify")
    finally:
        recorder.close()
    return path


@pytest.fixture
def long(long_trace: Path) -> Iterator[Store]:
    made = Store(long_trace)
    yield made
    made.close()


def wait(what: Callable[[], bool], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until
        time.sleep(0.005)


def job_of(jobs: Jobs, number: int) -> Job:
    job = jobs.get(number)
    assert job is not None
    return job


def working(job: Job) -> bool:
    """Whether it has begun to collect answers, and is not done."""
    return job.state == "running" and "% " not in job.progress and " of " in job.progress


def test_progress_goes_up(exports: Exports, jobs: Jobs, long: Store) -> None:
    job = job_of(jobs, exports.start([long], []))
    heard: list[str] = []
    until = time.monotonic() + 60
    while job.state == "running" and time.monotonic() < until:
        if not heard or job.progress != heard[-1]:
            heard.append(job.progress)
        time.sleep(0.002)
    assert job.state == "done", job.error
    shares = [int(text.partition("%")[0]) for text in heard if "%" in text]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert len({share for share in shares if 0 < share <= 100}) >= 2, heard
    assert any(text.partition("%, ")[2].startswith("passes: ") for text in heard), heard


def test_two_at_once(exports: Exports, jobs: Jobs, store: Store, tmp_path: Path) -> None:
    kernel = store.kernels()[0]
    both = [exports.start([store], chosen) for chosen in ([], [kernel])]
    wait(lambda: all(job_of(jobs, job).state != "running" for job in both))
    counts: list[int] = []
    for job in both:
        file = exports.take(job)
        html = file and file.html
        assert html is not None, job_of(jobs, job).error
        path = tmp_path / f"{job}.html"
        path.write_bytes(html)
        with closing(open_run(path)) as again:
            counts.append(len(again.kernels()))
    assert counts == [2, 1]


def test_a_file_is_given_once(
    client: FlaskClient, store: Store, temporary: Path, dist: Path
) -> None:
    job = client.post("/api/export", json={"kernels": [], "redact": True}).get_json()["job"]
    state = ended(client, job)
    assert state["state"] == "done", state
    left_out = state["result"]["leftOut"]  # kernels that are none for a target
    why = "this kernel is not run: its root is not a SINK of STOREs"
    assert sorted(said.partition(" (")[0] for said in left_out) == sorted(
        f"not compiled: kernel_{n} for {target}: {why}"
        for n in (0, 1)
        for target in ("sm_90", "gfx942")
    )
    assert client.get(f"/api/export/{job}").get_data(as_text=True).startswith("<!doctype html>")
    assert client.get(f"/api/export/{job}").status_code == 404
    assert client.get("/api/export/999").status_code == 404
    assert [*temporary.iterdir()] == []


def test_a_redacted_file_with_values_is_refused(client: FlaskClient) -> None:
    answer = client.post("/api/export", json={"redact": True, "values": True})
    assert answer.status_code == 400
    said = answer.get_json()["error"]["what"]
    assert said == "a redacted file holds no captured values"


def test_what_was_emulated_is_in_the_file(
    exports: Exports, jobs: Jobs, store: Store, tmp_path: Path
) -> None:
    """Of the kernels that are exported; opened again, it is there."""
    kernel = store.kernels()[0]
    emulation = emulate(add(64), "PTX:EMU")
    store.emulations.add(kernel, emulation)
    job = exports.start([store], [kernel])
    wait(lambda: job_of(jobs, job).state != "running")
    path = tmp_path / "run.html"
    file = exports.take(job)
    assert file is not None
    path.write_bytes(file.html)
    with closing(open_run(path)) as again:
        assert again.run()["emulated"] == [kernel]
        (found,) = again.ask(EMULATED, kernel)
        assert found == json.loads(json.dumps(emulation))


def test_the_folder_is_private(exports: Exports, store: Store, temporary: Path) -> None:
    exports.start([store], [])
    (folder,) = temporary.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("way", ["cancel", "crash", "close"])
def test_nothing_is_left_of_it(
    exports: Exports, jobs: Jobs, long: Store, temporary: Path, way: str
) -> None:
    number = exports.start([long], [])
    job = job_of(jobs, number)
    wait(lambda: working(job))
    (folder,) = temporary.iterdir()
    assert [*folder.iterdir()], "the copy of the trace"
    assert job.process is not None
    if way == "cancel":
        jobs.cancel(job)
    elif way == "crash":
        os.kill(job.process.pid, signal.SIGKILL)
    else:
        jobs.close()
        exports.close()
    wait(lambda: job.state != "running")
    assert job.process.poll() is not None
    assert job.error is not None
    if way == "crash":
        ended = r"the worker ended without an answer \(SIGKILL\), at \d+%, .* of "
        assert re.match(ended, job.error["what"])  # what it was doing then
        assert "export fewer kernels" in job.error["hint"]
    else:
        assert job.error["what"] == "the job was cancelled"
    assert [*temporary.iterdir()] == []
    assert exports.take(number) is None


def test_files_that_nobody_fetches_do_not_pile_up(
    exports: Exports, jobs: Jobs, store: Store, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        "import json, sys\nopen(json.load(sys.stdin)['to'], 'w').close()\nprint('{\"result\": 1}')"
    )
    monkeypatch.setattr(
        viz.jobs.jobs,
        "_spawn",
        lambda module: subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ),
    )
    made: list[int] = []
    for _ in range(5):
        made.append(exports.start([store], []))
        wait(lambda: job_of(jobs, made[-1]).state != "running")
    assert len([*temporary.iterdir()]) == 3, "the two youngest, and the one that began last"
    assert [exports.take(job) is not None for job in made] == [False, False, True, True, True]


def test_a_trace_that_is_gone_is_an_error(exports: Exports, jobs: Jobs, store: Store) -> None:
    store.path.unlink()
    job = job_of(jobs, exports.start([store], []))
    wait(lambda: job.state != "running")
    assert job.error is not None
    assert store.path.name in job.error["what"] + job.error["where"]
