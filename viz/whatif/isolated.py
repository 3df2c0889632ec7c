"""A request to the worker of this room: a process of its own, with limits of time and memory.

`work` can be handed to any `concurrent.futures` executor: request and answer are plain data, and
the trace that the worker records comes back as bytes. Each process imports the code as it is on
disk then. Never pickles anything itself.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, cast

from core.errors import ServerError
from core.isolation import child
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
_running: set[subprocess.Popen[bytes]] = set()
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
        body = json.dumps({**request, TRACE: str(trace), "memory": MEMORY}).encode()
        module = MODULES.get(str(request["job"]), WORKER)
        answer = _result(_messages(module, body, seconds, cut_off))
        answer[TRACE] = trace.read_bytes() if trace.exists() else b""
        return answer


def work_in_parts(request: Mapping[str, Any], seconds: float = SECONDS) -> Data:
    """The answer of a worker that records nothing and gives its result in parts: {"parts"}. Raises
    as `work`."""
    body = json.dumps({**request, "memory": MEMORY}).encode()
    messages = _messages(MODULES.get(str(request["job"]), WORKER), body, seconds)
    _result(messages)
    return {"parts": _parts(messages)}


def end_all() -> None:
    """Ends all workers of this process: whoever waits for them gets an error."""
    with _lock:
        for process in _running:
            child.kill(process)


def _messages(
    module: str,
    body: bytes,
    seconds: float,
    cut_off: Callable[[list[Any]], None] | None = None,
) -> list[Data]:
    """What a worker says, in order; in the end a result or an error."""
    process = child.start(module, subprocess.DEVNULL, bytecode_folder())
    with _lock:
        _running.add(process)
    try:
        said, _ = process.communicate(body, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise ServerError(
            f"it took longer than {seconds:.0f} seconds and was ended",
            hint="a rule may not come to an end; allow more time (--seconds)",
        ) from None
    except (KeyboardInterrupt, SystemExit):
        if cut_off is not None:
            child.kill(process)
            said, _ = process.communicate()  # with what has been read of it
            cut_off(_parts(map(_message, said[:MAX_ANSWER].splitlines())))
        raise
    finally:
        with _lock:
            _running.discard(process)
        code = child.end(process)
    messages = [_message(line) for line in said[:MAX_ANSWER].splitlines()]
    if any("error" in message or "result" in message for message in messages):
        return messages
    raise ServerError(
        f"the worker ended without an answer ({child.how(code)})",
        hint="a rule or the kernel may have crashed it; nothing else was harmed",
    )


def _parts(messages: Iterable[Data]) -> list[Any]:
    """What a worker has said ahead of its result."""
    return [message["part"] for message in messages if "part" in message]


def _result(messages: Sequence[Data]) -> Data:
    """The last word of a worker. Raises the error that it says."""
    for message in reversed(messages):
        if isinstance(error := message.get("error"), dict):
            words = cast("Data", error)
            raise ServerError(*(str(words.get(k, "")) for k in ("what", "where", "hint")))
        if isinstance(result := message.get("result"), dict):
            return cast("Data", result)
    raise ServerError("the worker's answer is none", hint="try again, or another kernel")


def _message(line: bytes) -> Data:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return cast("Data", found) if isinstance(found, dict) else {}
