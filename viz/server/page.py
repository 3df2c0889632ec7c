"""The page itself: three files that the build of viz/web has made; where there are none, a page
that says how to build them.

Serves these and nothing else: a path is looked up among known names, never on the disk.
"""

from __future__ import annotations

from typing import Final

from flask import Blueprint, Response, request

from viz.server.answers import problem
from viz.server.plainpage import plain_page, wants_page
from viz.share.webpage import BUILD, FILES, NOT_BUILT, page_file

_HOW: Final = f"""<p>This checkout has no built page. It takes Node.js and about a minute:</p>
<ul>
<li>In the folder of the checkout, run <code>{BUILD.replace("&&", "&amp;&amp;")}</code></li>
<li>Then reload this page; the server can go on running.</li>
</ul>
<p>An installed uopviz has the page. In a terminal, <code>uopviz show</code>, <code>stats</code> and
<code>query</code> need none.</p>"""

page = Blueprint("page", __name__)


@page.get("/")
def index() -> Response:
    """The page."""
    html = page_file("index.html")
    if html is None:
        if wants_page(request):
            return plain_page(503, "Not built", "The page has not been built", _HOW)
        return problem(503, NOT_BUILT, "viz/web/dist", f"in a checkout, run: {BUILD}")
    return Response(html, content_type=FILES["index.html"])


@page.get("/<name>")
def asset(name: str) -> Response:
    """A file of the page."""
    body = page_file(name) if name in FILES else None
    if body is None:
        return problem(404, "there is no such page", name)
    return Response(body, content_type=FILES[name])
