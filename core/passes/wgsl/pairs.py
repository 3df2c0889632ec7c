"""Pairs: integers of 64 bits are two words of 32, the lower first.

Memory keeps its elements of 64 bits: a LOAD gives one whole, a STORE takes one. Division stays one
operation of unsigned numbers. What fits into 32 bits has been narrowed before (`narrow.py`). Words
that are constants, or bounded, are folded: a condition on them is often known.
"""

from __future__ import annotations

from typing import Final

from core.dtype import DType, dtypes
from core.passes.ptx.integers import converted
from core.passes.wgsl.floats import float_of_word, is_nan
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.facts.meaning import UNLESS_ZERO
from core.uop.symbolic.choose import where_decided
from core.uop.symbolic.fold import fold_bounds, fold_cast, fold_constants
from core.uop.symbolic.identities import identities

_word: Final = dtypes.uint32
_int: Final = dtypes.int32
_pair: Final = dtypes.uint32.vec(2)
_wide: Final = (dtypes.int64, dtypes.uint64)
_LOW: Final = 0xFFFFFFFF


def _shift(op: Ops, x: UOp, n: UOp) -> UOp:
    """A shift by an amount without a sign, whatever is shifted."""
    return UOp(op, x.dtype, (x, n))


def halves(x: UOp) -> tuple[UOp, UOp]:
    """(low, high) word of an integer of 64 bits."""
    if x.op is Ops.CONST:
        bits = x.arg & 0xFFFFFFFFFFFFFFFF
        return UOp.const(_word, bits & _LOW), UOp.const(_word, bits >> 32)
    if x.op is Ops.BITCAST and x.src[0].dtype is _pair and x.src[0].op is Ops.VECTORIZE:
        low, high = x.src[0].src
        return low, high
    pair = x.bitcast(_pair)
    return pair.gep(0), pair.gep(1)


def whole(low: UOp, high: UOp, dtype: DType) -> UOp:
    """The integer of 64 bits that two words are."""
    return UOp.vectorize(low, high).bitcast(dtype)


def _word_of(x: UOp) -> UOp:
    """A bool or a word as a word: 1 for true."""
    return x.where(UOp.const(_word, 1), UOp.const(_word, 0))


_a, _b = UPat.var("a", _wide), UPat.var("b", _wide)


def _is_zero(x: UOp) -> bool:
    return x.op is Ops.CONST and x.arg == 0


def _plus(a: UOp, b: UOp) -> UOp:
    """a + b of words, without what is 0."""
    return b if _is_zero(a) else a if _is_zero(b) else a + b


def _times(a: UOp, b: UOp) -> UOp:
    """a * b of words, without what is 0."""
    return a if _is_zero(a) else b if _is_zero(b) else a * b


def _added(a: UOp, b: UOp) -> tuple[UOp, UOp]:
    (al, ah), (bl, bh) = halves(a), halves(b)
    if _is_zero(al) or _is_zero(bl):
        return _plus(al, bl), _plus(ah, bh)
    low = al + bl
    return low, _plus(ah, bh) + _word_of(low < al)


def _subtracted(a: UOp, b: UOp) -> tuple[UOp, UOp]:
    (al, ah), (bl, bh) = halves(a), halves(b)
    return al - bl, ah - bh - _word_of(al < bl)


def _product(a: UOp, b: UOp) -> tuple[UOp, UOp]:
    """The 64 bits of the product of two words, of products of 16 bits."""
    if _is_zero(a) or _is_zero(b):
        return UOp.const(_word, 0), UOp.const(_word, 0)
    a0, a1, b0, b1 = a & 0xFFFF, a >> 16, b & 0xFFFF, b >> 16
    low, left, right = a0 * b0, a1 * b0, a0 * b1
    middle = left + (low >> 16)
    rest = (middle & 0xFFFF) + right
    return a * b, a1 * b1 + (middle >> 16) + (rest >> 16)


def _multiplied(a: UOp, b: UOp) -> tuple[UOp, UOp]:
    (al, ah), (bl, bh) = halves(a), halves(b)
    low, high = _product(al, bl)
    return low, _plus(_plus(high, _times(al, bh)), _times(ah, bl))


def _less(a: UOp, b: UOp) -> UOp:
    (al, ah), (bl, bh) = halves(a), halves(b)
    signed = not dtypes.is_unsigned(a.dtype)
    first = ah.bitcast(_int) < bh.bitcast(_int) if signed else ah < bh
    return first | (ah.eq(bh) & (al < bl))


