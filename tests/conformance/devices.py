"""Which devices the conformance tests compute on: with DEV=OPENCL or another name that one alone,
and what it refuses by design.

Never looks at what a device computes.
"""

from __future__ import annotations

from typing import Final

from core.errors import CompileError
from core.runtime.device import Device
from tests.fuzzing import has_float64

NO_FLOAT64: Final = "no float64"


def on_devices(*usual: str) -> tuple[str, ...]:
    """These, or the default one where it is another than the CPU."""
    return usual if Device.DEFAULT == "CPU" else (Device.DEFAULT,)


def flushes_subnormals() -> bool:
    """Whether subnormal float32 numbers may count as 0: WGSL leaves that open."""
    return Device.DEFAULT.partition(":")[0] == "WEBGPU"


def is_refused(error: BaseException) -> bool:
    """Whether an error is a refusal of float64 by a device that has none."""
    return isinstance(error, CompileError) and NO_FLOAT64 in error.what and not has_float64()
