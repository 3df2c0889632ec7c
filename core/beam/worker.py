"""The process that tries out programs of one kernel for a beam search: compiles them, runs them on
a device, and compares what they compute with the kernel without opts.

Requests and answers are lines of JSON. It ends when its client is gone, even amid a kernel that
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

from core.compile import compile_kernel
from core.errors import CompileError, RunError, UopvizError
from core.helpers import Context
from core.isolation.client import Fault
from core.isolation.limits import limit_memory
from core.isolation.safety import check_kernel
from core.passes.optimize import Kernel, chosen_opts, predicted_us, prepared
from core.passes.optimize.legal import legal_opts, why_not
from core.passes.pipeline import BEFORE_OPTS, run_passes
from core.runtime.base import Runner
from core.runtime.device import Device
from core.runtime.numeric import Array
from core.runtime.reference.inputs import Values, random_inputs
from core.target import Target
from core.toolchain.diskcache import keep_nothing
from core.toolchain.program import Program
from core.trial.difference import differences
from core.trial.trial import Trial, arguments
from core.uop.data.args import decode_arg, encode_arg
from core.uop.data.serial import from_data
from core.uop.kernelinfo import Opt
from core.uop.uop import UOp

MAX_BYTES: Final = 1 << 30
"""Bytes that the arguments of a kernel may take."""
SECONDS: Final = 0.03
"""What the launches of one program take together, if one does not take longer."""
FEWEST: Final = 3
SLOWER: Final = 4.0
"""Opts that are predicted to take so many times as long as others are not tried: predicted times of
one kernel's programs are rarely wrong by that much."""
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
        self._trial = Trial(ast, device)
        inputs = random_inputs(
            ast, values=Values.NORMAL, variables=self._trial.variables, most_bytes=MAX_BYTES
        )
        self._held = [inputs.buffers[n] for n in range(len(arguments(ast)))]
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
        return self._promising(kernel, legal_opts(kernel))

    def predicted(self, opts: tuple[Opt, ...]) -> float | None:
        """Microseconds that a launch with `opts` is predicted to take, where that is known."""
        kernel = self._kernel.copied()
        for opt in opts:
            why_not(kernel, opt)
        return predicted_us(kernel)

    def _promising(self, kernel: Kernel, legal: list[Opt]) -> list[Opt]:
        """Opts without those that are predicted to take SLOWER times as long as the best."""
        times: dict[Opt, float] = {}
        for opt in legal:
            made = kernel.copied()
            why_not(made, opt)
            time = predicted_us(made)
            if time is None:
                return legal
            times[opt] = time
        most = SLOWER * min(times.values(), default=0.0)
        return [opt for opt in legal if times[opt] <= most]

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
            self._right = self._results()
        self._trial.fill(self._held)
        once = self._trial.launch(runner)
        self._check()
        if self._trial.instructions is not None:
            return float(self._trial.instructions)
        return self._timed(runner, once, enough)

    def _timed(self, runner: Runner, once: float, enough: float) -> float:
        times = [once, self._trial.launch(runner)]
        until = time.monotonic() + SECONDS
        while min(times) <= enough and len(times) < MOST:
            if len(times) >= FEWEST and time.monotonic() >= until:
                break
            times.append(self._trial.launch(runner))
        return min(times)

    def _results(self) -> list[Array]:
        """What the kernel without opts makes of the arguments."""
        self._trial.fill(self._held)
        self._trial.launch(self._device.load(compile_kernel(self._ast, self._target, ())))
        return [values.copy() for values in self._trial.arrays()]

    def _check(self) -> None:
        """Raises RunError where the outputs are not those of the kernel without opts."""
        apart = differences(self._ast, self._trial.arrays(), self._right or ())
        if not all(error <= allowed for _, error, allowed in apart):
            raise RunError("its results are not those of the kernel without opts")


def main() -> None:
    """Answers requests until there are no more."""
    keep_nothing()
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
            return {"result": encode_arg(tried[0].chosen)}
        opts = cast("tuple[Opt, ...]", decode_arg(request["opts"]))
        return {"result": _asks[str(request["ask"])](tried[0], opts, request)}
    except UopvizError as error:
        return {"error": Fault.of(error).data()}
    except MemoryError:
        return {"error": Fault("it needs more memory than a trial may take").data()}


def _legal(tried: Tried, opts: tuple[Opt, ...], _: Mapping[str, Any]) -> Any:
    return encode_arg(tuple(tried.legal(opts)))


def _compiled(tried: Tried, opts: tuple[Opt, ...], _: Mapping[str, Any]) -> Any:
    return tried.compiled(opts)


def _cost(tried: Tried, opts: tuple[Opt, ...], request: Mapping[str, Any]) -> Any:
    return tried.cost(opts, float(request["enough"]))


def _predicted(tried: Tried, opts: tuple[Opt, ...], _: Mapping[str, Any]) -> Any:
    return tried.predicted(opts)


_Ask = Callable[[Tried, tuple[Opt, ...], Mapping[str, Any]], Any]
_asks: Final[Mapping[str, _Ask]] = {
    "legal": _legal,
    "compile": _compiled,
    "cost": _cost,
    "predicted": _predicted,
}

if __name__ == "__main__":
    main()
