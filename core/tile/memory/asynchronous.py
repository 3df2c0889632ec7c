"""What can be loaded asynchronously: bytes as they are, in pieces of a few sizes.

The same for every target, so that a program that one takes is right on all. Never makes a node.
"""

from __future__ import annotations

import math

from core.dtype import ConstType
from core.errors import DTypeError, ShapeError
from core.target import COPIED
from core.tile.memory.addresses import whole_pieces
from core.tile.tiles import GL, ST, Window
from core.uop.uop import UOp


def piece_bytes(dst: ST, gl: GL) -> int:
    """How many bytes of a view are copied to a shared tile at once."""
    return whole_pieces(dst, gl) * dst.dtype.itemsize


def copies(dst: ST, gl: GL) -> bool:
    """Whether a shared tile can be loaded from a view asynchronously."""
    return dst.dtype is gl.dtype and piece_bytes(dst, gl) in COPIED


def check_copied(dst: ST, src: Window, fill: ConstType) -> None:
    """Raises DTypeError where elements would be converted on the way, ShapeError where they would
    be something else than 0 outside of the view, or where pieces have a size that is not copied."""
    gl, what = src.gl, "an asynchronous load"
    if dst.dtype is not gl.dtype:
        raise DTypeError(
            f"{what} of {gl.dtype} to a tile of {dst.dtype}",
            hint=f"bytes are copied as they are: make the tile {gl.dtype}, and convert registers",
        )
    if fill != 0 or math.copysign(1.0, fill) < 0:
        raise ShapeError(
            f"{what} with fill={fill!r}",
            hint="what is outside of the view becomes 0: fill registers, or load without it",
        )
    found = piece_bytes(dst, gl)
    if found not in COPIED:
        item, columns = dst.dtype.itemsize, gl.shape[3]
        shown = "a variable number of" if isinstance(columns, UOp) else str(columns)
        needed = COPIED[0] // item
        raise ShapeError(
            f"{what} in pieces of {found} bytes: rows of {shown} elements of {item} bytes, to a "
            f"tile with {dst.columns} columns",
            hint=f"{', '.join(map(str, COPIED))} bytes are copied at once: make both numbers "
            f"multiples of {needed}, or load without it",
        )
