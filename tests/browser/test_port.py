"""A port that another server had before: what that has left in the browser does no harm."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from playwright.sync_api import expect

from tests.browser.explorer import Explorer
from tests.browser.served import serve

EVIL: Final = "window.pwned = localStorage.getItem('uopviz-token') ?? 'ran';"
CACHED: Final = (
    f"<!doctype html><title>evil</title><script>{EVIL}</script><script src=app.js></script>"
)
REGISTERS: Final = (
    "<!doctype html><title>evil</title><script>navigator.serviceWorker.register('/w.js')</script>"
)
WORKER: Final = """
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (e) => e.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (e) => e.respondWith(fetch(e.request)));
"""


@contextmanager
def earlier_server(files: dict[str, str]) -> Iterator[int]:
    """Another user's server at a port, whose answers a browser may keep for a year."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.partition("?")[0]
            body = files.get(name, "").encode()
            kind = "text/javascript" if name.endswith(".js") else "text/html"
            self.send_response(200 if name in files else 404)
            self.send_header("Content-Type", kind)
            self.send_header("Cache-Control", "max-age=31536000, immutable")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_what_it_left_in_the_cache_is_not_run(
    new_page: Callable[..., Explorer], trace: Path
) -> None:
    e = new_page()
    with earlier_server({"/": CACHED, "/app.js": EVIL}) as port, e.trouble():
        e.page.goto(f"http://127.0.0.1:{port}/")
        assert e.page.evaluate("window.pwned") == "ran"
        e.page.goto("about:blank")
    with serve(trace, port) as process:
        assert process.port == port
        e.goto(process.url)
        assert e.page.evaluate("window.pwned") is None
        e.page.goto("about:blank")
        e.page.goto(f"{process.page}#v=rules")  # as a link leads there, not as a reload
        expect(e.page.locator("#rule-search")).to_be_visible()
        assert e.page.evaluate("window.pwned") is None


def test_its_service_worker_is_removed_and_the_token_not_kept(
    new_page: Callable[..., Explorer], trace: Path
) -> None:
    e = new_page()
    with earlier_server({"/": REGISTERS, "/w.js": WORKER}) as port, e.trouble():
        e.page.goto(f"http://127.0.0.1:{port}/")
        e.page.wait_for_function("navigator.serviceWorker.controller !== null")
        e.page.goto("about:blank")
    with serve(trace, port) as process:
        with e.trouble():
            e.page.goto(process.url)
            expect(e.page.locator("body")).to_contain_text("does not accept this page")
            found = "navigator.serviceWorker.getRegistrations().then((all) => all.length)"
            assert e.page.evaluate(found) == 0
            assert not e.page.evaluate("localStorage.getItem('uopviz-token')")
            assert process.token not in e.page.url
            e.page.goto("about:blank")
        e.goto(process.url)
