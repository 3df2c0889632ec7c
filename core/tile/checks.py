"""What a tile kernel refuses: values that are no numbers, shapes or functions of elements, numbers
that differ between threads, and memory and loops that are used too early or too late.

Raises, and never makes a node.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import TypeGuard, cast

from core.dtype import ConstType, DType, PtrDType, dtypes
from core.errors import CompileError, DTypeError, ShapeError
from core.uop.kernelinfo import AxisType
from core.uop.ops import Ops
from core.uop.uop import UOp

LOOPS = (AxisType.LOOP, AxisType.REDUCE)
"""Kinds of the loops that a kernel opens and closes."""
READS = (Ops.LOAD, Ops.LDMATRIX)


def is_number(value: object) -> TypeGuard[ConstType]:
    """Whether a value is one real number, of Python or NumPy."""
    return isinstance(value, Real)


def check_number(what: str, value: object, dtype: DType) -> None:
    """Raises DTypeError where a value is no number, or none that an integer dtype can hold."""
    if not is_number(value):
        raise DTypeError(f"{what} {value!r}", hint="a number: 0, 1.5, -math.inf")
    if not dtypes.is_float(dtype) and not math.isfinite(float(value)):
        raise DTypeError(
            f"{what} {value!r} in a tile of {dtype}", hint="integers and bools are finite numbers"
        )
    if dtypes.is_int(dtype) and not dtypes.min(dtype) <= value <= dtypes.max(dtype):
        raise DTypeError(
            f"{what} {value!r} in a tile of {dtype}",
            hint=f"{dtype} holds {dtypes.min(dtype)} to {dtypes.max(dtype)}",
        )


def check_operand(value: object, dtype: DType) -> None:
    """Raises DTypeError for an operand of `map` that is neither a number nor a node of one."""
    if not isinstance(value, UOp):
        check_number("an operand", value, dtype)
    elif value.dtype.count != 1 or isinstance(value.dtype, PtrDType) or value.dtype is dtypes.void:
        raise DTypeError(
            f"an operand of map that is a node of {value.dtype}",
            hint="a node of one number, such as ker.gx; for each element: a tile or a vector",
        )


def check_function(what: str, function: object, count: int, given: str) -> Callable[..., object]:
    """`function`, which takes `count` values. Raises DTypeError for what does not."""
    if not callable(function):
        raise DTypeError(
            f"the function of {what} is {function!r}", hint=f"a function of {given}, of nodes"
        )
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError as error:
        raise DTypeError(
            f"the function of {what}: {error}",
            hint=f"it is called with {count} value{'s' * (count != 1)}: {given}",
        ) from None
    except ValueError:  # a builtin, whose signature is not known
        pass
    return function


def shape_of(shape: object, what: str) -> tuple[int, int]:
    """(rows, columns). Raises ShapeError for anything but two positive numbers."""
    if isinstance(shape, tuple | list):
        sides = cast("Sequence[object]", shape)
        if len(sides) == 2 and all(type(n) is int and n > 0 for n in sides):
            rows, columns = cast("Sequence[int]", sides)
            return rows, columns
    raise ShapeError(f"{what} of shape {shape!r}", hint="(rows, columns), positive numbers")


def check_index(what: str, value: object, of: str) -> None:
    """Raises ShapeError where a tile or stage is not numbered by an integer that is the same in all
    lanes of a warp."""
    whole = dtypes.is_int(value.dtype) if isinstance(value, UOp) else type(value) is int
    if not whole:
        raise ShapeError(f"{what} {value!r}{of}", hint="an int, or a node that is one")
    if isinstance(value, UOp) and _differs(value, AxisType.WARP):
        raise ShapeError(
            f"{what}{of}: it differs between the lanes of a warp",
            hint="the lanes of a warp share a tile: number tiles by work group, warp or loop",
        )


def check_length(count: UOp) -> None:
    """Raises ShapeError for a loop that some threads of a work group would go through more often
    than others, while these wait for them."""
    if _differs(count, AxisType.WARP, AxisType.LOCAL):
        raise ShapeError(
            "a loop whose length differs between the threads of a work group",
            hint="make it as long as any thread needs, and choose by map_indexed in it",
        )


def _differs(value: UOp, *kinds: AxisType) -> bool:
    """Whether a value depends on the number of a lane (WARP) or a warp (LOCAL)."""
    return any(r.arg[1] in kinds for r in value.ranges)


def check_loops(effect: UOp, known: Sequence[UOp]) -> None:
    """Raises CompileError for an effect that depends on the number of a loop that has ended."""
    for r in effect.ranges:
        if r.arg[1] in LOOPS and r not in known:
            raise CompileError(
                "the number of a loop is used after the loop has ended",
                hint="use it in the body of its for, or keep what it was in a tile",
            )


def check_written(effect: UOp, state: UOp, what: str) -> None:
    """Raises CompileError where an effect reads memory, which has the state `state` and that
    nothing was written to."""
    reads = (u.src[0] for u in effect.toposort() if u.op in READS)
    if any(place.op is Ops.INDEX and place.src[0] is state for place in reads):
        raise CompileError(
            f"{what} is read that nothing was written to",
            hint="load it, or give it a value before: ker.group.zero(tile)",
        )
