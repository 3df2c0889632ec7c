"""The process that tries out programs of one kernel for a beam search: compiles them, runs them on
a device, and compares what they compute with the kernel without opts.

Requests and answers are lines of JSON. It ends when whoever asks is gone, even amid a kernel that
does not come to an end. Records nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import Any, Final, cast

import numpy as np

from core.check.limits import limit_memory
from core.check.safety import check_kernel
from core.check.trial import arguments
from core.check.worker import difference, summed_products
from core.compile import compile_kernel
from core.errors import CompileError, RunError, UopvizError
from core.helpers import Context
from core.passes.optimize import chosen_opts, prepared
from core.passes.optimize.legal import legal_opts, why_not
from core.passes.pipeline import BEFORE_OPTS, run_passes
from core.runtime.base import Runner
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.emulator.device import EmulatorRunner
from core.runtime.numeric import Array
from core.runtime.reference.inputs import Values, random_inputs
from core.target import Target
from core.toolchain.program import Program
from core.uop.args import decode_arg, encode_arg
from core.uop.kernelinfo import Opt
from core.uop.kernels import stores_of
from core.uop.ops import Ops
from core.uop.pointer import pointer_of
from core.uop.serial import from_data
from core.uop.uop import UOp

MAX_BYTES: Final = 1 << 30
"""Bytes that the arguments of a kernel may take."""
SECONDS: Final = 0.03
"""What the launches of one program take together, if one does not take longer."""
FEWEST: Final = 3
MOST: Final = 50


class Tried:
    """The programs of one kernel on one device. Raises UopvizError for a kernel or device that
    cannot be tried."""

    def __init__(self, ast: UOp, device: str) -> None:
        check_kernel(ast, MAX_BYTES)
        self._ast, self._device = ast, Device[device]
        target = self._device.target
        if target is None:
            raise RunError(f"{device} runs no programs")
        self._target: Target = target
        self._kernel = prepared(run_passes(ast, target, None, BEFORE_OPTS), target)
        self.chosen = chosen_opts(self._kernel.copied())
        found = (u for u in ast.toposort() if u.op is Ops.DEFINE_VAR)
        self._variables = {u.arg[0]: int(u.arg[2]) for u in found}
        inputs = random_inputs(
            ast, values=Values.NORMAL, variables=self._variables, most_bytes=MAX_BYTES
        )
        self._held = [inputs.buffers[n] for n in range(len(arguments(ast)))]
        self._buffers = [
            Buffer(device, int(cast("Any", u.dtype).size), u.dtype.base).allocate()
            for u in arguments(ast)
        ]
        self._rounded = summed_products(ast)
        self._right: list[Array] | None = None
        self._last: tuple[tuple[Opt, ...], Program] | None = None

    def legal(self, opts: tuple[Opt, ...]) -> list[Opt]:
        """The opts that apply after `opts`."""
        kernel = self._kernel.copied()
        if kernel.as_written:
            return []
        for opt in opts:
            if (why := why_not(kernel, opt)) is not None:
                raise CompileError(why)
        return legal_opts(kernel)

    def compiled(self, opts: tuple[Opt, ...]) -> str:
        """A hash of the program's text, and of how it is launched."""
        program = compile_kernel(self._ast, self._target, opts)
        self._last = opts, program
        launch = program.grid, program.local_size, program.threads
        return hashlib.sha256(f"{launch} {program.source.text}".encode()).hexdigest()

    def cost(self, opts: tuple[Opt, ...], enough: float) -> float:
        """Seconds of the fastest launch; on an emulated device the instructions that all threads
        ran. Raises RunError for wrong results."""
        if self._last is None or self._last[0] != opts:
            self.compiled(opts)
        assert self._last is not None
        runner = self._device.load(self._last[1])
        if self._right is None:
            self._right = self._results(self._load(()))
        self._fill()
        if isinstance(runner, EmulatorRunner):
            instructions, _ = runner.counted(self._buffers, self._variables)
            self._check()
            return float(instructions)
        once = self._launched(runner)
        self._check()
        return self._timed(runner, once, enough)

    def _timed(self, runner: Runner, once: float, enough: float) -> float:
        times = [once, self._launched(runner)]
        until = time.monotonic() + SECONDS
        while min(times) <= enough and len(times) < MOST:
            if len(times) >= FEWEST and time.monotonic() >= until:
                break
            times.append(self._launched(runner))
        return min(times)

    def _load(self, opts: tuple[Opt, ...]) -> Runner:
        return self._device.load(compile_kernel(self._ast, self._target, opts))

    def _launched(self, runner: Runner) -> float:
        begun = time.perf_counter()
        seconds = runner(self._buffers, self._variables, wait=True)
        return time.perf_counter() - begun if seconds is None else seconds

    def _fill(self) -> None:
        for buffer, held in zip(self._buffers, self._held, strict=True):
            buffer.copyin(np.ascontiguousarray(held).view(np.uint8).data)

    def _outputs(self) -> list[tuple[str, Array]]:
        numbers = sorted({int(pointer_of(store.src[0]).arg) for store in stores_of(self._ast)})
        dtypes = [u.dtype.base.name for u in arguments(self._ast)]
        return [(dtypes[n], self._buffers[n].as_array()) for n in numbers]

    def _results(self, runner: Runner) -> list[Array]:
        self._fill()
        runner(self._buffers, self._variables, wait=True)
        return [values.copy() for _, values in self._outputs()]

    def _check(self) -> None:
        """Raises RunError where the outputs are not those of the kernel without opts."""
        for (dtype, got), wanted in zip(self._outputs(), self._right or (), strict=True):
            error, allowed = difference(got, wanted, dtype, self._rounded)
            if not error <= allowed:
                raise RunError("its results are not those of the kernel without opts")


