"""What the GPU runtime asks of a vendor's driver, for one GPU that it has opened.

Handles (streams, events, modules, functions, graphs) are opaque. Addresses are integers. Every
method raises DriverError with the driver's own words where the driver refuses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class Limits:
    """What one GPU is and allows. Sizes are bytes; `shared` is what one block may take, `threads`
    what one block may have in all, `block` and `grid` along each axis."""

    title: str
    arch: str
    driver: str
    memory: int
    processors: int
    warp: int
    threads: int
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    shared: int


@dataclass(frozen=True)
class Resources:
    """What the loaded code of a kernel takes: registers of a thread, bytes of shared memory of a
    block, bytes of memory of its own of a thread (spilled registers and arrays); the most threads a
    block of it may have, and how many blocks of its size one processor holds at once."""

    registers: int
    shared: int
    local: int
    threads: int
    blocks: int


@dataclass(frozen=True)
class Loaded:
    """A kernel on the GPU; the module must live as long as the function is used."""

    module: Any
    function: Any
    resources: Resources


class Driver(ABC):
    """One GPU through its vendor's driver."""

    kind: str
    """The kind of device that it serves, as in the registry: "CUDA"."""
    limits: Limits

    @abstractmethod
    def enter(self) -> None:
        """Makes the GPU current for this thread. Everything else needs that."""

    @abstractmethod
    def alloc(self, nbytes: int, stream: Any) -> int:
        """Memory that may be used by what comes later in `stream`; its address."""

    @abstractmethod
    def free(self, address: int, stream: Any) -> None:
        """Gives memory back once all that came before in `stream` is done."""

    @abstractmethod
    def trim(self) -> None:
        """Gives freed memory that the driver keeps back to the system."""

    @abstractmethod
    def memory(self) -> tuple[int, int]:
        """(free, all) bytes of the GPU now."""

    @abstractmethod
    def upload(self, target: int, host: int, nbytes: int, stream: Any) -> None:
        """Host memory to the GPU. The host's bytes have been read when it returns, unless they are
        pinned."""

    @abstractmethod
    def download(self, host: int, source: int, nbytes: int, stream: Any) -> None:
        """The GPU's memory to the host; there when the stream has come so far."""

    @abstractmethod
    def copy(self, target: int, source: int, nbytes: int, stream: Any) -> None:
        """Within the GPU."""

    @abstractmethod
    def reaches(self, other: Driver) -> bool:
        """Whether `copy_peer` from `other`'s GPU works. Opens the way where it is closed."""

    @abstractmethod
    def copy_peer(self, target: int, other: Driver, source: int, nbytes: int, stream: Any) -> None:
        """From another GPU's memory, without the host."""

    @abstractmethod
    def new_stream(self) -> Any:
        """A stream that waits for no other."""

    @abstractmethod
    def synchronize(self, stream: Any) -> None:
        """Returns when all of a stream is done."""

    @abstractmethod
    def new_event(self) -> Any:
        """An event that takes the time."""

    @abstractmethod
    def free_event(self, event: Any) -> None:
        """Gives an event back."""

    @abstractmethod
    def record(self, event: Any, stream: Any) -> None:
        """Puts `event` at the end of a stream."""

    @abstractmethod
    def passed(self, event: Any) -> bool:
        """Whether its stream has come to it."""

    @abstractmethod
    def wait_for(self, event: Any) -> None:
        """Returns when its stream has come to it."""

    @abstractmethod
    def hold(self, stream: Any, event: Any) -> None:
        """What comes later in `stream` begins after `event`."""

    @abstractmethod
    def elapsed(self, begin: Any, end: Any) -> float:
        """Seconds between two events that have passed."""

    @abstractmethod
    def load(self, code: str | bytes, name: str, block: int) -> Loaded:
        """The kernel `name` of a text or of machine code, for blocks of `block` threads. Raises
        CompileError with the compiler's log where it rejects the text."""

    @abstractmethod
    def unload(self, module: Any) -> None:
        """Gives a module back."""

    @abstractmethod
    def launch(
        self,
        function: Any,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        stream: Any,
        parameters: int,
    ) -> None:
        """Starts a kernel; `parameters` is the address of an array of pointers to the values of its
        parameters, which have been read when it returns."""

    @abstractmethod
    def capture(self, stream: Any, commands: Callable[[], None]) -> Any:
        """A graph of all that `commands` asks of a stream, which is not done now."""

    @abstractmethod
    def run_graph(self, graph: Any, stream: Any) -> None:
        """Asks for all of a graph again."""

    @abstractmethod
    def free_graph(self, graph: Any) -> None:
        """Gives a graph back."""


FULL: Final = "full"
"""The `code` of a DriverError that means: no memory left; the same for all drivers."""
