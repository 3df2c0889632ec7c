"""The routes about a folder of packed runs, of a server that was opened on one."""

from __future__ import annotations

from flask import Blueprint, Response, request

from core.errors import ServerError
from viz.fleet.listed import Fleet
from viz.server.answers import answer
from viz.server.requests import json_body, state

MAX_TEXT = 200
"""Characters of a parameter that count."""

fleet = Blueprint("fleet", __name__, url_prefix="/api/fleet")


@fleet.get("")
def summary() -> Response:
    """The folder of packed runs that is open: Fleet; null where there is none."""
    here = state().fleet
    return answer(None if here is None else here.summary())


@fleet.get("/names")
def names() -> Response:
    """The costliest rules of all packed runs, and the kernels that most have: FleetNames."""
    return answer(_open().names())


@fleet.get("/runs")
def some() -> Response:
    """The packed runs from {begin} on that have {text}, in an {order}: FleetRuns."""
    begin = _text("begin")
    if not begin.isdecimal() or len(begin) > 9:
        raise ServerError("begin is not a number", where=request.path)
    return answer(_open().runs(_text("text"), _text("order"), int(begin)))


@fleet.get("/series")
def series() -> Response:
    """A figure over the commits, its {metric} and what it is {of}: FleetSeries."""
    return answer(_open().series(_text("metric"), _text("of")))


@fleet.post("/open")
def open_packed() -> Response:
    """Opens the trace of the packed run {"run"} beside those that are open: {"run"}, its name."""
    path = _open().trace(str(json_body().get("run", "")))
    return answer({"run": state().open_once(path)[0]})


def _open() -> Fleet:
    here = state().fleet
    if here is None:
        raise ServerError("no folder of packed runs is open", hint="uopviz open FOLDER")
    return here


def _text(name: str) -> str:
    return request.args.get(name, "")[:MAX_TEXT]
