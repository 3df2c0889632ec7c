"""A GPU as a device of the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.errors import DriverError
from core.runtime.base import ComputeDevice, Graph
from core.runtime.buffer import Buffer
from core.runtime.gpu.allocator import GpuAllocator
from core.runtime.gpu.driver import Driver
from core.runtime.gpu.launch import GpuRunner
from core.runtime.gpu.queue import Queue
from core.target import Target
from core.toolchain.program import Program


class GpuDevice(ComputeDevice):
    """One GPU with one main stream. `code` gives what its driver loads of a program."""

    def __init__(
        self, name: str, target: Target, driver: Driver, code: Callable[[Program], str | bytes]
    ) -> None:
        self.queue = Queue(name, driver)
        self._code = code
        super().__init__(name, target, GpuAllocator(self.queue))

    def load(self, program: Program) -> GpuRunner:
        return GpuRunner(self.queue, program, self._code(program))

    def synchronize(self) -> None:
        """Returns when everything asked for so far is done. Raises DriverError for what went wrong
        since the last time."""
        self.queue.wait()

    def capture(self, commands: Callable[[], None]) -> Graph:
        """All that `commands` asks of the GPU, as one graph that is launched by each call. The
        memory that it uses must stay where it is."""
        driver, stream = self.queue.open(), self.queue.stream
        try:
            graph = driver.capture(stream, commands)
        except DriverError as error:
            raise self.queue.explained(error, "capturing a graph") from None
        return _Graph(self.queue, graph)


class _Graph:
    """A captured graph; given back to the driver with its last user."""

    def __init__(self, queue: Queue, graph: object) -> None:
        self._queue, self._graph = queue, graph

    def __call__(self) -> None:
        driver = self._queue.open()
        self._queue.launched("of a captured graph")
        try:
            driver.run_graph(self._graph, self._queue.stream)
        except DriverError as error:
            raise self._queue.explained(error, "launching a graph") from None

    def move(self, memory: Mapping[Buffer, Buffer], values: Mapping[str, int]) -> bool:
        """A graph is for the memory that it was captured with."""
        return False

    def __del__(self) -> None:
        self._queue.free(lambda driver: driver.free_graph(self._graph))
