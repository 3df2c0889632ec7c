"""Workers of a whole run: what a crash or a hang costs, and that nothing is left of them."""

from __future__ import annotations

import os
from typing import Any

import pytest

from viz.whatif import workers
from viz.whatif.workers import Workers


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "WORKER", "tests.viz.bisect.dying")


def answers(pool: Workers, *words: str) -> list[dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    pool.do([{"do": word} for word in words], found.__setitem__)
    return [found[at] for at in range(len(words))]


@pytest.mark.usefixtures("dying")
def test_a_crash_costs_one_answer() -> None:
    pool = Workers(1, 60)
    try:
        first, lost, second, third = answers(pool, "one", "crash", "two", "three")
    finally:
        pool.close()
    assert "ended without an answer (SIGABRT)" in lost["error"]["what"]
    said = [one["result"] for one in (first, second, third)]
    assert [one["said"] for one in said] == ["one", "two", "three"]
    assert said[0]["process"] != said[1]["process"] == said[2]["process"]
    assert not _is_there(said[2]["process"])


@pytest.mark.usefixtures("dying")
def test_a_task_that_takes_too_long_is_ended() -> None:
    pool = Workers(2, 2)
    try:
        (late,) = answers(pool, "hang")
    finally:
        pool.close()
    assert late["error"]["what"] == "it took longer than 2 seconds and was ended"


@pytest.mark.usefixtures("dying")
def test_whatever_ends_the_work_ends_the_workers() -> None:
    pool = Workers(1, 60)
    processes: list[int] = []

    def told(at: int, answer: dict[str, Any]) -> None:
        processes.append(answer["result"]["process"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pool.do([{"do": "one"}, {"do": "hang"}], told)
    assert not _is_there(processes[0])


def _is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
