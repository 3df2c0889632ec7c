"""A worker process of this room: one task in each line of its input, one answer in each line of its
output, until the input ends. A kernel is compiled with the code on disk and judged, or one of a
trace is run as a whole, or steps of it are checked.

Graphs may come from a stranger's trace: they are decoded strictly and checked before anything is
run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from core.errors import UopvizError
from core.isolation.client import Fault
from core.isolation.limits import MEMORY_LIMIT, limit_memory
from core.toolchain.diskcache import keep_nothing
from viz.check.part import check_part
from viz.check.parts import Part
from viz.check.whole.judged import whole_job
from viz.jobs.lines import WRONG_REQUEST
from viz.whatif.worker import bisect_job

Data = dict[str, Any]


def check_task(request: Mapping[str, Any]) -> Data:
    """The steps of passes of a trace: {"parts"}, the result of each pass."""
    numbers = tuple(int(number) for number in request["rewrites"])
    files = tuple(str(name) for name in request["files"])
    part = Part(str(request["trace"]), numbers, seconds=float(request["seconds"]), files=files)
    return {"parts": check_part(part)}


TASKS: Final[Mapping[str, Callable[[Mapping[str, Any]], Data]]] = {
    "bisect": bisect_job,
    "check": check_task,
    "whole": whole_job,
}


def answer(line: str) -> Data:
    """The answer to one task: {"result"}, or {"error"} in words."""
    try:
        request: Data = json.loads(line)
        limit_memory(min(MEMORY_LIMIT, int(request["memory"])))
        return {"result": TASKS[str(request["job"])](request)}
    except UopvizError as error:
        fault = Fault.of(error)
    except MemoryError:
        fault = Fault("it needs more memory than a task may take")
    except WRONG_REQUEST as error:
        what = f"it could not be worked on ({type(error).__name__}: {error})"[:500]
        fault = Fault(what, hint="the trace may be damaged")
    return {"error": fault.data()}


def main() -> int:
    """Answers tasks until there are no more."""
    keep_nothing()
    for line in sys.stdin:
        said = json.dumps(answer(line))
        sys.stdout.write(said + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
