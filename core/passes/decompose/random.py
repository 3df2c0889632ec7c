"""threefry2x32 from 32-bit arithmetic: 20 rounds of add, rotate and xor.

J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

from core.dtype import dtypes
from core.uop import UOp

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


def threefry(counter: UOp, key: UOp) -> UOp:
    """64 random bits for a 64-bit counter and key; the low halves are the first words."""
    a, b = _halves(counter)
    first, second = _halves(key)
    keys = (first, second, first ^ second ^ _PARITY)
    a, b = a + keys[0], b + keys[1]
    for group in range(5):
        for turn in _ROTATIONS[group % 2]:
            a = a + b
            b = ((b << turn) | (b >> (32 - turn))) ^ a
        a = a + keys[(group + 1) % 3]
        b = b + keys[(group + 2) % 3] + (group + 1)
    return (b.cast(dtypes.uint64) << 32) | a.cast(dtypes.uint64)


def _halves(x: UOp) -> tuple[UOp, UOp]:
    return (x & 0xFFFFFFFF).cast(dtypes.uint32), (x >> 32).cast(dtypes.uint32)
