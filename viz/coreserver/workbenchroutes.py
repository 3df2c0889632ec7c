"""The routes of the workbench: a kernel as it is and as it is changed, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response

from core.errors import ServerError
from viz.coreserver.options import check_rules, names_of, options_of, opts_of, width_of
from viz.coreserver.requests import actions
from viz.server.answers import answer
from viz.server.requests import json_body, open_run
from viz.views.store import Store
from viz.work.compiling import check_target

workbench_routes = Blueprint("workbench", __name__, url_prefix="/api")


@workbench_routes.post("/<run:run>/kernels/<int:context>/bench")
def compare_sides(run: str, context: int) -> Response:
    """Begins to run a kernel on {"device"}, as it is and as it is changed, in turn on the same
    inputs: {"job"}; its result is Workbench. {"opts"}, {"skip"} and {"source"} as in run;
    {"inputs"}: the kind of inputs that times and picture are of, null for the values captured in
    the run or, without any, the first kind."""
    here, asked = open_run(run), json_body()
    request: dict[str, Any] = {
        "job": "workbench",
        "device": str(asked.get("device", "CPU")),
        **actions().kernel(here, context),
        "inputs": kind_of(asked),
        **options_of(asked, here.store).data(),
    }
    if isinstance(here.store, Store):
        request["captured"] = here.store.captured(context)
    return answer({"job": actions().begin(request)})


def kind_of(body: Mapping[str, Any]) -> str | None:
    """The kind of inputs that a request names. Raises ServerError where it is no text."""
    kind = body.get("inputs")
    if kind is not None and not isinstance(kind, str):
        raise ServerError("inputs is not a text", hint="a kind such as normal, or null")
    return kind


@workbench_routes.post("/<run:run>/kernels/<int:context>/opts")
def kernel_opts(run: str, context: int) -> Response:
    """Begins to find the optimisations of a kernel for {"target"}: {"job"}; its result is
    KernelOpts. {"opts"}: those that are applied, as text, in place of the compiler's choice."""
    here, asked = open_run(run), json_body()
    opts = opts_of(asked)
    target = str(asked.get("target", ""))
    check_target(target)
    request: dict[str, Any] = {
        "job": "opts",
        "target": target,
        **actions().kernel(here, context),
        "opts": opts,
    }
    return answer({"job": actions().begin(request)})


@workbench_routes.post("/<run:run>/kernels/<int:context>/texts")
def changed_texts(run: str, context: int) -> Response:
    """Begins to compile a kernel as it is changed for {"target"}: {"job"}; its result is
    ChangedTexts. {"opts"}: the optimisations to apply, as text, in place of the compiler's choice;
    {"skip"}: names of rules to leave out."""
    here, asked = open_run(run), json_body()
    opts, skip, target = opts_of(asked), names_of(asked), str(asked.get("target", ""))
    check_target(target)
    if isinstance(here.store, Store):
        check_rules(here.store, skip)
    request: dict[str, Any] = {
        "job": "texts",
        "target": target,
        **actions().kernel(here, context),
        "opts": opts,
        "skip": skip,
    }
    return answer({"job": actions().begin(request)})


@workbench_routes.post("/<run:run>/kernels/<int:context>/search")
def search_opts(run: str, context: int) -> Response:
    """Begins a beam search of {"width"} for the optimisations of a kernel on {"device"}: {"job"};
    its result is FoundOpts."""
    here, asked = open_run(run), json_body()
    request: dict[str, Any] = {
        "job": "search",
        "device": str(asked.get("device", "CPU")),
        "width": width_of(asked),
        **actions().kernel(here, context),
    }
    return answer({"job": actions().begin(request)})
