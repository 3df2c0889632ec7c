"""Sizes of views, grids and loops: numbers, or integers that are given at launch.

The latter are made of variables and constants. Arithmetic of both alike; never makes memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias, cast

from core.dtype import dtypes
from core.helpers import ceildiv
from core.uop.ops import Ops
from core.uop.uop import UOp

Size: TypeAlias = "int | UOp"
"""A number, or one that is given at launch."""

A_SIZE: Final = (
    "a positive number or made of a UOp.variable that is never negative and has no value yet: "
    "that is given at launch"
)
"""What `is_size` takes, for hints."""


def is_size(value: object) -> bool:
    """Whether a value is a positive number, or made of variables that are not bound and never
    negative."""
    if not isinstance(value, UOp):
        return type(value) is int and value > 0
    nodes = value.toposort()
    leaves = {u.op for u in nodes if not u.src}
    whole = dtypes.is_int(value.dtype) and value.dtype.count == 1
    given = Ops.DEFINE_VAR in leaves <= {Ops.DEFINE_VAR, Ops.CONST}
    return whole and given and all(u.op is not Ops.BIND for u in nodes) and value.vmin >= 0


def most(value: Size) -> int:
    """The largest that a size may be."""
    return int(value.vmax) if isinstance(value, UOp) else value


def as_index(value: Size) -> UOp:
    """A size as an index."""
    if isinstance(value, UOp):
        return value.cast(dtypes.index)
    return UOp.const(dtypes.index, value)


def blocks(value: Size, each: int) -> Size:
    """How many blocks of `each` it takes."""
    return (value + (each - 1)) // each if isinstance(value, UOp) else ceildiv(value, each)


def named(what: str, *sizes: Size) -> str:
    """The name of a kernel for sizes; variables stand for their values."""
    return "_".join([what, *(s.arg[0] if isinstance(s, UOp) else str(s) for s in sizes)])


def shown(sizes: object) -> str:
    """Sizes as they are written, for messages."""
    if not isinstance(sizes, tuple | list):
        return repr(sizes)
    each = cast("Sequence[object]", sizes)
    texts = [s.render() if isinstance(s, UOp) else repr(s) for s in each]
    return f"({', '.join(texts)}{',' * (len(texts) == 1)})"
