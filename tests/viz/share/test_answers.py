"""An exported file answers every question as the page did from which it was exported."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

import viz
from core.dtype import dtypes
from core.tensor import Tensor
from core.uop.matcher import PatternMatcher
from core.uop.observe import context
from core.uop.ops import Ops
from core.uop.rewrite import graph_rewrite
from core.uop.rule import rule
from core.uop.uop import UOp
from core.uop.upat import UPat
from tests.viz.samples import random_graph, rules
from tests.viz.server.client import TokenClient
from tests.viz.share.test_export import entries
from tests.viz.views.node_history import node_history
from viz.server.app import create_app
from viz.server.security import Guard
from viz.share.html import export_html
from viz.share.reopened import Reopened, open_run
from viz.views.store import Store
from viz.work.compiling import compiled_for


@rule(UPat(Ops.MUL, src=(UPat.var("x"), UPat.cvar("c")), name="m"))
def inside(m: UOp, x: UOp, c: UOp) -> UOp | None:
    """x * c -> what a pass inside makes of (x + 0) * 1 + c"""
    return graph_rewrite((x + 0) * 1 + c, rules, name="nested") if c.arg == 7 else None


nesting = PatternMatcher([inside], name="nesting")


def graph(seed: int) -> UOp:
    made = random_graph(seed, 20)
    parts = [source * 7 for source in made.src if source.dtype in dtypes.ints]
    return UOp.sink(*parts, made.src[0] * 7 * 7)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A trace with nested passes, and two kernels of a program, the first of which was compiled for
    two targets on request."""
    path = tmp_path_factory.mktemp("answers") / "run.viz"
    with viz.record(path):
        for seed in range(3):
            with context(f"schedule {seed}", "schedule"):
                graph_rewrite(graph(seed), nesting, name="outer")
        x = Tensor([[1.0, 2.0], [3.0, 4.0]])
        (x * 2 + 1).sum().realize()
        (x.exp() + x).realize()
    made = Store(path)
    with compiled_for(made, made.kernels()[:1], ["sm_90", "gfx1100"], progress=print) as failed:
        assert failed == []
        yield made
    made.close()


def questions(store: Store) -> Iterator[tuple[str, Any]]:
    """Everything that a page can ask, with the answers."""
    tree = store.tree()
    yield "tree", tree
    yield "rules", store.rules()
    yield "totals", store.rule_totals()
    yield "timeline", store.timeline()
    yield "kernels", store.kernels()
    scopes: dict[int, None] = {}
    for row in tree["rows"]:
        number = row["id"]
        if row["kind"] == "rewrite":
            bundle = store.bundle(number)
            assert bundle is not None
            yield f"pass {number}", bundle
            yield f"text of pass {number}", store.step_text(number, len(bundle["steps"]))
            scope = store.scope_of(number)
            yield f"scope of pass {number}", scope
            assert scope is not None
            scopes[scope] = None
            for node in bundle["nodes"]["id"][:12]:
                yield f"history of {node} in {number}", node_history(store, node, number, 60)
        elif row["label"] == "kernel":
            if not row["target"]:
                yield f"kernel {number}", store.kernel(number)
            yield f"origins {number}", store.origins(number)
    for scope in scopes:
        yield f"lineage {scope}", store.lineage(scope)


def plain(value: Any) -> Any:
    """As a page gets it, without the folder that an exported file leaves out."""
    return json.loads(json.dumps(value).replace(str(Path.cwd()) + "/", ""))


def test_nested_passes_are_in_histories(live: Store) -> None:
    """What the comparison below is worth."""
    rows = [r for r in live.tree()["rows"] if r["name"] == "nested"]
    assert len(rows) > 3
    scope = live.scope_of(rows[0]["id"])
    assert scope is not None
    lineage = live.lineage(scope) or {}
    assert {r["id"] for r in rows} & {*lineage["event"]["rewrite"]}


@pytest.mark.parametrize("how", ["trace", "answers"])
def test_question_by_question(live: Store, dist: Path, tmp_path: Path, how: str) -> None:
    path = tmp_path / "run.html"
    html = export_html(live, budget=1_000_000_000).html
    if how == "answers":
        html = re.sub(r'<script type="application/octet-stream".*?</script>', "", html)
    path.write_text(html)
    again = open_run(path)
    assert isinstance(again, Reopened) == (how == "answers")
    asked = 0
    assert {row["target"] for row in again.tree()["rows"]} == {"", "sm_90", "gfx1100"}
    for (question, answer), (_, exported) in zip(questions(live), questions(again), strict=True):
        assert plain(exported) == plain(answer), question
        asked += 1
    assert asked > 100
    again.close()


def compiled(client: FlaskClient, kernel: int, target: str) -> list[dict[str, Any]]:
    job = client.post(f"/api/kernels/{kernel}/compile", json={"target": target}).get_json()["job"]
    for _ in range(600):
        state = client.get(f"/api/jobs/{job}").get_json()
        if state["state"] not in ("running", "queued", "waiting"):
            return state["result"]
        time.sleep(0.1)
    raise AssertionError("the job did not end")


def test_what_the_page_compiled_is_in_its_export(live: Store, dist: Path, tmp_path: Path) -> None:
    app = create_app(Store(live.path), Guard("secret", 4711))
    app.test_client_class = TokenClient
    client = app.test_client()
    kernel = live.kernels()[1]
    recorded = (live.kernel(kernel) or {})["artifacts"]
    try:
        made = [(target, compiled(client, kernel, target)) for target in ("sm_90", "gfx942")]
        html = client.get("/api/export").get_data(as_text=True)
    finally:
        app.extensions["uopviz"].close()
    path = tmp_path / "bug.html"
    path.write_text(html)
    again = open_run(path)
    for answers in (again.kernel(kernel), entries(html)[f"/api/kernels/{kernel}"]):
        found = {(a["kind"], a["target"]): a for a in (answers or {})["artifacts"]}
        assert len(found) == len(recorded) + sum(len(artifacts) for _, artifacts in made)
        for target, artifacts in made:
            assert artifacts, target
            for one in artifacts:
                assert found[one["kind"], one["target"]] == one, target
    again.close()
