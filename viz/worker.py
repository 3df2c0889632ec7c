"""The worker process of a job: compiles a kernel for a target, or runs and checks it on a device.

Reads one request as JSON, writes lines of JSON ("progress", then "result" or "error"), and ends.
The graph in the request may come from a stranger's trace: it is decoded strictly, and only what the
user asked for is done with it.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np

from core.compile import sources_for
from core.dtype import dtypes
from core.errors import RunError, UopvizError
from core.runtime.buffer import Buffer
from core.runtime.device import MAKERS, Device
from core.runtime.isolate import MEMORY_LIMIT
from core.runtime.numeric import Array, from_memory, memory_dtype, to_memory
from core.runtime.reference import evaluate_ast
from core.runtime.run import kernel_for
from core.runtime.safety import check_kernel
from core.runtime.trial import arguments, launch_times, limit_memory
from core.target import target_named
from core.uop.observe import observing
from core.uop.ops import Ops
from core.uop.serial import from_data
from core.uop.uop import UOp
from viz.originobserver import OriginObserver

MAX_BYTES: Final = 1 << 31
"""Memory of all of a kernel's arguments together."""
MAX_LAUNCHES: Final = 10_000
SEED: Final = 0
TOLERANCE: Final = {"float64": 1e-9, "float32": 1e-4, "float16": 2e-2, "bfloat16": 5e-2}
"""Largest error of a float result relative to the largest magnitude; 8-bit floats: 0.2."""


def compile_job(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All texts of a kernel for a target. Lines refer to positions in the request's graph."""
    ast, order = _graph(request, max_bytes=1 << 62)  # nothing of it is allocated
    target = target_named(str(request["target"]))
    observer = OriginObserver(order)
    _progress(f"compiling for {target.name}")
    with observing(observer):
        artifacts = sources_for(ast, target)
    return [
        {
            "kind": a.kind,
            "target": target.name,
            "text": a.text,
            "facts": {str(k): str(v) for k, v in a.facts.items()},
            "origins": [
                sorted({p for u in line for p in observer.origins.of(u)}) for line in a.lines
            ],
        }
        for a in artifacts
    ]


def run_job(request: Mapping[str, Any]) -> dict[str, Any]:
    """Runs a kernel on random inputs: times of `count` launches, and the largest difference from
    the reference."""
    ast, _ = _graph(request, MAX_BYTES)
    device = Device.canonicalize(str(request["device"]))
    count = max(1, min(MAX_LAUNCHES, int(request["count"])))
    variables = {u.arg[0]: u.arg[2] for u in ast.toposort() if u.op is Ops.DEFINE_VAR}
    written = {_global(s.src[0]).arg for s in ast.src if s.op is Ops.STORE}
    host = _inputs(ast)
    _progress(f"compiling for {device}")
    runner = kernel_for(ast, device).runner
    buffers = [_buffer(device, u, host[i]) for i, u in enumerate(arguments(ast))]
    expected = {i: values.copy() for i, values in enumerate(host)}
    _progress("evaluating the reference")
    evaluate_ast(ast, expected, variables)
    runner(buffers, variables, wait=True)
    worst, equal, tolerance, detail = 0.0, True, 0.0, "all outputs agree with the reference"
    for i in sorted(written):
        dtype = arguments(ast)[i].dtype.base
        error, limit = difference(buffers[i].as_array(), expected[i], dtype.name)
        worst, tolerance = max(worst, error), max(tolerance, limit)
        if not error <= limit:
            equal, detail = False, f"data{i}: off by {error:.3g}, where {limit:.3g} is allowed"
    times = launch_times(
        runner,
        buffers,
        variables,
        count,
        progress=lambda done: _progress(f"running on {device}: {done} of {count}"),
    )
    return {
        "device": device,
        "us": times,
        "median": statistics.median(times),
        "p90": times_quantile(times, 0.9),
        "equal": equal,
        "maxError": worst if np.isfinite(worst) else 1e308,
        "reference": "REFERENCE",
        "tolerance": tolerance,
        "detail": detail,
    }


def devices_job(_: Mapping[str, Any]) -> list[str]:
    """The devices that are present here."""
    found: list[str] = []
    for name in MAKERS:
        try:
            Device[name]
        except UopvizError:
            continue
        if name != "NULL":
            found.append(name)
    return found


JOBS: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "compile": compile_job,
    "run": run_job,
    "devices": devices_job,
}


