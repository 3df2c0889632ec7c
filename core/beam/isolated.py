"""`Isolated`: the programs of a kernel, tried out in a process of their own with limits.

A program that crashes, hangs or fills the memory ends its process and is a RunError here; the next
one gets a new process. Never compiles and never runs anything in this process.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Final, cast

from core.errors import RunError
from core.helpers import Flag
from core.isolation import child
from core.passes.optimize.search import Opts
from core.uop.args import decode_arg, encode_arg
from core.uop.kernelinfo import Opt
from core.uop.serial import to_data
from core.uop.uop import UOp

WORKER = "core.beam.worker"
"""The module that the process runs."""
FLAGS: Final = ("NOOPT", "TC", "TC_OPT", "ALLOW_TF32", "CPU_THREADS", "EMULATOR_CHECKS")
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
    """`Trials` of a kernel AST on a device (`core.passes.optimize.search`). `chosen`: the opts of
    the heuristic. The process runs until `close`. Raises RunError where the kernel cannot be
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
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        try:
            self.chosen: Opts = self._begin()
        except RunError:
            self.close()
            raise

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._end(self._process)

    def _end(self, process: subprocess.Popen[bytes]) -> int:
        child.kill(process)
        self._reader.join()
        self._process = None
        return child.end(process)

    def legal(self, opts: Opts) -> list[Opt]:
        """See `Trials`."""
        return list(_opts(self._asked("legal", opts, self._limits.compile)))

    def compiled(self, opts: Opts) -> str:
        """See `Trials`."""
        return str(self._asked("compile", opts, self._limits.compile))

    def cost(self, opts: Opts, enough: float) -> float:
        """See `Trials`: seconds; instructions of all threads on an emulated device."""
        return float(self._asked("cost", opts, self._limits.run, enough=min(enough, 1e300)))

    def _begin(self) -> Opts:
        process = self._process = child.start(WORKER, subprocess.DEVNULL)
        self._lines = SimpleQueue()
        self._reader = threading.Thread(
            target=_read, args=(process, self._lines), name="uopviz trials", daemon=True
        )
        self._reader.start()
        return _opts(self._said(self._first, self._limits.begin, "beginning"))

    def _asked(self, ask: str, opts: Opts, seconds: float, **more: float) -> Any:
        if self._process is None:
            self._begin()
        request = {"ask": ask, "opts": encode_arg(opts), **more}
        return self._said(request, seconds, "compiling" if ask != "cost" else "running")

    def _said(self, request: Mapping[str, Any], seconds: float, doing: str) -> Any:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            line = self._lines.get(timeout=seconds)
        except (BrokenPipeError, Empty) as error:
            self.close()
            self.late = self.late or isinstance(error, Empty)
            raise RunError(
                f"{doing} took longer than {seconds:g} seconds"
                if isinstance(error, Empty)
                else f"{doing} crashed its process"
            ) from None
        if not line:
            child.wait(process)
            raise RunError(f"{doing} crashed its process ({child.how(self._end(process))})")
        answer = cast("dict[str, Any]", json.loads(line))
        if "error" in answer:
            said = answer["error"]
            raise RunError(*(str(said.get(k, "")) for k in ("what", "where", "hint")))
        return answer["value"]


def _opts(data: Any) -> Opts:
    found = decode_arg(data)
    items = cast("tuple[object, ...]", found) if isinstance(found, tuple) else ()
    return tuple(item for item in items if isinstance(item, Opt))


def _read(process: subprocess.Popen[bytes], lines: SimpleQueue[bytes]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put(b"")
