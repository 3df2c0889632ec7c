"""`Buffer`: memory on a device, freed with its last user; and which BUFFER node owns which.

Memory is taken when it is first needed. Never copies between host and device on its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from core.dtype import DType, ImageDType
from core.errors import RunError
from core.runtime.allocator import Allocator, Place
from core.runtime.allocators import account, allocator_of
from core.runtime.numeric import memory_dtype
from core.uop.engine.observe import MemoryChange
from core.uop.ops import Ops
from core.uop.uop import UOp


class Buffer:
    """`size` elements of `dtype` on `device`; or a part of another buffer, `offset` elements in."""

    __slots__ = ("__weakref__", "_allocator", "_handle", "address", "base", "device", "dtype",
                 "nbytes", "offset", "size")  # fmt: skip

    def __init__(
        self, device: str, size: int, dtype: DType, base: Buffer | None = None, offset: int = 0
    ) -> None:
        self.device, self.size, self.dtype = device, size, dtype
        self.nbytes = size * dtype.itemsize
        self.base = base
        self.offset = offset * dtype.itemsize
        self.address = 0
        self._handle: Any = None
        self._allocator: Allocator | None = None
        if base is not None and self.offset + self.nbytes > base.nbytes:
            raise RunError(
                f"a view of {self.nbytes} bytes at {self.offset} leaves its buffer",
                f"buffer of {base.nbytes} bytes on {device}",
            )

    def __repr__(self) -> str:
        state = "allocated" if self.allocated else "not allocated"
        return f"Buffer({self.device}, {self.size}, {self.dtype}, {state})"

    @property
    def allocated(self) -> bool:
        """Whether it has memory."""
        return self._handle is not None

    @property
    def handle(self) -> Any:
        """The allocator's handle, of an allocated buffer (of the whole, for a part)."""
        return self._handle

    def allocate(self, kernel: str = "", lines: tuple[str, ...] = ()) -> Buffer:
        """Gives it memory where it has none: for a kernel, which the user's lines asked for.
        Raises RunError where there is none left."""
        if self._handle is None:
            if self.base is not None:
                self.base.allocate(kernel, lines)
                self._handle, self._allocator = self.base._handle, self.base._allocator
                self.address = self.base.address + self.offset
            else:
                self._take(allocator_of(self.device), None, kernel, lines)
        return self

    def _take(
        self, allocator: Allocator, handle: Any, kernel: str = "", lines: tuple[str, ...] = ()
    ) -> None:
        self._handle = self._new_memory(allocator) if handle is None else handle
        self._allocator = allocator
        self.address = allocator.address(self._handle)
        account(MemoryChange(self.device, self.nbytes, id(self), kernel, lines))

    def _new_memory(self, allocator: Allocator) -> Any:
        if isinstance(self.dtype, ImageDType):
            return allocator.alloc_image(self.dtype)
        return allocator.alloc(self.nbytes)

    def deallocate(self) -> None:
        """Gives its memory back, if it has any."""
        handle, allocator = self._handle, self._allocator
        self._handle, self.address = None, 0
        if handle is not None and allocator is not None and self.base is None:
            allocator.free(handle, self.nbytes)
            account(MemoryChange(self.device, -self.nbytes, id(self)))

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # at exit the modules' names are gone, and the memory goes with the process
        if self._handle is not None and not finalizing():
            self.deallocate()

    def copyin(self, data: memoryview) -> Buffer:
        """Fills it with host bytes, of exactly its size. Raises RunError otherwise."""
        self._check(data)
        self.allocate()
        assert self._allocator is not None
        self._allocator.copyin(self._handle, self.offset, data.cast("B"))
        return self

    def copyout(self, data: memoryview) -> memoryview:
        """Fills `data`, of exactly its size, with its bytes. Raises RunError without memory."""
        self._check(data)
        if self._handle is None or self._allocator is None:
            raise RunError(f"{self!r} has no content", hint="realize it first")
        self._allocator.copyout(data.cast("B"), self._handle, self.offset)
        return data

    def _check(self, data: memoryview) -> None:
        if data.nbytes != self.nbytes or not data.contiguous:
            raise RunError(f"{data.nbytes} bytes do not fill {self!r} of {self.nbytes}")

    def copy_from(self, source: Buffer) -> Buffer:
        """Fills it with the bytes of a buffer of the same size, on any device. Raises RunError for
        another size and for a source without memory."""
        if source.nbytes != self.nbytes:
            raise RunError(f"{source!r} of {source.nbytes} bytes does not fill {self!r}")
        self.allocate()
        assert self._allocator is not None
        self._allocator.copy(self.place, source.place, self.nbytes)
        return self

    @property
    def place(self) -> Place:
        """Where its memory is. Raises RunError without memory."""
        if self._handle is None or self._allocator is None:
            raise RunError(f"{self!r} has no content", hint="realize it first")
        return Place(self._allocator, self._handle, self.offset)

    def host_view(self) -> memoryview | None:
        """Its memory itself, where the host can see it."""
        if self._handle is None or self._allocator is None:
            return None
        return self._allocator.host_view(self._handle, self.offset, self.nbytes)

    def as_array(self) -> np.ndarray[Any, Any]:
        """Its elements as a flat array that shares memory with it on the host, and is a copy of
        other devices' memory. bfloat16 and 8-bit floats come as unsigned integers of their bits.
        Raises RunError without memory."""
        kind = memory_dtype(self.dtype)
        shared = self.host_view()
        if shared is not None:
            found = np.frombuffer(shared, kind)
            return found
        copy = np.empty(self.size, kind)
        self.copyout(copy.view(np.uint8).data)
        return copy

    @staticmethod
    def share(device: str, array: np.ndarray[Any, Any], dtype: DType) -> Buffer:
        """A buffer with the memory of a contiguous array: shared where the device can reach that,
        else copied."""
        made = Buffer(device, array.size, dtype)
        allocator = allocator_of(device)
        flat = np.ascontiguousarray(array)
        shared = allocator.wrap(flat)
        if shared is not None:
            made._take(allocator, shared)
            return made
        return made.copyin(flat.reshape(-1).view(np.uint8).data)

    @staticmethod
    def of(device: str, allocator: Allocator, handle: Any, size: int, dtype: DType) -> Buffer:
        """A buffer whose memory is there already, as a handle of an allocator."""
        made = Buffer(device, size, dtype)
        made._take(allocator, handle)
        return made

    @staticmethod
    def at(device: str, address: int, size: int, dtype: DType) -> Buffer | None:
        """A buffer whose memory is owned elsewhere, at an address of the device; None where the
        device takes none."""
        allocator = allocator_of(device)
        handle = allocator.at(address, size * dtype.itemsize)
        return None if handle is None else Buffer.of(device, allocator, handle, size, dtype)


buffers: Final[WeakKeyDictionary[UOp, Buffer]] = WeakKeyDictionary()
"""The memory of each BUFFER node; it goes when the node goes."""


def buffer_of(u: UOp) -> Buffer:
    """The memory of a BUFFER node, or the part of it that a BUFFER_VIEW names; not allocated yet
    if it never was. Raises RunError for other nodes."""
    found = buffers.get(u)
    if found is not None:
        return found
    if u.op is Ops.BUFFER and (device := u.one_device) is not None:
        made = Buffer(device, u.arg, u.dtype)
    elif u.op is Ops.BUFFER_VIEW:
        base = buffer_of(u.src[0])
        made = Buffer(base.device, u.arg[0], u.dtype, base, u.arg[1])
    else:
        raise RunError(f"{u.op.name} has no memory of its own", u.origin or "", "realize it first")
    buffers[u] = made
    return made
