"""Who may ask: this machine, with the token of this server, from a page of this server.

A foreign Host (DNS rebinding), a foreign Origin (another page in the browser) and a missing or
wrong token all get the same 403. Answers carry headers that keep the page from loading or running
anything that is not its own. Never logs the token.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from typing import Final

from flask import Flask, Request, Response, redirect, request

from viz.server.listen import new_token

HEADER: Final = "X-Uopviz-Token"
_HOSTS: Final = ("127.0.0.1", "localhost")


@dataclass
class Guard:
    """Checks every request of one server; `port` is set once it is known."""

    token: str = field(default_factory=new_token, repr=False)
    port: int = 0

    @property
    def cookie(self) -> str:
        """The name of the cookie: cookies are shared by all ports of a host."""
        return f"uopviz_{self.port}"

    def install(self, app: Flask) -> None:
        """Puts the checks in front of, and the headers behind, every route."""
        app.before_request(self._check)
        app.after_request(_add_headers)

    def _check(self) -> Response | None:
        if not self._is_own(request):
            return _forbidden()
        given = request.args.get("token") if request.path == "/" else None
        if given is not None and request.method == "GET":
            if not self._matches(given):
                return _forbidden()
            response = redirect("/")
            response.set_cookie(self.cookie, self.token, httponly=True, samesite="Strict", path="/")
            return Response(response.get_data(), 302, response.headers)
        sent = request.headers.get(HEADER) or request.cookies.get(self.cookie)
        return None if self._matches(sent) else _forbidden()

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

    def _matches(self, sent: str | None) -> bool:
        return sent is not None and hmac.compare_digest(sent.encode(), self.token.encode())


def _forbidden() -> Response:
    return Response("forbidden", 403, content_type="text/plain")


def _add_headers(response: Response) -> Response:
    policy = (
        "default-src 'none'; script-src 'self'; "
        "style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
        "worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    for name, value in (
        ("Content-Security-Policy", policy),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), microphone=(), geolocation=()"),
        ("Cache-Control", "no-store"),
    ):
        response.headers[name] = value
    return response
