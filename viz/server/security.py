"""Who may ask: this machine, with the token of this server, from a page of this server.

A foreign Host (DNS rebinding), a foreign Origin (another page in the browser) and a missing or
wrong token all get a 403; a browser whose token is missing or wrong is shown what to do. The page
takes the token from its address, keeps it where only pages of this port can read it, and sends it
in a header with every question. A browser sends cookies to all ports of a machine, so the cookie
holds a pass for the page's own files and for nothing else. Answers carry headers that keep the page
from loading or running anything that is not its own. Never logs the token.
"""

from __future__ import annotations

import hmac
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from flask import Flask, Request, Response, request

from viz.server.connections.listen import new_token
from viz.server.refusal import forbidden, refusal

HEADER: Final = "X-Uopviz-Token"
CONNECTION: Final = "uopviz.connection"
"""Of the WSGI environment: the connection of a request; it is `known` once it has the token."""
_HOSTS: Final = ("127.0.0.1", "localhost")
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; "
    "style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Final = (
    ("Content-Security-Policy", _POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), microphone=(), geolocation=()"),
    ("Cache-Control", "no-store"),
)
"""Of every answer."""


@dataclass
class Guard:
    """Checks every request of one server; `port` is set once it is known."""

    token: str = field(default_factory=new_token, repr=False)
    port: int = 0
    visited: threading.Event = field(default_factory=threading.Event, repr=False)
    """Set once the address with the token has been opened."""

    @property
    def cookie(self) -> str:
        """The name of the cookie: cookies are shared by all ports of a host."""
        return f"uopviz_{self.port}"

    @property
    def files_pass(self) -> str:
        """What the cookie holds. The token does not follow from it."""
        return hmac.new(self.token.encode(), b"files of the page", "sha256").hexdigest()

    def install(self, app: Flask) -> None:
        """Puts the checks in front of, and the headers behind, every route."""
        app.before_request(self._check)
        app.after_request(self._finish)

    def _check(self) -> Response | None:
        if not self._is_own(request) or "Service-Worker" in request.headers:
            return forbidden()  # the page has no service worker, so none may be registered
        if request.path == "/" and "token" in request.args:
            return None if self._is_first_visit() else self._refuse_old()
        sent = request.headers.get(HEADER)
        if sent is None and not request.path.startswith("/api/"):
            return None if self._has_pass() else refusal(request)
        if not _same(sent, self.token):
            return refusal(request)
        if (connection := request.environ.get(CONNECTION)) is not None:
            connection.known = True
        return None

    def is_shown(self, headers: Mapping[str, str], query: str) -> bool:
        """Whether a request, as it comes from its connection, has the token in its header or its
        address, or what follows from it in its cookies: not whether it is let in."""
        return (
            _same(headers.get(HEADER.upper().replace("-", "_")), self.token)
            or any(_same(text, f"token={self.token}") for text in query.split("&"))
            or any(
                _same(text.strip(), f"{self.cookie}={self.files_pass}")
                for text in headers.get("COOKIE", "").split(";")
            )
        )

    def _has_pass(self) -> bool:
        return _same(request.cookies.get(self.cookie), self.files_pass)

    def _refuse_old(self) -> Response:
        """An address with the token of an earlier server: a browser that has been let in since goes
        on without it, and keeps what stands behind the `#`."""
        if request.method == "GET" and self._has_pass():
            return Response(status=303, headers={"Location": "/"})
        return refusal(request)

    def _is_first_visit(self) -> bool:
        """Whether the request opens the address that was printed."""
        is_page = request.path == "/" and request.method == "GET"
        return is_page and _same(request.args.get("token"), self.token)

    def _finish(self, response: Response) -> Response:
        if response.status_code == 200 and self._is_first_visit():
            self.visited.set()
            response.set_cookie(
                self.cookie, self.files_pass, httponly=True, samesite="Strict", path="/"
            )
            # of an earlier server at this port: a browser would run its files as this page
            response.headers["Clear-Site-Data"] = '"cache"'
        for name, value in HEADERS:
            response.headers.setdefault(name, value)  # a page of its own has its own policy
        return response

    def _is_own(self, asked: Request) -> bool:
        """Whether the request names this server, and comes from no other page."""
        hosts = {f"{host}:{self.port}" for host in _HOSTS}
        if asked.headers.get("Host", "") not in hosts:
            return False
        site = asked.headers.get("Sec-Fetch-Site", "none")
        if site not in ("none", "same-origin") and asked.path != "/":
            return False  # "same-site" is another port of this machine
        origin = asked.headers.get("Origin")
        return origin is None or origin in {f"http://{host}" for host in hosts}


def _same(sent: str | None, wanted: str) -> bool:
    return sent is not None and hmac.compare_digest(sent.encode(), wanted.encode())
