"""Values in files: the memory that is a file, and where in it a value is.

Files are written at once, in the order of the program: no schedule knows of it. Never computes
anything on a file.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from weakref import WeakSet

from core.dtype import DType, dtypes
from core.errors import DeviceError, RunError
from core.passes.schedule.kernels.views import moved
from core.runtime.buffer import buffers
from core.runtime.disk.device import disk_name, file_buffer, path_of
from core.runtime.disk.file import File, replace_file
from core.shape import ShapeTracker
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp

_memories: WeakSet[UOp] = WeakSet()
"""The BUFFERs of all files."""


def file_memory(path: Path | str, dtype: DType | None = None, size: int | None = None) -> UOp:
    """The first `size` elements of a file, or all there are, as a BUFFER of the device of the file.

    With a size, the file may be shorter or not be there: it is made when it is written. Raises
    RunError for a file that cannot be read, or that holds no whole number of elements.
    """
    file, wanted = File(path_of(disk_name(str(path)))), dtype or dtypes.uint8
    if size is None:
        size, rest = divmod(file.size(), wanted.itemsize)
        if rest:
            raise RunError(
                f"{file.path} of {file.size()} bytes holds no whole number of {wanted}",
                hint=f"one element takes {wanted.itemsize} bytes",
            )
    name = disk_name(str(path))
    memory = UOp.new_buffer(name, size, wanted)
    buffers[memory] = file_buffer(name, file, size, wanted)
    _memories.add(memory)
    return memory


def memories_of_file(memory: UOp) -> Collection[UOp]:
    """All BUFFERs of the file that one is: those of every Tensor that was made of it."""
    return {u for u in list(_memories) if u.device == memory.device}


def written_to_file(device: str, data: memoryview, dtype: DType, size: int) -> UOp:
    """A new file with these bytes, which takes the place of one that is there: whole, or after an
    error not at all."""
    replace_file(Path(path_of(device)), lambda file: file.write(data, 0))
    return file_memory(path_of(device), dtype, size)


def place_in_file(uop: UOp) -> tuple[UOp, int]:
    """(BUFFER of a file, bytes before the elements of `uop` in it). Raises DeviceError where these
    do not follow each other in the file."""
    offset = 0
    while uop.op is not Ops.BUFFER:
        moves: list[UOp] = []
        shape = uop.shaped
        while uop.op in GroupOp.Movement:
            moves.append(uop)
            uop = uop.src[0]
        st = ShapeTracker.from_shape(uop.shaped)
        for move in reversed(moves):
            st = moved(st, move)
        if not st.consecutive and st.size:
            raise DeviceError(
                f"elements of shape {shape} that do not follow each other in their file",
                hint="write to a slice of whole rows, or compute on another device and write all",
            )
        offset += st.views[0].offset * uop.dtype.itemsize
        if uop.op is Ops.BUFFER_VIEW:
            offset += uop.arg[1] * uop.dtype.itemsize
            uop = uop.src[0]
        elif uop.op in (Ops.BITCAST, Ops.DETACH, Ops.CONTIGUOUS):
            uop = uop.src[0]
        elif uop.op is not Ops.BUFFER:
            raise DeviceError(
                f"{uop.op.name} of a file cannot be written",
                hint="write to the file's Tensor, its slices and bitcasts",
            )
    return uop, offset
