"""One NVIDIA GPU: the CUDA driver API behind the protocol of `core/runtime/gpu`."""

from __future__ import annotations

import threading
from typing import Any, Final

from core.runtime.cuda.jit import machine_code
from core.runtime.gpu.api import Api
from core.runtime.gpu.calls import KEEP, CallsDriver
from core.runtime.gpu.driver import Driver, Limits, Loaded

_thread: Final = threading.local()
"""`context`: the one that is current for the thread."""


_NAMES: Final = {
    "alloc": "cuMemAlloc",
    "alloc in order": "cuMemAllocAsync",
    "free": "cuMemFree",
    "free in order": "cuMemFreeAsync",
    "trim": "cuMemPoolTrimTo",
    "memory": "cuMemGetInfo",
    "upload": "cuMemcpyHtoDAsync",
    "download": "cuMemcpyDtoHAsync",
    "copy": "cuMemcpyDtoDAsync",
    "open peer": "cuCtxEnablePeerAccess",
    "synchronize": "cuStreamSynchronize",
    "free event": "cuEventDestroy",
    "record": "cuEventRecord",
    "passed": "cuEventQuery",
    "wait for": "cuEventSynchronize",
    "hold": "cuStreamWaitEvent",
    "elapsed": "cuEventElapsedTime",
    "unload": "cuModuleUnload",
    "begin capture": "cuStreamBeginCapture",
    "end capture": "cuStreamEndCapture",
    "make graph": "cuGraphInstantiate",
    "free capture": "cuGraphDestroy",
    "run graph": "cuGraphLaunch",
    "free graph": "cuGraphExecDestroy",
    "load": "cuModuleLoadData",
    "function": "cuModuleGetFunction",
    "blocks": "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "launch": "cuLaunchKernel",
}
"""The API's functions."""


class CudaDriver(CallsDriver):
    """The GPU of that number, in the process's primary context. Raises DriverError."""

    kind = "CUDA"
    not_ready = "CUDA_ERROR_NOT_READY"
    peers_already = "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"
    no_extra = 0
    names = _NAMES

    def __init__(self, api: Api, number: int) -> None:
        super().__init__(api)
        self._device = api("cuDeviceGet", number)
        self.context = api("cuDevicePrimaryCtxRetain", self._device)
        self.enter()
        self.limits = self._limits()
        if self._attribute("MEMORY_POOLS_SUPPORTED"):
            self.pool = api("cuDeviceGetDefaultMemPool", self._device)
            threshold = api.module.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
            api("cuMemPoolSetAttribute", self.pool, threshold, api.module.cuuint64_t(KEEP))

    def _attribute(self, name: str) -> int:
        kinds = self.api.module.CUdevice_attribute
        attribute = getattr(kinds, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self.api("cuDeviceGetAttribute", attribute, self._device))

    def _limits(self) -> Limits:
        major, minor = (self._attribute(f"COMPUTE_CAPABILITY_{x}") for x in ("MAJOR", "MINOR"))
        version = int(self.api("cuDriverGetVersion"))
        title = self.api("cuDeviceGetName", 256, self._device).split(b"\0", 1)[0].decode()
        block = [self._attribute(f"MAX_BLOCK_DIM_{axis}") for axis in "XYZ"]
        grid = [self._attribute(f"MAX_GRID_DIM_{axis}") for axis in "XYZ"]
        return Limits(
            title=title,
            arch=f"sm_{major}{minor}",
            driver=f"CUDA {version // 1000}.{version % 1000 // 10}",
            memory=int(self.api("cuDeviceTotalMem", self._device)),
            processors=self._attribute("MULTIPROCESSOR_COUNT"),
            warp=self._attribute("WARP_SIZE"),
            threads=self._attribute("MAX_THREADS_PER_BLOCK"),
            block=(block[0], block[1], block[2]),
            grid=(grid[0], grid[1], grid[2]),
            shared=self._attribute("MAX_SHARED_MEMORY_PER_BLOCK"),
        )

    def enter(self) -> None:
        if getattr(_thread, "context", None) is not self.context:
            self.api("cuCtxSetCurrent", self.context)
            _thread.context = self.context

    def copy_peer(self, target: int, other: Driver, source: int, nbytes: int, stream: Any) -> None:
        assert isinstance(other, CudaDriver)
        reachable = self.api("cuDeviceCanAccessPeer", self._device, other._device)
        self.open_way(other, bool(int(reachable)), other.context)
        self.api("cuMemcpyPeerAsync", target, self.context, source, other.context, nbytes, stream)

    def new_stream(self) -> Any:
        flags = self.api.module.CUstream_flags.CU_STREAM_NON_BLOCKING
        return self.api("cuStreamCreate", int(flags))

    def new_event(self) -> Any:
        return self.api("cuEventCreate", int(self.api.module.CUevent_flags.CU_EVENT_DEFAULT))

    def load(self, code: str | bytes, name: str, block: int) -> Loaded:
        assert isinstance(code, str)  # PTX
        limits = self.limits
        return self.loaded(
            machine_code(self.api, code, name, limits.arch, limits.driver), name, block
        )

    def attribute_of(self, function: Any, name: str) -> int:
        kinds = self.api.module.CUfunction_attribute
        found = getattr(kinds, f"CU_FUNC_ATTRIBUTE_{name}")
        return int(self.api("cuFuncGetAttribute", found, function))

    def capture_mode(self) -> Any:
        return self.api.module.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
