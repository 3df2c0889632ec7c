"""Texels: what a kernel stores to an image is four lanes at once, whatever opts it gets."""

from __future__ import annotations

from core.dtype import TEXEL
from core.passes.optimize.access import strides_of
from core.passes.optimize.kernel import OUTER, Kernel
from core.uop import Ops
from core.uop.kernelinfo import AxisType
from core.uop.pointer import image_of


def texel_lanes(kernel: Kernel) -> None:
    """Makes four neighbouring iterations of the loop that goes along texels lanes."""
    stores = [u for u in kernel.sink.toposort() if u.op is Ops.STORE]
    for store in stores:
        if image_of(store.src[0]) is None:
            continue
        steps = strides_of(store.src[0].src[1])
        for loop in kernel.loops(*OUTER):
            if steps.get(loop) == 1 and loop.src[0].arg % TEXEL == 0:
                kernel.split(loop, TEXEL, AxisType.UPCAST, False, "optimize: texels")
                break
