"""Tries a kernel on a device: random arguments, the reference's answer, times, the difference.

As a program, it is the process that `isolate.py` starts: one kernel from stdin, one answer to
stdout, both JSON. It lives for one kernel; everything that anything prints goes to stderr.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Final, cast

import numpy as np

from core.compile import compile_kernel
from core.errors import RunError, UopvizError
from core.isolation.client import Fault
from core.isolation.edited import Edited, with_text
from core.isolation.isolate import RunResult
from core.isolation.limits import MEMORY_LIMIT, limit_memory
from core.isolation.safety import BASE, MAX_BYTES, check_kernel, run_bytes
from core.runtime.base import Runner
from core.runtime.device import Device
from core.runtime.numeric import Array
from core.runtime.reference.inputs import Values, random_inputs
from core.runtime.reference.kernel import evaluate_kernel
from core.toolchain.diskcache import keep_nothing
from core.trial.difference import differences, first_wrong
from core.trial.trial import Trial, arguments, resources_of
from core.uop.data.args import decode_arg
from core.uop.data.serial import from_data
from core.uop.kernelinfo import Opt
from core.uop.patterns.policy import Policy, following
from core.uop.uop import UOp

_WARM: Final = 3
_SEED: Final = 1

Progress = Callable[[str], None]


def main() -> None:
    """Answers one request."""
    keep_nothing()
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    request = cast("dict[str, Any]", json.load(sys.stdin))
    try:
        limit_memory(int(request["memory_limit"]))
        found = run(request)
    except UopvizError as error:
        found = {"error": Fault.of(error).data()}
    except MemoryError:
        what = "the kernel needs more memory than a run may take"
        found = {"error": Fault(what, hint="run it at a smaller size").data()}
    json.dump(found, answer)
    answer.close()


def run(request: Mapping[str, Any]) -> dict[str, Any]:
    """Runs, times and verifies the kernel of a request. Raises UopvizError."""
    (ast,) = from_data(request["ast"])
    check_kernel(ast)
    return try_kernel(
        ast,
        str(request["device"]),
        int(request["count"]),
        memory=int(request["memory_limit"]),
        opts=request["opts"],
        variables={str(k): int(v) for k, v in request["variables"].items()},
        until=time.monotonic() + 0.6 * float(request["seconds"]),
    ).to_json()


def try_kernel(
    ast: UOp,
    device: str,
    count: int,
    *,
    opts: object = None,
    skip: Sequence[str] = (),
    source: Edited | None = None,
    variables: Mapping[str, int] | None = None,
    memory: int = MEMORY_LIMIT,
    until: float = float("inf"),
    progress: Progress | None = None,
) -> RunResult:
    """Launches a kernel that `check_kernel` found good `count` times on random arguments; fewer
    times, once `time.monotonic()` is past `until`. `opts`: encoded optimisations, or None for the
    usual ones; `skip`: names of rules that are left out; `source`: a text to run in place of that
    of the program which these make; variables that are not given have their largest value.
    `memory`: bytes that all of it may take; where the reference would need more than is left of
    them, there is nothing to compare with. Raises UopvizError."""
    say = progress or _nothing
    name = Device.canonicalize(device)
    host = random_arguments(ast)
    say(f"compiling for {name}")
    runner = _runner(ast, name, opts, skip, source)
    trial = Trial(ast, name, host, variables)
    say("evaluating the reference")
    unknown = _evaluate(ast, host, trial.variables, memory - BASE - run_bytes(ast))
    times = [1e6 * trial.launch(runner)]
    worst, tolerance, detail = (0.0, 0.0, unknown) if unknown else _compared(ast, trial, host)
    if trial.instructions is None:
        times = trial.times(
            runner,
            _WARM + max(1, count),
            until,
            lambda done: say(f"running on {name}: {min(done, count)} of {count}"),
        )
    us = tuple(times[_WARM:] or times[-1:])
    return RunResult(
        device=name,
        us=us,
        median=statistics.median(us),
        p90=times_quantile(us, 0.9),
        equal=None if unknown else worst <= tolerance,
        max_error=worst if np.isfinite(worst) else 1e308,
        reference="REFERENCE",
        tolerance=tolerance,
        detail=detail,
        takes=resources_of(runner),
        instructions=trial.instructions,
    )


def times_quantile(times: Sequence[float], part: float) -> float:
    """The time that `part` of the launches did not exceed."""
    return sorted(times)[max(0, round(part * len(times)) - 1)]


def _nothing(_: str) -> None:
    pass


def _runner(
    ast: UOp, device: str, opts: object, skip: Sequence[str], source: Edited | None
) -> Runner:
    found = Device[device]
    if found.target is None:
        if source is not None:
            raise RunError(f"{device} runs no texts", hint="choose another device")
        return found.load_ast(ast, "kernel")
    chosen = None if opts is None else decode_arg(cast("Any", opts))
    if chosen is not None and not isinstance(chosen, tuple):
        raise RunError("opts are not a list of optimisations")
    kept = None if chosen is None else [o for o in cast("Any", chosen) if isinstance(o, Opt)]
    with following(Policy(skip=frozenset(skip))) if skip else nullcontext():
        program = compile_kernel(ast, found.target, kept)
    return found.load(program if source is None else with_text(program, device, source))


def random_arguments(ast: UOp, seed: int = _SEED) -> list[Array]:
    """Random values for every argument in order, the same for one seed: floats in [-1, 1), integers
    as `Values.NORMAL` says."""
    inputs = random_inputs(ast, seed=seed, values=Values.UNIT, most_bytes=MAX_BYTES)
    return [inputs.buffers[u.arg] for u in arguments(ast)]


def _evaluate(ast: UOp, values: list[Array], variables: Mapping[str, int], room: int) -> str:
    """Evaluates the reference on `values` in place, within `room` bytes; says why where that is not
    possible, else ""."""
    try:
        evaluate_kernel(ast, values, variables, room)
    except RunError as error:
        return error.what
    return ""


def _compared(ast: UOp, trial: Trial, right: Sequence[Array]) -> tuple[float, float, str]:
    """The largest error of any output, the one that is allowed, and a sentence."""
    worst, tolerance, got = 0.0, 0.0, trial.arrays()
    for number, error, limit in differences(ast, got, right):
        if not error <= limit:
            dtype = arguments(ast)[number].dtype.base.name
            at, found, wanted = first_wrong(got[number], right[number], dtype, limit)
            return (
                error,
                limit,
                (
                    f"data{number} is off by up to {error:.3g}, where {limit:.3g} is allowed; the "
                    f"first wrong element is {at}: {found:.7g} in place of {wanted:.7g}"
                ),
            )
        worst, tolerance = max(worst, error), max(tolerance, limit)
    return worst, tolerance, "all outputs agree with the reference"


if __name__ == "__main__":
    main()
