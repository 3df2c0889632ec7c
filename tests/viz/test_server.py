"""The server: who may ask, what every answer carries, and the answers themselves."""

from __future__ import annotations

import gzip
import json
import os
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

import viz.editor
from core.errors import ServerError
from viz.server import channel
from viz.server.answers import to_json
from viz.server.app import create_app
from viz.server.listen import listen
from viz.server.security import HEADER, Guard
from viz.server.serve import MAX_HEADER, Server
from viz.server.state import State
from viz.store import Store

HOST = "127.0.0.1:4711"


@pytest.fixture
def app(store: Store, dist: Path) -> Iterator[Flask]:
    made = create_app(store, Guard("secret", 4711))
    yield made
    made.extensions["uopviz"].jobs.close()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    class Own(FlaskClient):
        """A client that is where it should be and knows the token."""

        def open(self, *args: Any, **kwargs: Any) -> Any:
            headers = {**kwargs.pop("headers", {}), HEADER: "secret"}
            return super().open(*args, base_url=f"http://{HOST}", headers=headers, **kwargs)

    app.test_client_class = Own
    return app.test_client()


@pytest.fixture
def stranger(app: Flask) -> FlaskClient:
    return FlaskClient(app, use_cookies=False)


ROUTES = [
    *("/", "/app.js", "/api/run", "/api/tree?since=0", "/api/rules", "/api/rewrites/2"),
    *("/api/kernels/3", "/api/search?q=a", "/api/export", "/api/jobs/1", "/nothing"),
]


FORBIDDEN = [
    {"Host": HOST},
    {"Host": HOST, HEADER: "wrong"},
    {"Host": HOST, HEADER: ""},
    {"Host": HOST, HEADER: "s\u00e9cret"},
    {"Host": HOST, "Cookie": "uopviz_4711=wrong"},
    {"Host": HOST, "Cookie": "uopviz_80=secret"},
    {"Host": "evil.example", HEADER: "secret"},
    {"Host": "evil.example:4711", HEADER: "secret"},
    {"Host": "127.0.0.1:80", HEADER: "secret"},
    {"Host": "", HEADER: "secret"},
    {"Host": HOST, HEADER: "secret", "Origin": "http://evil.example"},
    {"Host": HOST, HEADER: "secret", "Origin": "null"},
    {"Host": HOST, HEADER: "secret", "Origin": "https://127.0.0.1:4711"},
    {"Host": HOST, HEADER: "secret", "Origin": "http://127.0.0.1:80"},
]
"""Wherever they are sent."""


def test_scripts_of_other_sites_and_ports_are_refused(client: FlaskClient) -> None:
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200)):
        answer = client.get("/api/run", headers={"Sec-Fetch-Site": site})
        assert answer.status_code == status, site


def test_forbidden(stranger: FlaskClient) -> None:
    for path in ROUTES:
        for headers in FORBIDDEN:
            answer = stranger.get(path, headers=headers)
            assert (answer.status_code, answer.data) == (403, b"forbidden"), (path, headers)
            assert "Set-Cookie" not in answer.headers


def received(sock: socket.socket) -> bytes:
    """All that the server says until it closes the connection."""
    sock.settimeout(20)
    parts: list[bytes] = []
    while part := sock.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


@pytest.fixture
def served(store: Store, dist: Path) -> Iterator[Server]:
    server = Server(store).start()
    yield server
    server.close()


