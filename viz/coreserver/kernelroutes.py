"""Routes of what can be done with a kernel as it is, of why rules did not fire, and of devices.

They parse and answer; the logic is in `viz/coreserver/actions.py`.
"""

from __future__ import annotations

from flask import Blueprint, Response

from core.errors import ServerError
from viz.coreserver.options import options_of
from viz.coreserver.requests import actions
from viz.server.answers import answer
from viz.server.api import add_answers
from viz.server.requests import json_body, open_run, unknown
from viz.why.answers import WHY_ANSWERS
from viz.work.peakcache import known_peaks

kernel_routes = Blueprint("kernels", __name__, url_prefix="/api")
add_answers(kernel_routes, WHY_ANSWERS)


@kernel_routes.post("/<run:run>/kernels/<int:context>/compile")
def compile_kernel(run: str, context: int) -> Response:
    """Begins to compile a kernel for {"target"}: {"job"}; its result is Artifact[]."""
    target = str(json_body().get("target", ""))
    return answer({"job": actions().compile(open_run(run), context, target)})


@kernel_routes.post("/<run:run>/kernels/<int:context>/run")
def run_kernel(run: str, context: int) -> Response:
    """Begins to run a kernel {"count"} times on {"device"}: {"job"}; its result is RunResult.
    {"opts"}: the optimisations to apply, as text, in place of the compiler's choice. {"skip"}:
    names of rules to leave out. {"source": {"kind", "text"}}: a text that the user has edited, to
    run in place of that of the program which these make."""
    body = json_body()
    count = body.get("count", 100)
    if not isinstance(count, int) or not 0 < count <= 10_000:
        raise ServerError("count is not a number of launches", hint="1 to 10000")
    here, device = open_run(run), str(body.get("device", "CPU"))
    options = options_of(body, here.store)
    return answer({"job": actions().launch(here, context, device, count, options)})


@kernel_routes.post("/<run:run>/kernels/<int:context>/shaders")
def kernel_shaders(run: str, context: int) -> Response:
    """Begins to compile a kernel for the GPU of a browser: {"job"}; its result is Shaders. {"opts"}
    and {"skip"} as in run."""
    here = open_run(run)
    options = options_of(json_body(), here.store)
    return answer({"job": actions().shaders(here, context, options)})


@kernel_routes.post("/<run:run>/kernels/<int:context>/emulate")
def emulate_kernel(run: str, context: int) -> Response:
    """Begins to emulate a kernel on {"device"}, such as PTX:EMU: {"job"}; its result is Emulation:
    counters of each line, and each step of warp {"warp"} of block {"block"}. {"opts"},
    {"skip"} and {"source"} as in run."""
    body = json_body()
    numbers = [body.get(name, 0) for name in ("block", "warp")]
    if not all(type(n) is int and 0 <= n < 1 << 31 for n in numbers):
        raise ServerError("block and warp are numbers", hint="they count from 0")
    here, device = open_run(run), str(body.get("device", "PTX:EMU"))
    block, warp = numbers
    how = options_of(body, here.store)
    return answer({"job": actions().emulate(here, context, device, block, warp, how)})


@kernel_routes.post("/<run:run>/rewrites/<int:rewrite>/why-declined")
def why_declined(run: str, rewrite: int) -> Response:
    """Begins to call the function of {"rule"} again, that declined {"node"} of a pass: {"job"}; its
    result is WhyNot, with the line. Only a rule of this installation with the recorded text is."""
    body = json_body()
    node, rule = (body.get(name) for name in ("node", "rule"))
    if type(node) is not int or type(rule) is not int:
        raise ServerError("node and rule are numbers", hint="those of the run")
    job = actions().why_declined(open_run(run), rewrite, node, rule)
    return unknown("pass", rewrite) if job is None else answer({"job": job})


@kernel_routes.get("/peaks")
def peaks() -> Response:
    """What was measured of the devices of this machine: Peak[]."""
    return answer(known_peaks())


@kernel_routes.post("/peaks")
def measure_peaks() -> Response:
    """Begins to measure {"device"} of this machine: {"job"}; its result is Peak."""
    return answer({"job": actions().devices.measure(str(json_body().get("device", "CPU")))})
