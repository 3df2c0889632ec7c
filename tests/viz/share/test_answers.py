"""An exported file answers every question as the page did from which it was exported."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from flask.testing import FlaskClient

import viz
from core.dtype import dtypes
from core.tensor import Tensor
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.uop import UOp
from tests.core.runtime.asts import add
from tests.viz.samples import random_graph, rules
from tests.viz.server.client import TokenClient, ended
from tests.viz.share.test_export import entries
from viz.jobs.compiled import Wanted, compiled_for
from viz.known.answers import CHECK_ANSWERS
from viz.server.app import create_app
from viz.server.security import Guard
from viz.share import webpage
from viz.share.held.run import Reopened
from viz.share.html import export_html
from viz.share.reopened import open_run
from viz.views.answers import ANSWERS, OVERVIEW, PASS_RULES, RULE_PAGE, RUN, SINCE
from viz.views.nodes.history import node_history
from viz.views.runs.run import FIRST, Answer, InFile, Run, Subject, base_of, subjects
from viz.views.store import Store
from viz.work.emulation import emulate


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
    with compiled_for(
        made, made.kernels()[:1], Wanted(passes=["sm_90", "gfx1100"]), progress=print
    ) as failed:
        assert failed == []
        for kernel, device in zip(made.kernels(), ("PTX:EMU", "AMD:EMU"), strict=False):
            made.emulations.add(kernel, emulate(add(64), device))
        first = next(r["id"] for r in made.tree()["rows"] if r["kind"] == "rewrite" and r["steps"])
        verdict = {"kind": "proved", "how": "equal in normal form"}
        made.checks.add(
            {"rewrite": first, "steps": [[1, 1, 0]], "verdicts": [verdict], "integers": [1]}
        )
        yield made
    made.close()


def questions(run: Run) -> Iterator[tuple[str, Any]]:
    """Every answer of the table, and what is derived from them, as a page or a command asks."""
    for path, answer, values in asked(run):
        yield path, run.ask(answer, *values)
    yield "kernels", run.kernels()
    for number in subjects(run)[Subject.REWRITE]:
        bundle = run.bundle(number)
        assert bundle is not None
        yield f"text of pass {number}", run.step_text(number, len(bundle["steps"]))
        yield f"scope of pass {number}", run.scope_of(number)
        for node in bundle["nodes"]["id"][:12]:
            yield f"history of {node} in {number}", node_history(run, node, number, 60)


def asked(run: Run) -> Iterator[tuple[str, Answer, tuple[int, ...]]]:
    """Every answer that an exported file has: its path, its row of the table and its values."""
    numbers = subjects(run)
    for answer in (*ANSWERS, *CHECK_ANSWERS):
        if answer.group is not None:
            # of the whole run, a number is how much of it is known already
            for number in numbers.get(answer.subject, [0]):
                values = (number,) * len(answer.parameters)
                yield answer.at(*values), answer, values


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


def without_head(path: str, value: Any) -> Any:
    """An answer without what a run says of the file that it was read from, and of the machine."""
    if path == RUN.at():
        own = {"file", "bytes", "format", "devices", "targets", "editable", "inputs"}
        own |= {"again", "stays", "replaced", "browser"}  # of a server
    elif path == OVERVIEW.at() or path.startswith("/kernel-page/"):
        own = {"here"}
    elif path == SINCE.at():
        own = {"maker", "files", "compared"}  # only the run itself finds files of the program
    else:
        return value
    return {key: said for key, said in value.items() if key not in own}


@pytest.fixture(scope="module")
def html(live: Store) -> str:
    """The run, exported with its trace."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        page = "<!doctype html><html><head></head><body></body></html>"
        for name, text in (("index.html", page), ("app.js", "0;"), ("app.css", "")):
            (Path(folder) / name).write_text(text)
        patch.setattr(webpage, "DIST", Path(folder))
        return export_html(live, budget=1_000_000_000).html


