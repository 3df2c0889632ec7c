"""The worker process of a replay: compiles kernels again with the code that is on disk now.

A separate module because it imports nothing that runs a kernel: it starts in half the time of
`viz/whatif/worker.py`. Reads one request as JSON, answers in lines of JSON, and ends.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import UopvizError
from core.isolation.limits import limit_files
from viz.coredialect.flags import flags_of
from viz.format.cells import as_int
from viz.jobs.lines import answer_request, progress
from viz.whatif.isolated import TRACE
from viz.whatif.variants.given import MAX_TRACE, error_data, kernel_of, name_of
from viz.whatif.variants.recompile import Recording, compile_variant
from viz.whatif.variants.variant import Variant

Data = dict[str, Any]


def replay_job(request: Mapping[str, Any]) -> Data:
    """Kernels compiled with the code on disk, recorded in the order of the request. {"kernels":
    [{"number", "error", "recorded"}]}."""
    limit_files(MAX_TRACE)
    subjects: list[Mapping[str, Any]] = request["subjects"]
    found: list[Data] = []
    names = [name_of(subject) for subject in subjects]
    with Recording(Path(str(request[TRACE])), "the code on disk", names):
        for at, subject in enumerate(subjects):
            progress(f"kernel {at + 1:,} of {len(subjects):,}, {name_of(subject)}")
            error: UopvizError | None = None
            recorded = False
            try:
                ast, target = kernel_of(subject)
                with flags_of(subject):
                    recorded = True
                    error = compile_variant(ast, target, Variant()).error
            except UopvizError as raised:
                error = raised
            number = as_int(subject["number"])
            said = None if error is None else error_data(error)
            found.append({"number": number, "error": said, "recorded": recorded})
    return {"kernels": found}


def main() -> int:
    """Answers the request on standard input."""
    return answer_request({"replay": replay_job}, "the kernel")


if __name__ == "__main__":
    sys.exit(main())
