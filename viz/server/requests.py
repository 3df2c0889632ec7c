"""What routes ask of a request: the run that it names, and its body.

What is not there ends the request with an error of the one shape. Knows no route.
"""

from __future__ import annotations

from typing import Any, cast

from flask import Response, abort, current_app, request

from core.errors import ServerError
from viz.server.answers import problem
from viz.server.runs.openrun import OpenRun
from viz.server.state import State


def state() -> State:
    """The state of the server that answers."""
    return cast("State", current_app.extensions["uopviz"])


def open_run(name: str) -> OpenRun:
    """The run of this name; where there is none, the request ends here."""
    found = state().run(name)
    if found is None:
        abort(_unknown_run(name))
    return found


def body() -> dict[str, Any]:
    """The JSON object of the request. Raises ServerError where it has none."""
    try:
        found = request.get_json(silent=True)
    except RecursionError:
        found = None
    if not isinstance(found, dict):
        raise ServerError("the request is not a JSON object", where=request.path)
    return cast("dict[str, Any]", found)


def unknown(what: str, number: object) -> Response:
    """The answer to a request about what the run does not have."""
    return problem(
        404,
        f"there is no {what} {number} in this run",
        request.path,
        "the link may be of another run",
    )


def _unknown_run(name: str) -> Response:
    return problem(
        404,
        f"no run {name} is open here",
        request.path,
        "it was closed, or the link is of another server; the list of runs has those that are open",
    )
