"""WEBGPU, WEBGPU:1, ...: GPUs as devices of the registry, by way of `wgpu`."""

from __future__ import annotations

from dataclasses import replace

from core.runtime.base import ComputeDevice
from core.runtime.webgpu.adapter import opened
from core.runtime.webgpu.allocator import WebGpuAllocator
from core.runtime.webgpu.launch import WebGpuRunner
from core.runtime.webgpu.queue import Queue
from core.target import targets
from core.toolchain.program import Program


class WebGpuDevice(ComputeDevice):
    """One logical device. Its kernels have as many buffers of their own as the adapter allows, and
    textures for images; other limits are those that every adapter has, so that opts found here fit
    elsewhere. Raises DeviceError where the package or an adapter is missing."""

    allocator: WebGpuAllocator

    def __init__(self, name: str) -> None:
        made = opened(name, int(name.partition(":")[2] or 0))
        self.queue = Queue(name, made)
        target = replace(targets["webgpu"], **made.limits)
        super().__init__(name, target, WebGpuAllocator(self.queue))

    def load(self, program: Program) -> WebGpuRunner:
        return WebGpuRunner(self.queue, self.allocator, program)

    def synchronize(self) -> None:
        """Returns when everything asked for so far is done. Raises DriverError for what went wrong
        since the last time."""
        self.queue.wait()
