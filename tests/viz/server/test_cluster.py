"""Jobs of the page that are done elsewhere: which are, how far they are, how they fail or end."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from core.errors import ServerError
from tests.viz.server.client import PORT, TOKEN, TokenClient, ended
from tests.viz.whatif.running import kernel_named, record
from viz.cli import main
from viz.coreserver.cluster import PIECES, Cluster
from viz.jobs.jobs import Jobs, Watch
from viz.server.app import create_app
from viz.server.security import Guard
from viz.views.store import Store
from viz.whatif.isolated import TRACE, work, work_in_parts
from viz.whatif.subject import subject_of
from viz.work.kinds import KINDS

ADDRESS = "dask://here:1"


class Noted(ThreadPoolExecutor):
    """Notes what is handed to it."""

    def __init__(self) -> None:
        super().__init__(2)
        self.asked: list[tuple[Any, dict[str, Any]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See Executor."""
        self.asked.append((fn, args[0]))
        return super().submit(fn, *args, **kwargs)


class Silent(Executor):
    """Takes jobs, and never does one; `error` in place of that."""

    def __init__(self, error: BaseException | None = None, submits: bool = True) -> None:
        self.error, self.submits = error, submits
        self.futures: list[Future[Any]] = []
        self.begun = threading.Event()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See Executor."""
        if not self.submits:
            raise OSError("the scheduler is gone")
        future: Future[Any] = Future()
        if self.error is not None:
            future.set_exception(self.error)
        self.futures.append(future)
        self.begun.set()
        return future


class Served:
    """A server of a run, whose jobs are done by an executor."""

    def __init__(self, path: Path, executor: Executor) -> None:
        self.store = Store(path)
        cluster = Cluster(ADDRESS, lambda _: executor)
        self.app = create_app(self.store, Guard(TOKEN, PORT), cluster=cluster)
        self.app.test_client_class = TokenClient
        self.client: FlaskClient = self.app.test_client()
        self.kernel = kernel_named(self.store, "r_")

    def begin(self, path: str, **body: Any) -> int:
        job: int = self.client.post(f"/api/A/{path}", json=body).get_json()["job"]
        return job

    def job(self, path: str, **body: Any) -> dict[str, Any]:
        """A job, once it has ended."""
        return ended(self.client, self.begin(path, **body))

    def close(self) -> None:
        self.app.extensions["uopviz"].close()


@pytest.fixture
def serve(tmp_path: Path, dist: Path) -> Iterator[Callable[[Executor], Served]]:
    path, made = tmp_path / "run.viz", list[Served]()
    record(path)

    def served(executor: Executor) -> Served:
        made.append(Served(path, executor))
        return made[-1]

    yield served
    for one in made:
        one.close()


def test_jobs_about_kernels_and_steps_are_done_there(
    serve: Callable[[Executor], Served],
) -> None:
    noted = Noted()
    served = serve(noted)
    kernel = f"kernels/{served.kernel}"
    made = served.job(f"{kernel}/variants", skip=["reduce_in_loop"])
    assert made["state"] == "done", made
    recorded = Store(Path(made["result"]["kept"]["trace"]))
    assert recorded.kernels()
    recorded.close()
    assert TRACE not in made["result"]
    replayed = served.job("replay")
    assert replayed["state"] == "done" and replayed["result"]["equal"], replayed
    smaller = served.job("variants/1/minimise")
    assert "made smaller" in smaller["result"]["text"]
    bisected = served.job(f"{kernel}/bisect")
    assert bisected["result"]["wrong"] is False, bisected
    names = [asked["job"] for _, asked in noted.asked]
    assert names == ["variant", "replay", "minimise", "bisect"]
    assert {fn for fn, _ in noted.asked} == {work}


def test_the_parts_of_a_check_arrive_as_they_are_done(
    serve: Callable[[Executor], Served],
) -> None:
    noted = Noted()
    served = serve(noted)
    rows = [row for row in served.store.tree()["rows"] if row["kind"] == "rewrite"]
    only = next(row["id"] for row in rows if row["steps"] > 2)
    made = served.job("check", **{"pass": only})
    assert made["state"] == "done", made
    assert made["result"]["passes"] == 1
    assert sum(made["result"]["counts"].values()) > 2
    ((fn, asked),) = noted.asked
    assert fn is work_in_parts and asked["rewrites"] == [only]


def test_a_large_check_is_handed_over_in_parts() -> None:
    class Instant(Silent):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            future = super().submit(fn, *args, **kwargs)
            future.set_result({"parts": list(args[0]["rewrites"])})
            return future

    executor, told, said = Instant(), list[int](), list[str]()
    watch = Watch(said.append, told.append, lambda: False)
    request = {"job": "check", "rewrites": list(range(100)), "rules": []}
    found = Cluster(ADDRESS, lambda _: executor).work(request, 1.0, watch)
    assert found == {"passes": 100}
    assert sorted(told) == list(range(100))
    assert 1 < len(executor.futures) <= PIECES
    assert said[0] == f"{ADDRESS}: 0 of {len(executor.futures)} parts are done"


def test_what_needs_a_device_of_this_machine_stays_here(
    serve: Callable[[Executor], Served],
) -> None:
    noted = Noted()
    served = serve(noted)
    kernel = f"kernels/{served.kernel}"
    text = subject_of(served.store, served.kernel).text
    assert text is not None
    edited = {"kind": text[0], "text": text[1], "device": "CPU"}
    assert served.job(f"{kernel}/variants", text=edited)["state"] == "done"
    assert served.job(f"{kernel}/bisect", device="CPU")["state"] == "done"
    assert served.job(f"{kernel}/opts", target="sm_90")["state"] == "done"
    assert noted.asked == []


def test_a_job_that_is_cancelled_is_not_waited_for(serve: Callable[[Executor], Served]) -> None:
    silent = Silent()
    served = serve(silent)
    job = served.begin("replay")
    assert silent.begun.wait(30)
    served.client.delete(f"/api/jobs/{job}")
    assert "cancelled" in ended(served.client, job)["error"]["what"]
    assert [future.cancelled() for future in silent.futures] == [True]


@pytest.mark.parametrize(
    ("executor", "said", "hint"),
    [
        (Silent(submits=False), "does not take the job (OSError: the scheduler is gone", "start"),
        (Silent(BrokenExecutor("killed")), "lost the job (BrokenExecutor: killed)", "try again"),
        (Silent(ImportError("no viz")), "could not do the job (ImportError: no viz)", "install"),
        (Silent(ServerError("a rule hangs", hint="x")), "a rule hangs", "x"),
    ],
)
def test_errors_are_one_sentence(
    serve: Callable[[Executor], Served], executor: Executor, said: str, hint: str
) -> None:
    error = serve(executor).job("replay")["error"]
    assert said in error["what"] and hint in error["hint"]
    if hint != "x":
        assert error["what"].startswith(ADDRESS)


def test_a_cluster_that_was_lost_is_asked_for_again() -> None:
    connected: list[Executor] = []

    def connect(address: str) -> Executor:
        connected.append(Silent(BrokenExecutor("killed"), submits=len(connected) > 0))
        return connected[-1]

    cluster = Cluster(ADDRESS, connect)
    watch = Watch(lambda text: None, lambda part: None, lambda: False)
    with pytest.raises(ServerError, match="lost the job"):  # the second one takes it
        cluster.work({"job": "replay"}, 1.0, watch)
    assert len(connected) == 2


def test_errors_of_a_worker_cross_processes() -> None:
    """Limits are kept by the worker there: what it says arrives as it was said."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        jobs = Jobs(KINDS, elsewhere=Cluster(ADDRESS, lambda _: pool))
        finished = threading.Event()
        asked = {"job": "replay", "subjects": []}
        number = jobs.start(asked, lambda found: found, finished.set, limit=0.001)
        assert finished.wait(60)
        job = jobs.get(number)
        assert job is not None
        for thread in threading.enumerate():
            if thread.name == f"uopviz job {number}":
                thread.join(60)
        assert job.error is not None and "took longer than 0 seconds" in job.error["what"]


def test_an_address_that_is_none_is_said_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "run.viz")
    assert main(["serve", str(tmp_path / "run.viz"), "--executor", "http://x"]) == 2
    assert "'http://x' is no executor" in capsys.readouterr().err
