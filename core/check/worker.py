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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Final, cast

import numpy as np

from core.check.edited import Edited, with_text
from core.check.isolate import MEMORY_LIMIT, RunResult
from core.check.limits import limit_memory
from core.check.safety import BASE, MAX_BYTES, check_kernel, run_bytes
from core.check.trial import arguments, launch_times
from core.compile import compile_kernel
from core.dtype import DType, dtypes
from core.errors import RunError, UopvizError
from core.prove.rounding import of_result
from core.runtime.base import Runner
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.emulator.device import EmulatorRunner
from core.runtime.gpu.launch import GpuRunner
from core.runtime.numeric import Array, from_memory
from core.runtime.reference.inputs import Values, random_inputs
from core.runtime.reference.kernel import evaluate_kernel
from core.uop.args import decode_arg
from core.uop.kernelinfo import Opt
from core.uop.kernels import stores_of
from core.uop.ops import Ops
from core.uop.pointer import pointer_of
from core.uop.policy import Policy, following
from core.uop.serial import from_data
from core.uop.uop import UOp

PIECE: Final = 1 << 20
"""Elements of a result that are compared at once."""
_WARM: Final = 3
_SEED: Final = 1

Progress = Callable[[str], None]


def main() -> None:
    """Answers one request."""
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    request = cast("dict[str, Any]", json.load(sys.stdin))
    try:
        limit_memory(int(request["memory_limit"]))
        found = run(request)
    except UopvizError as error:
        found = {"error": {"what": error.what, "where": error.where, "hint": error.hint}}
    except MemoryError:
        found = {
            "error": {
                "what": "the kernel needs more memory than a run may take",
                "hint": "run it at a smaller size",
            }
        }
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
    bound = {u.arg[0]: int(u.arg[2]) for u in ast.toposort() if u.op is Ops.DEFINE_VAR}
    bound |= variables or {}
    host = random_arguments(ast)
    say(f"compiling for {name}")
    times: list[float] = []
    runner = _runner(ast, name, opts, skip, source)
    buffers = [
        Buffer(name, values.size, u.dtype.base)
        .allocate()
        .copyin(np.ascontiguousarray(values).view(np.uint8).data)
        for u, values in zip(arguments(ast), host, strict=True)
    ]
    say("evaluating the reference")
    unknown = _evaluate(ast, host, bound, memory - BASE - run_bytes(ast))
    instructions = None
    if isinstance(runner, EmulatorRunner):
        instructions, seconds = runner.counted(buffers, bound)
        times = [1e6 * seconds]
    else:
        runner(buffers, bound, wait=True)
    worst, tolerance, detail = _compared(ast, buffers, host) if not unknown else (0.0, 0.0, unknown)
    if instructions is None:
        times = launch_times(
            runner,
            buffers,
            bound,
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
        instructions=instructions,
    )


def resources_of(runner: Runner) -> dict[str, str]:
    """What the loaded code of a kernel takes on a GPU; nothing of other devices."""
    if not isinstance(runner, GpuRunner):
        return {}
    needs = runner.loaded.resources
    return {
        "registers": str(needs.registers),
        "shared bytes": str(needs.shared),
        "local bytes": str(needs.local),
        "occupancy": f"{needs.blocks} blocks of a processor",
    }


def difference(
    got: Array, wanted: Array, dtype: str, rounded: Sequence[str] = ()
) -> tuple[float, float]:
    """(largest difference, largest difference allowed) of a result in memory; exact for integers,
    relative to the largest finite magnitude for floats. Infinities and NaNs must agree. `rounded`:
    dtypes that parts of the result are rounded to on the way, or not."""
    kind = getattr(dtypes, dtype)
    worst = largest = 0.0
    for _, a, b in _pieces(got, wanted, kind):
        worst = max(worst, float(_apart(a, b).max(initial=0.0)))
        largest = max(largest, float(np.abs(b[np.isfinite(b)]).max(initial=0.0)))
    return worst, of_result((dtype, *rounded), largest) if dtypes.is_float(kind) else 0.0


def summed_products(ast: UOp) -> list[str]:
    """The dtypes of products that a sum in a wider dtype adds: tensor cores do not round them."""
    casts = [u.src[0] for u in ast.toposort() if u.op is Ops.REDUCE_AXIS and u.arg[0] is Ops.ADD]
    inner = [u.src[0] for u in casts if u.op is Ops.CAST and u.src[0].op is Ops.MUL]
    return sorted({u.dtype.scalar().name for u in inner if dtypes.is_float(u.dtype)})


def first_wrong(got: Array, wanted: Array, dtype: str, limit: float) -> tuple[int, float, float]:
    """(position, what is there, what should be there) of the first element of a result in memory
    that is more than `limit` off; of the first element where there is none."""
    for begin, a, b in _pieces(got, wanted, getattr(dtypes, dtype)):
        wrong = np.flatnonzero(_apart(a, b) > limit)
        if len(wrong):
            at = int(wrong[0])
            return begin + at, float(a[at]), float(b[at])
    return 0, float(got[0]), float(wanted[0])


def _pieces(got: Array, wanted: Array, dtype: DType) -> Iterator[tuple[int, Array, Array]]:
    """Two results in memory as float64, a piece at a time: whole copies of large ones in float64
    would be most of the memory of a run."""
    for begin in range(0, max(1, got.size), PIECE):
        parts = (values[begin : begin + PIECE] for values in (got, wanted))
        a, b = (from_memory(part, dtype).astype(np.float64) for part in parts)
        yield begin, a, b


def _apart(a: Array, b: Array) -> Array:
    with np.errstate(invalid="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    return np.where(np.isnan(apart), np.inf, apart)


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


def _compared(
    ast: UOp, buffers: Sequence[Buffer], right: Sequence[Array]
) -> tuple[float, float, str]:
    """The largest error of any output, the one that is allowed, and a sentence."""
    worst, tolerance, detail = 0.0, 0.0, "all outputs agree with the reference"
    rounded = summed_products(ast)
    for number in sorted({int(pointer_of(store.src[0]).arg) for store in stores_of(ast)}):
        dtype = arguments(ast)[number].dtype.base
        got = buffers[number].as_array()
        error, limit = difference(got, right[number], dtype.name, rounded)
        if not error <= limit:
            at, found, wanted = first_wrong(got, right[number], dtype.name, limit)
            detail = (
                f"data{number} is off by up to {error:.3g}, where {limit:.3g} is allowed; the "
                f"first wrong element is {at}: {found:.7g} in place of {wanted:.7g}"
            )
            return error, limit, detail
        worst, tolerance = max(worst, error), max(tolerance, limit)
    return worst, tolerance, detail


if __name__ == "__main__":
    main()
