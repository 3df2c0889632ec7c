"""The HIP API, loaded and initialised when first asked for. Opens no GPU."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from core.runtime.gpu.api import Api, Bindings, Codes, opened

BINDINGS: Final = Bindings(
    "hip.hip",
    "hip-python",
    "AMD",
    "libamdhip64",
    "hipInit",
    "pip install 'uopviz[amd]' brings hip-python; the driver is AMD's own (ROCm)",
)
CODES: Final = Codes(
    vendor="HIP",
    describe="hipGetErrorString",
    full="hipErrorOutOfMemory",
    lost=frozenset(
        {"hipErrorAssert", "hipErrorContextIsDestroyed", "hipErrorECCNotCorrectable",
         "hipErrorIllegalAddress", "hipErrorLaunchFailure", "hipErrorLaunchTimeOut",
         "hipErrorUnknown"}
    ),
    hints={
        "hipErrorNoDevice": "HIP_VISIBLE_DEVICES may hide GPUs; the user must be in the groups "
        "render and video",
        "hipErrorInsufficientDriver": "install a newer driver",
        "hipErrorNoBinaryForGpu": "the code was made for another kind of GPU",
    },
)  # fmt: skip
"""Source: AMD, "HIP Runtime API", hipError_t."""


@lru_cache(maxsize=1)
def api() -> Api:
    """The HIP API. Raises DeviceError, in one sentence, for what is missing."""
    return opened(BINDINGS, CODES)


def gpus() -> int:
    """How many GPUs the driver has. Raises DeviceError."""
    return int(api()("hipGetDeviceCount"))
