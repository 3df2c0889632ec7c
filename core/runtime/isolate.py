"""Runs a kernel in a process of its own, with limits, and compares it with the reference.

The kernel travels as typed JSON (`core/uop/serial.py`); what comes back is JSON, too. A kernel that
crashes, hangs or eats all memory ends its process and becomes a RunError here. Never forks, never
pickles.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, cast

from core.errors import RunError
from core.uop.args import encode_arg
from core.uop.kernelinfo import Opt
from core.uop.serial import to_data
from core.uop.uop import UOp

WORKER = "core.runtime.worker"
"""The module that the process runs."""
MEMORY_LIMIT: Final = 8 << 30
"""Bytes of address space that a worker may take."""
_SAID: Final = 2000
"""Last characters of a crashed worker's output that an error shows."""


@dataclass(frozen=True)
class RunResult:
    """What a run found out. `us` is the time of each launch in microseconds. `equal` is None where
    there was nothing to compare with, and `detail` says why."""

    device: str
    us: tuple[float, ...]
    median: float
    p90: float
    equal: bool | None
    max_error: float
    reference: str
    tolerance: float
    detail: str

    def to_json(self) -> dict[str, Any]:
        """The fields under the names that the page uses."""
        found = asdict(self)
        found["maxError"] = found.pop("max_error")
        found["us"] = list(self.us)
        return found


def run_isolated(
    ast: UOp,
    device: str,
    count: int = 100,
    timeout: float = 30.0,
    opts: Sequence[Opt] | None = None,
    variables: Mapping[str, int] | None = None,
    memory_limit: int = MEMORY_LIMIT,
) -> RunResult:
    """Runs a kernel AST `count` times on random inputs on `device`, in a fresh process, and
    compares its outputs with those of the reference on the same inputs.

    Raises RunError where the process crashes, is not done after `timeout` seconds, or says why it
    could not run the kernel.
    """
    request = {
        "ast": to_data([ast]),
        "device": device,
        "count": count,
        "opts": None if opts is None else encode_arg(tuple(opts)),
        "variables": dict(variables or {}),
        "memory_limit": memory_limit,
        "seconds": timeout,
    }
    worker = subprocess.Popen(
        [sys.executable, "-P", "-m", WORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=_environment(),
        start_new_session=True,
    )
    try:
        answer, said = worker.communicate(json.dumps(request), timeout=timeout)
    except subprocess.TimeoutExpired as error:
        raise RunError(
            f"the kernel was not done after {timeout:g} seconds on {device}",
            hint="run it fewer times, or give it more time",
        ) from error
    finally:
        _end(worker)
    if worker.returncode != 0:
        raise RunError(
            _ending(worker.returncode),
            said[-_SAID:].strip(),
            "the kernel or its compiler is wrong; the process of its own is gone",
        )
    return _result(answer)


def _environment() -> dict[str, str]:
    """Python's path as it is here, and nothing recorded there."""
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join([root, *(p for p in sys.path if p)])
    return {**os.environ, "PYTHONPATH": path, "VIZ": "0", "DEBUG": "0"}


def _end(worker: subprocess.Popen[str]) -> None:
    """Ends the worker and all that it started."""
    if worker.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    for pipe in (worker.stdin, worker.stdout, worker.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def _ending(code: int) -> str:
    if code > 0:
        return f"the process that ran the kernel ended with code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"the kernel crashed its process ({name})"


def _result(answer: str) -> RunResult:
    try:
        found = cast("dict[str, Any]", json.loads(answer))
    except ValueError as error:
        raise RunError("the process that ran the kernel gave no answer", answer[:200]) from error
    if "error" in found:
        what, where, hint = (str(found["error"].get(k, "")) for k in ("what", "where", "hint"))
        raise RunError(what, where, hint)
    us = tuple(float(t) for t in found["us"])
    ordered = sorted(us)
    return RunResult(
        device=str(found["device"]),
        us=us,
        median=statistics.median(ordered) if ordered else 0.0,
        p90=ordered[min(len(ordered) - 1, int(len(ordered) * 0.9))] if ordered else 0.0,
        equal=found["equal"],
        max_error=float(found["max_error"]),
        reference=str(found["reference"]),
        tolerance=float(found["tolerance"]),
        detail=str(found["detail"]),
    )
