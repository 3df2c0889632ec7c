"""An exported file, opened again: the same answers, and clear sentences for what is not in it."""

from __future__ import annotations

import base64
import gzip
import json
import random
import re
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.errors import TraceError
from tests.core.runtime.asts import add
from tests.effort import at_most
from tests.viz.share.test_export import TRACE
from viz.cli import main
from viz.format import schema
from viz.server.app import create_app
from viz.server.security import HEADER, Guard
from viz.share.exportfile import VERSION, version_tag
from viz.share.held.run import Reopened
from viz.share.held.search import HeldSearch
from viz.share.html import export_html
from viz.share.reopened import Unpacked, open_run
from viz.views.runs.run import Run
from viz.views.store import Store
from viz.work.emulation import emulate

SEED = 20


@pytest.fixture
def exported(store: Store, dist: Path, tmp_path: Path) -> Path:
    path = tmp_path / "bug.html"
    path.write_text(export_html(store).html)
    return path


@pytest.fixture
def answers(exported: Path, tmp_path: Path) -> Path:
    """An export as version 1 wrote it: without its trace."""
    path = tmp_path / "old.html"
    text = TRACE.sub("", exported.read_text()).replace(version_tag(1), "")
    text = text.replace("/api/A/", "/api/")
    path.write_text(re.sub(r", *\"format\": *\{[^}]*\}", "", text))
    return path


def plain(value: object) -> object:
    return json.loads(json.dumps(value))


def without_lines(run: Run, kernel: int) -> Any:
    """A kernel's graph, but for the user's lines: files are named as seen from the run's folder."""
    graph, numbers = run.kernel_graph(kernel) or ({}, [])
    return [node[:5] for node in graph["nodes"]], graph["roots"], numbers


def test_the_answers_are_those_of_the_trace(store: Store, exported: Path) -> None:
    again = open_run(exported)
    assert isinstance(again, Unpacked)
    assert again.run()["format"] == {"trace": schema.VERSION, "export": VERSION}
    assert again.run()["problems"] == []
    same_answers(store, again)
    for kernel in store.kernels():
        assert without_lines(again, kernel) == without_lines(store, kernel)
    for text in ("add_zero", "kernel_1", "ADD", "samples"):
        assert again.search(text) == store.search(text)
    again.close()


def test_an_older_version_is_shown_by_its_answers(store: Store, answers: Path) -> None:
    again = open_run(answers)
    assert isinstance(again, Reopened)
    assert again.run()["format"] == {"trace": schema.VERSION, "export": 1}
    assert "holds no trace" in again.run()["problems"][0]["what"]
    same_answers(store, again)
    for text in ("kernel_1", "add_zero", "x + 0", "samples", "SINK", "test_", "no such thing", " "):
        assert again.search(text) == store.search(text), text


def test_what_cannot_be_searched_without_a_trace_is_said(
    store: Store, answers: Path, tmp_path: Path
) -> None:
    again = open_run(answers)
    found = again.search("ADD(_, CONST)")
    assert store.search("ADD(_, CONST)")["problem"] is None
    assert (found["total"], found["problem"]["where"]) == (0, answers.name)
    assert "nodes by their structure cannot be searched here" in found["problem"]["what"]
    assert "open the file itself in a browser" in found["problem"]["hint"]
    without = tmp_path / "without.html"
    html = answers.read_text()
    for path, what in (
        ("/api/search-index", "rules, ops and places of passes, of which there is no index"),
        (f"/api/kernels/{store.kernels()[0]}", "texts of 1 kernels and passes, which are not"),
    ):
        without.write_text(html.replace(path, path.replace("/api/", "/gone/")))
        older = open_run(without)
        assert what in older.search("kernel")["problem"]["what"]
        assert older.search("kernel")["total"] > 0


STRANGE = {
    "texts": [{"shown": "a", "kinds": [["pass", "a"]]}, {"kinds": [["no", "a"], 3]}, 4],
    "hits": {"entry": [1, "x", 1, 1, 1], "text": [0, 1, "0", 9, -1]},
    "ops": {},
}


@pytest.mark.parametrize(
    "index", ["7", "[]", '{"ops": 3, "texts": [], "hits": 4}', '{"texts": 3}', json.dumps(STRANGE)]
)
def test_an_index_that_makes_no_sense_finds_nothing(answers: Path, index: str) -> None:
    rows = [{"id": 1, "row": 0, "name": "a", "kind": "rewrite", "status": "ok", "caller": 4}]
    search = HeldSearch(
        rows, lambda: json.loads(index), lambda number: [number], lambda number: number, "x.html"
    )
    assert search.find("a")["total"] == 1