@rule(UPat(Ops.ADD, _wide, src=(_a, _b), name="x"))
def sum_of_pairs(x: UOp, a: UOp, b: UOp) -> UOp:
    """a + b -> (low a + low b, high a + high b + carry)"""
    return whole(*_added(a, b), x.dtype)


@rule(UPat(Ops.SUB, _wide, src=(_a, _b), name="x"))
def difference_of_pairs(x: UOp, a: UOp, b: UOp) -> UOp:
    """a - b -> (low a - low b, high a - high b - borrow)"""
    return whole(*_subtracted(a, b), x.dtype)


@rule(UPat(Ops.NEG, _wide, src=(_a,)))
def negative_pair(a: UOp) -> UOp:
    """-a -> 0 - a"""
    return whole(*_subtracted(a.const_like(0), a), a.dtype)


@rule(UPat(Ops.MUL, _wide, src=(_a, _b), name="x"))
def product_of_pairs(x: UOp, a: UOp, b: UOp) -> UOp:
    """a * b -> low a * low b, of 64 bits, + (low a * high b + high a * low b) << 32"""
    return whole(*_multiplied(a, b), x.dtype)


@rule(UPat(Ops.MULACC, _wide, src=(_a, _b, UPat.var("c"))))
def multiply_add_of_pairs(a: UOp, b: UOp, c: UOp) -> UOp:
    """a * b + c as a product and a sum"""
    return a * b + c


@rule(UPat((Ops.AND, Ops.OR, Ops.XOR), _wide, src=(_a, _b), name="x"))
def bits_of_pairs(x: UOp, a: UOp, b: UOp) -> UOp:
    """a & b -> (low a & low b, high a & high b)"""
    (al, ah), (bl, bh) = halves(a), halves(b)
    return whole(al.alu(x.op, bl), ah.alu(x.op, bh), x.dtype)


@rule(UPat(Ops.WHERE, _wide, src=(UPat.var("c"), _a, _b), name="x"))
def choice_of_pairs(x: UOp, c: UOp, a: UOp, b: UOp) -> UOp:
    """c ? a : b -> (c ? low a : low b, c ? high a : high b)"""
    (al, ah), (bl, bh) = halves(a), halves(b)
    return whole(c.where(al, bl), c.where(ah, bh), x.dtype)


@rule(UPat(Ops.MAX, _wide, src=(_a, _b), name="x"))
def larger_pair(x: UOp, a: UOp, b: UOp) -> UOp:
    """max(a, b) -> a < b ? b : a"""
    less, (al, ah), (bl, bh) = _less(a, b), halves(a), halves(b)
    return whole(less.where(bl, al), less.where(bh, ah), x.dtype)


@rule(UPat(Ops.CMPLT, src=(_a, _b)))
def smaller_pair(a: UOp, b: UOp) -> UOp:
    """a < b -> high a < high b, or they are equal and low a < low b"""
    return _less(a, b)


@rule(UPat(Ops.CMPNE, src=(_a, _b)))
def unequal_pairs(a: UOp, b: UOp) -> UOp:
    """a != b -> low a != low b or high a != high b"""
    (al, ah), (bl, bh) = halves(a), halves(b)
    return al.ne(bl) | ah.ne(bh)


@rule(UPat(Ops.CMPEQ, src=(_a, _b)))
def equal_pairs(a: UOp, b: UOp) -> UOp:
    """a == b -> low a == low b and high a == high b"""
    (al, ah), (bl, bh) = halves(a), halves(b)
    return al.eq(bl) & ah.eq(bh)


def _shifted(x: UOp, a: UOp, n: UOp) -> tuple[UOp, UOp]:
    """A shift of a pair by any amount: within words, then by a whole word, then by all bits."""
    low, high = halves(a)
    zero = UOp.const(_word, 0)
    if n.op is Ops.CONST:
        return _shifted_by(x, low, high, int(n.arg))
    inside, most = n & 31, n.const_like(31)
    if x.op is Ops.SHL:
        carried = (low >> 1) >> (most - inside)
        near = (low << inside, (high << inside) | carried)
        far, out = (zero, low << inside), (zero, zero)
    else:
        signed = not dtypes.is_unsigned(x.dtype)
        top = high.bitcast(_int) if signed else high
        moved = _shift(Ops.SHR, top, inside)
        moved = moved.bitcast(_word) if signed else moved
        fill = _shift(Ops.SHR, top, most).bitcast(_word) if signed else zero
        carried = (high << 1) << (most - inside)
        near = ((low >> inside) | carried, moved)
        far, out = (moved, fill), (fill, fill)
    small, short = n < 32, n < 64
    first, second = (short.where(small.where(a, b), c) for a, b, c in zip(near, far, out,
                                                                          strict=True))  # fmt: skip
    return first, second


