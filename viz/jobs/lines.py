"""How a worker process talks to the server: one request as JSON on standard input, then lines of
JSON: "progress" and "part", and in the end "result" or "error".

Never does the work.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from core.errors import UopvizError
from core.isolation.client import Fault
from core.isolation.limits import MEMORY_LIMIT, limit_memory

Work = Callable[[Mapping[str, Any]], Any]
WRONG_REQUEST: Final = (
    ValueError, TypeError, LookupError, ArithmeticError, RecursionError, AttributeError, OSError
)  # fmt: skip
"""What work raises where a trace is not as it should be."""


def progress(text: str) -> None:
    """Says how far the work is."""
    _say({"progress": text})


def part(value: Any) -> None:
    """Gives a part of the result, ahead of it."""
    _say({"part": value})


def answer_request(jobs: Mapping[str, Work], what: str) -> int:
    """Answers the request on standard input with one of `jobs`; the exit code. `what` is worked on,
    such as "the kernel"."""
    try:
        limit_memory(MEMORY_LIMIT)
        request = cast("dict[str, Any]", json.load(sys.stdin))
        limit_memory(min(MEMORY_LIMIT, int(request.get("memory", MEMORY_LIMIT))))
        _say({"result": jobs[str(request["job"])](request)})
    except UopvizError as error:
        _fail(Fault.of(error))
    except MemoryError:
        said = f"{what} needs more memory than a job may take"
        _fail(Fault(said, hint="try it at a smaller size"))
    except WRONG_REQUEST as error:
        said = f"{what} could not be worked on ({type(error).__name__}: {error})"
        _fail(Fault(said[:500], hint="the trace may be damaged"))
    return 0


def _fail(fault: Fault) -> None:
    _say({"error": fault.data()})


def _say(message: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
