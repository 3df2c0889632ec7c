"""The worker process of an export: writes runs as one HTML file.

A process of its own, so that the server answers others meanwhile, and ending it is enough to cancel
it: everything that it writes is in the folder that the request names.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from viz.jobs.compiled import Wanted, compiled_for
from viz.jobs.lines import answer_request, progress
from viz.share.html import BUDGET, export_html
from viz.share.reopened import open_run
from viz.views.kernels.captured import captured_totals
from viz.views.runs.run import Run
from viz.views.store import Store

_OFTEN: Final = 0.1
"""Seconds between two reports."""
_TEXTS: Final = 0.2
"""How much of an export is done once texts are compiled; _PASSES where their passes are, too."""
_PASSES: Final = 0.5


def export_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """Writes the file `to` of `runs`; sentences of what it does not hold."""
    to = Path(str(request["to"]))
    tempfile.tempdir = str(to.parent)
    told, begun = 0.0, 0.0
    passes = bool(request["passes"])
    wanted = Wanted(usual=not passes, usual_passes=passes, browser=True)
    weight = _PASSES if request["passes"] else _TEXTS

    def tell(share: float, what: str) -> None:
        nonlocal told
        if time.monotonic() - told > _OFTEN:
            told = time.monotonic()
            progress(f"{begun + (1 - begun) * share:.0%}, {what}")

    progress("0%, reading the trace")
    with ExitStack() as stack:
        runs: list[Run] = []
        for asked in request["runs"]:
            runs.append(_opened(asked))
            stack.callback(runs[-1].close)
        failed: list[str] = []
        for at, run in enumerate(runs):

            def compiling(done: int, count: int, last: str, at: int = at) -> None:
                share = weight * (at + done / max(1, count)) / len(runs)
                tell(share, f"compiled {done:,} of {count:,}" + (f", {last}" if last else ""))

            kernels = request["kernels"] or run.kernels()
            failed += stack.enter_context(compiled_for(run, kernels, wanted, compiling))
        begun = weight
        made = export_html(
            runs[0],
            beside=runs[1:],
            kernels=request["kernels"] or None,
            budget=BUDGET + (_room(runs) if request["values"] else 0),
            redact=bool(request["redact"]),
            values=bool(request["values"]),
            page=Path(str(request["page"])),
            progress=tell,
        )
    to.write_text(made.html, encoding="utf-8")
    return {"leftOut": made.left_out + failed}


def _room(runs: Sequence[Run]) -> int:
    """What the captured values of runs add to a budget at most: that they are kept must not cost
    the traces, which get half of it. Base64 takes 4 bytes for 3 (RFC 4648)."""
    return 2 * sum(4 * captured_totals(run.files)["bytes"] // 3 for run in runs)


def _opened(asked: Mapping[str, Any]) -> Run:
    """A run with what was compiled, emulated and checked of it."""
    run = open_run(Path(str(asked["trace"])), held_as=str(asked["held_as"]))
    known = {one.number for one in run.compilations}  # those of an export, opened again
    for number, path in asked["compiled"]:
        if number not in known:
            run.attach(Path(path), number=number)
    with Path(str(asked["emulated"])).open("rb") as lines:
        for line in lines:
            kernel, emulation = json.loads(line)
            run.emulations.add(kernel, emulation)
    if isinstance(run, Store):
        with Path(str(asked["checked"])).open("rb") as lines:
            for line in lines:
                checked, whole = json.loads(line)
                run.checks.add(checked, whole=whole)
    return run


def main() -> int:
    """Answers the request on standard input."""
    return answer_request({"export": export_job}, "the trace")


if __name__ == "__main__":
    sys.exit(main())