def emulated_in(html: str, kernel: int, answer: str, stated: str) -> str:
    """An exported file that states what was emulated: `answer` as JSON of a kernel, `stated` as
    that of the kernels of which there is something."""
    block = re.search(r'<script type="application/json" id="uopviz-data-0">([^<]*)</script>', html)
    assert block is not None
    entries = json.loads(block[1])
    (paths,) = [p for p in entries if "/api/A/run" in p.split(" ")]
    items = json.loads(gzip.decompress(base64.b64decode(entries[paths])))
    run = items[paths.split(" ").index("/api/A/run")]
    run["emulated"] = json.loads(stated)
    entries[paths] = base64.b64encode(gzip.compress(json.dumps(items).encode())).decode()
    packed = gzip.compress(f"[{answer}]".encode())
    entries[f"/api/A/emulated/{kernel}"] = base64.b64encode(packed).decode()
    return html.replace(block[1], json.dumps(entries))


EMULATION = json.dumps(emulate(add(64), "PTX:EMU"))


@pytest.mark.parametrize(
    ("answer", "stated", "left_out"),
    [
        (f"[{EMULATION}]", '[{k}, "x", null, [], 10e9, {k}]', False),
        ("[" + "[]," * 9_000_000 + "[]]", "[{k}]", True),
        ("[" * 100_000, "[{k}]", False),
        ("[" * 950 + "]" * 950, "[{k}]", False),
        (f"[{EMULATION}]", "{}", False),
        (f"[{EMULATION}]", "7", False),
    ],
)
def test_what_was_emulated_is_taken_within_a_budget(
    store: Store, exported: Path, answer: str, stated: str, left_out: bool
) -> None:
    kernel = store.kernels()[0]
    html = emulated_in(exported.read_text(), kernel, answer, stated.replace("{k}", str(kernel)))
    exported.write_text(html)
    whole = answer == f"[{EMULATION}]" and stated.startswith("[")
    with closing(open_run(exported)) as again:
        assert isinstance(again, Unpacked)
        assert again.run()["emulated"] == ([kernel] if whole else [])
        said = [problem["what"] for problem in again.run()["problems"]]
        assert said == ["some of what was emulated is left out: it is too large"] * left_out


def test_a_newer_version_says_so(exported: Path, tmp_path: Path) -> None:
    whole = exported.read_text()
    for text in (whole, TRACE.sub("", whole)):
        new = tmp_path / "new.html"
        new.write_text(
            text.replace(f'export" content="{VERSION}"', f'export" content="{VERSION + 1}"')
        )
        again = open_run(new)
        assert f"has version {VERSION + 1}, newer than" in again.run()["problems"][0]["what"]
        assert again.tree()["total"] > 0
        again.close()


