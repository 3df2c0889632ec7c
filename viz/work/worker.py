"""The worker process of a job: compiles a kernel for a target, or runs and checks it on a device.

Reads one request as JSON, writes lines of JSON ("progress", then "result" or "error"), and ends.
The graph in the request may come from a stranger's trace: it is decoded strictly, and only what the
user asked for is done with it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from core.check.edited import Edited
from core.check.isolate import MEMORY_LIMIT
from core.check.safety import MAX_BYTES, check_kernel
from core.check.worker import try_kernel
from core.compile import sources_for
from core.errors import UopvizError
from core.runtime.device import MAKERS, Device
from core.target import target_named
from core.uop.args import encode_arg
from core.uop.observe import observing
from core.uop.serial import from_data
from core.uop.uop import UOp
from viz.work.lines import answer_request, progress
from viz.work.opts import opts_text, parse_opts
from viz.work.originobserver import OriginObserver
from viz.work.peaks import measure

MAX_LAUNCHES: Final = 10_000


def compile_job(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All texts of a kernel for a target. Lines refer to positions in the request's graph."""
    ast, order = _graph(request, max_bytes=1 << 62)  # nothing of it is allocated
    target = target_named(str(request["target"]))
    observer = OriginObserver(order)
    progress(f"compiling for {target.name}")
    with observing(observer):
        artifacts = sources_for(ast, target)
    return [
        {
            "kind": a.kind,
            "target": target.name,
            "text": a.text,
            "facts": {str(k): str(v) for k, v in a.facts.items()},
            "origins": [
                sorted({p for u in line for p in observer.origins.of(u)}) for line in a.lines
            ],
        }
        for a in artifacts
    ]


def run_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """Runs a kernel on random inputs: times of `count` launches, and the largest difference from
    the reference. With `opts`, those are applied in place of what the compiler would choose; with
    `source`, that text runs in place of the compiler's."""
    ast, _ = _graph(request, MAX_BYTES)
    asked = request.get("opts")
    opts = None if asked is None else parse_opts(str(asked))
    encoded = None if opts is None else encode_arg(opts)
    count = max(1, min(MAX_LAUNCHES, int(request["count"])))
    device = str(request["device"])
    text = request.get("source")
    source = None if text is None else Edited(str(text["kind"]), str(text["text"]))
    made = try_kernel(
        ast,
        device,
        count,
        opts=encoded,
        source=source,
        memory=int(request.get("memory", MEMORY_LIMIT)),
        progress=progress,
    )
    return {
        **made.to_json(),
        "opts": None if opts is None else opts_text(opts),
        "source": None if source is None else source.kind,
    }


def devices_job(_: Mapping[str, Any]) -> list[str]:
    """The devices that are present here."""
    found: list[str] = []
    for name in MAKERS:
        try:
            Device[name]
        except UopvizError:
            continue
        if name != "NULL":
            found.append(name)
    return found


def peaks_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """What a device of this machine can do, measured."""
    return measure(str(request["device"]), progress)


JOBS: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "compile": compile_job,
    "run": run_job,
    "devices": devices_job,
    "peaks": peaks_job,
}


def _graph(request: Mapping[str, Any], max_bytes: int) -> tuple[UOp, list[UOp]]:
    """The root, and the node at each position of the request's graph. Raises RunError or SpecError
    where it is not a kernel that keeps to its memory."""
    data = cast("dict[str, Any]", request["graph"])
    everything = {**data, "roots": list(range(len(data["nodes"])))}
    order = from_data(everything)
    ast = order[data["roots"][0]]
    check_kernel(ast, max_bytes)
    return ast, order


def main() -> int:
    """Answers the request on standard input."""
    return answer_request(JOBS, "the kernel")


if __name__ == "__main__":
    sys.exit(main())
