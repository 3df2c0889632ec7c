"""What a trace holds of the values that kernels read in the run.

In the forms of the page, and of the worker that runs a kernel with them. Never runs one.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from viz.format.captured import Captured
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


def captured_totals(files: Iterable[TraceFile]) -> dict[str, int]:
    """Of how many kernels of a run there are values, of how many they were left out, and the bytes
    of all."""
    kernels = [kept for file in files for kept in file.captured.values()]
    return {
        "kernels": sum(not kept.why for kept in kernels),
        "leftOut": sum(bool(kept.why) for kept in kernels),
        "bytes": sum(kept.bytes for kept in kernels),
    }
