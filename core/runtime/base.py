"""What a device is to the rest of the runtime: an allocator and a loader of programs.

Implements no device.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from core.target import Target
from core.toolchain.program import Program
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.runtime.buffer import Buffer


class Allocator(ABC):
    """Memory of one device, by opaque handles. Sizes and offsets are bytes."""

    @abstractmethod
    def alloc(self, nbytes: int) -> Any:
        """Uninitialised memory. Raises RunError where there is none left."""

    @abstractmethod
    def free(self, handle: Any, nbytes: int) -> None:
        """Gives memory back."""

    @abstractmethod
    def copyin(self, handle: Any, offset: int, data: memoryview) -> None:
        """Host bytes to the device."""

    @abstractmethod
    def copyout(self, data: memoryview, handle: Any, offset: int) -> None:
        """Device bytes to the host."""

    def host_view(self, handle: Any, offset: int, nbytes: int) -> memoryview | None:
        """The memory itself, where the host can see it."""
        return None

    def address(self, handle: Any) -> int:
        """Where the memory begins, as kernels see it."""
        return 0


class Runner(Protocol):
    """A loaded kernel."""

    def __call__(
        self, buffers: Sequence[Buffer], variables: Mapping[str, int], wait: bool = False
    ) -> float | None:
        """Runs the kernel. `buffers` is indexed by argument number; all are allocated. With `wait`,
        returns once it is done, with the seconds that it took."""
        ...


class ComputeDevice(ABC):
    """A device by name. `target` is what its kernels are compiled for; None where it evaluates
    kernel ASTs itself."""

    def __init__(self, name: str, target: Target | None, allocator: Allocator) -> None:
        self.name, self.target, self.allocator = name, target, allocator

    @abstractmethod
    def load(self, program: Program) -> Runner:
        """Makes a compiled kernel ready to run. Raises CompileError."""

    def load_ast(self, ast: UOp, name: str) -> Runner:
        """Makes a kernel AST ready to run; only devices without a target do."""
        raise NotImplementedError(f"{self.name} runs compiled programs")

    def synchronize(self) -> None:
        """Returns when everything asked for so far is done."""
        return
