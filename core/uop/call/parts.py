"""The memory of a value on several devices: one BUFFER for each of them.

A BUFFER on several devices stands for its parts, which live as long as it does. Never allocates.
"""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary, ref

from core.helpers import prod
from core.uop.ops import Ops
from core.uop.uop import UOp

_parts: Final[WeakKeyDictionary[UOp, tuple[UOp, ...]]] = WeakKeyDictionary()
_wholes: Final[WeakKeyDictionary[UOp, ref[UOp]]] = WeakKeyDictionary()


def parts_of(buffer: UOp) -> tuple[UOp, ...]:
    """The BUFFERs that a BUFFER is, in the order of its devices; of one device, itself."""
    devices = buffer.device
    if buffer.op is not Ops.BUFFER or not isinstance(devices, tuple):
        return (buffer,)
    found = _parts.get(buffer)
    if found is None:
        size = prod(buffer.arg) // len(devices) if isinstance(buffer.arg, tuple) else buffer.arg
        found = tuple(UOp.new_buffer(device, size, buffer.dtype) for device in devices)
        found = _parts.setdefault(buffer, found)  # another thread may have been first
        _wholes.update((part, ref(buffer)) for part in found)
    return found


def whole_of(part: UOp) -> UOp:
    """The BUFFER that a BUFFER is a part of; itself where it is none."""
    known = _wholes.get(part)
    found = None if known is None else known()
    return part if found is None else found
