"""A kernel loaded on a WebGPU device: its bindings as the fact `launch` of its text says.

Memory that cannot be bound where it is, because it does not begin at a multiple that the device
asks for or lies in the memory of another argument, is copied to memory of its own for the launch.
"""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.dtype import image_dtype
from core.errors import CompileError
from core.helpers import prod
from core.render.wgsl_lines.launch import launch_in
from core.runtime.allocator import Place
from core.runtime.base import values_of
from core.runtime.buffer import Buffer
from core.runtime.webgpu.allocator import Handle, WebGpuAllocator
from core.runtime.webgpu.queue import Queue, is_lost
from core.toolchain.program import Program

_WORD: Final = 4
_UNIFORM: Final = 16
"""What sizes of uniform buffers are multiples of."""


@dataclass(frozen=True)
class _Bound:
    """Where an argument is for one launch, and what is copied back to it afterwards."""

    binding: int
    handle: Handle
    offset: int
    nbytes: int
    back: tuple[tuple[Place, int, int], ...] = ()
    """(where to, from how many bytes on, how many)"""

    @property
    def resource(self) -> Any:
        """What the binding is given."""
        if self.handle.image is not None:
            return self.handle.view
        size = -(-self.nbytes // _WORD) * _WORD
        return {"buffer": self.handle.buffer, "offset": self.offset, "size": size}


class WebGpuRunner:
    """A kernel. Raises CompileError, with the line, where the text is rejected, and DriverError for
    a device that was lost."""

    def __init__(self, queue: Queue, allocator: WebGpuAllocator, program: Program) -> None:
        self._queue, self._allocator, self._program = queue, allocator, program
        self._launch = launch_in(program.source.facts)
        self._multiple = int(queue.device.limits["min-storage-buffer-offset-alignment"])
        self._limit = int(queue.device.limits["max-compute-workgroups-per-dimension"])
        self._uniforms: dict[bytes, Any] = {}
        with queue.doing(f"loading kernel {program.name}"):
            try:
                module = queue.device.create_shader_module(code=program.source.text)
                self._pipeline = queue.device.create_compute_pipeline(
                    layout="auto",
                    compute={"module": module, "entry_point": self._launch.entry},
                )
                self._layout = self._pipeline.get_bind_group_layout(0)
            except Exception as error:
                if is_lost(error):
                    raise
                raise rejected(program, str(error)) from error

    def __call__(
        self, buffers: Sequence[Buffer], variables: Mapping[str, int], wait: bool = False
    ) -> float | None:
        """Asks for one launch; with `wait`, returns when it is done, with its seconds by the
        device's own clock, where it has one. Raises RunError for a variable without a value, and
        DriverError for what goes wrong."""
        groups = self._program.groups(variables)
        if not all(groups):
            return 0.0 if wait else None
        temporary: list[Handle] = []
        with self._queue.doing(f"launching kernel {self._program.name}"):
            bound = self._bound(buffers, temporary)
            uniform = self._uniform(groups, variables)
            seconds = self._run(self._bind(bound, uniform), self._dispatched(groups), wait)
            for one in bound:
                for place, start, nbytes in one.back:
                    self._copied(place, Place(self._allocator, one.handle, start), nbytes)
            for handle in temporary:
                self._allocator.free(handle, handle.nbytes)
            self._queue.launched()
        return seconds

    def _run(self, group: Any, counts: tuple[int, int, int], wait: bool) -> float | None:
        queue = self._queue
        if wait:
            queue.wait()
        timed = queue.new_queries() if wait and queue.opened.timestamps else None
        writes = None
        if timed is not None:
            writes = {
                "query_set": timed[0],
                "beginning_of_pass_write_index": 0,
                "end_of_pass_write_index": 1,
            }
        commands = queue.commands()
        step = commands.begin_compute_pass(timestamp_writes=writes)
        step.set_pipeline(self._pipeline)
        step.set_bind_group(0, group)
        step.dispatch_workgroups(*counts)
        step.end()
        if not wait:
            return None
        if timed is not None:
            commands.resolve_query_set(timed[0], 0, 2, timed[1], 0)
            begin, end = struct.unpack("<QQ", queue.read(timed[1], 0, 16))
            timed[1].destroy()
            if end > begin:
                return float(end - begin) * 1e-9
        start = time.perf_counter()
        queue.wait()
        return time.perf_counter() - start

    # memory

    def _bound(self, buffers: Sequence[Buffer], temporary: list[Handle]) -> list[_Bound]:
        bound: list[_Bound] = []
        used: dict[int, list[tuple[int, int]]] = {}
        for one in self._launch.bindings:
            buffer = buffers[one.argument]
            handle: Handle = buffer.handle
            size = -(-max(1, buffer.nbytes) // _WORD) * _WORD
            end = buffer.offset + size
            taken = used.setdefault(id(handle.buffer), [])
            apart = all(end <= low or high <= buffer.offset for low, high in taken)
            inside = handle.image is None and end <= handle.nbytes
            if buffer.offset % self._multiple == 0 and apart and inside:
                taken.append((buffer.offset, end))
                bound.append(_Bound(one.binding, handle, buffer.offset, size))
                continue
            own = self._allocator.alloc(size)
            bound.append(self._moved(one.binding, own, buffer, one.written, temporary))
        bound += self._packed(buffers, temporary)
        for one in self._launch.textures:
            buffer = buffers[one.argument]
            if buffer.handle.image is not None:
                bound.append(_Bound(one.binding, buffer.handle, 0, buffer.nbytes))
                continue
            bits = 16 if one.dtype == "float16" else 32
            own = self._allocator.alloc_image(image_dtype(bits, one.height, one.width))
            bound.append(self._moved(one.binding, own, buffer, one.written, temporary))
        return bound

    def _moved(
        self, binding: int, own: Handle, buffer: Buffer, written: bool, temporary: list[Handle]
    ) -> _Bound:
        """An argument in memory for one launch."""
        temporary.append(own)
        place = Place(self._allocator, buffer.handle, buffer.offset)
        self._copied(Place(self._allocator, own), place, buffer.nbytes)
        back = ((place, 0, buffer.nbytes),) if written else ()
        return _Bound(binding, own, 0, buffer.nbytes, back)

    def _packed(self, buffers: Sequence[Buffer], temporary: list[Handle]) -> list[_Bound]:
        packed = self._launch.packed
        if packed is None:
            return []
        own = self._allocator.alloc(packed.words * _WORD)
        temporary.append(own)
        back: list[tuple[Place, int, int]] = []
        for one in packed.arguments:
            buffer, start = buffers[one.argument], one.word * _WORD
            place = Place(self._allocator, buffer.handle, buffer.offset)
            self._copied(Place(self._allocator, own, start), place, buffer.nbytes)
            if one.written:
                back.append((place, start, buffer.nbytes))
        return [_Bound(packed.binding, own, 0, packed.words * _WORD, tuple(back))]

    def _copied(self, target: Place, source: Place, nbytes: int) -> None:
        self._allocator.copy(target, source, nbytes)

    def _uniform(self, groups: tuple[int, int, int], variables: Mapping[str, int]) -> Any:
        uniform = self._launch.uniform
        if uniform is None:
            return None
        given = values_of(self._program.name, uniform.variables, variables)
        values = [v & 0xFFFFFFFF for v in given]
        values += groups if uniform.grid else ()
        content = struct.pack(f"<{len(values)}I", *values)
        content += bytes(-len(content) % _UNIFORM)
        if content not in self._uniforms:
            if len(self._uniforms) >= 256:
                self._uniforms.clear()
            self._uniforms[content] = self._queue.new_uniform(content)
        return self._uniforms[content]

    def _bind(self, bound: Sequence[_Bound], uniform: Any) -> Any:
        entries: list[dict[str, Any]] = [
            {"binding": one.binding, "resource": one.resource} for one in bound
        ]
        if self._launch.uniform is not None:
            binding = self._launch.uniform.binding
            entries.append({"binding": binding, "resource": {"buffer": uniform}})
        return self._queue.device.create_bind_group(layout=self._layout, entries=entries)

    def _dispatched(self, groups: tuple[int, int, int]) -> tuple[int, int, int]:
        if not self._launch.folded:
            return groups
        total = prod(groups)
        width = min(total, self._limit)
        return width, -(-total // width), 1


_LINE: Final = re.compile(r"wgsl:(\d+):(\d+)")


def rejected(program: Program, said: str) -> CompileError:
    """What an implementation has against the text of a kernel, and the line."""
    found = _LINE.search(said)
    where = ""
    if found is not None:
        at = int(found[1])
        lines = program.source.text.splitlines()
        text = lines[at - 1] if 0 < at <= len(lines) else ""
        where = f"line {at} of its WGSL: {text.strip()}"
    reason = next((line.split("error:", 1)[1].strip() for line in said.splitlines()
                   if "error:" in line), "")  # fmt: skip
    if not reason:
        reason = " ".join(line.strip() for line in said.splitlines() if line.strip())[:300]
    return CompileError(
        f"WebGPU rejects kernel {program.name}: {reason}", where, "report it, with its WGSL"
    )
