"""Answers are limited together: light ones as they come, heavy ones one after the other."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.errors import BudgetError, ServerError
from viz import budget
from viz.budget import Budget, TooHeavyError, answering, light, part, take
from viz.server.connections.serve import Server
from viz.server.runs.weight import WAITING, Weight
from viz.server.security import HEADER
from viz.share import webpage
from viz.views.store import Store
from viz.write.writer import TraceWriter

CLIENTS = 32
PASSES = 40


class Watch:
    """How many make something at once, and how many did at most."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.now = self.most = self.made = 0

    def __enter__(self) -> None:
        with self._lock:
            self.now += 1
            self.made += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self.now -= 1


@pytest.fixture
def served(tmp_path: Path, dist: Path) -> Iterator[Server]:
    assert dist == webpage.DIST
    with TraceWriter(tmp_path / "t.viz", {"ended": 1}) as t:
        node, rule = t.node("ADD"), t.rule("rule")
        for i in range(PASSES):
            step = t.rewrite_begin(f"pass {i}", node)
            t.match(step, rule, node, node, {}, 1)
            t.rewrite_end(step, node)
    server = Server(Store(tmp_path / "t.viz")).start()
    yield server
    server.close()


def ask(server: Server, path: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", f"/api/A/{path}", headers={HEADER: server.guard.token})
    answer = connection.getresponse()
    said = answer.status, json.loads(answer.read())
    connection.close()
    return said


def test_heavy_answers_to_many_clients_are_made_one_by_one(
    served: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each client asks for another answer of nearly all that one may take."""
    store, heavy, light = served.state.first.store, Watch(), list[int]()
    make = store.bundle
    done = threading.Event()

    def bundle(rewrite: int) -> dict[str, Any] | None:
        with answering("this pass"):
            take(1, budget.MEMORY - (1 << 20))
            with heavy:
                time.sleep(0.05)
                return make(rewrite)

    def others() -> None:
        while not done.is_set():
            assert ask(served, "run")[0] == 200
            light.append(heavy.now)

    monkeypatch.setattr(store, "bundle", bundle)
    rewrites = [row["id"] for row in store.tree()["rows"] if row["kind"] == "rewrite"]
    other = threading.Thread(target=others)
    other.start()
    with ThreadPoolExecutor(CLIENTS) as pool:
        paths = [f"rewrites/{number}" for number in rewrites[:CLIENTS]]
        answers = list(pool.map(partial(ask, served), paths))
    done.set()
    other.join(60)
    assert heavy.most == 1
    good = [body for status, body in answers if status == 200]
    assert len(good) == heavy.made >= 1 + WAITING
    for status, body in answers:
        if status != 200:
            assert "very large answers" in body["error"]["what"]
            assert body["error"]["hint"]
    assert any(light), "light answers are given while a heavy one is made"


def test_an_answer_that_all_ask_for_is_made_once(
    served: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, heavy = served.state.first.store, Watch()
    make = store.bundle

    def bundle(rewrite: int) -> dict[str, Any] | None:
        with answering("this pass"):
            take(1, budget.LIGHT + 1)
            with heavy:
                time.sleep(0.2)
                return make(rewrite)

    monkeypatch.setattr(store, "bundle", bundle)
    rewrite = next(row["id"] for row in store.tree()["rows"] if row["kind"] == "rewrite")
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = list(pool.map(partial(ask, served), [f"rewrites/{rewrite}"] * CLIENTS))
    assert {status for status, _ in answers} == {200}
    assert (heavy.made, heavy.most) == (1, 1)


def test_a_light_answer_is_whole_or_made_again() -> None:
    """What is left out for want of budget is left out of one that had all of it."""
    tries: list[str] = []

    def make() -> str:
        tries.append("try")
        with answering():
            try:
                with part(1 / 2):
                    take(1, budget.LIGHT)
            except BudgetError:
                return "a part is left out"
            return "whole"

    assert Weight().make(make) == "whole"
    assert len(tries) == 2
    assert Weight().heavy(make) == "whole"
    assert len(tries) == 3


def test_a_long_answer_is_no_light_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "LIGHT_SECONDS", 0.0)

    def work() -> None:
        for _ in range(300_000):
            take(100)

    with light(), pytest.raises(TooHeavyError), answering():
        work()
    with answering() as whole:
        assert isinstance(whole, Budget) and not whole.light


def test_threads_that_would_wait_too_many_are_refused() -> None:
    weight, go = Weight(), threading.Event()
    with ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(weight.heavy, lambda: go.wait(30)) for _ in range(10)]
        until = time.monotonic() + 30
        while sum(one.done() for one in asked) < 9 - WAITING and time.monotonic() < until:
            time.sleep(0.01)
        errors = [one.exception(0) for one in asked if one.done()]
        assert len(errors) == 9 - WAITING
        for error in errors:
            assert isinstance(error, ServerError) and "very large" in error.what
        assert weight.make(lambda: 5) == 5
        go.set()
        assert sum(one.exception(30) is None for one in asked) == 1 + WAITING
