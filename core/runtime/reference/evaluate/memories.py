"""The memories of a kernel, and accesses to them by address.

Every access is checked against the size of its memory. Knows no order and no loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, cast

import numpy as np

from core.dtype import TEXEL, AddrSpace, DType, PtrDType
from core.errors import AccessError
from core.helpers import prod
from core.runtime.numeric import Array
from core.runtime.reference.evaluate.addresses import Address
from core.runtime.reference.evaluate.memory import Owners, Rows, Whole
from core.runtime.reference.evaluate.plan import Piece, Plan
from core.runtime.reference.evaluate.vectors import as_bits, unroll
from core.uop.facts.meaning_arrays import numpy_dtype
from core.uop.pointer import is_texel, parts_of_address, pointer_of
from core.uop.uop import UOp

Buffers = Mapping[int, Array] | Sequence[Array]


class Described(Protocol):
    """Says which node and, at some point of the axes, which iteration, for messages."""

    def __call__(self, u: UOp, point: Sequence[int] = ()) -> str: ...


class Memories:
    """The memories of a piece of a kernel."""

    def __init__(
        self,
        plan: Plan,
        piece: Piece,
        buffers: Buffers,
        owners: Mapping[UOp, Owners],
        value_of: Callable[[UOp], Array],
        described: Described,
    ) -> None:
        self._plan, self._piece, self._buffers, self._owners = plan, piece, buffers, owners
        self._value_of, self._described = value_of, described
        self._ones = (1,) * len(piece)
        self._memory: dict[UOp, Rows | Whole] = {}

    def of(self, u: UOp) -> Rows | Whole:
        """The memory that a DEFINE_GLOBAL, DEFINE_LOCAL or DEFINE_REG stands for."""
        if u not in self._memory:
            self._memory[u] = self._made(u)
        return self._memory[u]

    def _made(self, u: UOp) -> Rows | Whole:
        dtype = cast("PtrDType", u.dtype)
        if dtype.addrspace is AddrSpace.GLOBAL:
            return Whole(dtype.base, self._buffers[u.arg], self._owners_of(u))
        checked = bool(self._plan.apart.get(u))
        size = max(dtype.size, 0)
        lengths = [end - first for first, end in self._piece]
        return Rows(dtype.base, size, lengths, self._plan.rows[u], checked)

    def _owners_of(self, u: UOp) -> Owners | None:
        """The record of who uses an element, with the numbers of this piece's iterations."""
        owners = self._owners.get(u)
        if owners is not None:
            number = np.zeros((*self._ones, 1), np.int64)
            for at in self._plan.apart[u]:
                first, end = self._piece[at]
                shape = [end - first if i == at else 1 for i in range(len(self._ones))]
                step = np.arange(first, end, dtype=np.int64).reshape(*shape, 1)
                number = number * self._plan.axes.all[at].size + step
            owners.iteration = number
        return owners

    def check(self, u: UOp, elements: Array, count: int, size: int, wanted: Array) -> None:
        """Raises RunError where one of `count` elements that are wanted is outside of memory."""
        outside = wanted & ((elements < 0) | (elements >= size))
        if bool(outside.any()):
            full = np.broadcast_to(elements, outside.shape)
            point = tuple(int(i) for i in np.argwhere(outside)[0])
            first = int(full[(*point[:-1], 0)])
            raise AccessError(
                f"{u.op.name} of {count} elements at {first} in memory of {size}",
                self._described(u, point),
                "a pass or the kernel's AST is wrong",
            )

    def spread(self, value: Array, address: Address) -> Array:
        """An offset or a gate of an address: elements that are iterations, as these."""
        if not address.lanes or value.shape[-1] != prod(size for _, size in address.lanes):
            return value
        position = self._plan.axes.position
        return unroll(value, [(position[lane], lane[1]) for lane in address.lanes])

    def _place(
        self, address: Address, dtype: DType, wanted: Array, u: UOp
    ) -> tuple[Rows | Whole, Array]:
        """The memory, and the elements of it; checked where they are `wanted`."""
        pointer = pointer_of(address.place)
        if (texels := self._texels(address)) is not None:
            elements, inside = texels
            return self.of(pointer), np.where(wanted & inside, elements, 0)
        memory, item = self.of(pointer), pointer.dtype.base.itemsize
        offsets, constant = parts_of_address(address.place)
        start = np.full((*self._ones, 1), constant, np.int64)
        for offset, step in offsets:
            start = start + self.spread(self._value_of(offset), address).astype(np.int64) * step
        if bool((wanted & (start % item != 0)).any()):
            raise AccessError(
                f"{u.op.name} at an address between elements of {pointer.dtype.base}",
                self._described(u),
                "a pass or the kernel's AST is wrong",
            )
        elements, count = start // item, dtype.itemsize // item
        together = count // elements.shape[-1]
        if together > 1:  # neighbours of each offset
            apart = elements[..., None, :] + np.arange(together)[:, None]
            elements = apart.reshape(*elements.shape[:-1], count)
        self.check(u, elements, count, memory.size, wanted)
        return memory, np.where(wanted, elements, 0)

    def _texels(self, address: Address) -> tuple[Array, Array] | None:
        """(elements, whether they are inside) of texels at two coordinates; None elsewhere."""
        place = address.place
        dtype = cast("PtrDType", place.dtype)
        if not is_texel(place) or dtype.image is None:
            return None
        at = self._value_of(place.src[1]).astype(np.int64)
        x, y = at[..., :1], at[..., 1:]
        height, width = dtype.image.height, dtype.image.width
        inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
        return (y * width + x) * TEXEL + np.arange(TEXEL), inside

    def read(self, u: UOp, address: Address, dtype: DType, mask: Array) -> Array:
        """Elements of memory, anything where `mask` is false."""
        held = pointer_of(address.place).dtype.base
        memory, where = self._place(address, dtype, mask, u)
        if not memory.size:
            return np.zeros((*self._ones, dtype.count), numpy_dtype(dtype))
        found = memory.read(where, mask)
        if (texels := self._texels(address)) is not None:
            return np.where(texels[1], found, 0).astype(found.dtype)  # 0 outside of an image
        return found if dtype.scalar() is held else as_bits(found, held, dtype)

    def write(self, u: UOp, address: Address, dtype: DType, value: Array, mask: Array) -> None:
        """Elements to memory, where `mask` is."""
        held = pointer_of(address.place).dtype.base
        memory, where = self._place(address, dtype, mask, u)
        if dtype.scalar() is not held:
            value = as_bits(value, dtype, held)
        memory.write(where, value, mask)
