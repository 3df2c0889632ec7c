"""One AMD GPU: the HIP API behind the protocol of `core/runtime/gpu`."""

from __future__ import annotations

import threading
from typing import Any, Final

from core.runtime.gpu.api import Api
from core.runtime.gpu.calls import KEEP, CallsDriver
from core.runtime.gpu.driver import Driver, Limits, Loaded

_thread: Final = threading.local()
"""`driver`: that of the GPU that is current for the thread."""
_NON_BLOCKING: Final = 1
"""hipStreamNonBlocking."""


_NAMES: Final = {
    "alloc": "hipMalloc",
    "alloc in order": "hipMallocAsync",
    "free": "hipFree",
    "free in order": "hipFreeAsync",
    "trim": "hipMemPoolTrimTo",
    "memory": "hipMemGetInfo",
    "upload": "hipMemcpyHtoDAsync",
    "download": "hipMemcpyDtoHAsync",
    "copy": "hipMemcpyDtoDAsync",
    "open peer": "hipDeviceEnablePeerAccess",
    "synchronize": "hipStreamSynchronize",
    "free event": "hipEventDestroy",
    "record": "hipEventRecord",
    "passed": "hipEventQuery",
    "wait for": "hipEventSynchronize",
    "hold": "hipStreamWaitEvent",
    "elapsed": "hipEventElapsedTime",
    "unload": "hipModuleUnload",
    "begin capture": "hipStreamBeginCapture",
    "end capture": "hipStreamEndCapture",
    "make graph": "hipGraphInstantiateWithFlags",
    "free capture": "hipGraphDestroy",
    "run graph": "hipGraphLaunch",
    "free graph": "hipGraphExecDestroy",
    "load": "hipModuleLoadData",
    "function": "hipModuleGetFunction",
    "blocks": "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
    "launch": "hipModuleLaunchKernel",
}
"""The API's functions."""


class HipDriver(CallsDriver):
    """The GPU of that number. Raises DriverError."""

    kind = "AMD"
    not_ready = "hipErrorNotReady"
    peers_already = "hipErrorPeerAccessAlreadyEnabled"
    no_extra = None
    names = _NAMES

    def __init__(self, api: Api, number: int) -> None:
        super().__init__(api)
        self.number = number
        self.enter()
        self.limits = self._limits()
        if self._attribute("MemoryPoolsSupported"):
            self.pool = api("hipDeviceGetDefaultMemPool", number)
            threshold = api.module.hipMemPoolAttr.hipMemPoolAttrReleaseThreshold
            api("hipMemPoolSetAttribute", self.pool, threshold, KEEP.to_bytes(8, "little"))

    def _attribute(self, name: str) -> int:
        attribute = getattr(self.api.module.hipDeviceAttribute_t, f"hipDeviceAttribute{name}")
        return int(self.api("hipDeviceGetAttribute", attribute, self.number))

    def _limits(self) -> Limits:
        properties = self.api("hipGetDeviceProperties", self.number)
        version = int(self.api("hipDriverGetVersion"))
        block = [self._attribute(f"MaxBlockDim{axis}") for axis in "XYZ"]
        grid = [self._attribute(f"MaxGridDim{axis}") for axis in "XYZ"]
        return Limits(
            title=_text(properties.name),
            arch=_text(properties.gcnArchName).partition(":")[0],  # gfx942:sramecc+:xnack-
            driver=f"HIP {version // 10_000_000}.{version // 100_000 % 100}",
            memory=int(properties.totalGlobalMem),
            processors=self._attribute("MultiprocessorCount"),
            warp=self._attribute("WarpSize"),
            threads=self._attribute("MaxThreadsPerBlock"),
            block=(block[0], block[1], block[2]),
            grid=(grid[0], grid[1], grid[2]),
            shared=self._attribute("MaxSharedMemoryPerBlock"),
        )

    def enter(self) -> None:
        if getattr(_thread, "driver", None) is not self:
            self.api("hipSetDevice", self.number)
            _thread.driver = self

    def copy_peer(self, target: int, other: Driver, source: int, nbytes: int, stream: Any) -> None:
        assert isinstance(other, HipDriver)
        reachable = self.api("hipDeviceCanAccessPeer", self.number, other.number)
        self.open_way(other, bool(int(reachable)), other.number)
        self.api("hipMemcpyPeerAsync", target, self.number, source, other.number, nbytes, stream)

    def new_stream(self) -> Any:
        return self.api("hipStreamCreateWithFlags", _NON_BLOCKING)

    def new_event(self) -> Any:
        return self.api("hipEventCreateWithFlags", 0)

    def load(self, code: str | bytes, name: str, block: int) -> Loaded:
        assert isinstance(code, bytes)  # a code object
        return self.loaded(code, name, block)

    def attribute_of(self, function: Any, name: str) -> int:
        kinds = self.api.module.hipFunction_attribute
        found = getattr(kinds, f"HIP_FUNC_ATTRIBUTE_{name}")
        return int(self.api("hipFuncGetAttribute", found, function))

    def capture_mode(self) -> Any:
        return self.api.module.hipStreamCaptureMode.hipStreamCaptureModeThreadLocal


def _text(found: Any) -> str:
    return found.split(b"\0", 1)[0].decode() if isinstance(found, bytes) else str(found)
