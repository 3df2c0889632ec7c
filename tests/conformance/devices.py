"""Which devices the conformance tests compute on: with DEV=OPENCL or another name that one alone,
what it refuses by design, and how many cases it ran and refused.

Never looks at what a device computes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from core.errors import CompileError, RenderError
from core.runtime.device import Device
from tests.fuzzing import has_float64

NO_FLOAT64: Final = "no float64"


def on_devices(*usual: str) -> tuple[str, ...]:
    """These, or the default one where it is another than the CPU."""
    return usual if Device.DEFAULT == "CPU" else (Device.DEFAULT,)


def flushes_subnormals() -> bool:
    """Whether subnormal float32 numbers may count as 0: WGSL leaves that open."""
    return Device.DEFAULT.partition(":")[0] == "WEBGPU"


def refusal(error: BaseException) -> str:
    """Why the device refuses to compute with float64, "" where an error is none of its refusals.
    Fails where the error does not say at which node, on which line, and what to do."""
    if has_float64() or not isinstance(error, CompileError | RenderError):
        return ""
    if NO_FLOAT64 not in error.what:
        return ""
    assert "\n" not in error.what and "float64" in error.where and "from " in error.where, error
    assert "float32" in error.hint, error
    return error.what


def summary(outcomes: Mapping[str, int], refused: Sequence[str]) -> str:
    """One line: cases by what became of them, those that are `refused` by their reason."""
    passed, wrong = outcomes.get("passed", 0), outcomes.get("failed", 0) + outcomes.get("error", 0)
    reasons = "".join(f" ({count}: {why})" for why, count in sorted(Counter(refused).items()))
    return (
        f"{Device.DEFAULT}: {passed + wrong + len(refused)} cases, {passed} passed, "
        f"{len(refused)} refused{reasons}, {wrong} wrong"
    )
