"""What a trace holds of the values that kernels and captured steps read in the run.

In the forms of the page, and of the worker that runs a kernel with them. Never runs one.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

from viz.budget import take
from viz.format.captured import Captured, unpack_values
from viz.format.capturedsteps import CapturedStep
from viz.read.tracefile import TraceFile


def captured_data(kept: Captured | None) -> dict[str, Any] | None:
    """`CapturedValues` of the page; None where the values of this kernel were not asked for."""
    if kept is None:
        return None
    return {
        "device": kept.device,
        "launch": kept.launch,
        "bytes": kept.bytes,
        "arguments": [argument.number for argument in kept.arguments],
        "variables": kept.variables,
        "why": kept.why,
    }


def captured_request(file: TraceFile, kept: Captured | None) -> dict[str, Any] | None:
    """The values for a worker, compressed as they are in the trace; None where there are none.
    Raises TraceError where they are damaged."""
    if kept is None or kept.why:
        return None
    arguments = [
        {
            "number": argument.number,
            "dtype": argument.dtype,
            "size": argument.size,
            "bytes": argument.bytes,
            "data": base64.b64encode(data).decode(),
        }
        for argument, data in zip(kept.arguments, file.packed_values(kept), strict=True)
    ]
    return {"variables": kept.variables, "arguments": arguments}


def step_data(file: TraceFile, kept: CapturedStep) -> dict[str, Any]:
    """`StepValues` of the page. Raises TraceError where values are damaged."""
    held: list[dict[str, Any]] = []
    for one, packed in zip(kept.all, file.packed_values(kept), strict=True):
        take(one.bytes // 32, 4 * one.bytes)
        raw = base64.b64encode(unpack_values(packed, one.bytes)).decode()
        held.append({"number": one.number, "dtype": one.dtype, "size": one.size, "data": raw})
    at = len(kept.before)
    return {
        "device": kept.device,
        "replay": kept.replay,
        "before": held[:at],
        "after": held[at:],
        "why": kept.why,
    }


def captured_totals(files: Iterable[TraceFile]) -> dict[str, int]:
    """Of how many kernels and captured steps of a run there are values, of how many kernels they
    were left out, and the bytes of all."""
    files = [*files]
    kernels = [kept for file in files for kept in file.captured.values()]
    steps = [kept for file in files for kept in file.captured_steps.values()]
    return {
        "kernels": sum(not kept.why for kept in kernels),
        "steps": sum(bool(kept.all) for kept in steps),
        "leftOut": sum(bool(kept.why) for kept in kernels),
        "bytes": sum(kept.bytes for kept in [*kernels, *steps]),
    }


def captured_words(totals: Mapping[str, int]) -> str:
    """ "2 kernels and 1 captured step", of what there are values; "" for nothing."""
    kernels, steps = totals["kernels"], totals.get("steps", 0)  # exported before there were any
    counted = ((kernels, "kernel"), (steps, "captured step"))
    said = [f"{n:,} {word}{'s' * (n != 1)}" for n, word in counted if n]
    return " and ".join(said)
