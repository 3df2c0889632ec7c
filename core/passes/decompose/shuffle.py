"""Values of other lanes, as registers of 32 bits: what every GPU can exchange.

A narrower value travels in the low bits of a register, a wider one in two. Never changes which lane
a value comes from.
"""

from __future__ import annotations

from core.dtype import dtypes
from core.passes.decompose.bits import same_bits
from core.uop import Ops, UOp

WORDS = (dtypes.int32, dtypes.uint32)
"""What is exchanged as it is."""
_CODES = {1: dtypes.uint8, 2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}


def in_words(x: UOp, mask: int) -> UOp:
    """The value of another lane, of any dtype."""
    dtype = x.dtype.scalar()
    if dtypes.is_bool(dtype):
        return _exchanged(x.cast(dtypes.uint32), mask).ne(0)
    code = _CODES[dtype.itemsize]
    bits = same_bits(x, code)
    if code is dtypes.uint64:
        low, high = (
            _exchanged(part.cast(dtypes.uint32), mask).cast(dtypes.uint64)
            for part in (bits, bits >> 32)
        )
        bits = (high << 32) | low
    else:
        bits = _exchanged(bits.cast(dtypes.uint32), mask).cast(code)
    return same_bits(bits, dtype)


def _exchanged(words: UOp, mask: int) -> UOp:
    return UOp(Ops.SHUFFLE, words.dtype, (words,), mask)
