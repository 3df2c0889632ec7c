"""The answer to a request without the token: a page that says what to do, or one line of text.

Says nothing of the run, of the token or of this machine: it is the same for every server.
"""

from __future__ import annotations

from typing import Final

from flask import Request, Response

from viz.server.plainpage import plain_page, wants_page

_BODY: Final = """<p>The server was started again, or this browser has not opened it yet.</p>
<ul>
<li>Open the address that the terminal printed; it contains the token. Then reload this
tab to continue at its address.</li>
<li>If that terminal is gone, run <code>uopviz open</code> with the trace again; it opens the page
in a browser.</li>
</ul>"""


def refusal(asked: Request) -> Response:
    """The page, for a browser that goes to an address of this server; else the word "forbidden"."""
    if wants_page(asked):
        return plain_page(403, "Access token needed", "This page needs an access token", _BODY)
    return forbidden()


def forbidden() -> Response:
    """For programs, and for requests in another server's name."""
    return Response("forbidden", 403, content_type="text/plain")