def main() -> None:
    """Answers requests until there are no more."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what programs print is no answer
    asked: SimpleQueue[Mapping[str, Any]] = SimpleQueue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    first = asked.get()
    limit_memory(int(first["memory"]))
    with Context(**first["flags"]):
        tried: list[Tried] = []
        request = first
        while True:
            answers.write(json.dumps(_answer(tried, request)) + "\n")
            request = asked.get()


def _listen(asked: SimpleQueue[Mapping[str, Any]]) -> None:
    for line in sys.stdin:
        asked.put(json.loads(line))
    os._exit(0)  # nobody waits for an answer


def _answer(tried: list[Tried], request: Mapping[str, Any]) -> dict[str, Any]:
    try:
        if not tried:
            tried.append(Tried(from_data(request["graph"])[0], str(request["device"])))
            return {"value": encode_arg(tried[0].chosen)}
        opts = cast("tuple[Opt, ...]", decode_arg(request["opts"]))
        return {"value": _asks[str(request["ask"])](tried[0], opts, request)}
    except UopvizError as error:
        return {"error": {"what": error.what, "where": error.where, "hint": error.hint}}
    except MemoryError:
        return {"error": {"what": "it needs more memory than a trial may take"}}


def _legal(tried: Tried, opts: tuple[Opt, ...], _: Mapping[str, Any]) -> Any:
    return encode_arg(tuple(tried.legal(opts)))


def _compiled(tried: Tried, opts: tuple[Opt, ...], _: Mapping[str, Any]) -> Any:
    return tried.compiled(opts)


def _cost(tried: Tried, opts: tuple[Opt, ...], request: Mapping[str, Any]) -> Any:
    return tried.cost(opts, float(request["enough"]))


_Ask = Callable[[Tried, tuple[Opt, ...], Mapping[str, Any]], Any]
_asks: Final[Mapping[str, _Ask]] = {"legal": _legal, "compile": _compiled, "cost": _cost}

if __name__ == "__main__":
    main()
