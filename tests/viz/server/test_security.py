"""Who may ask the server, and what protects every answer."""

from __future__ import annotations

import ast
import hashlib
import re
from base64 import b64encode
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from tests.viz.server.client import HOST
from viz.server.security import HEADER

ROUTES = [
    *("/", "/app.js", "/api/A/run", "/api/A/tree?since=0", "/api/A/rules", "/api/A/rewrites/2"),
    *("/api/A/kernels/3", "/api/A/search?q=a", "/api/export/1", "/api/jobs/1", "/nothing"),
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


def test_forbidden(stranger: FlaskClient) -> None:
    for path in ROUTES:
        for headers in FORBIDDEN:
            answer = stranger.get(path, headers=headers)
            assert (answer.status_code, answer.data) == (403, b"forbidden"), (path, headers)
            assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_forbidden_whatever_the_method(stranger: FlaskClient, method: str) -> None:
    for path in ("/api/A/open", "/api/A/kernels/3/run", "/api/jobs/1", "/?token=secret"):
        headers = {"Host": HOST, "Origin": "http://evil.example"}
        assert stranger.open(path, method=method, headers=headers).status_code == 403


def test_scripts_of_other_sites_and_ports_are_refused(client: FlaskClient) -> None:
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200)):
        answer = client.get("/api/A/run", headers={"Sec-Fetch-Site": site})
        assert answer.status_code == status, site


def test_nothing_is_served_as_a_service_worker(client: FlaskClient) -> None:
    for path in ("/app.js", "/", "/?token=secret"):
        answer = client.get(path, headers={"Service-Worker": "script"})
        assert (answer.status_code, answer.data) == (403, b"forbidden")


def test_the_first_visit(stranger: FlaskClient) -> None:
    for token in ("", "wrong"):
        answer = stranger.get(f"/?token={token}", headers={"Host": HOST})
        assert (answer.status_code, answer.data) == (403, b"forbidden")
    answer = stranger.get("/?token=secret", headers={"Host": HOST})
    assert (answer.status_code, answer.content_type) == (200, "text/html; charset=utf-8")
    assert answer.headers["Clear-Site-Data"] == '"cache"'
    cookie = answer.headers["Set-Cookie"]
    assert re.match(r"uopviz_4711=[0-9a-f]{64};", cookie)
    assert "secret" not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert stranger.get("/api/A/run?token=secret", headers={"Host": HOST}).status_code == 403
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
    for path in [*routes, f"/api/A/run?token={value}"]:
        for sent in ({"Cookie": f"{name}={value}"}, {HEADER: value}):
            answer = stranger.get(path, headers={"Host": HOST, **sent})
            assert (answer.status_code, answer.data) == (403, b"forbidden"), path
    assert stranger.get(f"/?token={value}", headers={"Host": HOST}).status_code == 403
    posted = stranger.post("/api/A/open", headers={"Host": HOST, "Cookie": f"{name}={value}"})
    assert posted.status_code == 403
    assert client.get("/api/A/run").status_code == 200


BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


def test_a_browser_without_the_token_is_told_what_to_do(stranger: FlaskClient) -> None:
    """And learns nothing: the page is the same whatever was asked, by whomever."""
    wrong = [{}, {"Cookie": "uopviz_4711=wrong"}, {HEADER: "wrong"}]
    pages: set[str] = set()
    for path in ("/", "/index.html", "/kernels/3", "/?token=wrong"):
        for headers in wrong:
            sent = {"Host": HOST, "Accept": BROWSER, **headers}
            answer = stranger.get(path, headers=sent)
            assert (answer.status_code, answer.content_type) == (403, "text/html; charset=utf-8")
            assert "Set-Cookie" not in answer.headers
            assert answer.headers["X-Frame-Options"] == "DENY"
            assert answer.headers["Cache-Control"] == "no-store"
            pages.add(answer.text)
    (page,) = pages
    assert "uopviz open" in page and "address that the terminal printed" in page
    for secret in ("secret", ".viz", "4711", "python", str(Path.cwd())):
        assert secret not in page, secret
    for danger in ("<script", "javascript:", "http:", "https:", "@import", "url("):
        assert danger not in page, danger


def test_the_page_that_refuses_may_load_its_style_and_nothing_else(stranger: FlaskClient) -> None:
    answer = stranger.get("/", headers={"Host": HOST, "Accept": BROWSER})
    (style,) = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = answer.headers["Content-Security-Policy"]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def test_only_a_browser_at_this_server_is_shown_that_page(stranger: FlaskClient) -> None:
    for path, headers in (
        ("/api/A/run", {"Host": HOST}),
        ("/", {"Host": "evil.example:4711"}),
        ("/", {"Host": HOST, "Origin": "http://evil.example"}),
        ("/app.js", {"Host": HOST, "Sec-Fetch-Site": "cross-site"}),
    ):
        answer = stranger.get(path, headers={"Accept": BROWSER, **headers})
        assert (answer.status_code, answer.data) == (403, b"forbidden"), (path, headers)
    posted = stranger.post("/", headers={"Host": HOST, "Accept": BROWSER})
    assert (posted.status_code, posted.data) == (403, b"forbidden")


def test_an_address_of_an_earlier_server_leads_on_once_the_browser_is_let_in(
    stranger: FlaskClient,
) -> None:
    first = stranger.get("/?token=secret", headers={"Host": HOST})
    sent = {"Host": HOST, "Cookie": first.headers["Set-Cookie"].partition(";")[0]}
    answer = stranger.get("/?token=earlier", headers=sent)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert stranger.get("/", headers=sent).status_code == 200
    assert stranger.post("/?token=earlier", headers=sent).status_code == 403
    assert stranger.get("/api/A/run?token=earlier", headers=sent).status_code == 403


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


def test_no_module_makes_code_of_data() -> None:
    """Nothing that reads a trace, or a graph of one, unpickles, evaluates or imports by name."""
    root = Path(__file__).resolve().parents[3]
    # these import the modules of their own tables, and libraries that they name themselves
    tables = (
        "__init__.py",
        "cli.py",
        "assistant/runs.py",  # commands of the table of the command line
        "assistant/serve.py",  # mcp, where it is installed
        "fleet/asking.py",  # duckdb
        "fleet/packing.py",
        "fleet/folder.py",  # fsspec, where it is installed
        "api/listed.py",  # pyarrow, where it is installed
        "public/uopviz/__init__.py",
        "dialect/adapters.py",  # and adapters that the user names or has installed
        "tap/site/_uopviz_tap/of_tvm.py",
        "tap/site/_uopviz_tap/xdsltext.py",
        "tap/site/_uopviz_tap/__init__.py",  # in the program that is recorded: taps by name
        "foreign/torchrun.py",  # one module of PyTorch, in the user's Python
        "why/rules/installed.py",
        "workers/executors.py",
        "whatif/scripts/onbindings.py",
    )
    own = {root / "viz" / name for name in tables}
    paths = [p for p in root.glob("viz/**/*.py") if "web" not in p.relative_to(root).parts]
    assert len(paths) > 100
    paths += [root / "core" / "uop" / "data" / name for name in ("args.py", "serial.py")]
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
                found = names & {"pickle", "marshal", "shelve", "runpy"}
                # its unpickler finds no class and no function: all are inert records
                assert not found or path == root / "viz" / "importers" / "inert.py", path
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("eval", "exec", "compile", "__import__"), path
                assert not called.endswith("import_module") or path in own, path