def _shifted_by(x: UOp, low: UOp, high: UOp, n: int) -> tuple[UOp, UOp]:
    """A shift of a pair by a constant."""
    zero = UOp.const(_word, 0)
    if n == 0:
        return low, high
    if x.op is Ops.SHL:
        if n >= 32:
            return zero, zero if n >= 64 else low << (n - 32)
        return low << n, (high << n) | (low >> (32 - n))
    signed = not dtypes.is_unsigned(x.dtype)

    def moved(by: int) -> UOp:
        amount = UOp.const(_word, by)
        if signed:
            return _shift(Ops.SHR, high.bitcast(_int), amount).bitcast(_word)
        return _shift(Ops.SHR, high, amount)

    fill = moved(31) if signed else zero
    if n >= 64:
        return fill, fill
    if n >= 32:
        return high if n == 32 else moved(n - 32), fill
    return (low >> n) | (high << (32 - n)), moved(n)


@rule(UPat((Ops.SHL, Ops.SHR), _wide, src=(_a, UPat.var("n", _word)), name="x"))
def shifted_pair(x: UOp, a: UOp, n: UOp) -> UOp:
    """a << n -> n < 32 ? (low a << n, high a << n | low a >> (32 - n)) : (0, low a << (n - 32))"""
    return whole(*_shifted(x, a, n), x.dtype)


@rule(UPat((Ops.IDIV, Ops.MOD), dtypes.int64, src=(_a, _b), name="x"))
def signed_division(x: UOp, a: UOp, b: UOp) -> UOp:
    """a / b -> +- (|a| / |b|);  a % b -> +- (|a| % |b|), with the sign of a"""
    zero = a.const_like(0)
    less_a, less_b = _less(a, zero), _less(b, zero)
    sizes = [
        whole(*_chosen(less, _subtracted(zero, v), halves(v)), dtypes.uint64)
        for less, v in ((less_a, a), (less_b, b))
    ]
    size = UOp(x.op, dtypes.uint64, tuple(sizes), UNLESS_ZERO).bitcast(_pair)
    found = whole(size.gep(0), size.gep(1), dtypes.int64)
    minus = less_a.ne(less_b) if x.op is Ops.IDIV else less_a
    made = _chosen(minus, _subtracted(zero, found), halves(found))
    return whole(*made, dtypes.int64)


def _chosen(c: UOp, a: tuple[UOp, UOp], b: tuple[UOp, UOp]) -> tuple[UOp, UOp]:
    return c.where(a[0], b[0]), c.where(a[1], b[1])


# conversions


@rule(UPat(Ops.CAST, _wide, src=(UPat.var("x", dtypes.ints),), name="cast"))
def pair_of_integer(cast: UOp, x: UOp) -> UOp:
    """int64(x: int32) -> (x, x >> 31);  uint64(x: uint32) -> (x, 0)"""
    if x.dtype.bits == 64:
        return whole(*halves(x), cast.dtype)
    if dtypes.is_unsigned(x.dtype):
        return whole(converted(x, _word), UOp.const(_word, 0), cast.dtype)
    wide = converted(x, _int)
    sign = _shift(Ops.SHR, wide, UOp.const(_word, 31))
    return whole(wide.bitcast(_word), sign.bitcast(_word), cast.dtype)


@rule(UPat(Ops.CAST, _wide, src=(UPat.var("x", dtypes.bool),), name="cast"))
def pair_of_bool(cast: UOp, x: UOp) -> UOp:
    """int64(x: bool) -> (x ? 1 : 0, 0)"""
    return whole(_word_of(x), UOp.const(_word, 0), cast.dtype)


@rule(UPat(Ops.CAST, dtypes.ints, src=(UPat.var("x", _wide),), name="cast"))
def low_of_pair(cast: UOp, x: UOp) -> UOp | None:
    """int32(x: int64) -> low x"""
    return None if cast.dtype.bits == 64 else halves(x)[0].cast(cast.dtype)


@rule(UPat(Ops.CAST, dtypes.bool, src=(UPat.var("x", _wide),)))
def truth_of_pair(x: UOp) -> UOp:
    """bool(x: int64) -> (low x | high x) != 0"""
    low, high = halves(x)
    return (low | high).ne(0)


