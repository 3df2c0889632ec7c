"""The routes of the workbench: a kernel as it is and as it is changed, side by side."""

from __future__ import annotations

from typing import Any, Final, cast

from flask import Blueprint, Response

from core.errors import ServerError
from viz.server.answers import answer
from viz.server.how import check_how, how_of
from viz.server.requests import json_body, open_run
from viz.work.compiling import check_target

workbench_routes = Blueprint("workbench", __name__, url_prefix="/api")
MAX_SKIPPED: Final = 100
_NAME: Final = 200


@workbench_routes.post("/<run:run>/kernels/<int:context>/bench")
def compare_sides(run: str, context: int) -> Response:
    """Begins to run a kernel on {"device"}, as it is and as it is changed, in turn on the same
    inputs: {"job"}; its result is Workbench. {"opts"} and {"source"} as in run; {"skip"}: names of
    rules to leave out."""
    here, asked = open_run(run), json_body()
    opts, source = how_of(asked)
    check_how(opts, source)
    request: dict[str, Any] = {
        "job": "workbench",
        "device": str(asked.get("device", "CPU")),
        "graph": here.graph(context),
        "opts": opts,
        "skip": _names(asked.get("skip", [])),
        "source": source,
    }
    return answer({"job": here.machine.jobs.start(request, _as_it_is)})


@workbench_routes.post("/<run:run>/kernels/<int:context>/opts")
def kernel_opts(run: str, context: int) -> Response:
    """Begins to find the optimisations of a kernel for {"target"}: {"job"}; its result is
    KernelOpts. {"opts"}: those that are applied, as text, in place of the compiler's choice."""
    here, asked = open_run(run), json_body()
    opts, _ = how_of({"opts": asked.get("opts")})
    check_how(opts, None)
    target = str(asked.get("target", ""))
    check_target(target)
    request = {"job": "opts", "target": target, "graph": here.graph(context), "opts": opts}
    return answer({"job": here.machine.jobs.start(request, _as_it_is)})


def _as_it_is(made: Any) -> Any:
    return made


def _names(found: object) -> list[str]:
    """Names of rules. Raises ServerError for what is no list of names."""
    names = cast("list[Any]", found) if isinstance(found, list) else None
    if names is None or not all(isinstance(n, str) and len(n) <= _NAME for n in names):
        raise ServerError("skip is not a list of names of rules", hint='for example ["add_zero"]')
    if len(names) > MAX_SKIPPED:
        raise ServerError("too many rules are left out", hint=f"at most {MAX_SKIPPED}")
    return names
