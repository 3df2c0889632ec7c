"""The functions of `hip.hip` that the runtime calls, made of those of the fake CUDA driver.

Names and signatures: AMD, "HIP Runtime API" and "HIP Python".
"""

from __future__ import annotations

import re
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

from tests.core.runtime.gpu.fake_cuda import FakeCuda

SAME = {
    "hipInit": "cuInit", "hipDriverGetVersion": "cuDriverGetVersion",
    "hipGetDeviceCount": "cuDeviceGetCount", "hipMalloc": "cuMemAlloc",
    "hipMallocAsync": "cuMemAllocAsync", "hipFree": "cuMemFree", "hipFreeAsync": "cuMemFreeAsync",
    "hipMemPoolTrimTo": "cuMemPoolTrimTo", "hipMemGetInfo": "cuMemGetInfo",
    "hipMemcpyHtoDAsync": "cuMemcpyHtoDAsync", "hipMemcpyDtoHAsync": "cuMemcpyDtoHAsync",
    "hipMemcpyDtoDAsync": "cuMemcpyDtoDAsync", "hipStreamSynchronize": "cuStreamSynchronize",
    "hipStreamCreateWithFlags": "cuStreamCreate", "hipEventCreateWithFlags": "cuEventCreate",
    "hipEventDestroy": "cuEventDestroy", "hipEventRecord": "cuEventRecord",
    "hipEventQuery": "cuEventQuery", "hipEventSynchronize": "cuEventSynchronize",
    "hipStreamWaitEvent": "cuStreamWaitEvent", "hipEventElapsedTime": "cuEventElapsedTime",
    "hipModuleUnload": "cuModuleUnload", "hipStreamBeginCapture": "cuStreamBeginCapture",
    "hipStreamEndCapture": "cuStreamEndCapture", "hipGraphDestroy": "cuGraphDestroy",
    "hipGraphInstantiateWithFlags": "cuGraphInstantiate", "hipGraphLaunch": "cuGraphLaunch",
    "hipGraphExecDestroy": "cuGraphExecDestroy", "hipDeviceGetDefaultMemPool":
    "cuDeviceGetDefaultMemPool", "hipMemPoolSetAttribute": "cuMemPoolSetAttribute",
    "hipDeviceCanAccessPeer": "cuDeviceCanAccessPeer",
    "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor":
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
}  # fmt: skip
"""Functions that take and give the same."""


class hipError_t(IntEnum):
    hipSuccess = 0
    hipErrorOutOfMemory = 2
    hipErrorNoDevice = 100
    hipErrorNotReady = 600
    hipErrorIllegalAddress = 700
    hipErrorPeerAccessAlreadyEnabled = 704


class _Names:
    def __getattr__(self, name: str) -> str:
        return name


class FakeHip:
    """A driver with GPUs of architecture `arch`."""

    hipDeviceAttribute_t = _Names()
    hipFunction_attribute = _Names()
    hipStreamCaptureMode = _Names()
    hipMemPoolAttr = _Names()

    def __init__(self, arch: str = "gfx942:sramecc+:xnack-") -> None:
        self.cuda, self.arch = FakeCuda(gpus=2), arch

    def __getattr__(self, name: str) -> Any:
        if name not in SAME:
            raise AttributeError(name)
        same = getattr(self.cuda, SAME[name])

        def call(*arguments: Any) -> Any:
            code, *results = same(*arguments)
            return hipError_t(int(code)), *results

        return call

    def hipGetErrorString(self, code: hipError_t) -> bytes:
        return re.sub(r"(?<!^)([A-Z])", r" \1", code.name.removeprefix("hipError")).lower().encode()

    def hipSetDevice(self, number: int) -> tuple[hipError_t]:
        self.cuda.cuCtxSetCurrent(self.cuda.contexts[number])
        return (hipError_t.hipSuccess,)

    def hipGetDeviceProperties(self, number: int) -> tuple[hipError_t, Any]:
        return hipError_t.hipSuccess, SimpleNamespace(
            name=b"Fake Instinct", gcnArchName=self.arch.encode(), totalGlobalMem=self.cuda.memory
        )

    def hipDeviceGetAttribute(self, attribute: str, number: int) -> tuple[hipError_t, int]:
        words = re.findall(r"[A-Z][a-z]+|[A-Z]", attribute.removeprefix("hipDeviceAttribute"))
        return hipError_t.hipSuccess, self.cuda.attributes["_".join(words).upper()]

    def hipDeviceEnablePeerAccess(self, number: int, flags: int) -> tuple[hipError_t]:
        (code,) = self.cuda.cuCtxEnablePeerAccess(self.cuda.contexts[number], flags)
        return (hipError_t(int(code)),)

    def hipMemcpyPeerAsync(
        self, target: int, to: int, source: int, at: int, nbytes: int, stream: Any
    ) -> tuple[hipError_t]:
        contexts = self.cuda.contexts
        self.cuda.cuMemcpyPeerAsync(target, contexts[to], source, contexts[at], nbytes, stream)
        return (hipError_t.hipSuccess,)

    def hipModuleLoadData(self, code: bytes) -> tuple[hipError_t, bytes]:
        assert code[:4] == b"\x7fELF"
        return hipError_t.hipSuccess, code

    def hipModuleGetFunction(self, module: bytes, name: bytes) -> tuple[hipError_t, Any]:
        assert name + b".kd" in module  # the kernel descriptor
        return hipError_t.hipSuccess, SimpleNamespace(name=name.decode(), bits=[64, 64])

    def hipFuncGetAttribute(self, attribute: str, function: Any) -> tuple[hipError_t, int]:
        name = attribute.removeprefix("HIP_FUNC_ATTRIBUTE_")
        return hipError_t.hipSuccess, self.cuda.resources[name]

    def hipModuleLaunchKernel(self, function: Any, *rest: Any) -> tuple[hipError_t]:
        assert rest[-1] is None
        self.cuda.cuLaunchKernel(function, *rest)
        return (hipError_t.hipSuccess,)
