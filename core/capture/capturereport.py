"""What `TinyJit` captured, as a text for those who watch: memory, then kernels in order, and which
argument of each is which memory. A page repeats the step on another GPU from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final, cast

from core.capture.captured import Replay
from core.capture.stepmemory import memory_of
from core.kernelname import kernel_name
from core.passes.schedule import ScheduleItem
from core.passes.schedule.memoryplan import whole_of
from core.uop.ops import Ops
from core.uop.uop import UOp

Report = tuple[str, tuple[tuple[UOp, ...], ...]]
"""A text, and the nodes behind each of its lines."""
KIND: Final = "captured"
"""The kind of the text."""
NUMBER: Final = "capture"
"""The name of the fact of it that is the number of the capture in its process."""


def captured_report(replay: Replay) -> Report:
    """A line for each BUFFER, then one for each step. Behind the line of a kernel is its AST first,
    then the memory of its arguments."""
    memory = memory_of(replay)
    buffers = memory.buffers
    number = {buffer: k for k, buffer in enumerate(buffers)}
    place = {buffer: k for k, buffer in enumerate(replay.inputs)}
    taken = sum(b.size * b.dtype.itemsize for b in buffers)
    lines = [f"{len(replay.steps)} steps on {len(buffers)} buffers of {taken:,} bytes"]
    behind: list[tuple[UOp, ...]] = [()]
    for buffer in buffers:
        role = f"input {place[buffer]}" if buffer in place else "kept"
        if role == "kept" and buffer in replay.written:
            changed = number[buffer] in memory.begins
            role = "changed in this step" if changed else "made in this step"
        where = buffer.device if isinstance(buffer.device, str) else " ".join(buffer.device or ())
        lines.append(f"b{number[buffer]} = {buffer.dtype}[{buffer.size}] {where}  ; {role}")
        behind.append((buffer,))
    for k, step in enumerate(replay.steps):
        if not isinstance(step, ScheduleItem):
            drawn = [a for a in _arguments(step) if isinstance(a, UOp)]
            lines.append(f"step {k} = random numbers drawn")
            behind.append(tuple(drawn))
            continue
        what = "copy" if step.ast.op is Ops.COPY else f"kernel {kernel_name(step.ast)}"
        arguments = ", ".join(_argument(b, number) for b in step.bufs)
        values = "".join(f"  {name}={value}" for name, value in sorted(step.variables.items()))
        lines.append(f"step {k} = {what}({arguments}){values}")
        behind.append((step.ast, *step.bufs))
    return "\n".join(lines) + "\n", tuple(behind)


def _arguments(step: object) -> tuple[Any, ...]:
    return step.args if isinstance(step, partial) else ()


def _argument(buffer: UOp, number: Mapping[UOp, int]) -> str:
    """`b3`, or `b3[128:192]` for a part of it, in elements of the argument's dtype."""
    if buffer.op is not Ops.BUFFER_VIEW:
        return f"b{number[buffer]}"
    size, offset = cast("tuple[int, int]", buffer.arg)
    return f"b{number[whole_of(buffer)]}[{offset}:{offset + size}]"
