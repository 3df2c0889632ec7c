"""OPENCL, OPENCL:1, ...: devices of OpenCL as devices of the registry, by way of `pyopencl`."""

from __future__ import annotations

from core.runtime.base import ComputeDevice
from core.runtime.opencl.allocator import OpenClAllocator
from core.runtime.opencl.launch import OpenClRunner
from core.runtime.opencl.platform import opened
from core.runtime.opencl.queue import Queue
from core.toolchain.program import Program


class OpenClDevice(ComputeDevice):
    """One device. Raises DeviceError where the package or a device is missing."""

    allocator: OpenClAllocator

    def __init__(self, name: str) -> None:
        self.queue = Queue(name, opened(name, int(name.partition(":")[2] or 0)))
        super().__init__(name, self.queue.opened.target, OpenClAllocator(self.queue))

    def load(self, program: Program) -> OpenClRunner:
        return OpenClRunner(self.queue, self.allocator, program)

    def synchronize(self) -> None:
        """Returns when everything asked for so far is done. Raises DriverError for what went wrong
        since the last time."""
        self.queue.wait()