@pytest.mark.parametrize("how", ["trace", "answers"])
def test_question_by_question(live: Store, html: str, tmp_path: Path, how: str) -> None:
    path = tmp_path / "run.html"
    if how == "answers":
        html = re.sub(r'<script type="application/octet-stream".*?</script>', "", html)
    path.write_text(html)
    again = open_run(path)
    assert isinstance(again, Reopened) == (how == "answers")
    assert {row["target"] for row in again.tree()["rows"]} == {"", "sm_90", "gfx1100"}
    count = 0
    for (question, answer), (_, exported) in zip(questions(live), questions(again), strict=True):
        answer, exported = (without_head(question, value) for value in (answer, exported))
        if question == RUN.at() and how == "answers":
            assert "holds no trace" in exported["problems"].pop(0)["what"]
        assert plain(exported) == plain(answer), question
        count += 1
    assert count > 100
    assert len(again.run()["emulated"]) == 2
    again.close()


def test_what_lies_in_the_file_is_what_the_server_answers(
    live: Store, html: str, dist: Path
) -> None:
    """The page in the file asks for the paths of the table, and gets the answers of the server."""
    app = create_app(live, Guard("secret", 4711))
    app.test_client_class = TokenClient
    client, held = app.test_client(), entries(html)
    try:
        for path, answer, _ in asked(live):
            at = base_of(FIRST) + path
            served = client.get(at).get_json()
            while not answer.is_whole(served):
                served = client.get(at).get_json()
            given, kept = without_head(path, served), without_head(path, held.pop(at))
            assert plain(kept) == plain(given), path
    finally:
        app.extensions["uopviz"].machine.jobs.close()
    (names,) = (held.pop("/api/runs"),)
    assert [one["name"] for one in names] == ["A"]
    assert not held, "nothing else"


def test_every_answer_has_a_place_or_cannot_be_listed() -> None:
    """What takes more than the number of a subject is not in a file: the page makes it. Nor is what
    is made of other answers, or needs the trace."""
    for answer in (*ANSWERS, *CHECK_ANSWERS):
        listed = len(answer.parameters) <= 1 and not any(p.is_text for p in answer.parameters)
        if answer in (RULE_PAGE, PASS_RULES):
            assert listed and answer.in_file is not InFile.STATED
            listed = False
        assert (answer.group is not None) == listed, answer.name


def compiled(client: FlaskClient, kernel: int, target: str) -> list[dict[str, Any]]:
    job = client.post(f"/api/A/kernels/{kernel}/compile", json={"target": target}).get_json()["job"]
    result: list[dict[str, Any]] = ended(client, job)["result"]
    return result


def test_what_the_page_compiled_is_in_its_export(live: Store, dist: Path, tmp_path: Path) -> None:
    app = create_app(Store(live.path), Guard("secret", 4711))
    app.test_client_class = TokenClient
    client = app.test_client()
    kernel = live.kernels()[1]
    recorded = (live.kernel(kernel) or {})["artifacts"]
    try:
        targets = "sm_90", "gfx942", "webgpu", "opencl"
        made = [(target, compiled(client, kernel, target)) for target in targets]
        job = client.post("/api/export", json={}).get_json()["job"]
        assert ended(client, job)["state"] == "done"
        html = client.get(f"/api/export/{job}").get_data(as_text=True)
    finally:
        app.extensions["uopviz"].close()
    path = tmp_path / "bug.html"
    path.write_text(html)
    again = open_run(path)
    for answers in (again.kernel(kernel), entries(html)[f"/api/A/kernels/{kernel}"]):
        found = {(a["kind"], a["target"]): a for a in (answers or {})["artifacts"]}
        assert len(found) == len(recorded) + sum(len(artifacts) for _, artifacts in made)
        for target, artifacts in made:
            assert artifacts, target
            for one in artifacts:
                assert found[one["kind"], one["target"]] == one, target
    again.close()
