"""A device that computes nothing: schedules and compiles at any size, without memory.

Reading from it gives zeros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.runtime.allocator import Allocator
from core.runtime.base import ComputeDevice
from core.runtime.buffer import Buffer
from core.toolchain.processor import host_target
from core.toolchain.program import Program


class NullAllocator(Allocator):
    """Hands out nothing."""

    def alloc(self, nbytes: int) -> int:
        return nbytes

    def free(self, handle: Any, nbytes: int) -> None:
        return

    def copyin(self, handle: Any, offset: int, data: memoryview) -> None:
        return

    def copyout(self, data: memoryview, handle: Any, offset: int) -> None:
        data.cast("B")[:] = bytes(data.nbytes)


class NullRunner:
    """A kernel that takes no time."""

    def __call__(
        self, buffers: Sequence[Buffer], variables: Mapping[str, int], wait: bool = False
    ) -> float | None:
        """Does nothing."""
        return 0.0


class NullDevice(ComputeDevice):
    """Compiles for the CPU, runs nothing."""

    def __init__(self, name: str) -> None:
        super().__init__(name, host_target(), NullAllocator())

    def load(self, program: Program) -> NullRunner:
        return NullRunner()
