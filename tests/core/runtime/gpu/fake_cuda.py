"""The functions of `cuda.bindings.driver` that the runtime calls, over memory of the host.

Streams do nothing before somebody waits, as a GPU may: what the runtime forgets to wait for is
missing. A "kernel" is a Python function, found by the name of the entry in the PTX. Faults, limits
and old drivers are set by attributes. Signatures and codes: NVIDIA, "CUDA Driver API".
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from types import SimpleNamespace
from typing import Any


class CUresult(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_PTX = 218
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_ILLEGAL_ADDRESS = 700
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704
    CUDA_ERROR_INVALID_CONTEXT = 201


OK = CUresult.CUDA_SUCCESS


class _Names:
    """An enumeration whose members are their own names."""

    def __getattr__(self, name: str) -> str:
        return name


class _Flags:
    CU_STREAM_NON_BLOCKING = 1
    CU_EVENT_DEFAULT = 0


@dataclass(eq=False)
class Event:
    passed: bool = False
    at: int = 0
    freed: bool = False


@dataclass(eq=False)
class Context:
    """One GPU: its blocks of memory by address."""

    number: int
    blocks: dict[int, bytearray] = field(default_factory=dict)
    peers: set[int] = field(default_factory=set)


@dataclass(eq=False)
class FakeStream:
    waiting: list[Callable[[], None]] = field(default_factory=list)
    captured: list[Callable[[], None]] | None = None
    running: bool = False


@dataclass(eq=False)
class Graph:
    commands: list[Callable[[], None]]
    freed: bool = False


Kernel = Callable[["FakeCuda", list[int]], None]
ATTRIBUTES = {
    "COMPUTE_CAPABILITY_MAJOR": 9, "COMPUTE_CAPABILITY_MINOR": 0, "MEMORY_POOLS_SUPPORTED": 1,
    "MAX_BLOCK_DIM_X": 1024, "MAX_BLOCK_DIM_Y": 1024, "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": 2147483647, "MAX_GRID_DIM_Y": 65535, "MAX_GRID_DIM_Z": 65535,
    "MAX_THREADS_PER_BLOCK": 1024, "MAX_SHARED_MEMORY_PER_BLOCK": 49152, "WARP_SIZE": 32,
    "MULTIPROCESSOR_COUNT": 132,
}  # fmt: skip


class FakeCuda:
    """A driver with `gpus` GPUs of `memory` bytes each."""

    CUdevice_attribute = _Names()
    CUfunction_attribute = _Names()
    CUjit_option = _Names()
    CUjitInputType = _Names()
    CUmemPool_attribute = _Names()
    CUstreamCaptureMode = _Names()
    CUstream_flags = _Flags
    CUevent_flags = _Flags

    def __init__(self, gpus: int = 1, memory: int = 1 << 24) -> None:
        self.gpus, self.memory = gpus, memory
        self.attributes = dict(ATTRIBUTES)
        self.contexts = [Context(n) for n in range(gpus)]
        self.current: Context | None = None
        self.kernels: dict[str, Kernel] = {}
        self.log: list[str] = []
        self.fault: CUresult | None = None
        self.link_log = ""
        self.links = 0
        self.clock = 0
        self.streams: list[FakeStream] = []
        self.events: list[Event] = []
        self.graphs: list[Graph] = []
        self.initialised: CUresult = OK
        self.resources = {
            "NUM_REGS": 32, "SHARED_SIZE_BYTES": 0, "LOCAL_SIZE_BYTES": 0,
            "MAX_THREADS_PER_BLOCK": 1024,
        }  # fmt: skip
        self._next = 0x7F0000000000

    # errors

    def cuGetErrorName(self, code: CUresult) -> tuple[CUresult, bytes]:
        return OK, CUresult(code).name.encode()

    def cuGetErrorString(self, code: CUresult) -> tuple[CUresult, bytes]:
        return OK, CUresult(code).name.removeprefix("CUDA_ERROR_").lower().encode()

    # devices

    def cuInit(self, flags: int) -> tuple[CUresult]:
        return (self.initialised,)

    def cuDriverGetVersion(self) -> tuple[CUresult, int]:
        return OK, 12080

    def cuDeviceGetCount(self) -> tuple[CUresult, int]:
        return OK, self.gpus

    def cuDeviceGet(self, number: int) -> tuple[CUresult, int]:
        return OK, number

    def cuDeviceGetName(self, length: int, device: int) -> tuple[CUresult, bytes]:
        return OK, b"Fake GPU".ljust(length, b"\0")

    def cuDeviceTotalMem(self, device: int) -> tuple[CUresult, int]:
        return OK, self.memory

    def cuDeviceGetAttribute(self, attribute: str, device: int) -> tuple[CUresult, int]:
        return OK, self.attributes[attribute.removeprefix("CU_DEVICE_ATTRIBUTE_")]

    def cuDevicePrimaryCtxRetain(self, device: int) -> tuple[CUresult, Context]:
        return OK, self.contexts[device]

    def cuCtxSetCurrent(self, context: Context) -> tuple[CUresult]:
        self.current = context
        return (OK,)

    # memory

    def cuDeviceGetDefaultMemPool(self, device: int) -> tuple[CUresult, str]:
        return OK, "pool"

    def cuMemPoolSetAttribute(self, pool: str, attribute: str, value: Any) -> tuple[CUresult]:
        return (OK,)

    def cuuint64_t(self, value: int) -> int:
        return value

    def cuMemPoolTrimTo(self, pool: str, keep: int) -> tuple[CUresult]:
        self.log.append("trim")
        return (OK,)

    def cuMemGetInfo(self) -> tuple[CUresult, int, int]:
        assert self.current is not None
        taken = sum(map(len, self.current.blocks.values()))
        return OK, self.memory - taken, self.memory

    def cuMemAlloc(self, nbytes: int) -> tuple[CUresult, int]:
        assert self.current is not None
        taken = sum(map(len, self.current.blocks.values()))
        if taken + nbytes > self.memory:
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY, 0
        address = self._next
        self._next += (nbytes + 1023) // 512 * 512
        self.current.blocks[address] = bytearray(b"\xcd" * nbytes)
        return OK, address

    def cuMemAllocAsync(self, nbytes: int, stream: FakeStream) -> tuple[CUresult, int]:
        return self.cuMemAlloc(nbytes)

    def cuMemFree(self, address: int) -> tuple[CUresult]:
        assert self.current is not None
        del self.current.blocks[address]
        return (OK,)

    def cuMemFreeAsync(self, address: int, stream: FakeStream) -> tuple[CUresult]:
        context = self.current
        assert context is not None

        def free() -> None:
            del context.blocks[address]

        return self._later(stream, free)

    def bytes_at(self, address: int, nbytes: int) -> memoryview:
        """Memory of any of the GPUs."""
        for context in self.contexts:
            for base, block in context.blocks.items():
                if base <= address and address + nbytes <= base + len(block):
                    return memoryview(block)[address - base : address - base + nbytes]
        raise FaultError(CUresult.CUDA_ERROR_ILLEGAL_ADDRESS)

    def cuMemcpyHtoDAsync(
        self, target: int, host: int, nbytes: int, stream: FakeStream
    ) -> tuple[CUresult]:
        data = ctypes.string_at(host, nbytes)  # read now, as from pageable memory

        def copy() -> None:
            self.bytes_at(target, nbytes)[:] = data

        return self._later(stream, copy)

    def cuMemcpyDtoHAsync(
        self, host: int, source: int, nbytes: int, stream: FakeStream
    ) -> tuple[CUresult]:
        def copy() -> None:
            ctypes.memmove(host, bytes(self.bytes_at(source, nbytes)), nbytes)

        return self._later(stream, copy)

    def cuMemcpyDtoDAsync(
        self, target: int, source: int, nbytes: int, stream: FakeStream
    ) -> tuple[CUresult]:
        def copy() -> None:
            self.bytes_at(target, nbytes)[:] = bytes(self.bytes_at(source, nbytes))

        return self._later(stream, copy)

    def cuMemcpyPeerAsync(
        self, target: int, to: Context, source: int, at: Context, nbytes: int, stream: FakeStream
    ) -> tuple[CUresult]:
        self.log.append(f"peer {at.number} -> {to.number}")
        return self.cuMemcpyDtoDAsync(target, source, nbytes, stream)

    def cuDeviceCanAccessPeer(self, device: int, peer: int) -> tuple[CUresult, int]:
        return OK, 1

    def cuCtxEnablePeerAccess(self, peer: Context, flags: int) -> tuple[CUresult]:
        assert self.current is not None
        if peer.number in self.current.peers:
            return (CUresult.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,)
        self.current.peers.add(peer.number)
        return (OK,)

    # streams and events

    def cuStreamCreate(self, flags: int) -> tuple[CUresult, FakeStream]:
        self.streams.append(FakeStream())
        return OK, self.streams[-1]

    def _later(self, stream: FakeStream, command: Callable[[], None]) -> tuple[CUresult]:
        if stream.captured is not None:
            stream.captured.append(command)
        else:
            stream.waiting.append(command)
        return (OK,)

    def run(self, stream: FakeStream, until: Event | None = None) -> CUresult:
        """What a stream was asked for, in order; up to an event."""
        if stream.running:  # it waits for another itself
            return OK
        stream.running = True
        while stream.waiting and not (until is not None and until.passed):
            command = stream.waiting.pop(0)
            try:
                command()
            except FaultError as fault:
                self.fault = fault.code
                stream.waiting.clear()
        stream.running = False
        return self.fault or OK

    def cuStreamSynchronize(self, stream: FakeStream) -> tuple[CUresult]:
        return (self.run(stream),)

    def cuEventCreate(self, flags: int) -> tuple[CUresult, Event]:
        self.events.append(Event())
        return OK, self.events[-1]

    def cuEventDestroy(self, event: Event) -> tuple[CUresult]:
        event.freed = True
        return (OK,)

    def cuEventRecord(self, event: Event, stream: FakeStream) -> tuple[CUresult]:
        event.passed = False

        def passed() -> None:
            event.passed = True
            self.clock += 1
            event.at = self.clock

        return self._later(stream, passed)

    def _reach(self, event: Event) -> CUresult:
        for stream in self.streams:
            if not event.passed:
                self.run(stream, event)
        return self.fault or OK

    def cuEventQuery(self, event: Event) -> tuple[CUresult]:
        return (OK if event.passed else CUresult.CUDA_ERROR_NOT_READY,)

    def cuEventSynchronize(self, event: Event) -> tuple[CUresult]:
        return (self._reach(event),)

    def cuStreamWaitEvent(self, stream: FakeStream, event: Event, flags: int) -> tuple[CUresult]:
        return self._later(stream, lambda: void(self._reach(event)))

    def cuEventElapsedTime(self, begin: Event, end: Event) -> tuple[CUresult, float]:
        return OK, float(end.at - begin.at)

    # kernels

    def cuLinkCreate(
        self, count: int, options: list[str], values: list[Any]
    ) -> tuple[CUresult, Any]:
        return OK, SimpleNamespace(options=dict(zip(options, values, strict=True)), text=b"")

    def cuLinkAddData(
        self, state: Any, kind: str, text: bytes, size: int, name: bytes, n: int, o: Any, v: Any
    ) -> tuple[CUresult]:
        self.links += 1
        if self.link_log:
            log = state.options["CU_JIT_ERROR_LOG_BUFFER"]
            log[: len(self.link_log)] = self.link_log.encode()
            return (CUresult.CUDA_ERROR_INVALID_PTX,)
        state.text = ctypes.create_string_buffer(b"CUBIN" + text.rstrip(b"\0"))
        return (OK,)

    def cuLinkComplete(self, state: Any) -> tuple[CUresult, int, int]:
        return OK, ctypes.addressof(state.text), len(state.text) - 1

    def cuLinkDestroy(self, state: Any) -> tuple[CUresult]:
        return (OK,)

    def cuModuleLoadData(self, code: bytes) -> tuple[CUresult, str]:
        assert code.startswith(b"CUBIN")
        return OK, code.removeprefix(b"CUBIN").decode()

    def cuModuleUnload(self, module: str) -> tuple[CUresult]:
        self.log.append("unload")
        return (OK,)

    def cuModuleGetFunction(self, module: str, name: bytes) -> tuple[CUresult, Any]:
        found = re.search(rf"\.entry {name.decode()}\((.*?)\)", module, re.DOTALL)
        assert found is not None
        kinds = re.findall(r"\.param \.[usb](\d+)", found[1])
        return OK, SimpleNamespace(name=name.decode(), text=module, bits=[int(k) for k in kinds])

    def cuFuncGetAttribute(self, attribute: str, function: Any) -> tuple[CUresult, int]:
        return OK, self.resources[attribute.removeprefix("CU_FUNC_ATTRIBUTE_")]

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(
        self, function: Any, block: int, dynamic: int
    ) -> tuple[CUresult, int]:
        return OK, 2048 // block

    def cuLaunchKernel(self, function: Any, *rest: Any) -> tuple[CUresult]:
        grid, block, (_, stream, parameters, _extra) = rest[:3], rest[3:6], rest[6:]
        pointers = (ctypes.c_void_p * len(function.bits)).from_address(parameters)
        kinds = {32: ctypes.c_int32, 64: ctypes.c_int64}
        values = [
            kinds[bits].from_address(int(at or 0)).value
            for bits, at in zip(function.bits, pointers, strict=True)
        ]
        self.log.append(f"launch {function.name} {grid} {block}")
        return self._later(stream, lambda: self.kernels[function.name](self, values))

    # graphs

    def cuStreamBeginCapture(self, stream: FakeStream, mode: str) -> tuple[CUresult]:
        stream.captured = []
        return (OK,)

    def cuStreamEndCapture(self, stream: FakeStream) -> tuple[CUresult, Graph]:
        graph = Graph(stream.captured or [])
        stream.captured = None
        return OK, graph

    def cuGraphInstantiate(self, graph: Graph, flags: int) -> tuple[CUresult, Graph]:
        self.graphs.append(Graph(list(graph.commands)))
        return OK, self.graphs[-1]

    def cuGraphDestroy(self, graph: Graph) -> tuple[CUresult]:
        graph.freed = True
        return (OK,)

    def cuGraphLaunch(self, graph: Graph, stream: FakeStream) -> tuple[CUresult]:
        self.log.append("graph")
        stream.waiting.extend(graph.commands)
        return (OK,)

    def cuGraphExecDestroy(self, graph: Graph) -> tuple[CUresult]:
        graph.freed = True
        return (OK,)


class FaultError(Exception):
    """What a kernel does wrong."""

    def __init__(self, code: CUresult) -> None:
        super().__init__(code.name)
        self.code = code


def void(_: object) -> None:
    """For commands whose result nobody wants."""
