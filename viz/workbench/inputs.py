"""The inputs of a workbench: kinds of random numbers and corner values, and the values that the
kernel read in the run, where these were captured.

Captured values come from a trace that anybody may have written: only bytes of the dtypes and sizes
of the kernel's own arguments are taken, and values of its variables within their bounds. Runs
nothing.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from core.dtype import dtypes
from core.errors import RunError
from core.runtime.numeric import Array, memory_dtype
from core.runtime.reference.inputs import Inputs, Values, random_inputs
from core.trial.trial import arguments, largest_variables
from core.uop.uop import UOp
from viz.format.captured import unpack_values
from viz.workbench.kinds import CAPTURED, KINDS

MAX_ARGUMENTS: Final = 1 << 28
"""Bytes of all arguments of a kernel."""


@dataclass(frozen=True)
class Offered:
    """The inputs that there are for a kernel. `captured`: the values of the run, if there are any,
    as `viz.views.kernels.captured` sends them."""

    ast: UOp
    captured: Mapping[str, Any] | None = None

    def kinds(self, first: str | None = None) -> list[str]:
        """The kinds that there are, `first` first. Raises RunError where it is none of them."""
        found = [kind for kind in KINDS if kind != CAPTURED or self.captured is not None]
        if first is None:
            return found
        if first not in found:
            raise RunError(
                f"there are no inputs of the kind {first[:100]!r}",
                hint="there are " + ", ".join(found),
            )
        return [first, *(kind for kind in found if kind != first)]

    def of(self, kind: str) -> Inputs:
        """Inputs of a kind. Raises RunError where captured values are not those of the kernel."""
        if kind == CAPTURED and self.captured is not None:
            return captured_inputs(self.ast, self.captured)
        return _random(self.ast, Values(kind), largest_variables(self.ast))


def _random(ast: UOp, values: Values, variables: Mapping[str, int]) -> Inputs:
    return random_inputs(ast, values=values, variables=variables, most_bytes=MAX_ARGUMENTS)


def captured_inputs(ast: UOp, data: Mapping[str, Any]) -> Inputs:
    """The values of the run; of memory that the kernel only writes, zeros. Raises RunError for
    what does not belong to this kernel, and TraceError for damaged values."""
    given = {str(name): int(value) for name, value in data["variables"].items()}
    missing = largest_variables(ast).keys() - given.keys()
    if missing:
        raise _foreign(f"the variable {sorted(missing)[0]} has no value")
    inputs = _random(ast, Values.ZEROS, given)
    buffers = {number: np.zeros_like(values) for number, values in inputs.buffers.items()}
    for item in data["arguments"]:
        number = int(item["number"])
        if number not in buffers:
            raise _foreign(f"there is no argument {number}")
        buffers[number] = _values(arguments(ast)[number], item)
    return Inputs(buffers, inputs.variables)


def _values(argument: UOp, item: Mapping[str, Any]) -> Array:
    """The values of one argument."""
    dtype = argument.dtype.base
    kind = memory_dtype(dtype)
    size = int(getattr(argument.dtype, "size", 0))
    if item["dtype"] != dtype.name or item["size"] != size:
        said = f"{item['size']} elements of {str(item['dtype'])[:40]}"
        raise _foreign(f"argument {argument.arg} has {size} of {dtype.name}, and not {said}")
    raw = unpack_values(base64.b64decode(item["data"], validate=True), size * kind.itemsize)
    if dtypes.is_bool(dtype) and raw.translate(None, b"\0\1"):
        raise _foreign(f"argument {argument.arg} has bytes that are no bool")
    return np.frombuffer(raw, kind).copy()


def _foreign(what: str) -> RunError:
    return RunError(
        f"the captured values are not of this kernel: {what}", hint="capture them again"
    )
