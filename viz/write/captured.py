"""Values that kernels read, and those of captured steps, on their way into a trace.

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
from viz.format.capturedsteps import CapturedStep, pack_steps
from viz.write.log import Block, Log, Taken

Arguments = Mapping[int, tuple[str, int, bytes]]
"""By the number of an argument its dtype, its number of elements, and its bytes."""


class CapturedValues:
    """Kernels and steps whose values were captured, and these values."""

    def __init__(self) -> None:
        self._new: Log[tuple[Captured | CapturedStep, tuple[bytes, ...]]] = Log()
        self._written = 0
        """Blocks of values in the file."""

    def add(self, kernel: Captured, arguments: Arguments) -> None:
        """A kernel without its arguments, and these. Raises TraceError where they take more than
        MAX_BYTES."""
        made = replace(kernel, arguments=_described(arguments))
        if made.bytes > MAX_BYTES:
            raise _too_large(f"kernel {kernel.name}", made.bytes, "kernel")
        self.add_packed(made, [pack_values(raw) for _, _, raw in arguments.values()])

    def add_step(self, step: CapturedStep, before: Arguments, after: Arguments) -> None:
        """A captured step without its memory, and that. Raises TraceError where it takes more than
        MAX_BYTES."""
        made = replace(step, before=_described(before), after=_described(after))
        if made.bytes > MAX_BYTES:
            raise _too_large(f"step {step.name}", made.bytes, "step")
        raw = (raw for some in (before, after) for _, _, raw in some.values())
        self.add_packed(made, [*map(pack_values, raw)])

    def add_packed(self, of: Captured | CapturedStep, packed: Sequence[bytes]) -> None:
        """A kernel or a step, and the values of each of its arguments, or of its memory before and
        after, as `pack_values` makes them."""
        self._new.add((of, tuple(packed)))

    def take(self) -> Taken:
        """Blocks of what is new."""
        told = self._new.items()
        values: list[Block] = []
        kernels: list[Captured] = []
        steps: list[CapturedStep] = []
        for of, packed in told:
            numbered: list[CapturedArgument] = []
            for argument, data in zip(of.all, packed, strict=True):
                number = self._written + len(values) + 1
                numbered.append(replace(argument, values=number))
                values.append(Block(schema.VALUES, number, argument.bytes, data))
            if isinstance(of, Captured):
                kernels.append(replace(of, arguments=tuple(numbered)))
            else:
                at = len(of.before)
                before, after = tuple(numbered[:at]), tuple(numbered[at:])
                steps.append(replace(of, before=before, after=after))
        made: list[Block] = []
        if kernels:
            made.append(Block(schema.CAPTURED, 0, len(kernels), pack_captured(kernels)))
        if steps:
            made.append(Block(schema.CAPTURED_STEPS, 0, len(steps), pack_steps(steps)))
        end, written = self._new.forgotten + len(told), self._written + len(values)

        def forget() -> None:
            self._written = written
            self._new.forget(end)

        return Taken([*values, *made], forget)


def _described(arguments: Arguments) -> tuple[CapturedArgument, ...]:
    return tuple(
        CapturedArgument(number, dtype, size, len(raw), 0)
        for number, (dtype, size, raw) in arguments.items()
    )


def _too_large(what: str, taken: int, of: str) -> TraceError:
    return TraceError(
        f"the values of {what} take {taken:,} bytes",
        hint=f"a trace takes {MAX_BYTES:,} of a {of}",
    )