def test_a_damaged_trace_leaves_the_answers(exported: Path, tmp_path: Path) -> None:
    text = exported.read_text()
    packed = TRACE.search(text)
    assert packed is not None
    bomb = base64.b64encode(gzip.compress(bytes(1 << 22))).decode()
    for wrong in ("AAAA", packed[1][: len(packed[1]) // 8 * 4], packed[1][:-1], bomb):
        path = tmp_path / "x.html"
        path.write_text(text.replace(packed[1], wrong))
        again = open_run(path)
        assert isinstance(again, Reopened)
        assert again.bundle(2) is not None
        assert len(again.run()["problems"]) == 1, wrong[:20]
        again.close()


def test_more_than_a_trace_may_be_is_not_unpacked(
    exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viz.share.reopened.MAX_TRACE", 10_000)
    again = open_run(exported)
    assert isinstance(again, Reopened)
    assert "damaged (too large" in again.run()["problems"][0]["what"]


def same_answers(store: Store, again: Store) -> None:
    """What a page shows of both."""
    assert plain(again.tree()) == plain(store.tree())
    assert plain(again.rules()) == plain(store.rules())
    assert plain(again.timeline()) == plain(store.timeline())
    assert plain(again.rule_totals()) == plain(store.rule_totals())
    assert again.kernels() == store.kernels()
    for row in store.tree()["rows"]:
        number = row["id"]
        if row["kind"] == "rewrite":
            assert plain(again.bundle(number)) == plain(store.bundle(number))
            assert again.step_text(number, 1) == store.step_text(number, 1)
            assert again.scope_of(number) == store.scope_of(number)
            scope = store.scope_of(number)
            assert scope is not None
            assert plain(again.lineage(scope)) == plain(store.lineage(scope))
        elif row["label"] == "kernel":
            assert plain(again.kernel(number)) == plain(store.kernel(number))
            assert plain(again.origins(number)) == plain(store.origins(number))
    assert (again.bundle(999), again.live, again.refresh()) == (None, False, None)


@pytest.mark.parametrize("kind", ["exported", "answers"])
def test_the_page_is_served(request: pytest.FixtureRequest, kind: str) -> None:
    path: Path = request.getfixturevalue(kind)
    app = create_app(open_run(path), Guard("secret", 4711))
    client = app.test_client()
    sent = {"base_url": "http://127.0.0.1:4711", "headers": {HEADER: "secret"}}

    def get(path: str) -> tuple[int, object]:
        found = client.get(path, **sent)
        return found.status_code, found.get_json()

    code, run = get("/api/A/run")
    assert code == 200
    assert isinstance(run, dict)
    assert run["file"] == path.name
    assert bool(run["targets"]) == bool(run["devices"]) == (kind == "exported")
    for at in (
        "/api/A/tree?since=0",
        "/api/A/rewrites/2",
        "/api/A/kernels/3",
        "/api/A/rule-totals",
    ):
        assert get(at)[0] == 200, at
    assert get("/api/A/rewrites/999")[0] == 404
    asked = client.post("/api/A/kernels/3/compile", json={"target": "x"}, **sent)
    app.extensions["uopviz"].close()
    assert asked.status_code == 400
    wanted = "there is no target" if kind == "exported" else "cannot compile"
    assert wanted in asked.get_json()["error"]["what"]


def test_commands(
    exported: Path, answers: Path, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def say(*arguments: object) -> tuple[int, str, str]:
        code = main([str(a) for a in arguments])
        out = capsys.readouterr()
        return code, out.out, out.err

    for extra in ([2], [2, 1], ["--all"]):
        shown, wanted = say("show", exported, *extra), say("show", trace, *extra)
        assert shown[0] == 0
        assert shown[1].splitlines()[-3:] == wanted[1].splitlines()[-3:]
    assert say("stats", exported)[1].splitlines()[-5:] == say("stats", trace)[1].splitlines()[-5:]
    assert say("graph", exported, 2, "--step", 1) == say("graph", trace, 2, "--step", 1)
    sql = "select name, matches from rewrites"
    assert say("query", exported, sql) == say("query", trace, sql)
    code, _, err = say("query", answers, "select 1")
    assert (code, "give the trace itself" in err) == (2, True)


def test_what_was_left_out_is_said(store: Store, dist: Path, tmp_path: Path) -> None:
    path = tmp_path / "part.html"
    whole = len(export_html(store).html)
    made = export_html(store, budget=whole * 3 // 10)
    assert "the trace itself does not fit in 0 MB" in made.left_out
    path.write_text(made.html)
    again = open_run(path)
    assert isinstance(again, Reopened)
    assert any("the trace itself does not fit" in p["what"] for p in again.run()["problems"])
    rewrites = [row["id"] for row in again.tree()["rows"] if row["kind"] == "rewrite"]
    missing = [n for n in rewrites if f"/api/A/rewrites/{n}" not in path.read_text()]
    assert missing
    for number in rewrites:
        if number in missing:
            with pytest.raises(TraceError, match="was left out of this exported file"):
                again.bundle(number)
        else:
            assert again.bundle(number) is not None


def test_files_that_are_no_export(exported: Path, tmp_path: Path) -> None:
    text = exported.read_text()
    bomb = base64.b64encode(gzip.compress(bytes(1 << 27))).decode()
    block = '<script type="application/json" id="uopviz-data-0">%s</script>'
    for wrong in (
        "<!doctype html><html></html>",
        "<!doctype html>" + block % "[1, 2]",
        "<!doctype html>" + block % "{",
        "<!doctype html>" + block % ("[" * 100_000),
        "<!doctype html>" + block % json.dumps({"/api/run": bomb}),
        "<!doctype html>" + block % json.dumps({"/api/run": "????"}),
        text[: len(text) // 3],
    ):
        path = tmp_path / "x.html"
        path.write_text(wrong)
        with pytest.raises(TraceError, match="no export of uopviz"):
            open_run(path)


def test_a_hostile_export_takes_no_long_time(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    path.write_text(
        "<!doctype html>" + '<script type="application/json" id="uopviz-data-0">' * 20_000
    )
    with at_most(175), pytest.raises(TraceError, match="no export of uopviz"):
        open_run(path)


def test_what_is_said_of_a_run_may_be_anything(tmp_path: Path) -> None:
    answers = {
        "/api/run": {"problems": 5, "format": [7]},
        "/api/tree?since=0": {"rows": []},
        "/api/rules": [],
    }
    packed = {
        path: base64.b64encode(gzip.compress(json.dumps([value]).encode())).decode()
        for path, value in answers.items()
    }
    block = '<script type="application/json" id="uopviz-data-0">%s</script>'
    path = tmp_path / "x.html"
    path.write_text("<!doctype html>" + block % json.dumps(packed))
    run = open_run(path).run()
    assert [p["what"] for p in run["problems"]] == [
        "this exported file holds no trace: its kernels cannot be compiled or run here"
    ]
    assert run["format"]["export"] == 1


def test_any_damage_is_a_sentence(
    exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = exported.read_bytes()
    chance = random.Random(SEED)
    path = tmp_path / "x.html"
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(chance.randrange(1, 6)):
            damaged[chance.randrange(16, len(damaged))] = chance.randrange(32, 127)
        path.write_bytes(damaged)
        for arguments in (["show"], ["show", "2"], ["stats"]):
            code = main([arguments[0], str(path), *arguments[1:]])
            assert code in (0, 2), f"seed {SEED}"
            assert "Traceback" not in capsys.readouterr().err
