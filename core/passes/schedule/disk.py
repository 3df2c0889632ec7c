"""Values in files: a copy reads the part of the file that it needs, and all else happens after it,
on the device that it copies to.

Decides nothing about other devices.
"""

from __future__ import annotations

from core.shape import ShapeTracker, View
from core.uop import Ops, PatternMatcher, UOp, UPat, rule
from core.uop.node import DeviceName


def is_disk(device: DeviceName | None) -> bool:
    """Whether the device only stores: it cannot run a kernel."""
    return isinstance(device, str) and device.startswith("DISK")


@rule(UPat(Ops.COPY, src=(UPat(Ops.BITCAST, src=(UPat.var("x"),), name="b"), UPat(name="device"))))
def copy_of_file_bitcast(b: UOp, x: UOp, device: UOp) -> UOp | None:
    """copy(bitcast(x)) -> bitcast(copy(x)) where x is in a file, from any byte on"""
    return x.copy_to_device(device.arg).bitcast(b.dtype) if is_disk(x.device) else None


_file = UPat((Ops.BUFFER, Ops.BUFFER_VIEW), name="x")


@rule(UPat(Ops.COPY, src=(UPat(Ops.VIEW, src=(_file,), name="v"), UPat(name="device"))))
def copy_of_file_part(v: UOp, x: UOp, device: UOp) -> UOp | None:
    """copy(view(file)) -> view(copy(what lies between the first and the last element of it))"""
    if not is_disk(x.device):
        return None
    first, last = _reach(v.arg.views[0])
    size = last - first + 1
    if size == x.size:
        return None
    memory, start = (x, 0) if x.op is Ops.BUFFER else (x.src[0], x.arg[1])
    part = UOp(Ops.BUFFER_VIEW, x.dtype, (memory,), (size, start + first))
    inner = v.arg.views[0]
    moved = View.create(inner.shape, inner.strides, inner.offset - first, inner.mask)
    return part.copy_to_device(device.arg).view(ShapeTracker((moved, *v.arg.views[1:])))


def _reach(view: View) -> tuple[int, int]:
    """The first and the last place in memory of a view's elements, of which there are some."""
    first = last = view.offset
    ends = view.mask or tuple((0, n) for n in view.shape)
    for (start, end), stride in zip(ends, view.strides, strict=True):
        places = (start * stride, (end - 1) * stride)
        first, last = first + min(places), last + max(places)
    return first, last


reading_files = PatternMatcher([copy_of_file_bitcast, copy_of_file_part], name="reading files")
