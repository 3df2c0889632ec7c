"""Checks a kernel from a stranger before it is compiled and run: that it is one, and that every
access that its views, or the offsets of its INDEXes, describe lies inside the memory it declares.

All addresses of a kernel come from these, so what passes here touches nothing else. An offset has
the bounds that its integers give it, so these have to be what their dtypes hold: 200 in 8 bits is
-56 on a processor. Never changes a kernel and never runs one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.dtype import AddrSpace, PtrDType, dtypes
from core.errors import RunError
from core.helpers import prod
from core.shape import ShapeTracker, View
from core.uop.call.givenkernel import check_node
from core.uop.kernelinfo import KernelInfo
from core.uop.kernels import is_lowered
from core.uop.ops import GroupOp, Ops
from core.uop.spec.ldmatrix import ROW
from core.uop.spec.spec import ast_spec, index_spec, verify
from core.uop.uop import UOp

MAX_BYTES: Final = 1 << 31
"""Most memory that all arguments of a kernel may take together: with them in the memory of the
device, and what the reference works with, they fit in `isolate.MEMORY_LIMIT`."""
MAX_OWN_BYTES: Final = 1 << 20
"""Most bytes of registers and shared memory that a kernel of loops may declare: the processor keeps
them on each thread's stack."""
BASE: Final = 1 << 30
"""Address space of a worker before it has arguments: Python, NumPy, LLVM and their threads."""


def check_kernel(ast: UOp, max_bytes: int = MAX_BYTES, *, inside: bool = True) -> None:
    """Raises RunError, or SpecError, where `ast` is not a kernel of shaped values or of loops,
    where an access may leave its memory, or where the arguments take more than `max_bytes`.
    `inside` false: a kernel of loops may have accesses of which that is not known, since it is only
    compiled, or run by a machine that checks every access."""
    check_node(ast, "check_kernel")
    lowered = is_lowered(ast)
    rooted = ast.op is Ops.SINK and ast.src
    if not rooted or not (lowered or all(s.op is Ops.STORE for s in ast.src)):
        raise _refused("its root is not a SINK of STOREs", ast)
    if ast.arg is not None and not isinstance(ast.arg, KernelInfo):
        raise _refused("its root has a foreign argument", ast)
    verify(ast, index_spec if lowered else ast_spec, "kernel AST")
    pointers: dict[int, UOp] = {}
    variables: dict[str, UOp] = {}
    for u in ast.toposort():
        if u.op is Ops.DEFINE_GLOBAL:
            if pointers.setdefault(u.arg, u) is not u:
                raise _refused(f"there are two arguments {u.arg}", u)
        elif u.op is Ops.VIEW:
            _check_view(u)
        elif u.op in (Ops.AFTER, Ops.NOOP) and (not u.src or u.dtype is not u.src[0].dtype):
            raise _refused(f"{u.op.name} of another dtype", u)
        elif u.op in (Ops.CONST, Ops.VCONST):
            _check_held(u, u.arg if isinstance(u.arg, tuple) else (u.arg,))
        elif u.op is Ops.SPECIAL:
            _check_held(u, u.bounds)
        elif u.op is Ops.DEFINE_VAR:
            name, *bounds = u.arg
            _check_held(u, bounds)
            if type(name) is not str or variables.setdefault(name, u) is not u:
                raise _refused(f"there are two variables {name!r}", u)
        elif lowered and u.op in (Ops.LOAD, Ops.STORE, Ops.LDMATRIX):
            _check_element(u, inside)
    if lowered:
        _check_own_memory(ast)
    total = argument_bytes(ast)
    if total > max_bytes:
        raise _refused(f"its arguments take {total} bytes, and {max_bytes} are allowed", ast)
    if sorted(pointers) != list(range(len(pointers))):
        raise _refused("its arguments are not numbered 0, 1, ...", ast)


def _check_held(u: UOp, values: Sequence[object]) -> None:
    """Integers are within the range of their dtype."""
    dtype = u.dtype.scalar()
    if not dtypes.is_int(dtype):
        return
    low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
    if not all(isinstance(v, int) and low <= v <= high for v in values):
        raise _refused(f"an integer that {dtype} does not hold", u)


