"""Runs a kernel in a process of its own, with limits, and compares it with the reference.

The kernel travels as typed JSON (`core/uop/data/serial.py`); what comes back is JSON, too. A kernel
that crashes, hangs or eats all memory ends its process and becomes a RunError here. Never forks,
never pickles.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, cast

from core.errors import RunError
from core.isolation import child
from core.isolation.client import Fault
from core.isolation.limits import MEMORY_LIMIT
from core.uop.data.args import encode_arg
from core.uop.data.serial import to_data
from core.uop.kernelinfo import Opt
from core.uop.uop import UOp

WORKER = "core.isolation.worker"
"""The module that the process runs."""
MAX_TEXT: Final = 1 << 19
"""Characters of a text that a user has edited."""
_SAID: Final = 2000
"""Last characters of a crashed worker's output that an error shows."""


@dataclass(frozen=True)
class RunResult:
    """What a run found out. `us` is the time of each launch in microseconds. `equal` is None where
    there was nothing to compare with, and `detail` says why.

    `takes`: what the code that a GPU's driver loaded takes, by name ("registers": "24").
    `instructions`: those that all threads of one launch ran together, on an emulated device, whose
    times say nothing about any GPU; None elsewhere.
    """

    device: str
    us: tuple[float, ...]
    median: float
    p90: float
    equal: bool | None
    max_error: float
    reference: str
    tolerance: float
    detail: str
    takes: Mapping[str, str] = field(default_factory=dict[str, str])
    instructions: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The fields under the names that the page uses."""
        found = asdict(self)
        found["maxError"] = found.pop("max_error")
        found["us"] = list(self.us)
        return found

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> RunResult:
        """What `to_json` made."""
        return cls(
            device=str(found["device"]),
            us=tuple(float(t) for t in found["us"]),
            median=float(found["median"]),
            p90=float(found["p90"]),
            equal=found["equal"],
            max_error=float(found["maxError"]),
            reference=str(found["reference"]),
            tolerance=float(found["tolerance"]),
            detail=str(found["detail"]),
            takes={str(k): str(v) for k, v in found["takes"].items()},
            instructions=found["instructions"],
        )


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
    worker = child.start(WORKER)
    try:
        answer, said = worker.communicate(json.dumps(request).encode(), timeout=timeout)
    except subprocess.TimeoutExpired as error:
        raise RunError(
            f"the kernel was not done after {timeout:g} seconds on {device}",
            hint="run it fewer times, or give it more time",
        ) from error
    finally:
        code = child.end(worker)
    if code != 0:
        raise RunError(
            _ending(code),
            said.decode("utf-8", "replace")[-_SAID:].strip(),
            "the kernel or its compiler is wrong; the process of its own is gone",
        )
    return _result(answer.decode("utf-8", "replace"))


def _ending(code: int) -> str:
    if code > 0:
        return f"the process that ran the kernel ended with {child.how(code)}"
    return f"the kernel crashed its process ({child.how(code)})"


def _result(answer: str) -> RunResult:
    try:
        found = cast("dict[str, Any]", json.loads(answer))
    except ValueError as error:
        raise RunError("the process that ran the kernel gave no answer", answer[:200]) from error
    if "error" in found:
        raise Fault.from_data(found["error"]).raised(RunError)
    return RunResult.from_json(found)