@rule(UPat(Ops.BITCAST, _wide, src=(UPat.var("x", _wide),), name="cast"))
def pair_as_another(cast: UOp, x: UOp) -> UOp:
    """uint64 bits of (x: int64) -> (low x, high x)"""
    return whole(*halves(x), cast.dtype)


@rule(UPat(Ops.CAST, dtypes.float32, src=(UPat.var("x", _wide),)))
def float_of_pair(x: UOp) -> UOp:
    """float32(x: int64) -> +- float32(the upper 32 bits of |x|, and whether lower ones are set)
    * 2 ** n:  rounded once"""
    low, high = halves(x)
    signed = not dtypes.is_unsigned(x.dtype)
    negative = high.bitcast(_int) < 0 if signed else None
    if negative is not None:
        low, high = _chosen(negative, _subtracted(x.const_like(0), x), (low, high))
    exponent = UOp.const(_word, 127 + 32)
    upper, lower, bits = high, low, exponent
    for step in (16, 8, 4, 2, 1):  # until the first bit of the upper word is set
        small = upper < (1 << (32 - step))
        upper = small.where((upper << step) | (lower >> (32 - step)), upper)
        lower = small.where(lower << step, lower)
        bits = small.where(bits - step, bits)
    scale = (bits << 23).bitcast(dtypes.float32)
    large = float_of_word(upper | _word_of(lower.ne(0))) * scale
    found = high.eq(0).where(float_of_word(low), large)
    return negative.where(found.neg(), found) if negative is not None else found


@rule(UPat(Ops.CAST, _wide, src=(UPat.var("x", dtypes.float32),), name="cast"))
def pair_of_float(cast: UOp, x: UOp) -> UOp:
    """int64(x: float32) -> +- (the 24 bits of x, shifted by its exponent), or the nearest; 0 of
    NaN"""
    bits = x.bitcast(_word)
    exponent = ((bits >> 23) & 0xFF).cast(_int)
    digits = (bits & 0x7FFFFF) | 0x800000
    left = (exponent - 150).cast(_word) & 63
    right = (UOp.const(_int, 150) - exponent).cast(_word) & 31
    unsigned = whole(digits, UOp.const(_word, 0), dtypes.uint64)
    shifted = _shifted(_shift(Ops.SHL, unsigned, left), unsigned, left)
    small, tiny = exponent < 150, exponent < 127
    zero = UOp.const(_word, 0)
    low, high = _chosen(small, (digits >> right, zero), shifted)
    low, high = tiny.where(zero, low), tiny.where(zero, high)
    negative = bits.bitcast(_int) < 0
    signed = not dtypes.is_unsigned(cast.dtype)
    beyond = UOp.const(_int, 127 + (62 if signed else 63)) < exponent
    if signed:
        size = whole(low, high, cast.dtype)
        found = _chosen(negative, _subtracted(cast.const_like(0), size), (low, high))
        least = halves(cast.const_like(int(dtypes.min(cast.dtype))))
        most = halves(cast.const_like(int(dtypes.max(cast.dtype))))
        found = _chosen(beyond, _chosen(negative, least, most), found)
    else:
        most = halves(cast.const_like(int(dtypes.max(cast.dtype))))
        found = _chosen(negative, (zero, zero), _chosen(beyond, most, (low, high)))
    return whole(*_chosen(is_nan(x), (zero, zero), found), cast.dtype)


pairs_matcher: Final = PatternMatcher(
    [
        sum_of_pairs,
        difference_of_pairs,
        negative_pair,
        product_of_pairs,
        multiply_add_of_pairs,
        bits_of_pairs,
        choice_of_pairs,
        larger_pair,
        smaller_pair,
        unequal_pairs,
        equal_pairs,
        shifted_pair,
        signed_division,
        pair_of_integer,
        pair_of_bool,
        low_of_pair,
        truth_of_pair,
        pair_as_another,
        float_of_pair,
        pair_of_float,
    ],
    name="wgsl: pairs",
)


_with_words_folded: Final = pairs_matcher + PatternMatcher(
    [fold_constants, fold_cast, fold_bounds, where_decided, *identities.rules], name="wgsl: words"
)


def pairs(sink: UOp, target: Target) -> UOp:
    """The kernel with pairs of words in place of integers of 64 bits."""
    return graph_rewrite(sink, _with_words_folded, target, name="wgsl: pairs")
