"""What a device is to the rest of the runtime: an allocator, and a loader of programs.

Implements no device.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Protocol

from core.errors import DeviceError, RunError
from core.runtime.allocator import Allocator
from core.runtime.buffer import Buffer
from core.target import Target
from core.toolchain.program import Program
from core.uop.uop import UOp


def values_of(kernel: str, names: Sequence[str], variables: Mapping[str, int]) -> list[int]:
    """The values of a kernel's variables, in order. Raises RunError for one without a value."""
    for name in names:
        if name not in variables:
            raise RunError(f"kernel {kernel} needs a value for {name}", hint="bind it")
    return [variables[name] for name in names]


class Runner(Protocol):
    """A loaded kernel."""

    def __call__(
        self, buffers: Sequence[Buffer], variables: Mapping[str, int], wait: bool = False
    ) -> float | None:
        """Runs the kernel. `buffers` is indexed by argument number; all are allocated. With `wait`,
        returns once it is done, with the seconds that it took."""
        ...


class Graph(Protocol):
    """Launches that were captured."""

    def __call__(self) -> None:
        """Asks for all of them."""
        ...

    def move(self, memory: Mapping[Buffer, Buffer], values: Mapping[str, int]) -> bool:
        """Whether it is for other memory from here on, in place of buffers that it was captured
        with, and parts of these, and for other values of variables; else it is of no use."""
        ...


class ComputeDevice(ABC):
    """A device by name. `target` is what its kernels are compiled for; None where it evaluates
    kernel ASTs itself."""

    graphs_move: ClassVar[bool] = False
    """Whether what is captured can be for other memory later on."""

    def __init__(self, name: str, target: Target | None, allocator: Allocator) -> None:
        self.name, self.target, self.allocator = name, target, allocator

    @property
    def written_for(self) -> Target:
        """The target that kernels written by hand are made for. Raises DeviceError where there is
        none."""
        if self.target is None:
            raise DeviceError(
                f"{self.name} runs no kernels written by hand",
                hint="move the inputs to another device with .to(device), such as CPU",
            )
        return self.target

    @abstractmethod
    def load(self, program: Program) -> Runner:
        """Makes a compiled kernel ready to run. Raises CompileError."""

    def load_ast(self, ast: UOp, name: str) -> Runner:
        """Makes a kernel AST ready to run. Raises DeviceError, but for devices without a target,
        which override this."""
        raise DeviceError(
            f"{self.name} runs compiled programs, no kernel ASTs",
            hint="compile it for the device's target, and load that program",
        )

    def synchronize(self) -> None:
        """Returns when everything asked for so far is done."""
        return

    def capture(self, commands: Callable[[], None]) -> Graph | None:
        """All that `commands` asks of the device, to be asked for again at once by each call of the
        result; it is not done now. None where the device cannot, and then nothing was asked for."""
        return None
