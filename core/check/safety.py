"""Checks a kernel AST from a stranger before it is compiled and run: that it is one, and that every
access that its views describe lies inside the memory it declares.

All addresses of a kernel come from its views, so what passes here touches nothing else. Never
changes an AST and never runs one.
"""

from __future__ import annotations

from typing import Final

from core.dtype import AddrSpace, PtrDType
from core.errors import RunError
from core.helpers import prod
from core.shape import ShapeTracker, View
from core.uop.kernelinfo import KernelInfo
from core.uop.ops import Ops
from core.uop.spec import ast_spec, verify
from core.uop.uop import UOp

MAX_BYTES: Final = 1 << 31
"""Most memory that all arguments of a kernel may take together: with them in the memory of the
device, and what the reference works with, they fit in `isolate.MEMORY_LIMIT`."""
BASE: Final = 1 << 30
"""Address space of a worker before it has arguments: Python, NumPy, LLVM and their threads."""


def check_kernel(ast: UOp, max_bytes: int = MAX_BYTES) -> None:
    """Raises RunError, or SpecError, where `ast` is not the AST of a kernel, where a view leaves
    its memory, or where the arguments take more than `max_bytes`."""
    if ast.op is not Ops.SINK or not ast.src or any(s.op is not Ops.STORE for s in ast.src):
        raise _refused("its root is not a SINK of STOREs", ast)
    if ast.arg is not None and not isinstance(ast.arg, KernelInfo):
        raise _refused("its root has a foreign argument", ast)
    verify(ast, ast_spec, "kernel AST")
    pointers: dict[int, UOp] = {}
    for u in ast.toposort():
        if u.op is Ops.DEFINE_GLOBAL:
            if pointers.setdefault(u.arg, u) is not u:
                raise _refused(f"there are two arguments {u.arg}", u)
        elif u.op is Ops.VIEW:
            _check_view(u)
        elif u.op is Ops.AFTER and (not u.src or u.dtype is not u.src[0].dtype):
            raise _refused("an AFTER of another dtype", u)
    total = argument_bytes(ast)
    if total > max_bytes:
        raise _refused(f"its arguments take {total} bytes, and {max_bytes} are allowed", ast)
    if sorted(pointers) != list(range(len(pointers))):
        raise _refused("its arguments are not numbered 0, 1, ...", ast)


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
