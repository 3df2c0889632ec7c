"""The scheduler: a graph of Tensors becomes a list of kernels and copies, in order.

Lists the passes. Each is one named rewrite of the whole graph, except for the two that put finished
kernels in order and plan their memory. Never compiles and never runs anything.
"""

from __future__ import annotations

from core.garbage import collector_paused
from core.helpers import GRAPH, MEMORY_PLANNER, OPT, SPEC
from core.passes.schedule.consts import folding
from core.passes.schedule.copies import storage
from core.passes.schedule.graph import write_graph
from core.passes.schedule.group import group, storing
from core.passes.schedule.item import ScheduleItem
from core.passes.schedule.kernelize import Kernels, buffer_of, kernelizing
from core.passes.schedule.linearize import linearize
from core.passes.schedule.memory import plan_memory
from core.passes.schedule.merge import merges, merging
from core.passes.schedule.reduces import merging_reduces, reducing, shared_reduces, splitting
from core.passes.schedule.simplify_tensors import simplification
from core.passes.schedule.snapshots import snapshots, snapshotting
from core.passes.schedule.views import moved, view_algebra
from core.shape import ShapeTracker
from core.uop import GroupOp, Ops, PatternMatcher, UOp, graph_rewrite, track_rewrites
from core.uop.spec import tensor_spec, verify

Schedule = tuple[list[ScheduleItem], dict[UOp, UOp]]


def _name(result: Schedule, args: tuple[object, ...]) -> str:
    count = len(result[0])
    return f"schedule {count} kernel{'' if count == 1 else 's'}"


@collector_paused()
@track_rewrites(name=_name, kind="schedule")
def create_schedule(sink: UOp) -> Schedule:
    """The kernels and copies that compute the sources of `sink`, and where each will be.

    The map gives for each source of `sink` a movement of the BUFFER that holds its value after the
    schedule ran. Raises ScheduleError or DeviceError for a graph that cannot be cut into kernels.
    """
    graph = _pass(sink, simplification, "simplify tensors")
    views = view_algebra + folding + storage
    graph = _pass(graph, views + reducing if OPT.value >= 2 else views, "views")
    shared = shared_reduces(graph)
    graph = _pass(graph, merging_reduces + view_algebra, "reduces: merge", shared)
    if OPT.value >= 2:
        graph = _pass(graph, splitting + view_algebra, "reduces: split")
    graph = _pass(graph, storing, "group", group(graph))
    notes = Kernels()
    graph = graph_rewrite(graph, kernelizing, notes, name="kernelize")
    if (copies := snapshots(graph, notes)) is not None:
        graph = graph_rewrite(graph, snapshotting, copies, bottom_up=True, name="snapshots")
    if OPT.value >= 3:
        graph = graph_rewrite(graph, merging, merges(graph, notes), bottom_up=True, name="merge")
    items = linearize(graph, notes)
    realized = {old: realized_form(old, new) for old, new in zip(sink.src, graph.src, strict=True)}
    if MEMORY_PLANNER.value:
        kept = {u.base for u in realized.values()}
        items = plan_memory(items, [buffer for buffer in notes.fresh if buffer not in kept])
    if GRAPH:
        write_graph(items, GRAPH.value)
    return items, realized


def _pass(graph: UOp, rules: PatternMatcher, name: str, ctx: set[UOp] | None = None) -> UOp:
    """One rewrite of the whole graph, verified where SPEC asks for it. With a `ctx` of nodes of the
    graph, users come first, so that rules meet these nodes before they are rewritten."""
    graph = graph_rewrite(graph, rules, ctx, bottom_up=ctx is not None, name=name)
    if SPEC:
        verify(graph, tensor_spec, name)
    return graph


def realized_form(root: UOp, stored: UOp) -> UOp:
    """`root` as movement ops on the BUFFER that `stored`, its form after kernelize, reads.

    The movements are the user's own where they lead to the same elements; else they are a VIEW.
    """
    memory = buffer_of(stored.base)
    st = stored.arg if stored.op is Ops.VIEW else ShapeTracker.from_shape(stored.shaped)
    if memory.op not in (Ops.BUFFER, Ops.BUFFER_VIEW):
        return stored  # a result without elements, or a constant that needs no memory
    if st.contiguous and st.size == memory.size:
        return memory.reshape(root.shaped)
    moves: list[UOp] = []
    bottom = root
    while bottom.op in GroupOp.Movement or bottom.op is Ops.ASSIGN:
        if bottom.op is not Ops.ASSIGN:
            moves.append(bottom)
        bottom = bottom.src[0]
    if bottom.size == memory.size:
        form, tracker = memory.reshape(bottom.shaped), ShapeTracker.from_shape(bottom.shaped)
        for move in reversed(moves):
            form, tracker = move.rebuild((form,)), moved(tracker, move)
        if tracker == st:
            return form
    return memory.view(st)
