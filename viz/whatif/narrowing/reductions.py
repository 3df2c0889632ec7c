"""Smaller kernels that are made of a kernel: shorter axes, fewer stores, fewer operations, plainer
views, constants and dtypes.

Each is smaller in one way and in no way larger, so that taking one after the other ends.

Every one of them is a kernel (core/isolation/safety.py). Never compiles, and never judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

from core.dtype import AddrSpace, DType, PtrDType, dtypes
from core.errors import UopvizError
from core.isolation.safety import check_kernel
from core.shape import ShapeTracker
from core.uop.kernels import is_lowered
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp

Make = Callable[[], UOp]
"""Makes a smaller kernel; raises an error where that is none."""


def smaller_kernels(ast: UOp) -> Iterator[UOp]:
    """Kernels with less in them, those with the least left first."""
    ways = _shorter, _fewer_stores, _fewer_ops, _plainer_views, _plainer_constants, _plainer_dtypes
    for make in chain.from_iterable(way(ast) for way in ways):
        try:
            made = make()
            tidy = _tidy(made)
            check_kernel(tidy)
        except (UopvizError, ValueError, TypeError, LookupError, AssertionError):
            continue
        if made is not ast:
            yield tidy


def _shorter(ast: UOp) -> Iterator[Make]:
    """One axis cut to its first elements: of what is stored, or of what is reduced."""
    if is_lowered(ast):
        return
    for store in ast.src:
        for axis, size in enumerate(store.src[0].shape or ()):
            for kept in _lengths(size):
                yield partial(_with_sources_cut, ast, store, axis, kept)
    for u in ast.toposort():
        if u.op is Ops.REDUCE_AXIS:
            shape = u.src[0].shaped
            for axis in u.arg[1]:
                for kept in _lengths(shape[axis]):
                    yield partial(_with_sources_cut, ast, u, axis, kept)


def _with_sources_cut(ast: UOp, u: UOp, axis: int, kept: int) -> UOp:
    return ast.substitute({u: u.rebuild(tuple(_cut(s, axis, kept) for s in u.src))})


def _lengths(size: int) -> list[int]:
    """The lengths that an axis is cut to."""
    return sorted(n for n in {1, 2, 4, size // 2, size - 1} if 0 < n < size)


def _cut(u: UOp, axis: int, kept: int) -> UOp:
    """A value, or a place in memory, with the first elements of an axis. What it is computed of is
    cut, too, down to views that change more than that axes of length 1 come or go."""
    shape = u.shape
    if not shape or shape[axis] <= kept:
        return u
    if u.op is not Ops.VIEW:
        return u.rebuild(tuple(_cut(s, axis, kept) for s in u.src))
    tracker, below = u.arg, u.src[0]
    wide = [at for at, n in enumerate(below.shape or ()) if n != 1]
    own = [at for at, n in enumerate(shape) if n != 1]
    same = [shape[at] for at in own] == [(below.shape or ())[at] for at in wide]
    if below.op is not Ops.DEFINE_GLOBAL and tracker.contiguous and same:
        inner = _cut(below, wide[own.index(axis)], kept)
        return inner.view(ShapeTracker.from_shape((*shape[:axis], kept, *shape[axis + 1 :])))
    ends = [(0, kept if at == axis else n) for at, n in enumerate(shape)]
    return u.replace(arg=tracker.shrink(ends))


def _fewer_stores(ast: UOp) -> Iterator[Make]:
    if len(ast.src) > 1:
        for store in ast.src:
            yield partial(ast.replace, src=(store,))


def _fewer_ops(ast: UOp) -> Iterator[Make]:
    """A value replaced by one of those that it is computed of, or by 1."""
    values = [u for u in ast.toposort() if u.op in GroupOp.Elementwise or u.op is Ops.REDUCE_AXIS]
    for u in reversed(values):
        for s in u.src:
            if s.dtype is u.dtype and s.shape == u.shape:
                yield partial(ast.substitute, {u: s})
    for u in reversed([*values, *(u for u in ast.toposort() if u.op is Ops.LOAD)]):
        if u.shape is not None:
            yield partial(_with_one, ast, u, u.shape)


def _plainer_views(ast: UOp) -> Iterator[Make]:
    """Memory read or written in order, in place of in another one, with padding or gaps."""
    for u in ast.toposort():
        if u.op is Ops.VIEW and u.src[0].op is Ops.DEFINE_GLOBAL and not u.arg.contiguous:
            yield partial(ast.substitute, {u: u.replace(arg=ShapeTracker.from_shape(u.shaped))})


def _plainer_constants(ast: UOp) -> Iterator[Make]:
    """1 in place of another number."""
    for u in ast.toposort():
        if u.op is Ops.CONST and u.arg != 1 and u.dtype.count == 1:
            yield partial(ast.substitute, {u: UOp.const(u.dtype, 1)})


def _plainer_dtypes(ast: UOp) -> Iterator[Make]:
    """float32 in place of another float, int32 in place of another integer, everywhere."""
    for dtype in dict.fromkeys(u.dtype.base.scalar() for u in ast.toposort()):
        plain = dtypes.float32 if dtypes.is_float(dtype) else dtypes.int32
        if dtype is not plain and (dtypes.is_float(dtype) or dtypes.is_int(dtype)):
            yield partial(_with_dtype, ast, dtype, plain)


def _with_dtype(ast: UOp, old: DType, new: DType) -> UOp:
    def plain(dtype: DType) -> DType:
        if isinstance(dtype, PtrDType):
            return plain(dtype.base).ptr(dtype.size, dtype.addrspace)
        return new.vec(dtype.count) if dtype.scalar() is old else dtype

    made: dict[UOp, UOp] = {}
    for u in ast.toposort():
        sources, dtype = tuple(made[s] for s in u.src), plain(u.dtype)
        if u.op is Ops.CAST and sources[0].dtype is dtype:
            made[u] = sources[0]
        elif u.op is Ops.CONST:
            made[u] = UOp.const(dtype, u.arg)
        else:
            made[u] = u.replace(src=sources, dtype=dtype)
    return made[ast]


def _with_one(ast: UOp, u: UOp, shape: tuple[int, ...]) -> UOp:
    one = UOp.const(u.dtype, 1)
    if shape:
        one = one.view(ShapeTracker.from_shape((1,) * len(shape)).expand(shape))
    return ast.substitute({u: one})


def _tidy(ast: UOp) -> UOp:
    """Arguments numbered from 0, and no larger than what is used of them."""
    found = {u for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL}
    used: dict[UOp, int] = {}
    for u in ast.toposort():
        for s in u.src:
            if s in found:
                size = used.get(s, 0)
                direct = u.op is Ops.VIEW and isinstance(u.arg, ShapeTracker)
                whole = s.dtype.size if isinstance(s.dtype, PtrDType) else 0
                used[s] = max(size, u.arg.views[0].real_size if direct else whole)
    new: dict[UOp, UOp] = {}
    for number, u in enumerate(sorted(found, key=lambda u: u.arg)):
        pointer = u.dtype.base.ptr(max(1, used.get(u, 1)), AddrSpace.GLOBAL)
        new[u] = u.replace(arg=number, dtype=pointer)
    rebuilt: dict[UOp, UOp] = {}
    for u in ast.toposort():
        own = new.get(u)
        rebuilt[u] = own if own is not None else _rebuilt(u, rebuilt, found)
    return rebuilt[ast]


def _rebuilt(u: UOp, rebuilt: dict[UOp, UOp], pointers: set[UOp]) -> UOp:
    """A node on its new sources; one that stands for memory has the type of that."""
    made = u.rebuild(tuple(rebuilt[s] for s in u.src))
    if u.op is Ops.VIEW and u.src[0] in pointers:
        return made.replace(dtype=made.src[0].dtype)
    return made
