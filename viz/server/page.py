"""The page itself: three files that the build of viz/web has made.

Serves these and nothing else: a path is looked up among known names, never on the disk.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from flask import Blueprint, Response

from viz.server.answers import problem

DIST: Final = Path(__file__).resolve().parents[1] / "web" / "dist"
FILES: Final = {
    "index.html": "text/html; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "app.css": "text/css; charset=utf-8",
}

page = Blueprint("page", __name__)


def page_file(name: str) -> bytes | None:
    """One of FILES; None where it has not been built."""
    try:
        return (DIST / name).read_bytes()
    except OSError:
        return None


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
