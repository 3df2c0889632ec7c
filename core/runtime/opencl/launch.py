"""A kernel loaded on an OpenCL device.

Memory that is no buffer of its own, because it does not begin at a multiple that the device asks
for or lies in the memory of another argument, is copied to a buffer of its own for the launch. So
is an image that a kernel has as plain memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from core.dtype import ImageDType
from core.errors import CompileError
from core.render.opencl import PREFIX
from core.runtime.allocator import Place
from core.runtime.base import values_of
from core.runtime.buffer import Buffer
from core.runtime.opencl.allocator import Handle, OpenClAllocator
from core.runtime.opencl.platform import package
from core.runtime.opencl.queue import Queue
from core.toolchain.program import Program


class OpenClRunner:
    """A kernel. Raises CompileError, with the line, where the text is rejected."""

    def __init__(self, queue: Queue, allocator: OpenClAllocator, program: Program) -> None:
        cl, opened = package(), queue.opened
        self._queue, self._allocator, self._program = queue, allocator, program
        self._multiple = max(1, opened.device.mem_base_addr_align // 8)
        self._names = tuple(v.arg[0] for v in program.variables)
        self._types = tuple(np.dtype(v.dtype.name).type for v in program.variables)
        with queue.lock:
            try:
                # drivers keep what they compiled on disk
                made = cl.Program(opened.context, program.source.text).build(
                    options=[*opened.options], devices=[opened.device], cache_dir=False
                )
            except cl.Error as error:
                raise rejected(program, str(error)) from error
            with queue.doing(f"loading kernel {program.name}"):
                self._kernel = cl.Kernel(made, PREFIX + program.name)

    def __call__(
        self, buffers: Sequence[Buffer], variables: Mapping[str, int], wait: bool = False
    ) -> float | None:
        """Asks for one launch; with `wait`, returns when it is done, with its seconds by the
        device's own clock. Raises RunError for a variable without a value, and DriverError for
        what goes wrong."""
        groups = self._program.groups(variables)
        if not all(groups):
            return 0.0 if wait else None
        values = values_of(self._program.name, self._names, variables)
        with self._queue.doing(f"launching kernel {self._program.name}"):
            given, temporary = self._memory(buffers)
            numbers = [to(value) for to, value in zip(self._types, values, strict=True)]
            for at, argument in enumerate((*given, *numbers)):
                self._kernel.set_arg(at, argument)
            event = self._queue.launch(self._kernel, groups, self._program.local_size)
            for own, buffer, written in temporary:
                if written:
                    place = Place(self._allocator, buffer.handle, buffer.offset)
                    self._allocator.copy(place, Place(self._allocator, own), buffer.nbytes)
                self._allocator.free(own, own.nbytes)
            if not wait:
                return None
            event.wait()
            return float(event.profile.end - event.profile.start) * 1e-9

    def _memory(
        self, buffers: Sequence[Buffer]
    ) -> tuple[list[Any], list[tuple[Handle, Buffer, bool]]]:
        """What each argument is given, and memory that is freed after the launch: for which
        argument it is, and whether it is copied back."""
        given: list[Any] = []
        temporary: list[tuple[Handle, Buffer, bool]] = []
        used: dict[int, list[tuple[int, int]]] = {}
        for argument in self._program.arguments:
            buffer = buffers[argument.number]
            handle: Handle = buffer.handle
            end = buffer.offset + buffer.nbytes
            taken = used.setdefault(id(handle), [])
            apart = all(end <= low or high <= buffer.offset for low, high in taken)
            kept = isinstance(argument.dtype, ImageDType) or handle.image is None
            if buffer.offset % self._multiple == 0 and apart and kept:
                taken.append((buffer.offset, end))
                given.append(handle.part(buffer.offset, max(1, buffer.nbytes)))
                continue
            own = self._allocator.alloc(buffer.nbytes)
            source = Place(self._allocator, handle, buffer.offset)
            self._allocator.copy(Place(self._allocator, own), source, buffer.nbytes)
            temporary.append((own, buffer, argument.written))
            given.append(own.buffer)
        return given, temporary


_PLACE: Final = re.compile(r"error:\s*\S+:(\d+):\d+:\s*(.*)|:(\d+):\d+:\s*(?:fatal )?error:\s*(.*)")
"""What PoCL writes, "error: k.cl:3:5: ...", and what clang does, "<kernel>:3:5: error: ..."."""
_SHOWN: Final = 300


def rejected(program: Program, said: str) -> CompileError:
    """What a driver's compiler has against the text of a kernel, and the line."""
    found = _PLACE.search(said)
    if found is None:
        reason, where = " ".join(said.split())[:_SHOWN], ""
    else:
        at, reason = int(found[1] or found[3]), (found[2] or found[4])[:_SHOWN]
        lines = program.source.text.splitlines()
        text = lines[at - 1] if 0 < at <= len(lines) else ""
        where = f"line {at} of its OpenCL C: {text.strip()}"
    return CompileError(
        f"OpenCL rejects kernel {program.name}: {reason}", where, "report it, with its OpenCL C"
    )
