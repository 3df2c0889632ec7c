"""What the lanes of a warp do together: WMMA, SHUFFLE and LDMATRIX, on arrays as axes.py describes.

The threads of a group are numbered in the order of their axes. As many neighbours as an instruction
has lanes are a warp, and all of them must run it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.errors import RunError
from core.helpers import prod
from core.runtime.matrices import multiply
from core.runtime.numeric import Array
from core.tensor_cores import TensorCore
from core.uop.spec.ldmatrix import LANES, dealt


class Threads:
    """The threads of a group: some neighbouring axes of every array."""

    def __init__(self, axes: Sequence[int], lengths: Sequence[int]) -> None:
        """`lengths` are those of all axes, `axes` those of threads."""
        self._axes, self._lengths = tuple(axes), tuple(lengths[i] for i in axes)
        self.count = prod(self._lengths)

    def flat(self, value: Array) -> Array:
        """(other axes..., threads, elements) of a value."""
        shape = list(value.shape)
        for at, n in zip(self._axes, self._lengths, strict=True):
            shape[at] = n
        rank = value.ndim - 1
        last = range(rank - len(self._axes), rank)
        moved = np.moveaxis(np.broadcast_to(value, shape), self._axes, last)
        return moved.reshape(*moved.shape[: rank - len(self._axes)], self.count, shape[-1])

    def back(self, value: Array) -> Array:
        """The inverse of `flat`."""
        apart = value.reshape(*value.shape[:-2], *self._lengths, value.shape[-1])
        rank = apart.ndim - 1
        return np.moveaxis(apart, range(rank - len(self._axes), rank), self._axes)

    def whole_warps(self, lanes: int, what: str, where: str, active: Array) -> None:
        """Raises RunError where threads are not warps of so many lanes, or some do not take
        part."""
        if self.count % lanes:
            raise RunError(
                f"{what} needs {lanes} lanes, in a work group of {self.count}",
                where,
                "the opts of the kernel are wrong",
            )
        warps = self.flat(active).reshape(-1, lanes)
        if bool((warps.any(axis=1) != warps.all(axis=1)).any()):
            raise RunError(
                f"{what} where some lanes of a warp are not active",
                where,
                "a pass put it under a condition",
            )

    def shuffle(self, value: Array, mask: int, where: str, active: Array) -> Array:
        """The value of the thread whose number is this one's XOR `mask`."""
        if self.count % (1 << mask.bit_length()):
            raise RunError(
                f"SHUFFLE by {mask} in a work group of {self.count}",
                where,
                "lanes have no such neighbours",
            )
        other = np.arange(self.count) ^ mask
        takes_part = self.flat(active)
        if bool((takes_part & ~takes_part[..., other, :]).any()):
            raise RunError(
                "SHUFFLE where some lanes of a warp are not active",
                where,
                "a pass put it under a condition",
            )
        return self.back(self.flat(value)[..., other, :])

    def matrices(self, rows: Array, count: int, transposed: bool) -> Array:
        """What an LDMATRIX gives, of the rows of 8 elements that lanes are at."""
        flat = self.flat(rows)
        found = dealt(flat.reshape(-1, LANES, flat.shape[-1]), count, transposed)
        return self.back(found.reshape(*flat.shape[:-1], 2 * count))

    def multiply(self, core: TensorCore, operands: Sequence[Array]) -> Array:
        """D = A * B + C of each warp. Of several tiles, element e of tile t lies at e * tiles +
        t."""
        held = [self.flat(value) for value in operands]
        others = np.broadcast_shapes(*(value.shape[:-2] for value in held))
        tiles = held[2].shape[-1] // core.c.count
        parts: list[Array] = []
        for value, part in zip(held, core.fragments, strict=True):
            full = np.broadcast_to(value, (*others, *value.shape[-2:]))
            apart = full.reshape(-1, core.threads, part.count, tiles).transpose(0, 3, 1, 2)
            parts.append(apart.reshape(-1, core.threads, part.count))
        found = multiply(core, *parts).reshape(-1, tiles, core.threads, core.c.count)
        return self.back(found.transpose(0, 2, 3, 1).reshape(*others, self.count, -1))
