"""The server's answers: what they say, and how they say that something is wrong."""

from __future__ import annotations

import gzip
import json
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.viz.samples import random_graph, rules
from tests.viz.server.client import PORT, TOKEN, TokenClient, ended
from viz.format.jsontext import to_json
from viz.live import record
from viz.server.answers import Encoded
from viz.server.app import create_app
from viz.server.runs.openrun import LIVE_SHARE, SLICE
from viz.server.security import HEADER, Guard
from viz.server.state import State
from viz.views.answers import BUNDLE, RUN, TREE
from viz.views.runs.run import Answer
from viz.views.store import Store


def test_the_page(client: FlaskClient) -> None:
    assert client.get("/").content_type.startswith("text/html")
    assert client.get("/app.js").content_type.startswith("text/javascript")
    assert client.get("/app.css").content_type.startswith("text/css")


def test_a_page_that_is_not_built(client: FlaskClient, dist: Path) -> None:
    (dist / "index.html").unlink()
    answer = client.get("/")
    assert answer.status_code == 503
    assert "npm" in answer.get_json()["error"]["hint"]
    seen = client.get("/", headers={"Accept": "text/html,*/*"})
    assert (seen.status_code, seen.content_type) == (503, "text/html; charset=utf-8")
    assert "<h1>The page has not been built</h1>" in seen.text
    assert "npm --prefix viz/web run build</code>" in seen.text
    assert seen.headers["Content-Security-Policy"].startswith("default-src 'none'; style-src")
    export = client.post("/api/export", json={}).get_json()["job"]
    assert "not been built" in ended(client, export)["error"]["what"]


def test_answers(client: FlaskClient) -> None:
    run = client.get("/api/A/run").get_json()
    assert run["totals"]["rewrites"] == 3
    assert {"CPU", "REFERENCE"} <= set(run["devices"])
    assert {"sm_90", "gfx1100", "x86-64"} <= set(run["targets"])
    tree = client.get("/api/A/tree?since=0").get_json()
    assert tree["total"] == len(tree["rows"]) == 6
    assert client.get("/api/A/tree?since=6").get_json()["rows"] == []
    rewrite = tree["rows"][1]["id"]
    bundle = client.get(f"/api/A/rewrites/{rewrite}").get_json()
    assert bundle["rewrite"] == rewrite
    assert len(client.get("/api/A/rules").get_json()) == 7
    kernel = tree["rows"][2]["id"]
    assert client.get(f"/api/A/kernels/{kernel}").get_json()["name"] == "kernel_0"
    origins = client.get(f"/api/A/origins/{kernel}").get_json()
    assert len(origins["node"]) == len(origins["origin"]) > 0
    hits = client.get("/api/A/search?q=add_zero").get_json()
    assert hits["total"] > 0
    assert all(hit["row"] >= 0 for hit in hits["hits"])


