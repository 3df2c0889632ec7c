"""Clusters as executors: addresses, and libraries that are not there."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from types import ModuleType
from typing import Any

import pytest

from core.errors import ServerError, TraceError
from viz.workers.executors import TRIES, each_result, executor_at, is_lost


class WithoutCancel(ThreadPoolExecutor):
    """As Dask's."""

    def shutdown(self, wait: bool = True) -> None:
        super().shutdown(wait)


class Stand(ModuleType):
    """A library that is not installed."""

    def __init__(self, name: str, answers: bool = True) -> None:
        super().__init__(name)
        self.asked: list[str] = []
        self.answers = answers
        self.function: Any = None
        self.future: Any = None

    def Client(self, address: str) -> Stand:
        self.init(address)
        return self

    def init(self, address: str) -> None:
        self.asked.append(address)
        if not self.answers:
            raise ConnectionError("nobody there")

    def get_executor(self, *, pure: bool = True) -> Executor:
        assert not pure  # else the answer to an equal request is kept, whatever the code is by now
        return WithoutCancel(1)

    def close(self) -> None:
        self.asked.append("closed")

    def remote(self, *given: Any) -> Any:
        if callable(given[0]):
            stand = Stand("task")
            stand.function = given[0]
            return stand
        made: Future[Any] = Future()
        made.set_result(self.function(*given))
        stand = Stand("reference")
        stand.future = lambda: made
        return stand

    def shutdown(self) -> None:
        self.asked.append("shutdown")


@pytest.mark.parametrize("address", ["", "dask", "dask://", "slurm://here", "//x", "tcp://x:1"])
def test_what_is_no_executor(address: str) -> None:
    with pytest.raises(ServerError, match="is no executor"):
        executor_at(address)


@pytest.mark.parametrize(("address", "name"), [("dask://h:1", "distributed"), ("ray://h:1", "ray")])
def test_without_its_library(address: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ServerError, match=f"{name} is not installed") as raised:
        executor_at(address)
    assert raised.value.hint.startswith("pip install 'uopviz[")


@pytest.mark.parametrize(
    ("address", "name", "asked"),
    [("dask://h:1", "distributed", "tcp://h:1"), ("ray://h:1", "ray", "ray://h:1")],
)
def test_with_it(address: str, name: str, asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stand = Stand(name)
    monkeypatch.setitem(sys.modules, name, stand)
    with executor_at(address) as executor:
        assert executor.submit(abs, -3).result() == 3
    assert stand.asked == [asked, "closed" if name == "distributed" else "shutdown"]
    executor_at(address).shutdown(cancel_futures=True)
    monkeypatch.setitem(sys.modules, name, Stand(name, answers=False))
    with pytest.raises(ServerError, match=r"does not answer .*nobody there"):
        executor_at(address)


class Losing(ThreadPoolExecutor):
    """Two threads. A job that is 0 ends its worker always, and the first time the job beside it."""

    def __init__(self) -> None:
        super().__init__(2)
        self.ended = threading.Event()
        self.lost: list[int] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        def work() -> Any:
            if args[0] and self.ended.is_set():
                return fn(*args)
            if args[0]:
                self.ended.wait()
            self.ended.set()
            self.lost.append(args[0])
            raise BrokenExecutor("a worker ended")

        return super().submit(work)


def test_a_job_that_ends_workers_takes_no_other_with_it() -> None:
    jobs: list[Any] = [3, 0, 1, 2, 4, "5"]
    with Losing() as executor:
        results = [*each_result(executor, abs, jobs)]
    assert sorted(executor.lost) == [0] * TRIES + [3]
    assert isinstance(results[1], ServerError) and "ended" in results[1].what
    assert isinstance(results[5], ServerError) and "TypeError" in results[5].what
    assert [one for one in results if not isinstance(one, ServerError)] == [3, 1, 2, 4]


class Raising(ThreadPoolExecutor):
    """As Ray's client: what is an error is raised, though it was returned."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(fn(*args))
        return future


def test_an_error_that_a_job_returns_is_its_result() -> None:
    with Raising() as executor:
        (found,) = each_result(executor, TraceError, ["no trace"])
    assert isinstance(found, TraceError) and found.what == "no trace"


def test_what_is_done_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that is open for days hands over many tasks."""
    monkeypatch.setitem(sys.modules, "distributed", Stand("distributed"))
    with executor_at("dask://h:1") as executor:
        for n in range(5):
            assert executor.submit(abs, -n).result() == n
        assert len(vars(executor)["_begun"]) == 1


def test_what_says_that_a_worker_ended() -> None:
    killed = type("KilledWorker", (Exception,), {"__module__": "distributed.scheduler"})
    crashed = type("WorkerCrashedError", (Exception,), {"__module__": "ray.exceptions"})
    assert all(is_lost(error) for error in (killed(), crashed(), BrokenExecutor(), MemoryError()))
    assert not is_lost(ValueError()) and not is_lost(ServerError("no"))
    wrapped = type("RayTaskError", (Exception,), {"__module__": "ray.exceptions"})
    both = type("RayTaskError(KeyError)", (wrapped, KeyError), {"__module__": "ray.exceptions"})
    assert not is_lost(wrapped()) and not is_lost(both()), "it is of the work itself"
