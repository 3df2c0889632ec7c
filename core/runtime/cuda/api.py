"""The CUDA driver API, loaded and initialised when first asked for. Opens no GPU."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from core.runtime.gpu.api import Api, Bindings, Codes, opened

BINDINGS: Final = Bindings(
    "cuda.bindings.driver",
    "cuda-bindings",
    "NVIDIA",
    "libcuda",
    "cuInit",
    "pip install 'uopviz[cuda]' brings cuda-bindings; the driver is NVIDIA's own",
)
CODES: Final = Codes(
    vendor="CUDA",
    describe="cuGetErrorString",
    full="CUDA_ERROR_OUT_OF_MEMORY",
    # after these, the manual says, the process must be restarted to use the GPU
    lost=frozenset(
        "CUDA_ERROR_" + name
        for name in (
            "ASSERT", "CONTEXT_IS_DESTROYED", "ECC_UNCORRECTABLE", "EXTERNAL_DEVICE",
            "HARDWARE_STACK_ERROR", "ILLEGAL_ADDRESS", "ILLEGAL_INSTRUCTION",
            "INVALID_ADDRESS_SPACE", "INVALID_PC", "LAUNCH_FAILED", "LAUNCH_TIMEOUT",
            "MISALIGNED_ADDRESS", "NVLINK_UNCORRECTABLE", "TENSOR_MEMORY_LEAK", "UNKNOWN",
        )
    ),
    hints={
        "CUDA_ERROR_NO_DEVICE": "CUDA_VISIBLE_DEVICES may hide the GPUs of this machine",
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": "the driver is older than the PTX: install a newer "
        "one",
        "CUDA_ERROR_INSUFFICIENT_LOADER_VERSION": "install a newer driver",
        "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": "restart the machine, so that the parts of the driver "
        "are of one version",
        "CUDA_ERROR_NOT_PERMITTED": "the user may not open the GPU's device files",
        "CUDA_ERROR_DEVICE_UNAVAILABLE": "another process has the GPU for itself",
    },
)  # fmt: skip
"""Source: NVIDIA, "CUDA Driver API", CUresult."""


@lru_cache(maxsize=1)
def api() -> Api:
    """The driver API. Raises DeviceError, in one sentence, for what is missing."""
    return opened(BINDINGS, CODES)


def gpus() -> int:
    """How many GPUs the driver has. Raises DeviceError."""
    return int(api()("cuDeviceGetCount"))
