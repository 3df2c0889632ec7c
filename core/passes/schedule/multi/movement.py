"""Movement of values on several devices: on each part where all that it needs is there, else of
what the devices copy from each other.

A result stays cut where its parts are alike; otherwise each device has all of it.
"""

from __future__ import annotations

from core.passes.schedule.multi.regions import multi, names, on, parts, region
from core.uop import Ops, PatternMatcher, UOp, UPat, rule
from core.uop.facts.shapes import part_shape
from core.uop.facts.shards import Box, along, share, stays

_multi = UPat(Ops.MULTI, name="x")


@rule(UPat((Ops.RESHAPE, Ops.EXPAND), src=(_multi,), name="m"))
def reshape_in_parts(m: UOp, x: UOp) -> UOp:
    """reshape(multi(a, b)) -> multi(reshape(a), reshape(b)) where an axis can be cut at the same
    elements; else each device reshapes all of it"""
    shape = part_shape(m.shaped, m.axis, len(x.src))
    own = x.src if stays(m) else parts(x, None)
    move = UOp.reshape if m.op is Ops.RESHAPE else UOp.expand
    return multi([move(part, shape) for part in own], m.axis)


@rule(UPat(Ops.PERMUTE, src=(_multi,), name="m"))
def permute_in_parts(m: UOp, x: UOp) -> UOp:
    """permute(multi(a, b)) -> multi(permute(a), permute(b)), cut where the axis is now"""
    return multi([part.permute(m.arg) for part in x.src], m.axis)


@rule(UPat(Ops.FLIP, src=(_multi,), name="m"))
def flip_in_parts(m: UOp, x: UOp) -> UOp:
    """flip(multi(a, b)) -> multi(flip(a), flip(b)); along the axis that is cut: multi(flip(b),
    flip(a)), each copied to the other device"""
    flipped = [part.flip(m.arg) for part in x.src]
    if not stays(m):
        flipped = [on(part, name) for part, name in zip(flipped[::-1], names(x), strict=True)]
    return multi(flipped, m.axis)


@rule(UPat(Ops.SHRINK, src=(_multi,), name="m"))
def shrink_in_parts(m: UOp, x: UOp) -> UOp:
    """shrink(multi(a, b)) -> multi(shrink(a), shrink(b)); along the axis that is cut, what is
    left is shared out anew, or on all devices where they do not divide it"""
    if stays(m):
        bounds = m.arg if x.arg is None else along(m.arg, x.arg, 0, x.src[0].shaped[x.arg])
        return multi([part.shrink(bounds) for part in x.src], m.axis)
    return _shared_out(m, x, m.arg)


@rule(UPat(Ops.PAD, src=(_multi,), name="m"))
def pad_in_parts(m: UOp, x: UOp) -> UOp:
    """pad(multi(a, b)) -> multi(pad(a), pad(b)); along the axis that is cut, it is shared out
    anew, or on all devices where they do not divide it"""
    if stays(m):
        return multi([part.pad(m.arg) for part in x.src], m.axis)
    return _shared_out(m, x, tuple((-b, n + e) for (b, e), n in zip(m.arg, x.shaped, strict=True)))


def _shared_out(m: UOp, x: UOp, box: Box) -> UOp:
    """A SHRINK or PAD, the elements of `x` in a box that may reach beyond them."""
    devices = names(x)
    boxes = [share(box, m.axis, i, len(devices)) for i in range(len(devices))]
    return multi([_padded(x, own, d) for own, d in zip(boxes, devices, strict=True)], m.axis)


def _padded(x: UOp, box: Box, device: str) -> UOp:
    """The elements of `x` in a box, and zeros where it reaches beyond them."""
    sides = list(zip(box, x.shaped, strict=True))
    inside = tuple((min(max(b, 0), n), min(max(e, 0), n)) for (b, e), n in sides)
    if any(b == e for b, e in inside):
        return UOp.full(tuple(e - b for b, e in box), 0, x.dtype, device)
    widths = ((lo - b, e - hi) for (b, e), (lo, hi) in zip(box, inside, strict=True))
    return region(x, inside, device).pad(widths)


@rule(UPat(Ops.BITCAST, src=(_multi,), name="m"))
def resize_in_parts(m: UOp, x: UOp) -> UOp:
    """bitcast(multi(a, b)) to elements of another size -> multi(bitcast(a), bitcast(b)), of all of
    it on each device where its parts are no whole elements"""
    own = x.src if stays(m) else parts(x, None)
    return multi([m.rebuild((part,)) for part in own], m.axis)


@rule(UPat(Ops.VIEW, src=(_multi,), name="m"))
def view_everywhere(m: UOp, x: UOp) -> UOp:
    """view(multi(a, b)) -> multi(view(all of it), view(all of it))"""
    return multi([part.view(m.arg) for part in parts(x, None)], None)


moving = PatternMatcher(
    [
        reshape_in_parts,
        permute_in_parts,
        flip_in_parts,
        shrink_in_parts,
        pad_in_parts,
        resize_in_parts,
        view_everywhere,
    ],
    name="multi: movement",
)
