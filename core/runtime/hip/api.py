"""The HIP API, loaded and initialised when first asked for. Opens no GPU."""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import Final

from core.errors import DeviceError, DriverError
from core.runtime.gpu.api import Api, Codes

MODULE: Final = "hip.hip"
INSTALL: Final = "pip install 'uopviz[amd]' brings hip-python; the driver is AMD's own (ROCm)"
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
    try:
        module = importlib.import_module(MODULE)
    except ImportError as error:
        raise DeviceError(
            f"the package hip-python is not installed ({error})", hint=INSTALL
        ) from error
    found = Api(module, CODES)
    try:
        found("hipInit", 0)
    except DriverError as error:
        raise DeviceError(error.what, hint=error.hint or INSTALL) from error
    except RuntimeError as error:  # hip-python finds no libamdhip64
        raise DeviceError(
            "AMD's driver is not installed: there is no libamdhip64 on this machine", hint=INSTALL
        ) from error
    return found


def gpus() -> int:
    """How many GPUs the driver has. Raises DeviceError."""
    return int(api()("hipGetDeviceCount"))
