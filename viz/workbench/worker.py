"""The worker process of the workbench: runs a kernel as it is and as the user has changed it, side
by side, and says which optimisations there are.

Reads one request as JSON, answers in lines of JSON, and ends. The graph may come from a stranger's
trace: it is decoded strictly, and only a kernel that keeps to its memory is run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from core.errors import RunError
from core.isolation.limits import MEMORY_LIMIT
from core.isolation.safety import MAX_BYTES, check_kernel
from core.runtime.device import Device
from core.target import target_named
from core.toolchain.diskcache import keep_nothing
from core.uop.data.serial import from_data
from viz.coredialect.flags import flags_of
from viz.jobs.lines import answer_request, part, progress
from viz.whatif.results.trying import device_of, own_target
from viz.work.change import Change
from viz.work.opts import parse_opts
from viz.workbench.compare import compare_sides
from viz.workbench.inputs import Offered
from viz.workbench.opts import opts_of
from viz.workbench.search import search_opts
from viz.workbench.sides import Side
from viz.workbench.texts import texts_of


def workbench_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """`Workbench` of the page: a kernel, and what `opts`, `skip` or `source` make of it, on
    `device`; `inputs` is the kind of those that are timed. Raises UopvizError."""
    ast = from_data(request["graph"])[0]
    check_kernel(ast, MAX_BYTES)
    change = Change.of(request)
    device = Device.canonicalize(str(request["device"]))
    progress(f"compiling for {device}")
    memory = int(request.get("memory", MEMORY_LIMIT))
    with flags_of(request):  # as it was compiled for the run
        original = Side(ast, device, Change())
        edited = Side(ast, device, change)
        offered = Offered(ast, request.get("captured"))
        kind = request.get("inputs")
        found = compare_sides(offered, original, edited, memory, progress, kind)
    return {**found, "changed": not change.is_none}


def opts_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """`KernelOpts` of the page, for `target`. Raises UopvizError."""
    ast = from_data(request["graph"])[0]
    check_kernel(ast, 1 << 62, inside=False)  # nothing is run
    opts = request.get("opts")
    asked = None if opts is None else parse_opts(str(opts))
    with flags_of(request):
        return opts_of(ast, target_named(str(request["target"])), asked)


def texts_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """`ChangedTexts` of the page, for `target`: with `opts`, without the rules of `skip`. Raises
    UopvizError."""
    ast = from_data(request["graph"])[0]
    check_kernel(ast, 1 << 62, inside=False)  # nothing is run
    change = Change.of(request)
    target = target_named(str(request["target"]))
    progress(f"compiling for {target.name}")
    with flags_of(request):
        return texts_of(ast, target, change)


def search_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """`FoundOpts` of the page: what a beam search of `width` finds on `device`, or on the device of
    this machine for `target`. Raises UopvizError."""
    ast = from_data(request["graph"])[0]
    check_kernel(ast, MAX_BYTES)
    device = str(request["device"]) or device_of(own_target(target_named(str(request["target"]))))
    if device is None:
        raise RunError(f"no device of this machine runs code for {request['target']}")
    device = Device.canonicalize(device)
    progress(f"starting on {device}")
    with flags_of(request):
        return search_opts(ast, device, request, progress, part)


JOBS: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "workbench": workbench_job,
    "opts": opts_job,
    "search": search_job,
    "texts": texts_job,
}


def main() -> int:
    """Answers the request on standard input."""
    keep_nothing()
    return answer_request(JOBS, "the kernel")


if __name__ == "__main__":
    sys.exit(main())
