"""`Tensor`: a lazy array. Operations build a graph of UOps; asking for values runs it.

The class is stacked from one layer per concern, each in a module of its own. A layer uses only
those before it, and so do the rooms that hold them, in this order: `calls` (arguments and user
lines), `state` (what a Tensor is), `running` (values, gradients, kernels by hand), `views`
(movement), `elements` (functions of single elements), `axes` (of whole axes), `neural` (of neural
networks).
"""

from __future__ import annotations

from core.tensor.calls.origin import mark_methods
from core.tensor.elements.shortcuts import Shortcuts
from core.tensor.inplace import InPlace

__all__ = ["Tensor"]


@mark_methods
class Tensor(InPlace, Shortcuts):
    """A lazy array of numbers on a device.

    `Tensor(data, device=None, dtype=None, requires_grad=None)`: `data` is a number, nested lists of
    numbers, a NumPy array, bytes (as uint8 unless `dtype` says otherwise), None (no elements), a
    UOp, another Tensor, or a Path. Numbers become constants in the kernels that use them; anything
    with axes is copied to the device at once. Python floats are float32 and ints int32 (int64 where
    they do not fit) unless `dtype` is given; arrays keep their dtype.

    A Path is the bytes of a file, or elements of `dtype`. They stay in the file, on a device
    `DISK:path`, where they are sliced, moved and bitcast, until they are copied with `to`; with
    `device`, they are copied there when they are computed.

    Nothing is computed before `realize`, `numpy`, `tolist`, `item` or `data`. Every operation marks
    the nodes it makes with the line of the user's program that called it.
    """

    __slots__ = ()
