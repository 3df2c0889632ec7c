"""An exported file of several runs: what it has of each and of pairs of them; and opened again."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.errors import ServerError, TraceError
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.viz.samples import random_graph, rules
from tests.viz.server.client import PORT, TOKEN, TokenClient
from tests.viz.share.test_export import TRACE, entries
from viz.cli import main
from viz.compare.comparison import Comparison
from viz.live import record
from viz.server.app import create_app
from viz.server.security import Guard
from viz.share.exportfile import VERSION, names_in, version_tag
from viz.share.held.run import Reopened
from viz.share.html import export_html
from viz.share.reopened import Unpacked, open_run, open_runs, runs_in
from viz.views.runs.run import NAMES, Run
from viz.views.store import Store

TRACES = re.compile(r'<script type="application/octet-stream" id="uopviz-trace-[^<]*</script>\n?')


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Store]:
    """A run of the same program, with another pass in its first kernel."""
    path = tmp_path / "other.viz"
    with record(path):
        with context("schedule 2 kernels", "schedule"):
            graph_rewrite(random_graph(1), rules, name="tidy")
        for i in range(2):
            with context(f"kernel_{i}", "kernel", target="x86-64"):
                graph_rewrite(random_graph(10 + 5 * i), rules, name="simplify")
    store = Store(path)
    yield store
    store.close()


@pytest.fixture
def html(store: Store, other: Store, dist: Path) -> str:
    return export_html(store, beside=[other]).html


@pytest.fixture
def file(html: str, tmp_path: Path) -> Path:
    path = tmp_path / "both.html"
    path.write_text(html)
    return path


def plain(value: object) -> Any:
    return json.loads(json.dumps(value))


def opened(path: Path) -> Any:
    """The runs of a file, closed at the end of the block."""
    return closing(_All(open_runs(path)))


class _All(list[Run]):
    def __init__(self, runs: Sequence[Run]) -> None:
        super().__init__(runs)

    def close(self) -> None:
        for run in self:
            run.close()


def test_the_file_holds_both(html: str, store: Store, other: Store) -> None:
    held = entries(html)
    assert [(one["name"], one["file"], one["live"]) for one in held["/api/runs"]] == [
        ("A", "run.viz", False),
        ("B", "other.viz", False),
    ]
    for name, run in (("A", store), ("B", other)):
        assert held[f"/api/{name}/tree?since=0"] == plain(run.tree())
        assert held[f"/api/{name}/rewrites/2"] == plain(run.bundle(2))
        assert held[f"/api/{name}/run"]["format"]["export"] == VERSION
    assert not [path for path in held if path.startswith("/api/C")]


def test_what_the_page_asks_of_a_pair_is_there(html: str, store: Store, other: Store) -> None:
    held = entries(html)
    comparison = Comparison(store, other)
    made = plain(comparison.overview())
    found = held["/api/compare/A/B"]
    for key in ("scopes", "rules", "passes", "equal", "done", "leftOut"):
        assert found[key] == made[key], key
    differing = 0
    for scope in found["scopes"]:
        a, b = scope["a"] or 0, scope["b"] or 0
        path = f"/api/compare/A/B/scopes?of={a}&with={b}"
        assert held[path] == plain(comparison.scopes(a, b))
        for one in held[path]["passes"]:
            a, b = one["a"] or 0, one["b"] or 0
            path = f"/api/compare/A/B/passes?of={a}&with={b}"
            assert (path in held) == (one["state"] != "equal")
            if path in held:
                differing += 1
                assert held[path] == plain(comparison.passes(a, b))
    assert differing
    assert [path for path in held if "/sources?" in path]


def test_it_is_opened_again(file: Path, store: Store, other: Store) -> None:
    assert runs_in(file) == "AB"
    with opened(file) as runs:
        assert [run.held_as for run in runs] == ["A", "B"]
        assert all(isinstance(run, Unpacked) for run in runs)
        for run, whole in zip(runs, (store, other), strict=True):
            assert plain(run.tree()) == plain(whole.tree())
            assert run.bundle(2) == whole.bundle(2)
    with closing(open_run(file)) as first, closing(open_run(file, held_as="B")) as second:
        assert first.tree() == store.tree()
        assert second.tree() == other.tree()
    with pytest.raises(TraceError, match="holds no run C"):
        open_run(file, held_as="C")


def test_it_is_served_as_two_runs(file: Path) -> None:
    with opened(file) as runs:
        app = create_app(runs[0], Guard(TOKEN, PORT), runs[1:])
        app.test_client_class = TokenClient
        client = app.test_client()
        names = client.get("/api/runs").get_json()
        assert [(one["name"], one["file"]) for one in names] == [
            ("A", "both.html"),
            ("B", "both.html"),
        ]
        assert client.get("/api/B/run").get_json()["file"] == "both.html"
        app.extensions["uopviz"].close()


def test_going_back_finds_the_run_in_the_file(file: Path, trace: Path) -> None:
    """Both lie in one file: its path alone does not say which one."""
    with opened(file) as runs:
        app = create_app(runs[0], Guard(TOKEN, PORT), runs[1:])
        state = app.extensions["uopviz"]
        second = state.run("B")
        kernels = second.store.tree()
        second.go_on(trace)
        second.go_back()
        assert second.store.held_as == "B"
        assert second.store.tree() == kernels
        state.close()


def test_without_traces_its_answers_are_shown(file: Path, html: str) -> None:
    file.write_text(TRACES.sub("", html))
    held = entries(html)
    with opened(file) as runs:
        assert all(isinstance(run, Reopened) for run in runs)
        app = create_app(runs[0], Guard(TOKEN, PORT), runs[1:])
        app.test_client_class = TokenClient
        client = app.test_client()
        for path in held:
            if path.startswith(("/api/compare/", "/api/A/rewrites/", "/api/B/tree")):
                assert client.get(path).get_json() == held[path], path
        assert client.get("/api/compare/A/A").status_code == 400
        assert client.get("/api/compare/A/B/passes?of=777&with=2").status_code == 400
        app.extensions["uopviz"].close()


def test_answers_of_another_file_are_not_taken(file: Path, html: str, tmp_path: Path) -> None:
    """Who holds both runs says what differs; nobody else does."""
    text = TRACES.sub("", html)
    file.write_text(text)
    copy = tmp_path / "copy.html"
    copy.write_text(text)
    a, b = open_run(file), open_run(copy, held_as="B")
    assert isinstance(a, Reopened)
    assert isinstance(b, Reopened)
    assert a.compared(b, "") is None
    own = open_run(file, held_as="B")
    assert isinstance(own, Reopened)
    assert a.compared(own, "")["done"]


def test_one_damaged_trace_leaves_the_other(file: Path, html: str) -> None:
    file.write_text(re.sub(r'(id="uopviz-trace-B-0">).{40}', r"\1", html))
    with opened(file) as runs:
        assert isinstance(runs[0], Unpacked)
        assert isinstance(runs[1], Reopened)
        assert "damaged" in runs[1].run()["problems"][0]["what"]
        assert runs[1].tree()["total"] > 0


def test_all_traces_together_have_a_limit(
    file: Path, monkeypatch: pytest.MonkeyPatch, trace: Path
) -> None:
    """As many bytes as the first run takes, and a few more."""
    with closing(open_run(file)) as first:
        size = sum(one.path.stat().st_size for one in first.files)
    monkeypatch.setattr("viz.share.reopened.MAX_TRACE", size + 1000)
    with opened(file) as runs:
        assert isinstance(runs[0], Unpacked)
        assert "too large" in runs[1].run()["problems"][0]["what"]


@pytest.mark.parametrize("names", ["BA", "AA", "ABB", "B", "AC", "", "AI", "ABCDEFGHA", "A B"])
def test_names_that_make_no_sense_are_one_run(html: str, file: Path, names: str) -> None:
    file.write_text(html.replace('"uopviz-runs" content="AB"', f'"uopviz-runs" content="{names}"'))
    assert runs_in(file) == "A"
    with opened(file) as runs:
        assert len(runs) == 1


def test_a_run_that_is_named_but_not_there_is_an_error(html: str, file: Path) -> None:
    named = f'"uopviz-runs" content="{NAMES}"'
    file.write_text(html.replace('"uopviz-runs" content="AB"', named))
    with pytest.raises(TraceError, match="it does not hold a run"):
        open_runs(file)


def test_names_stand_in_the_head_alone() -> None:
    assert names_in("<!doctype html>" + " " * 5000 + version_tag(3)) == "A"
    assert names_in(version_tag(3)) == "ABC"


def test_a_file_of_version_2_is_read(store: Store, dist: Path, tmp_path: Path) -> None:
    """One run, whose answers do not name it; with its trace and without."""
    html = export_html(store).html.replace("/api/A/", "/api/")
    html = html.replace(version_tag(1), '<meta name="uopviz-export" content="2" />')
    path = tmp_path / "old.html"
    for text, kind in ((html, Unpacked), (TRACE.sub("", html), Reopened)):
        path.write_text(text)
        with opened(path) as (run,):
            assert isinstance(run, kind)
            assert run.tree()["rows"] == store.tree()["rows"]
            assert run.run()["format"]["export"] == 2
            assert run.bundle(2) is not None


def test_redacted_runs_say_nothing_of_whose_they_are(
    store: Store, other: Store, dist: Path
) -> None:
    made = export_html(store, beside=[other], redact=True)
    held = entries(made.html)
    for name in "AB":
        assert held[f"/api/{name}/run"]["command"] == ""
    assert [one["file"] for one in held["/api/runs"]] == ["run.viz", "run.viz"]
    said = json.dumps(held)
    assert str(Path.cwd()) not in said
    command = store.run()["command"]
    assert command
    assert json.dumps(command)[1:-1] not in said


def test_a_budget_is_shared(store: Store, other: Store, dist: Path) -> None:
    whole = export_html(store, beside=[other])
    assert whole.left_out == []
    budget = len(whole.html) // 2
    made = export_html(store, beside=[other], budget=budget)
    assert len(made.html) <= budget
    held = entries(made.html)
    for name in "AB":
        assert any(said.startswith(f"run {name}: ") for said in made.left_out)
        assert held[f"/api/{name}/tree?since=0"]["total"] > 0
        assert held[f"/api/{name}/run"]["problems"]
    assert "/api/compare/A/B" in held
    with pytest.raises(ServerError, match="the lists of passes alone take"):
        export_html(store, beside=[other], budget=1000)


def test_there_is_an_end_to_runs(store: Store, dist: Path) -> None:
    with pytest.raises(ServerError, match="9 runs are too many"):
        export_html(store, beside=[store] * len(NAMES))


def test_three_runs_have_three_pairs_either_way_round(
    store: Store, other: Store, dist: Path
) -> None:
    held = entries(export_html(store, beside=[other, store]).html)
    pairs = [path for path in held if re.fullmatch(r"/api/compare/./.", path)]
    ways = [path.removeprefix("/api/compare/") for path in pairs]
    assert ways == ["A/B", "A/C", "B/C", "B/A", "C/A", "C/B"]
    assert held["/api/compare/A/C"]["equal"] and held["/api/compare/C/A"]["equal"]


def test_a_bomb_in_the_pair_is_within_the_budget(html: str, file: Path) -> None:
    bomb = base64.b64encode(gzip.compress(b"[" + b"[]," * 30_000_000 + b"[]]")).decode()
    text = TRACES.sub("", html)
    block = re.search(r'id="uopviz-data-0">([^<]*)<', text)
    assert block is not None
    data = json.loads(block[1])
    paths = next(path for path in data if "/api/compare/A/B" in path.split(" "))
    data[paths] = bomb
    file.write_text(text.replace(block[1], json.dumps(data)))
    with opened(file) as runs:
        app = create_app(runs[0], Guard(TOKEN, PORT), runs[1:])
        app.test_client_class = TokenClient
        answer = app.test_client().get("/api/compare/A/B")
        assert answer.status_code == 400
        assert answer.get_json()["error"]["what"]
        app.extensions["uopviz"].close()


# commands


def said(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main([str(word) for word in words])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_the_command_exports_several(
    store: Store, other: Store, dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = said(capsys, "export", store.path, other.path, "--json")
    assert code == 0
    made = Path(json.loads(out)["file"])
    assert made == tmp_path / "run-other.html"
    assert runs_in(made) == "AB"
    code, _, _ = said(capsys, "export", made, store.path, "-o", tmp_path / "three.html")
    assert (code, runs_in(tmp_path / "three.html")) == (0, "ABC")
    code, out, err = said(capsys, "show", made)
    assert code == 0
    assert "holds the runs A, B; this is A, --run chooses another" in err
    for words, wrong in (
        (("-o", tmp_path / "x.viz"), "a trace holds one run"),
        (("--kernel", "kernel_0"), "--kernel chooses from one run"),
    ):
        code, _, err = said(capsys, "export", store.path, other.path, *words)
        assert (code, wrong in err) == (2, True)
    code, _, err = said(capsys, "export", made, made, made, made, made, "-o", tmp_path / "x.html")
    assert (code, "more than 8 runs are too many" in err) == (2, True)


def test_each_run_of_a_file_is_chosen_by_its_letter(
    store: Store, other: Store, dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = tmp_path / "both.html"
    assert said(capsys, "export", store.path, other.path, "-o", both)[0] == 0
    for command in ("show", "stats", "query"):
        more = ["SELECT id, name FROM rewrites ORDER BY id"] if command == "query" else []
        for letter, path in (("A", store.path), ("B", other.path), ("b", other.path)):
            code, out, err = said(capsys, command, both, *more, "--run", letter, "--json")
            assert (code, err) == (0, "")
            _, alone, _ = said(capsys, command, path, *more, "--json")
            assert _of_the_trace(json.loads(out)) == _of_the_trace(json.loads(alone))
    for path, letter, hint in (
        (both, "C", "it holds A, B"),
        (both, "AB", "it holds A, B"),
        (both, "", "it holds A, B"),
        (store.path, "B", "it holds one: leave out --run"),
    ):
        code, out, err = said(capsys, "show", path, "--run", letter)
        assert (code, out) == (2, "")
        assert f"there is no run {letter!r} in this file" in err
        assert hint in err
    assert said(capsys, "show", store.path, "--run", "A")[0] == 0


def _of_the_trace(data: Any) -> Any:
    """Without what a file says of itself, and what is looked up beside it."""
    if not isinstance(data, dict):
        return data
    left_out = ("run", "since", "text", "checked", "inputs")
    return {key: value for key, value in data.items() if key not in left_out}


def test_the_runs_of_one_file_are_compared(
    store: Store, other: Store, dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = tmp_path / "both.html"
    assert said(capsys, "export", store.path, other.path, "-o", both)[0] == 0
    code, out, err = said(capsys, "diff", both, "--json")
    assert (code, err) == (1, "")
    _, alone, _ = said(capsys, "diff", store.path, other.path, "--json")
    assert json.loads(out)["scopes"] == json.loads(alone)["scopes"]
    code, _, err = said(capsys, "diff", both, store.path)
    assert (code, "holds the runs A, B; this is A" in err) == (0, True)
    code, _, err = said(capsys, "diff", store.path)
    assert (code, "there is nothing to compare it with" in err) == (2, True)


def test_a_difference_is_written_as_a_page(
    store: Store, other: Store, dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "diff.html"
    words = ("diff", store.path, other.path, "--html", page)
    code, out, _ = said(capsys, *words, "--json")
    assert (code, runs_in(page)) == (1, "AB")
    shown = entries(page.read_text())["/api/compare/A/B"]
    assert shown["scopes"] == json.loads(out)["scopes"]
    assert said(capsys, *words)[0] == 1, "it takes the place of an earlier one"
    page.write_text("my notes")
    code, _, err = said(capsys, *words)
    assert code == 2
    assert page.read_text() == "my notes"
    assert err
    for wrong, said_of_it in (
        (("diff", store.path, other.path, "--html", other.path), "is written as .html"),
        (("diff", tmp_path, tmp_path, "--html", page), "--html writes two runs"),
    ):
        code, _, err = said(capsys, *wrong)
        assert (code, said_of_it in err) == (2, True)
