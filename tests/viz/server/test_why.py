"""Why a rule did not fire, over HTTP: the answers of the table, and functions called by a job."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from core.uop.symbolic import symbolic
from core.uop.uop import UOp
from tests.viz.server.client import TokenClient, ended
from viz.server.app import create_app
from viz.server.security import Guard
from viz.share.html import export_html
from viz.share.reopened import open_run
from viz.trace import Recorder
from viz.views.answers import RULE_PAGE
from viz.views.store import Store
from viz.why.answers import NEAR_MISSES, RULES_AT, WHY_DECLINED, WHY_NOT


class Asked:
    """A server of a run, and a pass of it."""

    def __init__(self, store: Store, client: FlaskClient) -> None:
        self.store, self.client = store, client
        rows = [row for row in store.tree()["rows"] if row["kind"] == "rewrite"]
        self.rewrite: int = rows[0]["id"]
        bundle = store.bundle(self.rewrite)
        assert bundle is not None
        self.node: int = bundle["nodes"]["id"][bundle["steps"][0]["before"]]
        self.rules = {rule["name"]: rule["id"] for rule in store.rules()}

    def get(self, path: str) -> Any:
        return self.client.get(f"/api/A/{path}").get_json()

    def call(self, node: int, rule: int) -> dict[str, Any]:
        """What the job answers that calls a function again."""
        body = {"node": node, "rule": rule}
        said = self.client.post(f"/api/A/rewrites/{self.rewrite}/why-declined", json=body)
        return ended(self.client, said.get_json()["job"])


@pytest.fixture
def asked(store: Store, client: FlaskClient) -> Asked:
    return Asked(store, client)


def test_every_answer_has_a_route(asked: Asked) -> None:
    rewrite, node, rule = asked.rewrite, asked.node, asked.rules["double"]
    for path, answer, values in (
        (f"why-not/{rewrite}?node={node}&rule={rule}", WHY_NOT, (rewrite, node, rule)),
        (f"rules-at/{rewrite}?node={node}", RULES_AT, (rewrite, node)),
        (f"near-misses/{rewrite}?rule={rule}", NEAR_MISSES, (rewrite, rule)),
        (f"rule-page?rule={rule}", RULE_PAGE, (rule,)),
    ):
        wanted = json.loads(json.dumps(asked.store.ask(answer, *values)))
        assert asked.get(path) == wanted, path


def test_the_rules_at_a_node_are_those_of_the_pass(asked: Asked) -> None:
    said = asked.get(f"rules-at/{asked.rewrite}?node={asked.node}")
    assert said["known"]
    fired = said["rows"][0]
    assert (fired["kind"], fired["by"]["step"]) == ("fired", 1)
    assert len({row["rule"] for row in said["rows"]}) == len(said["rows"])
    for row in said["rows"]:
        one = asked.get(f"why-not/{asked.rewrite}?node={asked.node}&rule={row['rule']}")
        assert (row["kind"], row["name"]) == (one["kind"], one["name"])
        assert row["fitted"] == len(one["pattern"]["fitted"])
    far = [row["fitted"] for row in said["rows"] if row["kind"] == "pattern"]
    assert far == sorted(far, reverse=True)


def test_what_is_not_there(asked: Asked) -> None:
    get, rewrite, rule = asked.client.get, asked.rewrite, asked.rules["double"]
    for path in (
        f"why-not/99999?node={asked.node}&rule={rule}",
        f"rules-at/99999?node={asked.node}",
        f"near-misses/99999?rule={rule}",
        "rule-page?rule=99999",
    ):
        assert get(f"/api/A/{path}").status_code == 404, path
    assert "no rule 99999" in asked.get("rule-page?rule=99999")["error"]["what"]
    for path, what in (
        (f"why-not/{rewrite}?node=99999999&rule={rule}", "no node u99999999"),
        (f"why-not/{rewrite}?node={asked.node}&rule=99999", "no rule 99999"),
        (f"rules-at/{rewrite}?node=99999999", "no node u99999999"),
        (f"near-misses/{rewrite}?rule=99999", "no rule 99999"),
        (f"why-not/{rewrite}?node=u5&rule={rule}", "node is not a number"),
    ):
        answer = get(f"/api/A/{path}")
        assert answer.status_code == 400, path
        assert what in answer.get_json()["error"]["what"]
        assert answer.get_json()["error"]["hint"] or "number" in what
    post = asked.client.post
    called = {"node": asked.node, "rule": rule}
    assert post("/api/A/rewrites/99999/why-declined", json=called).status_code == 404
    for body in ({}, {"node": "5", "rule": rule}, {"node": asked.node, "rule": True}):
        said = post(f"/api/A/rewrites/{rewrite}/why-declined", json=body)
        assert said.status_code == 400


def test_a_function_that_is_not_installed_is_not_called(asked: Asked) -> None:
    state = asked.call(asked.node, asked.rules["double"])
    assert state["state"] == "done"
    assert state["result"] == json.loads(
        json.dumps(asked.store.ask(WHY_DECLINED, asked.rewrite, asked.node, asked.rules["double"]))
    )


@pytest.fixture
def symbolic_run(tmp_path: Path, dist: Path) -> Iterator[Asked]:
    """A run in which a rule of this installation declined."""
    path = tmp_path / "symbolic.viz"
    recorder = Recorder(path).start()
    try:
        with context("kernel", "kernel"):
            x, y = UOp.variable("x", 0, 9), UOp.variable("y", 0, 9)
            graph_rewrite(UOp.sink((x + 0) * y, (x + y) * 3), symbolic, name="simplify")
    finally:
        recorder.close()
    store = Store(path)
    app = create_app(store, Guard("secret", 4711))
    app.test_client_class = TokenClient
    yield Asked(store, app.test_client())
    app.extensions["uopviz"].close()


def test_a_function_that_declined_is_called_by_a_job(symbolic_run: Asked) -> None:
    asked = symbolic_run
    bundle = asked.store.bundle(asked.rewrite)
    assert bundle is not None
    declined = next(
        (node, row["rule"])
        for node in bundle["nodes"]["id"]
        for row in asked.get(f"rules-at/{asked.rewrite}?node={node}")["rows"]
        if row["kind"] == "declined"
    )
    plain = asked.get(f"why-not/{asked.rewrite}?node={declined[0]}&rule={declined[1]}")
    assert (plain["kind"], plain["line"], plain["notCalled"]) == ("declined", None, None)
    state = asked.call(*declined)
    assert state["state"] == "done", state["error"]
    line = state["result"].pop("line")
    assert line["text"].startswith("return")
    rule = next(rule for rule in asked.store.rules() if rule["id"] == declined[1])
    lines = rule["source"].splitlines()
    assert lines[line["line"] - rule["sourceLine"]].strip().startswith(line["text"])
    assert {one["name"] for one in line["binds"]} == {
        one["name"] for one in plain["pattern"]["binds"]
    }
    assert state["result"] == {key: plain[key] for key in plain if key != "line"}


def test_an_exported_file_without_its_trace(store: Store, dist: Path, tmp_path: Path) -> None:
    html = re.sub(
        r'<script type="application/octet-stream".*?</script>', "", export_html(store).html
    )
    file = tmp_path / "run.html"
    file.write_text(html)
    app = create_app(open_run(file), Guard("secret", 4711))
    app.test_client_class = TokenClient
    client = app.test_client()
    live = Asked(store, client)
    rule = live.rules["double"]
    for path in (
        f"why-not/{live.rewrite}?node={live.node}&rule={rule}",
        f"rules-at/{live.rewrite}?node={live.node}",
        f"near-misses/{live.rewrite}?rule={rule}",
    ):
        answer = client.get(f"/api/A/{path}")
        assert answer.status_code == 400
        assert "holds no trace" in answer.get_json()["error"]["what"]
        assert "open the trace" in answer.get_json()["error"]["hint"]
    called = {"node": live.node, "rule": rule}
    said = client.post(f"/api/A/rewrites/{live.rewrite}/why-declined", json=called)
    assert said.status_code == 400
    page, wanted = live.get(f"rule-page?rule={rule}"), store.ask(RULE_PAGE, rule)
    assert page["passes"] == json.loads(json.dumps(wanted["passes"]))
    assert (page["rewrite"], page["matches"]) == (wanted["rewrite"], wanted["matches"])
    app.extensions["uopviz"].close()
