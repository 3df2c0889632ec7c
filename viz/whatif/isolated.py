"""A request to the worker of this room: a process of its own, with limits of time and memory.

`work` can be handed to any `concurrent.futures` executor: request and answer are plain data, and
the trace that the worker records comes back as bytes. Each process imports the code as it is on
disk then. Never pickles anything itself.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, cast

from core.errors import ServerError
from core.isolation import child
from core.isolation.client import Worker
from viz.environment import bytecode_folder
from viz.format.schema import SUFFIX

WORKER: Final = "viz.whatif.worker"
MODULES: Final = {
    "replay": "viz.whatif.replaying",
    "check": "viz.check.worker",
    "whole": "viz.bisect.worker",
    "search": "viz.workbench.worker",
}
"""Jobs with a worker of their own."""
SECONDS: Final = 120.0
MEMORY: Final = 6 << 30
MAX_ANSWER: Final = 1 << 26
TRACE: Final = "trace"
"""Where an answer has the bytes of what was recorded."""
Data = dict[str, Any]
_running: set[Worker] = set()
_lock: Final = threading.Lock()


def work(
    request: Mapping[str, Any],
    seconds: float = SECONDS,
    cut_off: Callable[[list[Any]], None] | None = None,
) -> Data:
    """The worker's answer, with what it recorded in TRACE. `cut_off` gets the parts of it that were
    there when an interrupt came. Raises ServerError where the process crashes, takes longer than
    `seconds`, or says why it cannot do it."""
    with TemporaryDirectory(prefix="uopviz-what-if-", ignore_cleanup_errors=True) as folder:
        trace = Path(folder) / f"kernel{SUFFIX}"
        answer, _ = _asked({**request, TRACE: str(trace)}, seconds, cut_off)
        answer[TRACE] = trace.read_bytes() if trace.exists() else b""
        return answer


def work_at(
    request: Mapping[str, Any],
    seconds: float,
    executor: Executor | None,
    cut_off: Callable[[list[Any]], None] | None = None,
) -> Data:
    """`work`, by an executor where there is one; `cut_off` gets nothing from there."""
    if executor is None:
        return work(request, seconds, cut_off)
    return executor.submit(work, request, seconds).result()


def work_in_parts(request: Mapping[str, Any], seconds: float = SECONDS) -> Data:
    """The answer of a worker that records nothing and gives its result in parts: {"parts"}. Raises
    as `work`."""
    return {"parts": _asked(request, seconds)[1]}


def end_all() -> None:
    """Ends all workers of this process: those that wait for them get an error."""
    with _lock:
        for worker in _running:
            worker.kill()


def _asked(
    request: Mapping[str, Any],
    seconds: float,
    cut_off: Callable[[list[Any]], None] | None = None,
) -> tuple[Data, list[Any]]:
    """The result of a worker, and the parts that it gave ahead of it."""
    module = MODULES.get(str(request["job"]), WORKER)
    worker = Worker(child.start(module, subprocess.DEVNULL, bytecode_folder()))
    messages: list[Data] = []
    with _lock:
        _running.add(worker)
    try:
        asked = {**request, "memory": MEMORY}
        answer = worker.ask(asked, seconds, messages.append, last=True, most=MAX_ANSWER)
    except (KeyboardInterrupt, SystemExit):
        if cut_off is not None:
            cut_off(_parts([*messages, *worker.rest()]))
        raise
    finally:
        with _lock:
            _running.discard(worker)
        worker.end()
    if answer.late:
        raise ServerError(
            f"it took longer than {seconds:.0f} seconds and was ended",
            hint="a rule may not come to an end; allow more time (--seconds)",
        )
    if answer.ended:
        raise ServerError(
            f"the worker ended without an answer ({answer.ended})",
            hint="a rule or the kernel may have crashed it; nothing else was harmed",
        )
    if answer.fault is not None:
        raise answer.fault.raised(ServerError)
    if not isinstance(answer.result, dict):
        raise ServerError("the worker's answer is none", hint="try again, or another kernel")
    return cast("Data", answer.result), _parts(messages)


def _parts(messages: Iterable[Data]) -> list[Any]:
    """What a worker has said ahead of its result."""
    return [message["part"] for message in messages if "part" in message]
