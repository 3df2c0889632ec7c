"""Several runs of one server: each answers for itself, and what is kept of one is no other's."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from core.errors import ServerError
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.viz.samples import random_graph, rules
from tests.viz.server.client import HOST, PORT, TOKEN, TokenClient, ended
from viz.compare.answers import COMPARE, PAIR_ANSWERS
from viz.live import record
from viz.server.app import create_app
from viz.server.security import HEADER, Guard
from viz.server.state import State
from viz.share.html import export_html
from viz.share.reopened import open_run
from viz.views.answers import ANSWERS, BUNDLE, TREE
from viz.views.runs.run import NAMES
from viz.views.store import Store
from viz.why.answers import WHY_ANSWERS


def recorded(path: Path, seed: int, name: str = "tidy") -> Path:
    """A trace of one kernel with one pass."""
    with record(path), context(f"kernel_{seed}", "kernel"):
        graph_rewrite(random_graph(seed), rules, name=name)
    return path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache, with a trace."""
    folder = tmp_path / "cache"
    folder.mkdir()
    recorded(folder / "cached.viz", 21, "cached")
    monkeypatch.setattr("viz.views.runs.recent.cache_folder", lambda: folder)
    return folder


@pytest.fixture
def two(store: Store, tmp_path: Path, dist: Path) -> Iterator[Flask]:
    other = Store(recorded(tmp_path / "other.viz", 7, "other"))
    app = create_app(store, Guard(TOKEN, PORT), [other])
    app.test_client_class = TokenClient
    yield app
    app.extensions["uopviz"].close()


@pytest.fixture
def client(two: Flask) -> FlaskClient:
    return two.test_client()


def get(client: FlaskClient, path: str, status: int = 200) -> Any:
    found = client.get(f"/api/{path}")
    assert found.status_code == status, (path, found.get_data(as_text=True)[:500])
    return found.get_json()


def whole(client: FlaskClient, path: str) -> Any:
    """An answer about a pair, once it is done."""
    until = time.monotonic() + 30
    while not (found := get(client, path))["done"]:
        assert time.monotonic() < until
    return found


def test_each_run_answers_for_itself(client: FlaskClient, store: Store) -> None:
    names = get(client, "runs")
    assert [(one["name"], one["file"], one["live"]) for one in names] == [
        ("A", "run.viz", False),
        ("B", "other.viz", False),
    ]
    assert all(one["title"] for one in names)
    for _ in range(2):  # the second time they are kept
        assert get(client, "A/tree")["rows"][1]["name"] == "tidy"
        assert get(client, "B/tree")["rows"][1]["name"] == "other"
        assert get(client, "A/rewrites/2")["name"] == "tidy"
        assert get(client, "B/rewrites/2")["name"] == "other"
    assert get(client, "A/kernels/3")["context"] == 3
    get(client, "B/kernels/99", 404)


@pytest.mark.parametrize(
    "name", ["C", "H", "I", "a", "AA", "AB", "1", "%41%42", "..", "%2e%2e", "\u0410", "A%00"]
)
def test_other_names_are_no_runs(client: FlaskClient, name: str) -> None:
    for path in (f"{name}/run", f"{name}/traces", f"compare/A/{name}", f"compare/{name}/B"):
        error = get(client, path, 404)["error"]
        assert set(error) == {"what", "where", "hint"}
    for path in (f"{name}/open", f"{name}/kernels/3/compile", f"{name}/traces/open"):
        assert client.post(f"/api/{path}", json={}).status_code in (404, 405)
    assert client.delete(f"/api/runs/{name}").status_code in (404, 405)


def test_a_name_that_no_run_has_says_so(client: FlaskClient) -> None:
    assert get(client, "C/run", 404)["error"]["what"] == "no run C is open here"


def test_runs_are_opened_and_closed(client: FlaskClient, cache: Path) -> None:
    assert client.post("/api/runs", json={"name": "cached.viz"}).get_json() == {"run": "C"}
    assert get(client, "C/tree")["rows"][1]["name"] == "cached"
    assert client.delete("/api/runs/B").status_code == 200
    get(client, "B/run", 404)
    assert [one["name"] for one in get(client, "runs")] == ["A", "C"]
    assert client.post("/api/runs", json={"name": "cached.viz"}).get_json() == {"run": "B"}
    assert get(client, "B/tree")["rows"][1]["name"] == "cached", "nothing is left of the run before"
    assert get(client, "B/rewrites/2")["name"] == "cached"
    refused = client.delete("/api/runs/A")
    assert (refused.status_code, "stays open" in refused.get_json()["error"]["what"]) == (400, True)


