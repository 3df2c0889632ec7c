"""Where the elements of a shared tile lie, so that threads that read at once read from other banks.

Rows are cut into pieces of 16 bytes, what a thread moves at once. Piece number c of a row lies
where piece c ^ key would, and the key changes from row to row. Shared memory serves 128 bytes at
once. What fragments read together are pieces c of 8 neighbouring rows or of every second one, two
pieces of 4 neighbouring rows, or several pieces of 2 rows that are 1, 4 or 8 apart: so the bits of
a row's number are those of its key in reverse, and those that count 4 and 8 change the key's
highest, too. Never makes memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.uop.ops import Ops
from core.uop.uop import UOp

PIECE: Final = 16
"""Bytes that one thread moves at once."""
SERVED: Final = 128
"""Bytes that all banks together serve at once."""
BANK: Final = 4
"""Bytes that one bank serves at once."""


@dataclass(frozen=True, slots=True)
class Swizzle:
    """The places in a row-major tile whose rows have `columns` elements of `item` bytes; with
    `mixed` false, element (r, c) lies at r * columns + c."""

    columns: int
    item: int
    mixed: bool = True

    @property
    def piece(self) -> int:
        """Elements of a piece."""
        return max(1, PIECE // self.item)

    @property
    def keys(self) -> int:
        """Different keys, a power of two; 1 where nothing is moved."""
        pieces = self.columns // self.piece
        if not self.mixed or self.columns % self.piece or not pieces:
            return 1
        return min(SERVED // PIECE, pieces & -pieces)

    def keeps(self, side: int, axis: str) -> bool:
        """Whether parts of a tile that begin at multiples of `side` rows (m) or columns (n) can be
        addressed by `of_many`: no bit of such a start, as far as keys and pieces look at it, is
        set in a number below `side`."""
        if self.keys == 1:
            return True
        looked_at = 16 if axis == "m" else self.keys * self.piece
        return side & (side - 1) == 0 or side % looked_at == 0

    @property
    def repeat(self) -> int:
        """Neighbouring rows with one key: those that lie in the same 128 bytes."""
        return 1 << max(0, (SERVED // (self.columns * self.item)).bit_length() - 1)

    def key(self, row: int) -> int:
        """The key of a row."""
        number, bits = row // self.repeat % self.keys, self.keys.bit_length() - 1
        turned = sum((number >> i & 1) << (bits - 1 - i) for i in range(bits))
        last = number * 2 // self.keys if bits > 1 else 0
        beyond = row // (self.repeat * self.keys) % 2 if bits else 0
        return turned ^ (last ^ beyond) * (self.keys // 2)

    def key_of(self, row: UOp) -> UOp:
        """`key` of a row number that the kernel computes."""
        number, bits = row // self.repeat % self.keys, self.keys.bit_length() - 1
        turned = row.const_like(0)
        for i in range(bits):
            turned = turned + number // (1 << i) % 2 * (1 << (bits - 1 - i))
        beyond = row // (self.repeat * self.keys) % 2
        last = number // (self.keys // 2) if bits > 1 else row.const_like(0)
        return turned.alu(Ops.XOR, last.alu(Ops.XOR, beyond) * (self.keys // 2))

    def place(self, row: int, column: int) -> int:
        """Where the element (row, column), which are numbers, lies."""
        piece = column // self.piece
        low = piece % self.keys ^ self.key(row) if self.keys > 1 else piece % self.keys
        within = (piece // self.keys * self.keys + low) * self.piece + column % self.piece
        return row * self.columns + within

    def apart(self, rows: Sequence[int], columns: Sequence[int]) -> bool:
        """Whether threads that each read or write one element (row, column) at once find them in
        different banks, or in one word of a bank."""
        words = {self.place(r, c) * self.item // BANK for r, c in zip(rows, columns, strict=True)}
        return len({word % (SERVED // BANK) for word in words}) == len(words)

    def at(self, row: UOp, column: UOp) -> UOp:
        """Where element (row, column) lies."""
        if self.keys == 1:
            return row * self.columns + column
        piece = column // self.piece
        low = (piece % self.keys).alu(Ops.XOR, self.key_of(row))
        high = piece // self.keys * self.keys
        return row * self.columns + (high + low) * self.piece + column % self.piece

    def of_many(self, row: UOp, column: UOp, down: tuple[int, ...], across: tuple[int, ...]) -> UOp:
        """Where elements (row + down[i], column + across[i]) lie, as a vector. No bit may be set in
        `row` and in a number of `down`, nor in `column` and in a number of `across`: then keys and
        pieces of a sum are the XOR of those of its parts."""
        if self.keys == 1:
            start = row * self.columns + column
            more = tuple(r * self.columns + c for r, c in zip(down, across, strict=True))
            return start.broadcast(len(more)) + UOp.const(start.dtype.vec(len(more)), more)
        piece, keys = column // self.piece, self.keys
        low = (piece % keys).alu(Ops.XOR, self.key_of(row))
        start = row * self.columns + piece // keys * (keys * self.piece) + column % self.piece
        starts: dict[int, UOp] = {}
        bases: list[UOp] = []
        more: tuple[int, ...] = ()
        for r, c in zip(down, across, strict=True):
            inner = c // self.piece
            change = inner % keys ^ self.key(r)
            if change not in starts:
                starts[change] = start + low.alu(Ops.XOR, low.const_like(change)) * self.piece
            bases.append(starts[change])
            more += (r * self.columns + inner // keys * keys * self.piece + c % self.piece,)
        return UOp.vectorize(*bases) + UOp.const(start.dtype.vec(len(more)), more)
