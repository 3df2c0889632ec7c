"""`Isolated`: the programs of a kernel, tried out in a process of their own with limits.

A program that crashes, hangs or fills the memory ends its process and is a RunError here; the next
one gets a new process. Never compiles and never runs anything in this process.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from core.errors import RunError
from core.helpers import COMPILING, EMULATOR_CHECKS, Flag
from core.isolation import child
from core.isolation.client import Worker
from core.passes.optimize.search import Opts
from core.uop.data.args import decode_arg, encode_arg
from core.uop.data.serial import to_data
from core.uop.kernelinfo import Opt
from core.uop.uop import UOp

WORKER = "core.beam.worker"
"""The module that the process runs."""
FLAGS: Final = tuple(flag.name for flag in (*COMPILING, EMULATOR_CHECKS))
"""Flags that programs, or what they cost, depend on."""


@dataclass(frozen=True)
class TrialLimits:
    """Seconds that the process takes to begin, to compile one program, and to measure one; bytes
    that it may write."""

    begin: float = 60.0
    compile: float = 10.0
    run: float = 10.0
    memory: int = 6 << 30


class Isolated:
    """`Trials` of a kernel AST on a device (`core.passes.optimize.search`). `chosen`: the opts
    without a search. The process runs until `close`. Raises RunError where the kernel cannot be
    tried."""

    def __init__(self, ast: UOp, device: str, limits: TrialLimits | None = None) -> None:
        self._limits = limits or TrialLimits()
        self._first = {
            "graph": to_data([ast]),
            "device": device,
            "flags": {name: Flag.table[name].value for name in FLAGS},
            "memory": self._limits.memory,
        }
        self.late = False
        """Whether something that was asked took longer than it may."""
        self._worker: Worker | None = None
        try:
            self.chosen: Opts = self._begin()
        except RunError:
            self.close()
            raise

    def close(self) -> None:
        """Ends the process."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None

    def legal(self, opts: Opts) -> list[Opt]:
        """The opts that may follow these, as the worker finds them."""
        return list(_opts(self._asked("legal", opts, self._limits.compile)))

    def compiled(self, opts: Opts) -> str:
        """Compiles the kernel with these opts in the worker; what identifies its code."""
        return str(self._asked("compile", opts, self._limits.compile))

    def cost(self, opts: Opts, enough: float) -> float:
        """Runs what was compiled: seconds; instructions of all threads on an emulated device."""
        return float(self._asked("cost", opts, self._limits.run, enough=min(enough, 1e300)))

    def predicted(self, opts: Opts) -> float | None:
        """Microseconds that a launch is predicted to take; None where nothing is predicted."""
        said = self._asked("predicted", opts, self._limits.compile)
        return None if said is None else float(said)

    def _begin(self) -> Opts:
        self._worker = Worker(child.start(WORKER, subprocess.DEVNULL))
        return _opts(self._said(self._worker, self._first, self._limits.begin, "beginning"))

    def _asked(self, ask: str, opts: Opts, seconds: float, **more: float) -> Any:
        if self._worker is None:
            self._begin()
        assert self._worker is not None
        request = {"ask": ask, "opts": encode_arg(opts), **more}
        doing = "compiling" if ask != "cost" else "running"
        return self._said(self._worker, request, seconds, doing)

    def _said(self, worker: Worker, request: Mapping[str, Any], seconds: float, doing: str) -> Any:
        answer = worker.ask(request, seconds)
        if answer.ended:
            self._worker = None
            self.late = self.late or answer.late
            late, crashed = f"took longer than {seconds:g} seconds", "crashed its process"
            raise RunError(f"{doing} {late if answer.late else f'{crashed} ({answer.ended})'}")
        if answer.fault is not None:
            raise answer.fault.raised(RunError)
        return answer.result


def _opts(data: Any) -> Opts:
    found = decode_arg(data)
    items = cast("tuple[object, ...]", found) if isinstance(found, tuple) else ()
    return tuple(item for item in items if isinstance(item, Opt))
