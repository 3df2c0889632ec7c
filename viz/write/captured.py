"""Values that kernels read, on their way into a trace.

Compresses them; never reads memory of a device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.errors import TraceError
from viz.format import schema
from viz.format.captured import (
    MAX_BYTES,
    Captured,
    CapturedArgument,
    pack_captured,
    pack_values,
)
from viz.write.log import Block, Log, Taken

Arguments = Mapping[int, tuple[str, int, bytes]]
"""By the number of an argument its dtype, its number of elements, and its bytes."""


class CapturedValues:
    """Kernels whose values were captured, and these values."""

    def __init__(self) -> None:
        self._new: Log[tuple[Captured, tuple[bytes, ...]]] = Log()
        self._written = 0
        """Blocks of values in the file."""

    def add(self, kernel: Captured, arguments: Arguments) -> None:
        """A kernel without its arguments, and these. Raises TraceError where they take more than
        MAX_BYTES."""
        parts = [
            CapturedArgument(number, dtype, size, len(raw), 0)
            for number, (dtype, size, raw) in arguments.items()
        ]
        made = replace(kernel, arguments=tuple(parts))
        if made.bytes > MAX_BYTES:
            raise TraceError(
                f"the values of kernel {kernel.name} take {made.bytes:,} bytes",
                hint=f"a trace takes {MAX_BYTES:,} of a kernel",
            )
        self.add_packed(made, [pack_values(raw) for _, _, raw in arguments.values()])

    def add_packed(self, kernel: Captured, packed: Sequence[bytes]) -> None:
        """A kernel, and the values of each of its arguments as `pack_values` makes them."""
        self._new.add((kernel, tuple(packed)))

    def take(self) -> Taken:
        """Blocks of what is new."""
        told = self._new.items()
        values: list[Block] = []
        kernels: list[Captured] = []
        for kernel, packed in told:
            arguments: list[CapturedArgument] = []
            for argument, data in zip(kernel.arguments, packed, strict=True):
                number = self._written + len(values) + 1
                arguments.append(replace(argument, values=number))
                values.append(Block(schema.VALUES, number, argument.bytes, data))
            kernels.append(replace(kernel, arguments=tuple(arguments)))
        made = [Block(schema.CAPTURED, 0, len(told), pack_captured(kernels))] if told else []
        end, written = self._new.forgotten + len(told), self._written + len(values)

        def forget() -> None:
            self._written = written
            self._new.forget(end)

        return Taken([*values, *made], forget)
