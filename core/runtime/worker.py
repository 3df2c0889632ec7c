"""The process that `isolate.py` starts: one kernel from stdin, one answer to stdout, both JSON.

Lives for one kernel. Everything that anything prints goes to stderr.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from typing import Any, Final, cast

import numpy as np

from core.compile import compile_kernel
from core.dtype import DType, dtypes
from core.errors import RunError, UopvizError
from core.runtime.base import Runner
from core.runtime.buffer import Buffer
from core.runtime.device import Device
from core.runtime.numeric import Array, from_memory, memory_dtype, to_memory
from core.runtime.reference import evaluate_ast
from core.runtime.safety import check_kernel
from core.runtime.trial import arguments, launch_times, limit_memory
from core.uop.args import decode_arg
from core.uop.kernelinfo import Opt
from core.uop.meaning_arrays import numpy_dtype
from core.uop.ops import Ops
from core.uop.pointer import pointer_of
from core.uop.serial import from_data
from core.uop.uop import UOp

TOLERANCE: Final = {"float64": 1e-9, "float32": 5e-4, "float16": 2e-2, "bfloat16": 1e-1}
"""Largest |found - right| / max(1, |right|) that counts as equal. The sums of a reduce round
differently in another order; other dtypes must agree exactly."""
_WARM: Final = 3
_SEED: Final = 1


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
    device = Device[str(request["device"])]
    variables = {str(k): int(v) for k, v in request["variables"].items()}
    for u in ast.toposort():
        if u.op is Ops.DEFINE_VAR:
            variables.setdefault(u.arg[0], int(u.arg[2]))
    buffers = _buffers(ast, device.name)
    right = [b.as_array().copy() for b in buffers]
    runner = _runner(ast, device.name, request["opts"])
    deadline = time.monotonic() + 0.6 * float(request["seconds"])
    runner(buffers, variables, wait=True)
    outputs = [b.as_array().copy() for b in buffers]
    count = _WARM + max(1, int(request["count"]))
    times = launch_times(runner, buffers, variables, count, deadline)
    us = times[_WARM:] or times[-1:]
    answer = {"device": device.name, "us": us, "reference": "REFERENCE"}
    try:
        evaluate_ast(ast, right, variables)
    except RunError as error:
        return {**answer, "equal": None, "max_error": 0.0, "tolerance": 0.0, "detail": error.what}
    return {**answer, **_compared(ast, outputs, right)}


def _runner(ast: UOp, device: str, opts: object) -> Runner:
    found = Device[device]
    if found.target is None:
        return found.load_ast(ast, "kernel")
    chosen = None if opts is None else decode_arg(cast("Any", opts))
    if chosen is not None and not isinstance(chosen, tuple):
        raise RunError("opts are not a list of optimisations")
    kept = None if chosen is None else [o for o in cast("Any", chosen) if isinstance(o, Opt)]
    return found.load(compile_kernel(ast, found.target, kept))


def _buffers(ast: UOp, device: str) -> list[Buffer]:
    """Memory with random content for each argument, the same in every run."""
    rng = np.random.default_rng(_SEED)
    made: list[Buffer] = []
    for u in arguments(ast):
        dtype, size = u.dtype.base, cast("Any", u.dtype).size
        if dtypes.is_float(dtype):
            values = _rounded(rng.standard_normal(size), dtype)
        elif dtypes.is_bool(dtype):
            values = rng.integers(0, 2, size).astype(np.bool_)
        else:
            values = rng.integers(0, 64, size).astype(memory_dtype(dtype))
        made.append(Buffer(device, size, dtype).copyin(values.view(np.uint8).data))
    return made


def _rounded(values: Array, dtype: DType) -> Array:
    """Random floats as elements in memory; of narrow dtypes, few different small ones."""
    if values.dtype != numpy_dtype(dtype) and dtype.fmt is None:
        values = np.clip(np.rint(values * 4), -8, 8) / 4
    return to_memory(values.astype(numpy_dtype(dtype)), dtype)


def _compared(ast: UOp, outputs: list[Array], right: list[Array]) -> dict[str, Any]:
    worst, tolerance, detail = 0.0, 0.0, ""
    equal = True
    for store in ast.src:
        number, dtype = pointer_of(store.src[0]).arg, store.src[1].dtype
        limit = TOLERANCE.get(dtype.name, 0.0)
        found = from_memory(outputs[number], dtype).astype(np.float64)
        wanted = from_memory(right[number], dtype).astype(np.float64)
        with np.errstate(all="ignore"):
            error = np.abs(found - wanted) / np.maximum(1.0, np.abs(wanted))
        error[(found == wanted) | (np.isnan(found) & np.isnan(wanted))] = 0.0
        error[np.isnan(error)] = np.inf
        at = int(np.argmax(error)) if error.size else 0
        here = float(error[at]) if error.size else 0.0
        tolerance = max(tolerance, limit)
        if here > limit:
            equal = False
            detail = f"output {number} element {at}: {found[at]!r} instead of {wanted[at]!r}"
        worst = max(worst, here)
    finite = worst if np.isfinite(worst) else 1e308
    return {"equal": equal, "max_error": finite, "tolerance": tolerance, "detail": detail}


if __name__ == "__main__":
    main()