def difference(got: Array, wanted: Array, dtype: str) -> tuple[float, float]:
    """(largest difference, largest difference allowed) of a result in memory; exact for integers,
    relative to the largest finite magnitude for floats. Infinities and NaNs must agree."""
    kind = getattr(dtypes, dtype)
    a = from_memory(got, kind).astype(np.float64)
    b = from_memory(wanted, kind).astype(np.float64)
    limit = 0.0
    if dtypes.is_float(kind):
        finite = np.abs(b[np.isfinite(b)])
        limit = TOLERANCE.get(dtype, 0.2) * max(1.0, float(finite.max(initial=0.0)))
    with np.errstate(invalid="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    apart = np.where(np.isnan(apart), np.inf, apart)
    return float(apart.max(initial=0.0)), limit


def times_quantile(times: Sequence[float], part: float) -> float:
    """The time that `part` of the launches did not exceed."""
    return sorted(times)[max(0, round(part * len(times)) - 1)]


def _graph(request: Mapping[str, Any], max_bytes: int) -> tuple[UOp, list[UOp]]:
    """The root, and the node at each position of the request's graph. Raises RunError or SpecError
    where it is not a kernel that keeps to its memory."""
    data = cast("dict[str, Any]", request["graph"])
    everything = {**data, "roots": list(range(len(data["nodes"])))}
    order = from_data(everything)
    ast = order[data["roots"][0]]
    check_kernel(ast, max_bytes)
    return ast, order


def _global(u: UOp) -> UOp:
    while u.op is not Ops.DEFINE_GLOBAL and u.src:
        u = u.src[0]
    return u


def _inputs(ast: UOp) -> list[Array]:
    """Random values for every argument: floats in [-1, 1), integers 0..9."""
    random = np.random.default_rng(SEED)
    total = 0
    made: list[Array] = []
    for u in arguments(ast):
        dtype, size = u.dtype.base, int(getattr(u.dtype, "size", -1))
        total += max(0, size) * dtype.itemsize
        if size < 0 or total > MAX_BYTES:
            raise RunError(f"argument {u.arg} has {size} elements", hint="this is too large to run")
        if dtypes.is_float(dtype):
            values = random.uniform(-1, 1, size).astype(np.float32)
            wide = values.astype(np.float64) if dtype.name == "float64" else values
            made.append(to_memory(wide, dtype))
        else:
            made.append(
                random.integers(0, 2 if dtypes.is_bool(dtype) else 10, size).astype(
                    memory_dtype(dtype)
                )
            )
    return made


def _buffer(device: str, u: UOp, values: Array) -> Buffer:
    made = Buffer(device, values.size, u.dtype.base).allocate()
    return made.copyin(np.ascontiguousarray(values).view(np.uint8).data)


def _progress(text: str) -> None:
    _say({"progress": text})


def _say(message: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Answers the request on standard input."""
    try:
        limit_memory(MEMORY_LIMIT)
        request = cast("dict[str, Any]", json.load(sys.stdin))
        _say({"result": JOBS[str(request["job"])](request)})
    except UopvizError as error:
        _say({"error": {"what": error.what, "where": error.where, "hint": error.hint}})
    except MemoryError:
        what = "the kernel needs more memory than a job may take"
        _say({"error": {"what": what, "where": "", "hint": "try it at a smaller size"}})
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError,
            AttributeError, OSError) as error:  # fmt: skip
        what = f"the kernel could not be worked on ({type(error).__name__}: {error})"
        _say({"error": {"what": what[:500], "where": "", "hint": "its graph may be damaged"}})
    return 0


if __name__ == "__main__":
    sys.exit(main())
