"""Checks of steps over HTTP: what is known at once, jobs that check, and what they leave."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

import viz
from core import Tensor
from core.uop import Ops, PatternMatcher, UOp, UPat, rule
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.viz.samples import random_graph, rules
from tests.viz.server.client import TokenClient, ended
from tests.viz.share.test_export import entries
from viz.jobs.jobs import Kind
from viz.known.answers import CHECKS
from viz.known.kept import kept_path
from viz.known.whole import STATES
from viz.server.app import create_app
from viz.server.security import Guard
from viz.share.reopened import open_run
from viz.trace import Recorder
from viz.views.store import Store
from viz.work import kinds
from viz.write.writer import TraceWriter

X = UOp.variable("x", 0, 9)


@rule(UPat(Ops.SUB, src=(UPat.var("a"), UPat.var("b"))))
def swapped(a: UOp, b: UOp) -> UOp:
    """a - b -> b + -1 * a, which is wrong"""
    return b + a * -1


class Asked:
    """A server of a run: a kernel with a wrong step, and one with right ones."""

    def __init__(self, path: Path) -> None:
        self.path = path
        app = create_app(Store(path), Guard("secret", 4711))
        app.test_client_class = TokenClient
        self.client: FlaskClient = app.test_client()
        self.state = app.extensions["uopviz"]
        rows = self.get("tree?since=0")["rows"]
        self.kernels = [row["id"] for row in rows if row["label"] == "kernel"]
        self.passes = [row["id"] for row in rows if row["kind"] == "rewrite"]
        self.rules = {rule["name"]: rule["id"] for rule in self.get("rules")}

    def get(self, path: str) -> Any:
        return self.client.get(f"/api/A/{path}").get_json()

    def check(self, **what: object) -> dict[str, Any]:
        said = self.client.post("/api/A/check", json=what)
        assert said.status_code == 200, said.get_json()
        return ended(self.client, said.get_json()["job"])


@pytest.fixture
def asked(tmp_path: Path, dist: Path) -> Iterator[Asked]:
    path = tmp_path / "run.viz"
    recorder = Recorder(path).start()
    with context("kernel_a", "kernel"):
        graph_rewrite(UOp.sink(X * 1 - 3), PatternMatcher([swapped]), name="tidy")
    with context("kernel_b", "kernel"):
        graph_rewrite(random_graph(3), rules, name="simplify")
    recorder.close()
    made = Asked(path)
    yield made
    made.state.close()


def test_nothing_is_checked_before_it_is_asked_for(asked: Asked) -> None:
    assert asked.get("checks")["rewrite"] == []
    known = asked.get(f"verdicts/{asked.passes[0]}")
    assert known == {
        "rewrite": asked.passes[0],
        "steps": [],
        "verdicts": [],
        "integers": [],
        "undone": None,
        "unseen": "",
        "whole": False,
    }
    assert asked.client.get("/api/A/verdicts/99999").status_code == 404


def test_a_pass_then_the_run(asked: Asked) -> None:
    wrong, right = asked.passes
    done = asked.check(**{"pass": wrong})
    assert done["state"] == "done", done
    assert (done["result"]["passes"], done["result"]["counts"]["differs"]) == (1, 1)
    checks = asked.get("checks")
    assert (checks["rewrite"], checks["differing"], checks["whole"]) == ([wrong], [[1]], [True])
    assert checks["missing"] == next(
        row["steps"] for row in asked.get("tree?since=0")["rows"] if row["id"] == right
    )
    known = asked.get(f"verdicts/{wrong}")
    ((step, rule, at),) = known["steps"]
    verdict = known["verdicts"][at]
    assert (step, rule, verdict["kind"]) == (1, asked.rules["swapped"], "differs")
    assert verdict["values"] and verdict["before"] != verdict["after"]
    assert kept_path(asked.path).exists()
    done = asked.check()
    assert done["result"]["passes"] == 2
    assert asked.get("checks")["rewrite"] == [wrong, right]
    assert asked.get("checks")["missing"] == 0
    assert asked.check()["result"] == done["result"]  # all is known: nothing is begun


def test_a_kernel_and_a_rule(asked: Asked) -> None:
    done = asked.check(kernel=asked.kernels[1], rule=asked.rules["add_zero"])
    assert done["result"]["passes"] == 1
    checks = asked.get("checks")
    assert (checks["rewrite"], checks["whole"]) == ([asked.passes[1]], [False])
    assert checks["missing"] > 0
    steps = asked.get(f"verdicts/{asked.passes[1]}")["steps"]
    assert {rule for _, rule, _ in steps} == {asked.rules["add_zero"]}
    assert not kept_path(asked.path).exists()  # a part of a pass is not kept
    asked.check(kernel=asked.kernels[1])
    assert asked.get("checks")["whole"] == [True]
    asked.check(rule=asked.rules["add_zero"], again=True)
    known = asked.get(f"verdicts/{asked.passes[1]}")
    assert known["whole"] and len(known["steps"]) > len(steps)


def test_results_are_there_when_the_run_is_opened_again(asked: Asked) -> None:
    asked.check()
    again = Asked(asked.path)
    assert again.get("checks") == asked.get("checks")
    again.state.close()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"pass": 99999}, "no such pass"),
        ({"kernel": 99999}, "no such pass"),
        ({"rule": 99999}, "no rule 99999"),
        ({"rule": True}, "rule is not a number"),
        ({"pass": "1"}, "pass is not a number"),
    ],
)
def test_what_is_not_there(asked: Asked, body: dict[str, object], said: str) -> None:
    answer = asked.client.post("/api/A/check", json=body)
    assert answer.status_code == 400
    assert said in answer.get_json()["error"]["what"]


def test_a_foreign_trace_says_why(tmp_path: Path, dist: Path) -> None:
    path = tmp_path / "foreign.viz"
    with TraceWriter(path, {"compiler": "another"}) as writer:
        a = writer.node("thing", "f32")
        b = writer.node("other", "f32", (a,))
        number = writer.rewrite_begin("pass", b)
        writer.match(number, writer.rule("rule"), b, a, {}, 1_000)
        writer.rewrite_end(number, a)
    asked = Asked(path)
    assert "another compiler" in asked.get("checks")["problem"]
    answer = asked.client.post("/api/A/check", json={})
    assert answer.status_code == 400
    assert "another compiler" in answer.get_json()["error"]["what"]
    asked.state.close()


def test_what_was_checked_until_a_cancel_is_kept(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that gives one pass and then goes on without end."""
    worker = asked.path.parent / "slow_check_worker.py"
    wrong = asked.passes[0]
    verdict = {"kind": "proved", "how": ""}
    part = {"rewrite": wrong, "steps": [[1, 1, 0]], "verdicts": [verdict], "integers": []}
    worker.write_text(
        "import json, sys, time\nsys.stdin.read()\n"
        f"print(json.dumps({{'part': {part!r}}}), flush=True)\n"
        "time.sleep(600)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(worker.parent))
    monkeypatch.setitem(kinds.KINDS, "check", Kind(1 << 30, 60.0, worker.stem))
    job = asked.client.post("/api/A/check", json={}).get_json()["job"]
    while not asked.get("checks")["rewrite"]:
        assert asked.client.get(f"/api/jobs/{job}").get_json()["state"] == "running"
    asked.client.delete(f"/api/jobs/{job}")
    assert "cancelled" in ended(asked.client, job)["error"]["what"]
    assert asked.get("checks")["rewrite"] == [wrong]
    assert kept_path(asked.path).exists()


def test_an_export_has_what_is_known(asked: Asked) -> None:
    asked.check(**{"pass": asked.passes[0]})
    kept_path(asked.path).unlink()  # as in a folder that nobody may write to
    job = asked.client.post("/api/export", json={}).get_json()["job"]
    assert ended(asked.client, job)["state"] == "done"
    html = asked.client.get(f"/api/export/{job}").get_data(as_text=True)
    held = entries(html)
    assert held["/api/A/checks"]["rewrite"] == [asked.passes[0]]
    verdicts = held[f"/api/A/verdicts/{asked.passes[0]}"]["verdicts"]
    assert [one["kind"] for one in verdicts] == ["differs"]
    assert f"/api/A/verdicts/{asked.passes[1]}" not in held
    file = asked.path.with_name("bug.html")
    file.write_text(html)
    again = open_run(file)
    assert again.checked() == [asked.passes[0]]
    again.close()


def test_kernels_as_a_whole(tmp_path: Path, dist: Path) -> None:
    """A job runs them once; the answer about checks, an export and the opened export have them."""
    path, x = tmp_path / "run.viz", Tensor(np.ones((6, 7), np.float32)).realize()
    with viz.record(path):
        (x * 2.5).realize()
    asked = Asked(path)
    assert (asked.get("checks")["kernels"], asked.get("checks")["unrun"]) == ([], 1)
    asked.check(**{"pass": asked.passes[-1]})
    assert asked.get("checks")["unrun"] == 1, "a pass is no kernel"
    done = asked.check(kernel=asked.kernels[0])
    assert done["state"] == "done", done
    assert done["result"]["kernels"] == {**dict.fromkeys(STATES, 0), "equal": 1}
    (one,) = asked.get("checks")["kernels"]
    assert (one["kernel"], one["state"], one["device"]) == (asked.kernels[0], "equal", "CPU")
    assert one["sets"] > 1 and asked.get("checks")["unrun"] == 0
    job = asked.client.post("/api/export", json={}).get_json()["job"]
    assert ended(asked.client, job)["state"] == "done"
    html = asked.client.get(f"/api/export/{job}").get_data(as_text=True)
    assert entries(html)["/api/A/checks"]["kernels"] == [one]
    asked.state.close()
    file = tmp_path / "bug.html"
    file.write_text(html)
    again = open_run(file)
    assert again.ask(CHECKS)["kernels"] == [one]
    again.close()


def test_a_search_in_the_whole_run(asked: Asked) -> None:
    """Its kernels store nothing and cannot be judged: their steps are checked, and kept."""
    begun = asked.client.post("/api/A/bisect", json={}).get_json()
    done = ended(asked.client, begun["job"])
    assert done["state"] == "done", done
    found = done["result"]
    assert [row["state"] for row in found["kernels"]] == ["unknown"] * len(asked.kernels)
    assert found["wrong"]
    (first, *_) = found["steps"]["differing"]
    assert first["rewrite"] == asked.passes[0]
    assert set(asked.passes) <= set(asked.get("checks")["rewrite"])
    assert kept_path(asked.path).exists()


def test_a_search_that_cannot_begin(asked: Asked) -> None:
    post = asked.client.post
    for body in ({"opts": 3}, {"device": 1}, {"opts": "NOTHING(1)"}):
        said = post(f"/api/A/kernels/{asked.kernels[0]}/bisect", json=body)
        assert said.status_code == 400, body
    assert post("/api/A/kernels/99999/bisect", json={}).status_code == 400
    begun = post(f"/api/A/kernels/{asked.kernels[0]}/bisect", json={}).get_json()
    done = ended(asked.client, begun["job"])  # its graph stores nothing
    assert done["state"] == "error" and "kernel" in done["error"]["what"], done