def test_large_answers_are_compressed(client: FlaskClient) -> None:
    plain = client.get("/api/A/rewrites/2").data
    answer = client.get("/api/A/rewrites/2", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(answer.data) == plain
    assert len(answer.data) < len(plain)


WRONG = {
    "/api/A/rewrites/999": 404,
    "/api/A/rewrites/-1": 404,
    "/api/A/rewrites/x": 404,
    "/api/A/rewrites/999999999999999999999999": 404,
    "/api/A/kernels/999": 404,
    "/api/A/origins/2": 404,
    "/api/jobs/999": 404,
    "/api/A/tree?since=-1": 400,
    "/api/A/nothing": 404,
}


@pytest.mark.parametrize(
    "value",
    [{}, [], None, "x", {"a": {}, "b": [], "c": {"d": list(range(1000)), "e": "é\u2028</"}},
     {"steps": [{"set": [[1, 2, [3]]], "n": None}] * 700}, [[i] for i in range(513)], {"": 1.5}],
)  # fmt: skip
def test_json_in_pieces_is_json(value: object) -> None:
    assert to_json(value) == json.dumps(value, separators=(",", ":")).encode()


def test_a_bundle_is_made_once_for_all_who_ask(
    store: Store, dist: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    bundle = store.bundle

    def slow(rewrite: int) -> object:
        made.append(rewrite)
        time.sleep(0.05)
        return bundle(rewrite)

    monkeypatch.setattr(store, "bundle", slow)
    state = State(store)
    found: list[bytes | None] = []
    asking = [
        threading.Thread(target=lambda: found.append(body(state.first.answer(BUNDLE, 2)))),
        threading.Thread(target=lambda: found.append(body(state.first.answer(BUNDLE, 2)))),
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert made == [2]
    assert found[0] == found[1] is not None


def test_answers_are_of_the_trace_that_is_open(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where another one is opened just when one is made."""
    path = tmp_path / "other.viz"
    with record(path), context("other"):
        graph_rewrite(random_graph(7), rules, name="tidy")
    state, bundle, tree = State(store), store.bundle, store.tree

    def slow(rewrite: int) -> object:
        found = bundle(rewrite)
        state.first.go_on(path)
        return found

    def slow_tree(since: int) -> object:
        found = tree(since)
        state.first.go_on(path)
        return found

    monkeypatch.setattr(store, "bundle", slow)
    before, after = (body(state.first.answer(BUNDLE, 2)) for _ in range(2))
    assert before is not None
    assert after == to_json(state.first.store.bundle(2))
    assert after != before
    state.close()
    state = State(again := Store(store.path))
    tree = again.tree
    monkeypatch.setattr(again, "tree", slow_tree)
    first = body(state.first.answer(TREE, 0))
    assert body(state.first.answer(TREE, 0)) == to_json(state.first.store.tree())
    assert first != to_json(state.first.store.tree())
    state.close()
    again.close()


def body(answer: Encoded | None) -> bytes | None:
    return None if answer is None else answer.text


def test_errors_have_one_shape(client: FlaskClient) -> None:
    for path, status in WRONG.items():
        answer = client.get(path)
        assert answer.status_code == status, path
        assert set(answer.get_json()) == {"error"}
        assert set(answer.get_json()["error"]) == {"what", "where", "hint"}


def test_requests_that_are_wrong(client: FlaskClient) -> None:
    for path, body in (
        ("/api/A/open", "[]"),
        ("/api/A/open", "{"),
        ("/api/A/open", "[" * 200_000),
        ("/api/A/kernels/3/run", '{"device": "CPU", "count": 1000000}'),
        ("/api/A/kernels/3/run", '{"device": "CPU", "count": "x"}'),
        ("/api/A/kernels/3/run", '{"device": "CPU", "opts": 4}'),
        ("/api/A/kernels/3/run", '{"device": "CPU", "opts": "FASTER(1)"}'),
        ("/api/A/kernels/3/run", '{"device": "CPU", "source": "ret void"}'),
        ("/api/A/kernels/3/run", '{"device": "CPU", "source": {"kind": "llvm", "text": 5}}'),
        ("/api/A/kernels/3/run", '{"device": "CPU", "skip": "add_zero"}'),
        ("/api/A/kernels/3/emulate", '{"device": "PTX:EMU", "block": -1}'),
        ("/api/A/kernels/3/emulate", '{"device": "PTX:EMU", "warp": true}'),
        ("/api/A/kernels/3/emulate", '{"device": "PTX:EMU", "warp": 2147483648}'),
        ("/api/A/kernels/3/emulate", '{"device": "PTX:EMU", "opts": ["UPCAST"]}'),
        ("/api/A/kernels/3/emulate", '{"device": "PTX:EMU", "source": ".version 8.6"}'),
        ("/api/A/kernels/3/emulate", '{"device": "PTX:EMU", "source": {"kind": 1, "text": ""}}'),
        ("/api/A/kernels/3/emulate", '{"source": {"kind": "ptx", "text": "%s"}}' % ("x" * 600_000)),
        ("/api/A/kernels/3/emulate", '{"skip": [3]}'),
        ("/api/A/kernels/999/emulate", '{"device": "PTX:EMU"}'),
        ("/api/A/kernels/3/compile", '{"target": "pdp11"}'),
        ("/api/A/kernels/999/compile", '{"target": "sm_90"}'),
    ):
        answer = client.post(path, data=body, content_type="application/json")
        assert answer.status_code == 400, path
        assert answer.get_json()["error"]["what"]
    big = client.post("/api/A/open", data="x" * (2 << 20), content_type="application/json")
    assert big.status_code in (400, 413)


def test_digits_of_other_scripts_are_no_numbers(client: FlaskClient) -> None:
    assert client.get("/api/A/tree?since=\u00b2").status_code == 400
    for kernels in (["\u00b2"], [-1], [1 << 60], "3", {"3": 3}, [[3]]):
        assert client.post("/api/export", json={"kernels": kernels}).status_code == 400


def test_the_name_of_an_export_fits_a_header(store: Store, tmp_path: Path) -> None:
    path = tmp_path / '\u4e2d"\r\nX: \u00e9 1.viz'
    shutil.copy(store.path, path)
    app = create_app(Store(path), Guard(TOKEN, PORT))
    app.test_client_class = TokenClient
    client = app.test_client()
    job = client.post("/api/export", json={}).get_json()["job"]
    assert ended(client, job)["state"] == "done"
    said = client.get(f"/api/export/{job}").headers["Content-Disposition"]
    assert said == 'attachment; filename="____X____1.html"'
    app.extensions["uopviz"].close()


def test_a_mistake_of_ours_is_an_answer(
    client: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "rules", lambda: 1 / 0)
    answer = client.get("/api/A/rules")
    assert answer.status_code == 500
    assert "ZeroDivisionError" in answer.get_json()["error"]["what"]


def wait_for(client: FlaskClient, job: int, seconds: float = 60) -> dict:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        state = client.get(f"/api/jobs/{job}").get_json()
        if state["state"] != "running":
            return state
        time.sleep(0.05)
    raise AssertionError("the job did not end")


def test_a_job_on_what_is_no_kernel(client: FlaskClient) -> None:
    answer = client.post("/api/A/kernels/3/compile", json={"target": "sm_90"})
    state = wait_for(client, answer.get_json()["job"])
    assert state["state"] == "error"
    assert set(state["error"]) == {"what", "where", "hint"}


def test_a_job_can_be_cancelled(client: FlaskClient) -> None:
    job = client.post("/api/A/kernels/3/compile", json={"target": "sm_90"}).get_json()["job"]
    assert client.delete(f"/api/jobs/{job}").status_code == 200
    state = wait_for(client, job)
    assert state["state"] == "error"
    assert "cancelled" in state["error"]["what"] or "AST" in state["error"]["what"]


def test_what_many_pages_ask_is_made_once(client: FlaskClient, app: Flask) -> None:
    """At the same time, and until the run has gone on."""
    state, made = app.extensions["uopviz"], list[str]()
    start = threading.Barrier(8)

    def make(_: Store) -> list[int]:
        time.sleep(0.05)
        made.append("")
        return list(range(10_000))

    numbers = Answer("numbers", "/api/numbers", "number[]", "Numbers", make)

    def ask() -> None:
        start.wait(20)
        assert json.loads(state.first.answer(numbers).text) == list(range(10_000))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(made) == 1
    first = client.get("/api/A/timeline", headers={"Accept-Encoding": "gzip"}).data
    assert client.get("/api/A/timeline", headers={"Accept-Encoding": "gzip"}).data == first
    assert json.loads(client.get("/api/A/timeline").data)["version"] == 1


def test_an_answer_that_is_known_is_not_sent_again(client: FlaskClient) -> None:
    for path in ("run", "tree?since=0", "rules", "rewrites/2", "kernels/3", "timeline"):
        for encoding in ("gzip", "identity"):
            first = client.get(f"/api/A/{path}", headers={"Accept-Encoding": encoding})
            asked = {"If-None-Match": first.headers["ETag"], "Accept-Encoding": encoding}
            again = client.get(f"/api/A/{path}", headers=asked)
            assert (again.status_code, again.data) == (304, b""), path
            assert again.headers["ETag"] == first.headers["ETag"]
            other = client.get(f"/api/A/{path}", headers=asked | {"If-None-Match": '"other"'})
            assert (other.status_code, other.data) == (200, first.data), path


def test_answers_that_are_not_whole_are_made_again(app: Flask) -> None:
    state, made = app.extensions["uopviz"], list[int]()

    def make(_: Store, seconds: float) -> int:
        assert seconds == SLICE
        made.append(len(made))
        return len(made)

    part = Answer("part", "/api/part", "number", "A part", make, whole=lambda value: value > 1)
    for _ in range(3):
        state.first.answer(part)
    assert len(made) == 2


def test_counting_leaves_a_running_program_the_processor(tmp_path: Path) -> None:
    asked: list[float] = []

    def make(_: Store, seconds: float) -> int:
        asked.append(seconds)
        return 0

    def part(counts: bool) -> Answer:
        whole = (lambda _: False) if counts else (lambda _: True)
        return Answer(f"{counts}", f"/{counts}", "number", "", make, whole=whole, counts=counts)

    with record(tmp_path / "t.viz") as recorder:
        state = State(Store(recorder.path))
        state.first.answer(part(counts=True))
        state.first.answer(part(counts=False))
        assert asked == [SLICE, SLICE]
        began = time.monotonic()
        for _ in range(3):
            state.first.answer(part(counts=True))
        assert 0 < sum(asked[3:]) < LIVE_SHARE * (time.monotonic() - began)
    time.sleep(0.2)
    state.first.answer(part(counts=True))
    assert asked[-1] == SLICE
    state.close()


def test_shared_answers_follow_the_run(tmp_path: Path) -> None:
    """Rows, totals, and that it has ended: also where the program is killed, and writes nothing."""
    with record(tmp_path / "t.viz") as recorder:
        state = State(Store(recorder.path))
        client = create_app(state.first.store, Guard("secret", 4711)).test_client()

        def get(path: str) -> Any:
            time.sleep(0.2)  # an answer may be that old
            found = client.get(
                f"/api/A/{path}", base_url="http://127.0.0.1:4711", headers={HEADER: "secret"}
            )
            return found.get_json()

        assert get("run")["totals"]["rewrites"] == 0
        for number in (1, 2):
            graph_rewrite(random_graph(number), rules, name="pass")
            recorder.flush()
            assert get("run")["totals"]["rewrites"] == number
            assert get("tree?since=0")["total"] == number
            assert get("rule-totals")["counted"] == get("rule-totals")["steps"] > 0
        assert get("run")["live"] is True
        is_alive = "viz.views.summary.is_alive"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(is_alive, lambda _: False)
            assert get("run")["live"] is False
        state.close()
    again = State(Store(tmp_path / "t.viz"))
    before = again.first.answer(RUN)
    time.sleep(0.2)
    assert again.first.answer(RUN) is before, "what has ended is not read again"
    again.close()