def test_runs_whose_files_have_one_name_are_told_apart(
    client: FlaskClient, store: Store, cache: Path
) -> None:
    twin = store.path.name
    recorded(cache / twin, 21, "cached")
    assert client.post("/api/runs", json={"name": twin}).get_json() == {"run": "C"}
    files = [f"{store.path.parent.name}/{twin}", "other.viz", f"cache/{twin}"]
    assert [one["file"] for one in get(client, "runs")] == files


@pytest.mark.parametrize("body", [{}, {"name": "../cached.viz"}, {"name": 7}, {"name": ""}, []])
def test_only_traces_of_the_cache_are_opened(
    client: FlaskClient, cache: Path, body: object
) -> None:
    assert client.post("/api/runs", json=body).status_code == 400
    assert len(get(client, "runs")) == 2


def test_what_is_no_trace_opens_no_run(client: FlaskClient, cache: Path) -> None:
    (cache / "bad.viz").write_bytes(b"not a trace")
    answer = client.post("/api/runs", json={"name": "bad.viz"})
    assert answer.status_code == 400
    assert len(get(client, "runs")) == 2


def test_there_is_an_end_to_runs(client: FlaskClient, cache: Path) -> None:
    for name in NAMES[2:]:
        assert client.post("/api/runs", json={"name": "cached.viz"}).get_json() == {"run": name}
    full = client.post("/api/runs", json={"name": "cached.viz"})
    assert (full.status_code, full.get_json()["error"]["what"]) == (400, "8 runs are open")
    assert client.delete("/api/runs/D").status_code == 200
    assert client.post("/api/runs", json={"name": "cached.viz"}).get_json() == {"run": "D"}


def test_too_many_at_the_start_are_an_error(trace: Path) -> None:
    stores = [Store(trace) for _ in range(len(NAMES) + 1)]
    with pytest.raises(ServerError, match="8 runs are open"):
        State(stores[0], stores[1:])
    for store in stores:
        store.close()


def test_going_on_with_another_trace_is_of_one_run(client: FlaskClient, cache: Path) -> None:
    assert client.post("/api/B/traces/open", json={"name": "cached.viz"}).status_code == 200
    assert get(client, "B/tree")["rows"][1]["name"] == "cached"
    assert get(client, "A/tree")["rows"][1]["name"] == "tidy"
    assert get(client, "A/traces")["former"] is None
    assert get(client, "B/traces")["former"] == "other.viz"
    assert client.post("/api/A/traces/open", json={"former": True}).status_code == 400
    assert client.post("/api/B/traces/open", json={"former": True}).status_code == 200
    assert get(client, "B/rewrites/2")["name"] == "other"


def test_nothing_is_kept_of_a_run_that_is_closed(store: Store, tmp_path: Path) -> None:
    state = State(store, [Store(recorded(tmp_path / "other.viz", 7))])
    run = state.run("B")
    assert run is not None
    for asked, values in ((BUNDLE, (2,)), (TREE, (0,))):
        run.answer(asked, *values)
    state.first.answer(BUNDLE, 2)
    kept = state.machine.ended, state.machine.answers
    assert [len(one.items()) for one in kept] == [2, 1]
    state.end("B")
    assert [len(one.items()) for one in kept] == [1, 0]
    state.close()


def test_everything_needs_the_token(two: Flask) -> None:
    stranger = FlaskClient(two, use_cookies=False)
    sent = {"Host": HOST}
    for path in ("runs", "A/run", "B/run", "compare/A/B", "compare/A/B/passes?of=2&with=2"):
        assert stranger.get(f"/api/{path}", headers=sent).status_code == 403
        foreign = {**sent, HEADER: TOKEN, "Origin": "http://example.org"}
        assert stranger.get(f"/api/{path}", headers=foreign).status_code == 403
    assert stranger.post("/api/runs", json={"name": "x"}, headers=sent).status_code == 403
    assert stranger.delete("/api/runs/B", headers=sent).status_code == 403


# pairs


