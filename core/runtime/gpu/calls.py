"""A driver whose API has one function for nearly every method: CUDA's and HIP's do, by other names.

Source of the functions: NVIDIA, "CUDA Driver API"; AMD, "HIP Runtime API".
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, ClassVar, Final

from core.errors import DriverError
from core.runtime.gpu.api import Api
from core.runtime.gpu.driver import Driver, Loaded, Resources

KEEP: Final = (1 << 64) - 1
"""Bytes that a driver's pool of memory keeps: everything, until `trim`."""


class CallsDriver(Driver):
    """`names` has the API's function for each of the names used here; `api` calls it. `pool` is the
    GPU's pool of memory, None where the driver has none. `no_extra`: the last argument of a
    launch."""

    names: ClassVar[Mapping[str, str]]
    not_ready: ClassVar[str]
    peers_already: ClassVar[str]
    no_extra: ClassVar[Any]

    def __init__(self, api: Api) -> None:
        self.api = api
        self.pool: Any = None
        self._opened_to: set[int] = set()

    def call(self, what: str, *arguments: Any) -> Any:
        """The results of a function. Raises DriverError."""
        return self.api(self.names[what], *arguments)

    def alloc(self, nbytes: int, stream: Any) -> int:
        if self.pool is None:
            return int(self.call("alloc", nbytes))
        return int(self.call("alloc in order", nbytes, stream))

    def free(self, address: int, stream: Any) -> None:
        if self.pool is None:
            self.call("free", address)
        else:
            self.call("free in order", address, stream)

    def trim(self) -> None:
        if self.pool is not None:
            self.call("trim", self.pool, 0)

    def memory(self) -> tuple[int, int]:
        free, total = self.call("memory")
        return int(free), int(total)

    def upload(self, target: int, host: int, nbytes: int, stream: Any) -> None:
        self.call("upload", target, host, nbytes, stream)

    def download(self, host: int, source: int, nbytes: int, stream: Any) -> None:
        self.call("download", host, source, nbytes, stream)

    def copy(self, target: int, source: int, nbytes: int, stream: Any) -> None:
        self.call("copy", target, source, nbytes, stream)

    def reaches(self, other: Driver) -> bool:
        return type(other) is type(self)  # the driver goes through the host where it must

    def open_way(self, other: CallsDriver, reachable: bool, peer: Any) -> None:
        """Lets this GPU read another's memory itself, where the machine can (`reachable`)."""
        if id(other) in self._opened_to:
            return
        self._opened_to.add(id(other))
        if reachable:
            try:
                self.call("open peer", peer, 0)
            except DriverError as error:
                if error.code != self.peers_already:
                    raise

    def synchronize(self, stream: Any) -> None:
        self.call("synchronize", stream)

    def free_event(self, event: Any) -> None:
        self.call("free event", event)

    def record(self, event: Any, stream: Any) -> None:
        self.call("record", event, stream)

    def passed(self, event: Any) -> bool:
        try:
            self.call("passed", event)
        except DriverError as error:
            if error.code == self.not_ready:
                return False
            raise
        return True

    def wait_for(self, event: Any) -> None:
        self.call("wait for", event)

    def hold(self, stream: Any, event: Any) -> None:
        self.call("hold", stream, event, 0)

    def elapsed(self, begin: Any, end: Any) -> float:
        return float(self.call("elapsed", begin, end)) / 1e3  # from ms

    def unload(self, module: Any) -> None:
        self.call("unload", module)

    def capture(self, stream: Any, commands: Callable[[], None]) -> Any:
        self.call("begin capture", stream, self.capture_mode())
        try:
            commands()
        except BaseException:  # the stream must leave this mode whatever happened
            with suppress(DriverError):  # what happened first is what is told
                self.call("free capture", self.call("end capture", stream))
            raise
        graph = self.call("end capture", stream)
        try:
            return self.call("make graph", graph, 0)
        finally:
            self.call("free capture", graph)

    @abstractmethod
    def capture_mode(self) -> Any:
        """In which calls of other threads do not disturb the capture."""

    @abstractmethod
    def attribute_of(self, function: Any, name: str) -> int:
        """What the loaded code of a kernel takes: NUM_REGS, SHARED_SIZE_BYTES and so on."""

    def loaded(self, code: bytes, name: str, block: int) -> Loaded:
        """The kernel `name` of machine code, for blocks of `block` threads."""
        module = self.call("load", code)
        function = self.call("function", module, name.encode())
        threads = self.attribute_of(function, "MAX_THREADS_PER_BLOCK")
        needs = Resources(
            registers=self.attribute_of(function, "NUM_REGS"),
            shared=self.attribute_of(function, "SHARED_SIZE_BYTES"),
            local=self.attribute_of(function, "LOCAL_SIZE_BYTES"),
            threads=threads,
            blocks=int(self.call("blocks", function, block, 0)) if block <= threads else 0,
        )
        return Loaded(module, function, needs)

    def launch(
        self,
        function: Any,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        stream: Any,
        parameters: int,
    ) -> None:
        self.call("launch", function, *grid, *block, 0, stream, parameters, self.no_extra)

    def run_graph(self, graph: Any, stream: Any) -> None:
        self.call("run graph", graph, stream)

    def free_graph(self, graph: Any) -> None:
        self.call("free graph", graph)
