"""The worker process of a job: compiles a kernel for a target, or runs and checks it on a device.

Reads one request as JSON, writes lines of JSON ("progress", then "result" or "error"), and ends.
What it compiles it records as a trace, in the file that the request names.
The graph in the request may come from a stranger's trace: it is decoded strictly, and only what the
user asked for is done with it.
"""

from __future__ import annotations

import datetime
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from core.compile import (
    compile_kernel,
    kernel_name,
    machine_codes,
    rendered,
    with_machine_code,
)
from core.errors import CompileError, UopvizError
from core.isolation.client import Fault
from core.isolation.edited import editable_on
from core.isolation.limits import MEMORY_LIMIT, limit_files
from core.isolation.safety import MAX_BYTES, check_kernel
from core.isolation.worker import try_kernel
from core.runtime.device import HOMES, Device
from core.target import Target, target_named
from core.toolchain.diskcache import keep_nothing
from core.toolchain.program import Artifact, Program
from core.uop.data.args import encode_arg
from core.uop.data.serial import from_data
from core.uop.engine.observe import observing
from core.uop.uop import UOp
from viz.format.schema import COMPILER, CORE_DIALECT
from viz.jobs.lines import answer_request, progress
from viz.work.change import Change
from viz.work.emulation import asked, emulate
from viz.work.opts import opts_text
from viz.work.passrecorder import PassRecorder
from viz.work.peaks import measure
from viz.work.shaders import shaders_of

MAX_LAUNCHES: Final = 10_000
MAX_TRACE: Final = 1 << 26
"""Bytes of the trace of one compilation."""


def compile_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """All texts of a kernel for a target, with the passes that made them, as a trace in the new
    file `trace`, a part of `run`; `kernel` is the number of the kernel there. {"error"}: why the
    compiler failed, in the form of all errors, or None; the trace then ends where it failed."""
    (made,) = compile_jobs([request])
    return made


def compile_jobs(requests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same for several kernels and one target, whose machine code is made at once."""
    limit_files(MAX_TRACE)
    with ExitStack() as stack:
        asts = [_graph(one, max_bytes=1 << 62, inside=False) for one in requests]  # nothing is run
        each = zip(requests, asts, strict=True)
        begun = [stack.enter_context(_Compilation(request, ast)) for request, ast in each]
        codes = iter(machine_codes([one.program for one in begun if one.program is not None]))
        return [one.end(None if one.program is None else next(codes)) for one in begun]


class _Compilation:
    """One kernel of a request to compile, recorded from the first pass to its last text."""

    def __init__(self, request: Mapping[str, Any], ast: UOp) -> None:
        self._ast = ast
        self._target = target_named(str(request["target"]))
        self._path = Path(str(request["trace"]))
        self._info: dict[str, object] = {
            "run": str(request["run"]),
            "started": datetime.datetime.now().astimezone().isoformat(timespec="milliseconds"),
            "compiler": COMPILER,
            "dialect": CORE_DIALECT,
            "python": platform.python_version(),
            "passes_for": {"kernel": int(request["kernel"]), "target": self._target.name},
        }
        progress(f"compiling for {self._target.name}")
        self._recorder = PassRecorder(self._path, self._info)
        self._texts: list[Artifact] = []
        self._error: UopvizError | None = None
        self.program: Program | None = None
        """What the passes made; None where one failed."""

    def __enter__(self) -> Self:
        """Compiles the kernel, up to its machine code."""
        try:
            with observing(self._recorder):
                self.program, self._texts = rendered(self._ast, self._target)
        except UopvizError as raised:
            self._error = raised
        except BaseException:
            self._recorder.finish([])
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes the trace, if that is not done."""
        if error is not None:
            self._recorder.finish([])

    def end(self, code: Artifact | CompileError | None) -> dict[str, Any]:
        """Adds the machine code, and closes the trace; the answer to the request."""
        match code:
            case CompileError():
                self._error, self._texts = code, []
            case Artifact():
                self._texts = with_machine_code(self._texts, code)
            case None:
                pass
        self._recorder.finish(self._texts, self._error)
        if self._recorder.stopped is not None:
            _texts_alone(self._path, self._info, self._ast, self._target, self._texts)
        return {"error": None if self._error is None else Fault.of(self._error).data()}


def _texts_alone(
    path: Path,
    info: Mapping[str, object],
    ast: UOp,
    target: Target,
    artifacts: Sequence[Artifact],
) -> None:
    """A trace with the texts of a compilation whose passes are too large to keep."""
    what = f"the passes for {target.name} take more than {MAX_TRACE >> 20} MB"
    left_out = {"what": what, "where": kernel_name(ast), "hint": "its sources are shown"}
    recorder = PassRecorder(path, {**info, "left_out": [left_out]})
    recorder.context_begin(kernel_name(ast), "kernel", {"target": target.name})
    if artifacts:
        recorder.kernel(ast, compile_kernel(ast, target))
    recorder.context_end(None)
    recorder.finish([replace(one, lines=()) for one in artifacts])


def run_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """Runs a kernel on random inputs: times of `count` launches, and the largest difference from
    the reference; as the `Change` of the request makes it."""
    ast = _graph(request, MAX_BYTES)
    change = Change.of(request)
    opts, source = change.opts, change.text
    count = max(1, min(MAX_LAUNCHES, int(request["count"])))
    device = str(request["device"])
    made = try_kernel(
        ast,
        device,
        count,
        opts=None if opts is None else encode_arg(opts),
        skip=change.skip,
        source=source,
        memory=int(request.get("memory", MEMORY_LIMIT)),
        progress=progress,
    )
    return {
        **made.to_json(),
        "opts": None if opts is None else opts_text(opts),
        "source": None if source is None else source.kind,
    }


def emulate_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """Emulates a kernel on a device such as PTX:EMU, and says what its lines and one warp did."""
    ast = _graph(request, MAX_BYTES, inside=False)  # the emulator checks every access
    return emulate(
        ast,
        str(request["device"]),
        asked(request, "block"),
        asked(request, "warp"),
        Change.of(request),
    )


def devices_job(_: Mapping[str, Any]) -> dict[str, Any]:
    """The devices that are present here, and which texts can be run on them once they are
    edited."""
    found: list[str] = []
    for name in HOMES:
        try:
            Device[name]
        except UopvizError:
            continue
        if name != "NULL":
            found.append(name)
    return {"devices": found, "editable": editable_on(found)}


def shaders_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """A kernel for the GPU of a browser; as the `Change` of the request makes it."""
    ast = _graph(request, MAX_BYTES, inside=False)  # nothing is run but the reference
    progress("compiling for a browser")
    return shaders_of(ast, Change.of(request))


def peaks_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """What a device of this machine can do, measured."""
    return measure(str(request["device"]), progress)


JOBS: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "compile": compile_job,
    "run": run_job,
    "emulate": emulate_job,
    "shaders": shaders_job,
    "devices": devices_job,
    "peaks": peaks_job,
}


def _graph(request: Mapping[str, Any], max_bytes: int, *, inside: bool = True) -> UOp:
    """The AST of the request. Raises RunError, SpecError or FormatError where it is not a kernel,
    or, for `inside`, not one that keeps to its memory."""
    ast = from_data(request["graph"])[0]
    check_kernel(ast, max_bytes, inside=inside)
    return ast


def main() -> int:
    """Answers the request on standard input."""
    keep_nothing()
    return answer_request(JOBS, "the kernel")


if __name__ == "__main__":
    sys.exit(main())
