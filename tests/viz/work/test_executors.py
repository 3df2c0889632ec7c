"""Clusters as executors: addresses, and libraries that are not there."""

from __future__ import annotations

import sys
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from types import ModuleType
from typing import Any

import pytest

from core.errors import ServerError
from viz.workers.executors import executor_at, is_lost


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
