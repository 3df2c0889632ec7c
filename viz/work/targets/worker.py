"""A process that compiles kernels for targets, one after the other: `viz/workers/pool.py` asks.

For `jobs` it records the passes of some kernels for one target, as the job of one kernel does
(`viz/work/worker.py`). The graph may be a stranger's: it is decoded strictly. Never runs a kernel.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final

from core.compile import rendered
from core.isolation.safety import check_kernel
from core.target import target_named
from core.uop.data.serial import from_data
from core.uop.engine.observe import observing
from viz.work.change import Change
from viz.work.shaders import shaders_of
from viz.work.targets.origins import OriginObserver
from viz.work.worker import compile_jobs
from viz.workers.serve import serve

MEMORY: Final = 2 << 30
"""Bytes that the process may write."""


def compile_kernel_of(request: Mapping[str, Any]) -> Any:
    """{"texts"} of a kernel, without what NVIDIA's tools make of them, each {"kind", "text",
    "facts", "sets", "lines"}: the last two as `OriginObserver.of_lines` gives them; for "browser"
    also {"shaders"}, in the form of the page. Or, for "jobs", what `compile_jobs` gives. Raises
    UopvizError."""
    if "jobs" in request:
        return compile_jobs(request["jobs"])
    graph = request["graph"]
    ast = from_data(graph)[0]
    check_kernel(ast, 1 << 62, inside=False)  # nothing is allocated, nothing run
    observer = OriginObserver(ast, graph)
    with observing(observer):
        _, artifacts = rendered(ast, target_named(str(request["target"])))
    made: list[dict[str, Any]] = []
    for one in artifacts:
        sets, lines = observer.of_lines(one)
        said = {"kind": one.kind, "text": one.text, "facts": dict(one.facts)}
        made.append({**said, "sets": sets, "lines": lines})
    found: dict[str, Any] = {"texts": made}
    if request.get("browser"):
        found["shaders"] = shaders_of(ast, Change())
    return found


if __name__ == "__main__":
    sys.exit(serve(compile_kernel_of, "the kernel", MEMORY))
