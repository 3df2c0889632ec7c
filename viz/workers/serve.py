"""The other end of `viz/workers/pool.py`: a process that answers requests until its input ends.

Reads lines of JSON on standard input and writes one line for each: {"result"} or {"error"}. Never
does the work.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from core.errors import UopvizError
from core.isolation.client import Fault
from core.isolation.limits import limit_memory

Work = Callable[[Mapping[str, Any]], Any]


def serve(work: Work, what: str, memory: int) -> int:
    """Answers each request on standard input with `work`, within `memory` bytes that the process
    may write; the exit code. `what` is worked on, such as "the kernel"."""
    limit_memory(memory)
    answers, sys.stdout = sys.stdout, sys.stderr  # what the work prints is no answer
    for line in sys.stdin:
        answers.write(json.dumps(_answer(work, json.loads(line), what)) + "\n")
        answers.flush()
    return 0


def _answer(work: Work, request: Mapping[str, Any], what: str) -> dict[str, Any]:
    try:
        return {"result": work(request)}
    except UopvizError as error:
        return {"error": Fault.of(error).data()}
    except MemoryError:
        said = f"{what} needs more memory than a worker may take"
        return {"error": Fault(said, hint="try it at a smaller size").data()}
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError,
            AttributeError, OSError) as error:  # fmt: skip
        said = f"{what} could not be worked on ({type(error).__name__}: {error})"
        return {"error": Fault(said[:500], hint="the trace may be damaged").data()}
