"""The worker process that a server begins for a whole run: it has processes of its own do the
tasks, and gives each answer as a part.

Loads no compiler.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from viz.bisect.tasks import Tasks, do_all, processes
from viz.jobs.lines import answer_request, part, progress
from viz.whatif.workers import Workers


def run_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """Does the tasks of a request; the answers are its parts."""
    workers = Workers(processes(), float(request["seconds"]), grouped=True)
    try:
        do_all(Tasks.of(request), workers.do, part, lambda share, text: progress(text))
    finally:
        workers.close()
    return {}


def main() -> int:
    """Answers the request on standard input."""
    return answer_request({"bisect-run": run_job}, "the run")


if __name__ == "__main__":
    sys.exit(main())