def _check_element(u: UOp, inside: bool) -> None:
    """A LOAD, STORE or LDMATRIX is at one INDEX of memory, and, for `inside`, its offset has bounds
    there. A gate is no proof: it would have to be understood."""
    place = _after_what(u.src[0])
    pointer = _after_what(place.src[0]) if place.op is Ops.INDEX else place
    if place.op is not Ops.INDEX or pointer.op not in GroupOp.Defines:
        raise _refused("an access that is not at one INDEX of memory", u)
    if not inside:
        return
    value, offset = u.src[1] if u.op is Ops.STORE else u, place.src[1]
    lanes = ROW if u.op is Ops.LDMATRIX else value.dtype.count
    size = pointer.dtype.size if isinstance(pointer.dtype, PtrDType) else 0
    if offset.dtype.count != 1:
        raise _refused("an access at several offsets", u)
    low, high = int(offset.vmin), int(offset.vmax) + lanes - 1
    if low < 0 or high >= size:
        raise _refused(f"elements {low} to {high} of memory with {size}", u)


def _after_what(u: UOp) -> UOp:
    """What an AFTER or NOOP stands for."""
    while u.op in (Ops.AFTER, Ops.NOOP):
        u = u.src[0]
    return u


def _check_own_memory(ast: UOp) -> None:
    """Registers and shared memory are few; every address is built on memory by INDEX alone."""
    total = 0
    for u in ast.toposort():
        if u.op in (Ops.DEFINE_LOCAL, Ops.DEFINE_REG):
            size = u.dtype.size if isinstance(u.dtype, PtrDType) else -1
            if not 0 < size <= MAX_OWN_BYTES:
                raise _refused("memory of its own without a size, or with too large a one", u)
            total += size * u.dtype.base.itemsize
        elif u.op in (Ops.CAST, Ops.BITCAST, Ops.WMMA) and any(
            isinstance(s.dtype, PtrDType) for s in (u, *u.src)
        ):
            raise _refused("an address that is computed", u)
    if total > MAX_OWN_BYTES:
        raise _refused(f"it takes {total} bytes of memory of its own", ast)


def argument_bytes(ast: UOp) -> int:
    """Bytes of all arguments of a kernel together. Raises RunError where one has no size."""
    found = [u for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL]
    return sum(_elements(u) * u.dtype.base.itemsize for u in found)


def run_bytes(ast: UOp) -> int:
    """Bytes that a trial of a kernel holds throughout: its arguments twice, for the kernel and for
    the reference."""
    return 2 * argument_bytes(ast)


def _check_view(u: UOp) -> None:
    st, below = u.arg, u.src[0]
    if not isinstance(st, ShapeTracker):
        raise _refused("a VIEW without a ShapeTracker", u)
    while below.op is Ops.AFTER:
        below = below.src[0]
    size = _elements(below) if below.op is Ops.DEFINE_GLOBAL else prod(below.shape or ())
    for view in st.views:
        if not view.empty and (lowest_element(view) < 0 or view.real_size > size):
            raise _refused(
                f"a view of elements {lowest_element(view)}..{view.real_size - 1} in "
                f"memory of {size}",
                u,
            )
        size = view.size


def lowest_element(view: View) -> int:
    """The lowest flat position that a valid index of `view` reads."""
    return view.offset + sum(
        axis.stride * (axis.begin if axis.stride > 0 else axis.end - 1) for axis in view.axes
    )


def _elements(u: UOp) -> int:
    dtype = u.dtype
    if not isinstance(dtype, PtrDType) or dtype.addrspace is not AddrSpace.GLOBAL or dtype.size < 0:
        raise _refused("an argument is not a pointer of known size", u)
    if dtype.base.count != 1 or not dtype.base.itemsize:
        raise _refused("the elements of an argument are not scalars", u)
    return dtype.size


def _refused(what: str, u: UOp) -> RunError:
    return RunError(
        f"this kernel is not run: {what}",
        f"{u.op.name} {u.dtype} {u.origin or ''}",
        "it is damaged or was made to do harm",
    )
