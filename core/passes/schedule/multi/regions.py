"""Any box of a value on several devices, on any device: shrunk from the parts that have it, copied
where they are elsewhere, and joined.

Builds graphs of values on one device each. Never decides how a result is cut.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

from core.dtype import dtypes
from core.uop import Ops, UOp
from core.uop.facts.shards import Box, all_of, along, share

_rearranging: Final = frozenset({Ops.RESHAPE, Ops.PERMUTE, Ops.FLIP})
"""Movement that has each element once."""


def names(x: UOp) -> tuple[str, ...]:
    """The devices of a MULTI, in order."""
    devices = x.device
    assert isinstance(devices, tuple), "a value in parts is on several devices"
    return devices


def multi(parts: Sequence[UOp], axis: int | None) -> UOp:
    """A value in parts."""
    return UOp(Ops.MULTI, parts[0].dtype, tuple(parts), axis)


def on(x: UOp, device: str) -> UOp:
    """A value on one device copied to another; itself if it is there already."""
    return x if x.device in (device, None) else x.copy_to_device(device)


def region(x: UOp, box: Box, device: str) -> UOp:
    """The elements of the MULTI `x` in a box, on a device."""
    axis, devices = x.arg, names(x)
    if axis is None:
        near = x.src[devices.index(device)] if device in devices else x.src[0]
        scattered = None if box == all_of(x.shaped) else _scattered(near, box, device)
        return on(near.shrink(box), device) if scattered is None else scattered
    length = x.shaped[axis] // len(devices)
    pieces: list[UOp] = []
    for number, part in enumerate(x.src):
        start, end = (min(max(b - number * length, 0), length) for b in box[axis])
        if start < end:
            pieces.append(on(part.shrink(along(box, axis, start, end)), device))
    if not pieces:
        return UOp.full(tuple(end - start for start, end in box), 0, x.dtype, device)
    return joined(pieces, axis)


def _scattered(x: UOp, box: Box, device: str) -> UOp | None:
    """The elements in a box of what an ALLREDUCE makes, combined of that box of each part alone: no
    device copies what it does not need. None where `x` is not an ALLREDUCE."""
    moves: list[UOp] = []
    while x.op in _rearranging:
        moves.append(x)
        x = x.src[0]
    if x.op is not Ops.MSELECT or x.src[0].op is not Ops.ALLREDUCE:
        return None
    pieces: list[UOp] = []
    for part in x.src[0].src:
        for move in reversed(moves):
            part = move.rebuild((part,))
        pieces.append(on(part.shrink(box), device))
    return functools.reduce(lambda a, b: a.alu(x.src[0].arg, b), pieces)


def joined(pieces: Sequence[UOp], axis: int) -> UOp:
    """Values on one device, one after the other along an axis, bit for bit."""
    total = sum(piece.shaped[axis] for piece in pieces)
    found, start = None, 0
    for piece in pieces:
        n = piece.shaped[axis]
        widths = along(((0, 0),) * len(piece.shaped), axis, start, total - start - n)
        start += n
        placed = piece.pad(widths)
        if found is None:
            found = placed
        else:
            device = piece.device
            assert isinstance(device, str), "a part is on a device"
            inside = UOp.full(piece.shaped, True, dtypes.bool, device).pad(widths)
            found = inside.where(placed, found)
    assert found is not None, "there is a piece"
    return found


def operand(x: UOp, axis: int | None, count: int) -> tuple[UOp, ...]:
    """The parts, for each of `count` devices, of a value that is to be cut along `axis`: of a
    MULTI, or of a value that is computed wherever it is used. A single element is not cut."""
    cut = axis if x.shape else None
    if x.op is Ops.MULTI:
        return parts(x, cut)
    if cut is None:
        return (x,) * count
    return tuple(x.shrink(share(all_of(x.shaped), cut, i, count)) for i in range(count))


def parts(x: UOp, axis: int | None) -> tuple[UOp, ...]:
    """The parts of a MULTI cut along `axis`, one for each of its devices: its own part where it is
    cut that way, else joined from the parts of others."""
    if x.arg == axis:
        return x.src
    devices = names(x)
    everything = all_of(x.shaped)
    boxes = (share(everything, axis, i, len(devices)) for i in range(len(devices)))
    return tuple(region(x, box, device) for box, device in zip(boxes, devices, strict=True))