CHUNK = b"fffffff\r\n" + b"x" * (1 << 21)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nA: b\r\n c\x00\r\n\r\n", b"400"),
        ((b"GET / HTTP/1.1\r\nX: " + b"a" * MAX_HEADER)[:MAX_HEADER], b"431"),
        (b"POST /api/open HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", b"413"),
        (b"POST /api/open HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%b" % CHUNK, b""),
    ],
)  # fmt: skip
def test_what_is_refused_before_any_route_is_protected_too(
    served: Server, sent: bytes, status: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as sock:
        with suppress(OSError):
            sock.sendall(sent)
        try:
            head, _, body = received(sock).partition(b"\r\n\r\n")
        except ConnectionError:
            assert not status
            return
    assert re.match(rb"HTTP/1\.[01] " + status, head)
    assert b"default-src 'none'" in head
    assert b"x-frame-options: deny" in head.lower()
    assert b"uopviz" not in body


def test_who_asks_slowly_or_not_at_all_is_shown_out(
    served: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "ASKING", 0.5)
    monkeypatch.setattr(channel, "IDLE", 0.5)
    silent, slow, dripping = (
        socket.create_connection(("127.0.0.1", served.port)) for _ in range(3)
    )
    with silent, slow, dripping:
        slow.sendall(b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nx")
        until = time.monotonic() + 20
        dripping.setblocking(False)
        ended = False
        while not ended and time.monotonic() < until:
            with suppress(BlockingIOError):
                try:
                    dripping.send(b"G")
                    ended = dripping.recv(100) == b""
                except ConnectionError:
                    ended = True
            time.sleep(0.1)
        assert ended, "a byte now and then keeps no connection open"
        assert received(silent) == received(slow) == b""


def test_a_thousand_connections_do_not_shut_the_page_out(served: Server) -> None:
    held: list[socket.socket] = []
    try:
        for i in range(1000):
            held.append(socket.create_connection(("127.0.0.1", served.port), timeout=20))
            if i % 2:
                held[-1].sendall(b"GET / HTTP/1.1\r\n")
        asked = urllib.request.Request(f"http://127.0.0.1:{served.port}/api/run")
        asked.add_header(HEADER, served.guard.token)
        with urllib.request.urlopen(asked, timeout=20) as answer:
            assert answer.status == 200
    finally:
        for sock in held:
            sock.close()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_forbidden_whatever_the_method(stranger: FlaskClient, method: str) -> None:
    for path in ("/api/open", "/api/kernels/3/run", "/api/jobs/1", "/?token=secret"):
        headers = {"Host": HOST, "Origin": "http://evil.example"}
        assert stranger.open(path, method=method, headers=headers).status_code == 403


def test_the_first_visit(stranger: FlaskClient) -> None:
    for token in ("", "wrong"):
        answer = stranger.get(f"/?token={token}", headers={"Host": HOST})
        assert (answer.status_code, answer.data) == (403, b"forbidden")
    answer = stranger.get("/?token=secret", headers={"Host": HOST})
    assert (answer.status_code, answer.content_type) == (200, "text/html; charset=utf-8")
    cookie = answer.headers["Set-Cookie"]
    assert re.match(r"uopviz_4711=[0-9a-f]{64};", cookie)
    assert "secret" not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert stranger.get("/api/run?token=secret", headers={"Host": HOST}).status_code == 403
    for host in (HOST, "localhost:4711"):
        sent = {"Host": host, "Cookie": cookie.partition(";")[0]}
        assert stranger.get("/", headers=sent).status_code == 200
        assert stranger.get("/app.js", headers=sent).status_code == 200


def test_the_cookie_is_worth_nothing_to_another_port(
    client: FlaskClient, stranger: FlaskClient
) -> None:
    """A browser sends it to whoever listens on this machine."""
    first = stranger.get("/?token=secret", headers={"Host": HOST})
    name, _, value = first.headers["Set-Cookie"].partition(";")[0].partition("=")
    routes = [path for path in ROUTES if path.startswith("/api/")]
    for path in [*routes, f"/api/run?token={value}"]:
        for sent in ({"Cookie": f"{name}={value}"}, {HEADER: value}):
            answer = stranger.get(path, headers={"Host": HOST, **sent})
            assert (answer.status_code, answer.data) == (403, b"forbidden"), path
    assert stranger.get(f"/?token={value}", headers={"Host": HOST}).status_code == 403
    posted = stranger.post("/api/open", headers={"Host": HOST, "Cookie": f"{name}={value}"})
    assert posted.status_code == 403
    assert client.get("/api/run").status_code == 200


def test_every_answer_is_protected(client: FlaskClient, stranger: FlaskClient) -> None:
    answers = [client.get(path) for path in ROUTES]
    answers.append(stranger.get("/", headers={"Host": HOST}))
    for answer in answers:
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        for danger in ("unsafe-inline", "unsafe-eval", "nonce", "*", "http:", "https:"):
            assert danger not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in answer.headers


def test_the_page(client: FlaskClient) -> None:
    assert client.get("/").content_type.startswith("text/html")
    assert client.get("/app.js").content_type.startswith("text/javascript")
    assert client.get("/app.css").content_type.startswith("text/css")


def test_a_page_that_is_not_built(client: FlaskClient, dist: Path) -> None:
    (dist / "index.html").unlink()
    answer = client.get("/")
    assert answer.status_code == 503
    assert "npm" in answer.get_json()["error"]["hint"]
    assert client.get("/api/export").status_code == 400


OUTSIDE = [
    *("/../secret", "/..%2fsecret", "/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "/index.html/.."),
    *("/app.js%00.html", "//etc/passwd", "/..\\..\\secret"),
]


def test_no_path_leaves_the_page(client: FlaskClient, dist: Path) -> None:
    (dist.parent / "secret").write_text("secret")
    for path in OUTSIDE:
        answer = client.get(path)
        assert answer.status_code in (404, 308), path
        assert b"root:" not in answer.data
        assert answer.data != b"secret"


def test_answers(client: FlaskClient) -> None:
    run = client.get("/api/run").get_json()
    assert run["totals"]["rewrites"] == 3
    assert {"CPU", "REFERENCE"} <= set(run["devices"])
    assert {"sm_90", "gfx1100", "x86-64"} <= set(run["targets"])
    tree = client.get("/api/tree?since=0").get_json()
    assert tree["total"] == len(tree["rows"]) == 6
    assert client.get("/api/tree?since=6").get_json()["rows"] == []
    rewrite = tree["rows"][1]["id"]
    bundle = client.get(f"/api/rewrites/{rewrite}").get_json()
    assert bundle["rewrite"] == rewrite
    text = client.get(f"/api/rewrites/{rewrite}/text?step=1").get_json()
    assert text["before"] != text["after"]
    assert len(client.get("/api/rules").get_json()) == 7
    kernel = tree["rows"][2]["id"]
    assert client.get(f"/api/kernels/{kernel}").get_json()["name"] == "kernel_0"
    origins = client.get(f"/api/origins/{kernel}").get_json()
    assert len(origins["node"]) == len(origins["origin"]) > 0
    hits = client.get("/api/search?q=add_zero").get_json()
    assert hits["total"] > 0
    assert all(hit["row"] >= 0 for hit in hits["hits"])


def test_large_answers_are_compressed(client: FlaskClient) -> None:
    plain = client.get("/api/rewrites/2").data
    answer = client.get("/api/rewrites/2", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(answer.data) == plain
    assert len(answer.data) < len(plain)


WRONG = {
    "/api/rewrites/999": 404,
    "/api/rewrites/-1": 404,
    "/api/rewrites/x": 404,
    "/api/rewrites/999999999999999999999999": 404,
    "/api/rewrites/2/text?step=999": 404,
    "/api/rewrites/2/text?step=x": 400,
    "/api/kernels/999": 404,
    "/api/origins/2": 404,
    "/api/jobs/999": 404,
    "/api/tree?since=-1": 400,
    "/api/nothing": 404,
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
        threading.Thread(target=lambda: found.append(state.bundle(2))),
        threading.Thread(target=lambda: found.append(state.bundle(2))),
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert made == [2]
    assert found[0] == found[1] is not None
    for step in range(3):
        assert state.step_text(2, step) == store.step_text(2, step)
    assert made[:2] == [2, 2]
    assert len([m for m in made if m == 2]) == 2 + 3, "three of them are the store's own"


def test_errors_have_one_shape(client: FlaskClient) -> None:
    for path, status in WRONG.items():
        answer = client.get(path)
        assert answer.status_code == status, path
        assert set(answer.get_json()) == {"error"}
        assert set(answer.get_json()["error"]) == {"what", "where", "hint"}


def test_requests_that_are_wrong(client: FlaskClient) -> None:
    for path, body in (
        ("/api/open", "[]"),
        ("/api/open", "{"),
        ("/api/open", "[" * 200_000),
        ("/api/kernels/3/run", '{"device": "CPU", "count": 1000000}'),
        ("/api/kernels/3/run", '{"device": "CPU", "count": "x"}'),
        ("/api/kernels/3/run", '{"device": "CPU", "opts": 4}'),
        ("/api/kernels/3/run", '{"device": "CPU", "opts": "FASTER(1)"}'),
        ("/api/kernels/3/compile", '{"target": "pdp11"}'),
        ("/api/kernels/999/compile", '{"target": "sm_90"}'),
    ):
        answer = client.post(path, data=body, content_type="application/json")
        assert answer.status_code == 400, path
        assert answer.get_json()["error"]["what"]
    big = client.post("/api/open", data="x" * (2 << 20), content_type="application/json")
    assert big.status_code in (400, 413)


def test_digits_of_other_scripts_are_no_numbers(client: FlaskClient) -> None:
    assert client.get("/api/tree?since=\u00b2").status_code == 400
    assert client.get("/api/export?kernels=\u00b2," + "9" * 5000).status_code == 200


def test_the_name_of_an_export_fits_a_header(
    client: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "path", Path('\u4e2d"\r\nX: \u00e9 1.viz'))
    said = client.get("/api/export").headers["Content-Disposition"]
    assert said == 'attachment; filename="____X____1.html"'


def test_a_large_body_is_refused_before_it_is_read(store: Store, dist: Path) -> None:
    """From anybody: it would be kept on the disk before the token is looked at."""
    server = Server(store).start()
    try:
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as made:
            made.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n")
            assert made.recv(100).startswith(b"HTTP/1.1 413 ")
    finally:
        server.close()


def test_a_mistake_of_ours_is_an_answer(
    client: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "rules", lambda: 1 / 0)
    answer = client.get("/api/rules")
    assert answer.status_code == 500
    assert "ZeroDivisionError" in answer.get_json()["error"]["what"]


def test_only_files_of_the_trace_are_opened(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[list[str]] = []
    monkeypatch.setattr(viz.editor.subprocess, "Popen", lambda c, **_: opened.append(c))
    monkeypatch.setenv("UOPVIZ_EDITOR", "python3 -g {file}:{line}")
    for file in ("/etc/passwd", "../x", "", "nonsense.py"):
        answer = client.post("/api/open", json={"file": file, "line": 3})
        assert answer.status_code == 400
    client.get("/api/rules")
    answer = client.post("/api/open", json={"file": "tests/viz/samples.py", "line": 3})
    assert answer.status_code == 200
    (command,) = opened
    assert command[:2] == ["python3", "-g"]
    assert command[2].endswith("/tests/viz/samples.py:3")


def test_a_trace_cannot_have_any_file_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(viz.editor.subprocess, "Popen", lambda c, **_: opened.append(c[-1]))
    monkeypatch.setenv("UOPVIZ_EDITOR", "python3 {file}")
    monkeypatch.chdir(tmp_path)
    good, key = tmp_path / "good.py", tmp_path / "id_rsa"
    for path in (good, key, tmp_path / "a.code-workspace", tmp_path / "new\nline.py"):
        path.write_text("")
    (tmp_path / "disguised.py").symlink_to(key)
    (tmp_path / "link.py").symlink_to(good)
    (tmp_path / "circle.py").symlink_to(tmp_path / "circle.py")
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    refused = (
        *("id_rsa", "a.code-workspace", "new\nline.py", "disguised.py", "circle.py", "folder.py"),
        *("pipe.py", "missing.py", "zero\0.py", "x" * 5000 + ".py"),
    )
    for path in (*(f"{tmp_path}/{name}" for name in refused), "good.py", "", "/dev/null", "/"):
        with pytest.raises(ServerError):
            viz.editor.open_in_editor(path, 1)
    viz.editor.open_in_editor(str(good), 1)
    viz.editor.open_in_editor(f"{tmp_path}/folder.py/../link.py", 1)
    assert opened == [str(good.resolve())] * 2


def test_editors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viz.editor.shutil, "which", lambda name: "/usr/bin/" + name)
    monkeypatch.setenv("EDITOR", "code --wait")
    monkeypatch.delenv("UOPVIZ_EDITOR", raising=False)
    assert viz.editor.editor_command("/a b.py", 7) == ["code", "--wait", "-g", "/a b.py:7"]
    monkeypatch.setenv("UOPVIZ_EDITOR", "mine")
    assert viz.editor.editor_command("/a.py", 7) == ["mine", "/a.py"]
    monkeypatch.delenv("UOPVIZ_EDITOR")
    monkeypatch.setenv("EDITOR", "vi")
    with pytest.raises(ServerError, match="no editor"):
        viz.editor.editor_command("/a.py", 7)


def test_a_real_server(store: Store, dist: Path) -> None:
    server = Server(store).start()
    try:
        asked = urllib.request.Request(f"http://127.0.0.1:{server.port}/api/run")
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(asked, timeout=5)
        asked.add_header(HEADER, server.guard.token)
        with urllib.request.urlopen(asked, timeout=5) as answer:
            assert json.load(answer)["totals"]["rewrites"] == 3
            assert "Server" not in answer.headers
        assert server.guard.token in server.url
        assert server.guard.token not in repr(server.guard)
    finally:
        server.close()


def test_ports() -> None:
    first, said = listen(0)
    port = first.getsockname()[1]
    assert first.getsockname()[0] == "127.0.0.1"
    assert said == ""
    with first:
        with pytest.raises(ServerError, match="cannot be used"):
            listen(port)
        second, said = listen(port, or_next=True)
        with second:
            assert second.getsockname()[1] != port
            assert f"port {port} is in use" in said
    with pytest.raises(ServerError):
        listen(70_000)


def wait_for(client: FlaskClient, job: int, seconds: float = 60) -> dict:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        state = client.get(f"/api/jobs/{job}").get_json()
        if state["state"] != "running":
            return state
        time.sleep(0.05)
    raise AssertionError("the job did not end")


def test_a_job_on_what_is_no_kernel(client: FlaskClient) -> None:
    answer = client.post("/api/kernels/3/compile", json={"target": "sm_90"})
    state = wait_for(client, answer.get_json()["job"])
    assert state["state"] == "error"
    assert set(state["error"]) == {"what", "where", "hint"}


def test_a_job_can_be_cancelled(client: FlaskClient) -> None:
    job = client.post("/api/kernels/3/compile", json={"target": "sm_90"}).get_json()["job"]
    assert client.delete(f"/api/jobs/{job}").status_code == 200
    state = wait_for(client, job)
    assert state["state"] == "error"
    assert "cancelled" in state["error"]["what"] or "AST" in state["error"]["what"]
