"""The page itself: three files that the build of viz/web has made.

Serves these and nothing else: a path is looked up among known names, never on the disk.
"""

from __future__ import annotations

from flask import Blueprint, Response

from viz.server.answers import problem
from viz.share.webpage import FILES, page_file

page = Blueprint("page", __name__)


@page.get("/")
def index() -> Response:
    """The page."""
    html = page_file("index.html")
    if html is None:
        return problem(
            503,
            "the page has not been built",
            "viz/web/dist",
            "in a checkout, run: npm --prefix viz/web ci && npm --prefix viz/web run build",
        )
    return Response(html, content_type=FILES["index.html"])


@page.get("/<name>")
def asset(name: str) -> Response:
    """A file of the page."""
    body = page_file(name) if name in FILES else None
    if body is None:
        return problem(404, "there is no such page", name)
    return Response(body, content_type=FILES[name])
