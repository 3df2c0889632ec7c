"""Values on several devices: taken apart before all else, so that every kernel runs on one.

Afterwards no node is on several devices. Each step is a rewrite of its own: values and movement
become those of parts, allreduces become copies, and outputs get their memory.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.passes.schedule.multi.allreduce import Combined, combining
from core.passes.schedule.multi.movement import moving
from core.passes.schedule.multi.outputs import Outputs, stored_outputs, storing_parts
from core.passes.schedule.multi.values import taking_apart
from core.uop import Ops, UOp, graph_rewrite

__all__ = ["Outputs", "take_apart"]

_parts = taking_apart + moving


def take_apart(sink: UOp, order: Iterable[UOp]) -> tuple[UOp, Outputs]:
    """A graph of Tensors, whose nodes are `order`, without values on several devices, and where its
    outputs on several are.

    Raises DeviceError for a kernel written by hand that would run on several.
    """
    if not any(_on_several(u) for u in order):
        return sink, Outputs()
    graph = graph_rewrite(sink, _parts, name="multi")
    if any(u.op is Ops.ALLREDUCE for u in graph.toposort()):
        combined: Combined = {}
        graph = graph_rewrite(graph, combining, combined, name="allreduce")
    graph, outputs = stored_outputs(sink.src, graph)
    stored = graph_rewrite(graph, storing_parts, outputs, bottom_up=True, name="multi: outputs")
    return stored, outputs


def _on_several(u: UOp) -> bool:
    return u.op is Ops.MULTI or (u.op is Ops.DEVICE and isinstance(u.arg, tuple))
