"""Stage: what an inner loop reads again and again from far apart is first copied close together.

On a target with vector units and no work groups, a load inside a reduce that does not depend on the
innermost loop over outputs, and whose steps in the reduce are long or that has a gate, is done once
before that loop, into memory of its own in the order of use. The reduce then reads neighbours: the
panel of a matrix stays in cache and its lines do not fight for one set, and the margin of an image
is looked at once. Afterwards such loads come from DEFINE_LOCAL.
Never stages more than PANEL, nor memory that the kernel writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.dtype import AddrSpace
from core.helpers import prod
from core.passes.cost.traffic import FAR, PANEL, REPEATS
from core.passes.optimize.access import strides_of
from core.passes.view_index import ravel
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.engine.substitute import substitute
from core.uop.kernelinfo import AxisType, KernelInfo
from core.uop.patterns.rule import Assumes
from core.uop.pointer import pointer_of

_lanes = (AxisType.UPCAST, AxisType.UNROLL)


@rule(UPat(Ops.LOAD, name="load"), assumes=(Assumes.CONTEXT,))
def read_panel(ctx: Mapping[UOp, UOp], load: UOp) -> UOp | None:
    """load(p[i(k)]) -> for each k: panel[k] = load(p[i(k)]); load(panel[k])"""
    return ctx.get(load)


staging = PatternMatcher([read_panel], name="stage")


def stage(sink: UOp, target: Target) -> UOp:
    """The kernel with panels of far-apart memory copied before the loops that read them again."""
    info = sink.arg
    if (
        target.has_local
        or not target.simd_bytes
        or not isinstance(info, KernelInfo)
        or not info.opts
    ):
        return sink
    loops = [u for u in sink.toposort() if u.op is Ops.RANGE]
    outer = [r for r in loops if r.arg[1] in (AxisType.LOOP, AxisType.THREAD)]
    if not outer:
        return sink
    inner = max(outer, key=lambda r: (r.arg[1] is not AxisType.THREAD, r.arg[0]))
    written = {pointer_of(u.src[0]) for u in sink.toposort() if u.op is Ops.STORE}
    number = 1 + max(r.arg[0] for r in loops)
    panels: dict[UOp, UOp] = {}
    for load in _repeated(sink, inner):
        if pointer_of(load.src[0]) not in written and (own := _far(load)):
            panels[load] = _panel(load, own, number, len(panels))
            number += len(own)
    if not panels:
        return sink
    return graph_rewrite(sink, staging, panels, bottom_up=True, name="stage")


def _repeated(sink: UOp, inner: UOp) -> list[UOp]:
    """Loads that every pass of `inner` does alike inside a reduce."""
    if inner.src[0].op is not Ops.CONST or inner.src[0].arg < REPEATS:
        return []
    found: dict[UOp, None] = {}
    for red in sink.toposort():
        if red.op is Ops.REDUCE and inner in red.ranges:
            found.update(
                (u, None)
                for u in red.src[0].toposort()
                if u.op is Ops.LOAD and inner not in u.ranges
            )
    return list(found)


def _far(load: UOp) -> list[UOp]:
    """The reduce loops and lanes that the panel of a load is over, where its steps are long or
    it has a gate."""
    strides = strides_of(load.src[0].src[1])
    own = [r for r in load.ranges if r.arg[1] is AxisType.REDUCE or r.arg[1] in _lanes]
    steps = [strides[r] for r in own if r.arg[1] is AxisType.REDUCE]
    if any(r.src[0].op is not Ops.CONST for r in own):  # trimmed to a length: no panel of one size
        return []
    size = prod(r.src[0].arg for r in own) * load.dtype.itemsize
    if not steps or None in steps or size > PANEL:
        return []
    gated = len(load.src[0].src) == 3
    if not gated and any(abs(s or 0) * load.dtype.itemsize < FAR for s in steps):
        return []
    return sorted(own, key=lambda r: r.arg[0])


def _panel(load: UOp, own: Sequence[UOp], number: int, name: int) -> UOp:
    sizes = [r.src[0].arg for r in own]
    again = {
        r: UOp.range(n, number + i, r.arg[1] if r.arg[1] in _lanes else AxisType.LOOP)
        for i, (r, n) in enumerate(zip(own, sizes, strict=True))
    }
    pointer = load.dtype.ptr(prod(sizes), AddrSpace.LOCAL)
    panel = UOp(Ops.DEFINE_LOCAL, pointer, (), name)
    value = substitute(load, again, "stage: loops of the copy")
    copied = panel.index(ravel(list(again.values()), sizes)).store(value)
    ready = panel.after(copied.end(*again.values()))
    return ready.index(ravel(own, sizes)).load()
