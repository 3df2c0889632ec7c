"""The worker process of a check that the page asks for: passes of a run, in processes of their own
where they are many.

Reads one request as JSON and answers in lines of JSON: "progress", the result of each pass as a
"part", and how many there were; then each kernel as a whole. Nothing of a trace is evaluated, and
no rule is called; kernels are run by processes of their own (viz/check/whole/judged.py).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from core.isolation.limits import limit_files
from viz.check.part import check_part, opened_as
from viz.check.parts import Part
from viz.check.run import check_passes, how_far, processes
from viz.check.whole.kernels import IN_ALL, Wholes
from viz.check.whole.kernels import SECONDS as KERNEL_SECONDS
from viz.jobs.lines import answer_request, part, progress
from viz.whatif.workers import Workers

FEW: Final = 4
"""Passes that are checked in this process: starting others takes about as long."""
MOST_JOBS: Final = 4
MAX_FILE: Final = 1 << 20
"""Bytes of a file that it may write: semaphores of the processes that it starts are files."""
SECONDS: Final = 600.0
"""For the passes of one part."""


def check_job(request: Mapping[str, Any]) -> dict[str, int]:
    """Checks the passes `rewrites` of the trace `trace`, or their steps of `rules` by name; `files`
    are those of its processes, as they are numbered; `kernels`, if any, are run as a whole.
    {"passes"}, how many."""
    limit_files(MAX_FILE)
    path, numbers = str(request["trace"]), tuple(int(n) for n in request["rewrites"])
    rules = frozenset(str(name) for name in request["rules"])
    files = tuple(str(name) for name in request["files"])
    asked = Part(path, numbers, rules, SECONDS, files=files)
    jobs = max(1, min(MOST_JOBS, (os.cpu_count() or 2) // 2))
    if numbers:
        progress(how_far(0, len(numbers)))
    if len(numbers) > FEW:
        store = opened_as(path, files)
        memory = int(request["memory"]) // jobs
        check_passes(store, asked, jobs, progress, lambda n: processes(n, memory), part)
        store.close()
    else:
        for done, number in enumerate(numbers, 1):
            for checked in check_part(replace(asked, rewrites=(number,))):
                part(checked)
            progress(how_far(done, len(numbers)))
    _run_kernels(Wholes.of(request.get("kernels")), jobs)
    return {"passes": len(numbers)}


def _run_kernels(wholes: Wholes, jobs: int) -> None:
    """Each in a process of its own or one after another in the same; a part of the answer each."""
    workers = Workers(jobs, KERNEL_SECONDS, grouped=True)
    done, count = set[int](), sum(len(alike) for alike in wholes.numbers) + len(wholes.refused)

    def tell(one: dict[str, Any]) -> None:
        done.add(one["kernel"])
        part(one)
        progress(
            f"ran {len(done):,} of {count:,} {'kernel' if count == 1 else 'kernels'} as a whole"
        )

    try:
        wholes.run(lambda tasks, told: workers.do(tasks, told, IN_ALL), tell)
    finally:
        workers.close()


def main() -> int:
    """Answers the request on standard input."""
    return answer_request({"check": check_job}, "the trace")


if __name__ == "__main__":
    sys.exit(main())
