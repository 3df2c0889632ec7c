"""What a program may hold after the passes for one kind of text: `machine_spec`.

It is closer to instructions than `program_spec`; what it allows beyond that is here. Nothing here
changes a graph.
"""

from __future__ import annotations

from core.dtype import AddrSpace, DType, dtypes
from core.tensor_cores import TensorCore
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.pointer import address_space
from core.uop.spec.flight import ASYNCHRONOUS
from core.uop.spec.rules import is_pointer, program_spec
from core.uop.uop import UOp


@rule(UPat((Ops.SHL, Ops.SHR), src=(UPat.var("x"), UPat.var("n")), name="u"))
def shift_spec(u: UOp, x: UOp, n: UOp) -> bool:
    """the amount of a shift is a uint32, whatever is shifted"""
    return dtypes.is_int(u.dtype) and u.dtype == x.dtype and n.dtype == dtypes.uint32


def _holds(u: UOp, dtype: DType) -> bool:
    """Whether memory is moved as `dtype`: bools as bytes, 16 bits in words of two."""
    base = u.dtype.base
    if dtype.scalar() is base:
        return True
    byte = dtypes.is_bool(base) and dtype.scalar() is dtypes.uint8
    return byte or (base.itemsize == 2 and dtype.scalar() is dtypes.uint32)


@rule(UPat(Ops.ADDRESS, src=(UPat.var("p"),), allow_any_len=True, name="u"))
def address_spec(u: UOp, p: UOp) -> bool:
    """ADDRESS is a pointer and an integer times a number of bytes, or a pointer and bytes"""
    whole = all(dtypes.is_int(s.dtype) and s.dtype.count == 1 for s in u.src[1:])
    parts = whole and len(u.src) <= 2 and isinstance(u.arg, int)
    return is_pointer(p) and u.dtype == p.dtype and parts


@rule(UPat(Ops.LOAD, src=(UPat.var("p"), UPat.var("x"), UPat.var("g")), name="u"))
def predicated_load_spec(u: UOp, p: UOp, x: UOp, g: UOp) -> bool:
    """LOAD under a predicate has an alternative of its own dtype"""
    return is_pointer(p) and _holds(p, u.dtype) and x.dtype == u.dtype and g.dtype == dtypes.bool


@rule(UPat(Ops.LOAD, src=(UPat.var("p"),), name="u"))
def moved_load_spec(u: UOp, p: UOp) -> bool:
    """LOAD gives elements of its memory, bools as bytes and 16 bits in words of two"""
    return is_pointer(p) and _holds(p, u.dtype)


@rule(UPat(Ops.STORE, dtypes.void, (UPat.var("p"), UPat.var("x")), allow_any_len=True, name="u"))
def moved_store_spec(u: UOp, p: UOp, x: UOp) -> bool:
    """STORE writes what LOAD gives, where its gate (a bool, if any) holds; an asynchronous one is
    to shared memory"""
    later = u.arg == ASYNCHRONOUS and is_pointer(p) and address_space(p) is AddrSpace.LOCAL
    return is_pointer(p) and _holds(p, x.dtype) and _gated(u.src[2:]) and (later or u.arg is None)


def _gated(gates: tuple[UOp, ...]) -> bool:
    """Whether what follows the other sources of a store is a gate, or nothing."""
    return len(gates) <= 1 and all(g.dtype == dtypes.bool for g in gates)


@rule(UPat(Ops.COPY_ASYNC, dtypes.void, (UPat.var("p"), UPat.var("q"), UPat.var("taken")),
           allow_any_len=True, name="u"))  # fmt: skip
def copy_async_spec(u: UOp, p: UOp, q: UOp, taken: UOp) -> bool:
    """COPY_ASYNC copies bytes from global to shared memory, of which a uint32 says how many are
    read, where its gate (a bool, if any) holds"""
    if not (is_pointer(p) and is_pointer(q)):
        return False
    spaces = address_space(p) is AddrSpace.LOCAL and address_space(q) is AddrSpace.GLOBAL
    counted = type(u.arg) is int and u.arg > 0 and taken.dtype is dtypes.uint32
    return spaces and counted and _gated(u.src[3:])


@rule(UPat(Ops.WMMA, src=(UPat.var("a"), UPat.var("b"), UPat.var("c")), name="u"))
def words_spec(u: UOp, a: UOp, b: UOp, c: UOp) -> bool | None:
    """WMMA of words: those that hold one tile of a and of b; c of 16 bits is in words, too"""
    core = u.arg
    if not isinstance(core, TensorCore) or a.dtype.scalar() is not dtypes.uint32:
        return None
    bytes_ = [part.count * core.dtype_in.itemsize for part in core.fragments[:2]]
    bytes_.append(core.c.count * core.dtype_out.itemsize)
    held = core.dtype_out if core.dtype_out.itemsize == 4 else dtypes.uint32
    kinds = (dtypes.uint32, dtypes.uint32, held)
    alike = all(s.dtype.scalar() is kind for s, kind in zip(u.src, kinds, strict=True))
    whole = [s.dtype.itemsize for s in u.src] == bytes_
    return alike and whole and u.dtype == c.dtype


machine_spec = PatternMatcher(
    [
        shift_spec,
        address_spec,
        predicated_load_spec,
        moved_load_spec,
        moved_store_spec,
        copy_async_spec,
        words_spec,
        *program_spec.rules,
    ],
    name="machine",
)
