"""The routes of checks: whether steps are right, and which step made a result wrong."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response

from core.errors import ServerError
from viz.bisect.search import RunSearch
from viz.check.job import Asked, Check
from viz.coreserver.options import opts_of
from viz.server.answers import answer
from viz.server.requests import json_body, open_run
from viz.whatif.bisect import search_of
from viz.whatif.variants.variant import Variant

check_routes = Blueprint("check", __name__, url_prefix="/api")


@check_routes.post("/<run:run>/check")
def check(run: str) -> Response:
    """Begins to check steps of a run: {"job"}; its result is CheckDone, and what is found meanwhile
    is in the answers about checks. {"kernel"}, {"pass"}, {"rule"}: numbers of what is checked, the
    whole run without any; {"again"}: whether also what is known."""
    here, asked = open_run(run), json_body()
    check = Check(
        here.trace,
        Asked(
            _number(asked, "kernel"),
            _number(asked, "pass"),
            _number(asked, "rule"),
            asked.get("again") is True,
        ),
        here.changed,
    )
    request = check.request
    if request is None:
        return answer({"job": here.machine.jobs.done(check.answer())})
    jobs = here.machine.jobs
    return answer({"job": jobs.start(request, check.answer, check.end, check.take)})


@check_routes.post("/<run:run>/kernels/<int:context>/bisect")
def bisect(run: str, context: int) -> Response:
    """Begins to look for the match that makes the result of a kernel wrong, as the code on disk
    compiles it: {"job"}; its result is Bisection. {"opts"}: the optimisations to apply, as text, in
    place of the compiler's choice; {"device"}: the one that it is compiled for, "" for that of
    the run."""
    here, asked = open_run(run), json_body()
    device = asked.get("device", "")
    if not isinstance(device, str):
        raise ServerError("device is not a text", hint="for example CPU")
    variant = Variant.from_data({"opts": opts_of(asked)})
    store = here.trace
    kernel = store.kernel_of(context)
    search = here.machine.weight.make(lambda: search_of(store, kernel, variant, device))
    job = here.machine.jobs.start(search.request, search.answer)
    return answer({"job": job})


@check_routes.post("/<run:run>/bisect")
def bisect_run(run: str) -> Response:
    """Begins to look for what is wrong in the whole run, as the code on disk compiles its kernels:
    {"job"}; its result is RunBisection. The verdicts of steps outside of kernels, which it checks
    on the way, are in the answers about checks."""
    here = open_run(run)
    search = here.machine.weight.make(lambda: RunSearch(here.trace, Variant()))

    def take(part: Any) -> None:
        if search.take(part):
            here.changed()

    job = here.machine.jobs.start(search.request, search.answer, search.end, take)
    return answer({"job": job})


def _number(asked: dict[str, Any], name: str) -> int | None:
    found = asked.get(name)
    if found is not None and (type(found) is not int or found < 0):
        raise ServerError(f"{name} is not a number", hint="those of the run")
    return found
