"""What has run in this process: launches, operations, bytes and seconds, counted together."""

from __future__ import annotations

from typing import ClassVar

from core.runtime.allocators import allocated_everywhere


class _Meta(type):
    @property
    def mem_used(cls) -> int:
        """Bytes of memory that are taken now, on all devices together."""
        return allocated_everywhere()


class GlobalCounters(metaclass=_Meta):
    """Counts since the process started, or since `reset()`. Threads that launch at the same time
    may lose a launch."""

    kernel_count: ClassVar[int] = 0
    """Kernels that were launched; copies do not count."""
    global_ops: ClassVar[int] = 0
    """Arithmetic operations of these, as their programs estimate them."""
    global_mem: ClassVar[int] = 0
    """Bytes that these read and write, as their programs estimate them."""
    time_sum_s: ClassVar[float] = 0.0
    """Seconds of the launches that were waited for: all with DEBUG, or while an observer is
    attached."""

    @classmethod
    def reset(cls) -> None:
        """Sets all to 0, but for the memory that is taken."""
        cls.kernel_count = cls.global_ops = cls.global_mem = 0
        cls.time_sum_s = 0.0

    @classmethod
    def launched(cls, kernels: int, ops: int, nbytes: int) -> None:
        """Counts launches."""
        cls.kernel_count += kernels
        cls.global_ops += ops
        cls.global_mem += nbytes
