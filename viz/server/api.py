"""The routes of the API: those of the tables in `viz/views/answers.py` and
`viz/known/answers.py`, asked of a run by its name, those of `viz/compare/answers.py`, asked
of two, and what every server does. The adapters of dialects add theirs (`viz/server/part.py`).

They parse and answer; what they answer is made in `state.py` and below. The form of every answer is
in viz/web/src/data/messages; errors are {"error": {what, where, hint}}.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, cast

from flask import Blueprint, Response, request

from core.errors import ServerError
from viz.compare.answers import PAIR_ANSWERS, PairAnswer
from viz.jobs.exports import ExportHow
from viz.known.answers import CHECK_ANSWERS
from viz.server.answers import answer, problem
from viz.server.editor import open_in_editor
from viz.server.requests import json_body, open_run, state, unknown
from viz.views.answers import ANSWERS
from viz.views.runs.recent import cached_trace, recent_traces
from viz.views.runs.run import FIRST, Answer, Asked, Parameter

MAX_TEXT: Final = 200
"""Characters of a parameter that count."""

api = Blueprint("api", __name__, url_prefix="/api")


def _route(asked: Answer) -> Callable[..., Response]:
    def view(run: str, **numbers: int) -> Response:
        values = [numbers[p.name] if p.name in numbers else _parameter(p) for p in asked.parameters]
        found = open_run(run).answer(asked, *values)
        return unknown(asked.subject.value, values[0]) if found is None else found.answer()

    view.__doc__ = _said(asked)
    return view


def _said(asked: Asked) -> str:
    more = "" if asked.whole is None else " It may be partial; ask again for more."
    return f"{asked.doc}: {asked.type}.{more}"


def add_answers(routes: Blueprint, answers: Iterable[Answer]) -> None:
    """Adds a route for each of these answers about a run."""
    for asked in answers:
        routes.add_url_rule(f"/<run:run>{asked.route}", asked.name, _route(asked))


add_answers(api, (*ANSWERS, *CHECK_ANSWERS))


def _pair_route(asked: PairAnswer) -> Callable[..., Response]:
    def view(a: str, b: str) -> Response:
        values = [_parameter(p) for p in asked.parameters]
        found = state().pairs.answer(open_run(a), open_run(b), asked, *values)
        return _unknown_pair(values) if found is None else found.answer()

    view.__doc__ = _said(asked)
    return view


for _pair in PAIR_ANSWERS:
    api.add_url_rule(f"/compare/<run:a>/<run:b>{_pair.route}", _pair.name, _pair_route(_pair))


@api.get("/runs")
def runs() -> Response:
    """The runs that are open: RunName[]."""
    return answer(state().named())


@api.post("/runs")
def add_run() -> Response:
    """Opens the trace {"name"} of the cache beside the others: {"run"}, its name."""
    return answer({"run": state().open(cached_trace(str(json_body().get("name", ""))))})


@api.delete("/runs/<run:run>")
def end_run(run: str) -> Response:
    """Closes a run; A stays open. Its name is free for another one."""
    open_run(run)
    state().end(run)
    return answer({})


@api.get("/<run:run>/traces")
def traces(run: str) -> Response:
    """The youngest traces in the cache, and which one this run is and was before: RecentTraces."""
    here = open_run(run)
    listed = recent_traces(here.store.path)
    former = None if here.former is None else here.former[0].name
    return answer({"open": here.store.path.name, "former": former, "traces": listed})


@api.post("/<run:run>/traces/open")
def open_trace(run: str) -> Response:
    """Goes on with the trace {"name"} of the cache in place of this one, with {"former": true}, the
    one that was open before, or with {"again": true}, the one that was recorded in its place."""
    here, body = open_run(run), json_body()
    if body.get("former") is True:
        here.go_back()
    elif body.get("again") is True:
        here.reopen()
    else:
        here.go_on(cached_trace(str(body.get("name", ""))))
    return answer({})


@api.get("/jobs/<int:job>")
def job_state(job: int) -> Response:
    """How far a job is: Job."""
    found = state().machine.jobs.get(job)
    return unknown("job", job) if found is None else answer(found.data())


@api.delete("/jobs/<int:job>")
def cancel(job: int) -> Response:
    """Ends a job."""
    found = state().machine.jobs.get(job)
    if found is None:
        return unknown("job", job)
    state().machine.jobs.cancel(found)
    return answer({})


@api.post("/<run:run>/open")
def open_file(run: str) -> Response:
    """Opens {"file", "line"} in the user's editor, if the trace names that file."""
    body = json_body()
    path = open_run(run).store.places.full(str(body.get("file", "")))
    line = body.get("line", 1)
    if path is None:
        raise ServerError("the trace does not name this file", hint="follow a link of the page")
    open_in_editor(path, line if isinstance(line, int) and line > 0 else 1)
    return answer({})


@api.post("/export")
def export() -> Response:
    """Begins to make runs one HTML file, with the sources that were compiled here: {"job"}; its
    result is Exported. {"runs"}: their names, A where it is left out; a file of several opens on
    their comparison. {"kernels"}: numbers of the kernels of the one run to keep, [] for all;
    {"redact"}: whether to leave out what says whose run it was; {"values"}: whether to keep the
    values that were captured in the run, not together with it; {"passes"}: whether to compile the
    kernels with all passes for the targets whose texts the file shows."""
    body = json_body()
    names, kernels = body.get("runs", [FIRST]), body.get("kernels", [])
    if not _all(names, lambda name: isinstance(name, str)):
        raise ServerError("runs is not a list of names", hint='["A"], or ["A", "B"]')
    if not _all(kernels, lambda n: type(n) is int and 0 <= n < 1 << 53):
        raise ServerError("kernels is not a list of numbers", hint="[] for all of them")
    redact, values, passes = (body.get(name) is True for name in ("redact", "values", "passes"))
    if redact and values:
        raise ServerError("a redacted file holds no captured values", hint="ask for one of the two")
    how = ExportHow(redact, values, passes)
    return answer({"job": state().export(names, kernels, how)})


@api.get("/export/<int:job>")
def exported(job: int) -> Response:
    """The file that a job has made, once; it is removed."""
    made = state().machine.exports.take(job)
    if made is None:
        return unknown("exported file", job)
    name = re.sub(r"[^\w.-]", "_", made.name, flags=re.ASCII)
    headers = {"Content-Disposition": f'attachment; filename="{name}.html"'}
    return Response(made.html, content_type="text/html; charset=utf-8", headers=headers)


def _all(items: object, holds: Callable[[Any], bool]) -> bool:
    """Whether this is a list of such items."""
    return isinstance(items, list) and all(map(holds, cast("list[Any]", items)))


def _parameter(parameter: Parameter) -> int | str:
    """A parameter of the query; 0 or "" where it is left out."""
    text = request.args.get(parameter.name, "")
    if parameter.is_text:
        return text[:MAX_TEXT]
    if text and not _is_number(text):
        raise ServerError(f"{parameter.name} is not a number", where=request.path)
    return int(text or 0)


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,15}", text) is not None


def _unknown_pair(values: Sequence[object]) -> Response:
    return problem(
        404,
        f"there is no pair of {' and '.join(map(str, values[:2]))} in these runs",
        request.path,
        "the link may be of other runs",
    )