def test_pairs_answer(client: FlaskClient) -> None:
    overview = whole(client, "compare/A/B")
    assert not overview["equal"]
    assert overview["runs"]["a"]["file"] == "run.viz"
    assert overview["runs"]["b"]["file"] == "other.viz"
    turned = whole(client, "compare/B/A")
    assert turned["runs"]["a"]["file"] == "other.viz"
    own = whole(client, "compare/A/A")
    assert own["equal"]
    scopes = get(client, "compare/A/A/scopes?of=3&with=3")
    assert [one["state"] for one in scopes["passes"]] == ["equal"]
    steps = get(client, "compare/A/A/passes?of=2&with=2")
    assert all(steps["equal"]) and steps["ofSteps"]["both"] == len(steps["steps"]) > 0
    lines = get(client, "compare/A/A/sources?of=3&with=3&kind=llvm&target=x86-64")
    assert {row["state"] for row in lines["rows"]} == {"same"}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("scopes?of=99&with=3", 404),
        ("scopes", 404),
        ("passes?of=2&with=99999", 404),
        ("passes?of=-1&with=2", 400),
        ("passes?of=x&with=2", 400),
        ("passes?of=9999999999999999&with=2", 400),
        ("sources?of=3&with=3&kind=nothing&target=", 404),
        ("sources?of=3&with=3&kind=" + "x" * 10_000, 404),
        ("nothing", 404),
    ],
)
def test_pairs_that_are_not_there(client: FlaskClient, path: str, status: int) -> None:
    assert set(get(client, f"compare/A/B/{path}", status)["error"]) == {"what", "where", "hint"}


def test_a_pair_is_compared_anew_when_a_run_has_gone_on(client: FlaskClient, cache: Path) -> None:
    assert whole(client, "compare/A/B")["runs"]["b"]["file"] == "other.viz"
    client.post("/api/B/traces/open", json={"name": "cached.viz"})
    assert whole(client, "compare/A/B")["runs"]["b"]["file"] == "cached.viz"
    client.delete("/api/runs/B")
    get(client, "compare/A/B", 404)


def test_a_pair_that_is_done_is_made_once(
    client: FlaskClient, two: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = whole(client, "compare/A/B")
    monkeypatch.setattr("viz.compare.comparison.Comparison.overview", lambda *_, **__: 1 / 0)
    assert get(client, "compare/A/B") == first
    answer = client.get("/api/compare/A/B")
    again = client.get("/api/compare/A/B", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    state: State = two.extensions["uopviz"]
    assert state.machine.answers.items()


def test_a_running_program_is_compared_with_what_was(tmp_path: Path, trace: Path) -> None:
    with record(tmp_path / "live.viz") as recorder:
        app = create_app(Store(trace), Guard(TOKEN, PORT), [Store(recorder.path)])
        app.test_client_class = TokenClient
        client = app.test_client()
        before = whole(client, "compare/A/B")
        assert before["runs"]["b"]["live"]
        with context("kernel_9", "kernel"):
            graph_rewrite(random_graph(9), rules, name="simplify")
        recorder.flush()
        time.sleep(0.2)
        after = whole(client, "compare/A/B")
        assert len(after["scopes"]) != len(before["scopes"]) or after["scopes"] != before["scopes"]
        app.extensions["uopviz"].close()


def test_answers_without_a_trace_cannot_be_compared(
    store: Store, dist: Path, tmp_path: Path
) -> None:
    html = export_html(store).html
    path = tmp_path / "bug.html"
    path.write_text(html.replace("application/octet-stream", "text/plain"))
    app = create_app(store, Guard(TOKEN, PORT), [open_run(path)])
    app.test_client_class = TokenClient
    error = get(app.test_client(), "compare/A/B", 400)["error"]
    assert "holds no trace, and cannot be compared" in error["what"]
    app.extensions["uopviz"].close()


def test_runs_are_exported_together(client: FlaskClient, tmp_path: Path) -> None:
    job = client.post("/api/export", json={"runs": ["B", "A"]}).get_json()["job"]
    state = ended(client, job)
    assert state["state"] == "done", state
    answer = client.get(f"/api/export/{job}")
    assert 'filename="other-run.html"' in answer.headers["Content-Disposition"]
    path = tmp_path / "both.html"
    path.write_bytes(answer.data)
    first = open_run(path)
    second = open_run(path, held_as="B")
    assert [run.tree()["rows"][1]["name"] for run in (first, second)] == ["other", "tidy"]
    first.close()
    second.close()


@pytest.mark.parametrize(
    "body",
    [
        {"runs": []},
        {"runs": ["C"]},
        {"runs": ["A", "A"]},
        {"runs": "A"},
        {"runs": [1]},
        {"runs": [["A"]]},
        {"runs": ["A", "B"], "kernels": [3]},
        {"kernels": [True]},
    ],
)
def test_exports_that_make_no_sense(client: FlaskClient, body: object) -> None:
    assert client.post("/api/export", json=body).status_code == 400


def test_no_name_of_an_answer_is_that_of_another() -> None:
    names = [answer.name for answer in (*ANSWERS, *WHY_ANSWERS, *PAIR_ANSWERS)]
    assert len({*names}) == len(names)
    assert COMPARE.at() == ""
