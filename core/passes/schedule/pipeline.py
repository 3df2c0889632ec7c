"""The scheduler: a graph of Tensors becomes a list of kernels and copies, in order.

`PASSES` is the list. Each pass is one named rewrite of the whole graph. Two steps that are none
follow: they put finished kernels in order and plan their memory. Never compiles and never runs
anything.
"""

from __future__ import annotations

from typing import Final

from core.garbage import collector_paused
from core.helpers import GRAPH, MEMORY_PLANNER, OPT
from core.passes.contract import Pass, run_table
from core.passes.schedule import guarantees
from core.passes.schedule.copies import storage
from core.passes.schedule.disk import reading_files
from core.passes.schedule.graph import write_graph
from core.passes.schedule.grouping.fuse import marks, unmarking
from core.passes.schedule.grouping.group import Decisions, group
from core.passes.schedule.grouping.merge import merges, merging
from core.passes.schedule.grouping.storing import storing
from core.passes.schedule.item import ScheduleItem
from core.passes.schedule.kernels.kernelize import (
    Kernels,
    between_kernels,
    buffer_of,
    kernelizing,
    version_of,
)
from core.passes.schedule.kernels.snapshots import snapshots, snapshotting
from core.passes.schedule.kernels.views import moved, view_algebra
from core.passes.schedule.lengths import cutting, reduced_lengths
from core.passes.schedule.linearize import item_of, ordered
from core.passes.schedule.memoryplan import plan_memory
from core.passes.schedule.multi import take_apart
from core.passes.schedule.report import grouping_report, memory_report, order_report
from core.passes.schedule.simplify.consts import folding
from core.passes.schedule.simplify.reduces import (
    merging_reduces,
    reducing,
    shared_reduces,
    splitting,
)
from core.passes.schedule.simplify.repeats import repeats
from core.passes.schedule.simplify.simplify_tensors import simplification
from core.passes.schedule.unread import storing_less, unread
from core.shape import ShapeTracker
from core.uop import GroupOp, Ops, UOp, graph_rewrite, track_rewrites
from core.uop.engine.asking import asked_for_kernel, scheduled, working
from core.uop.engine.observe import attached
from core.uop.spec.spec import tensor_spec

Schedule = tuple[list[ScheduleItem], dict[UOp, UOp]]

_VALUES: Final = "the value of every output"
_KERNELS: Final = "the value of every output, and what each of the other kernels does"


def _multi(graph: UOp, notes: Kernels) -> UOp:
    graph, notes.outputs = take_apart(graph, notes.order_of(graph))
    return graph


def _lengths(graph: UOp, notes: Kernels) -> UOp:
    if (reduced := reduced_lengths(graph, notes.order_of(graph))) is None:
        return graph
    notes.lengths = [root.lengths for root in graph.src]
    return graph_rewrite(graph, cutting, reduced, bottom_up=True, name="lengths")


def _simplify_tensors(graph: UOp, notes: Kernels) -> UOp:
    return graph_rewrite(graph, simplification, name="simplify tensors")


_algebra: Final = view_algebra + folding + reading_files + storage + marks
_algebra_and_reduces: Final = _algebra + reducing + repeats
_splitting: Final = splitting + view_algebra
_merging_reduces: Final = merging_reduces + view_algebra


def _views(graph: UOp, notes: Kernels) -> UOp:
    rules = _algebra_and_reduces if OPT.value >= 2 else _algebra
    return graph_rewrite(graph, rules, name="views")


def _merge_reduces(graph: UOp, notes: Kernels) -> UOp:
    order = notes.order_of(graph)
    if not any(u.op is Ops.REDUCE_AXIS for u in order):
        return graph
    shared = shared_reduces(order)
    return graph_rewrite(graph, _merging_reduces, shared, bottom_up=True, name="reduces: merge")


def _split_reduces(graph: UOp, notes: Kernels) -> UOp:
    if not any(u.op is Ops.REDUCE_AXIS for u in notes.order_of(graph)):
        return graph
    return graph_rewrite(graph, _splitting, name="reduces: split")


def _fuse(graph: UOp, notes: Kernels) -> UOp:
    if not any(u.op is Ops.FUSE for u in notes.order_of(graph)):
        return graph
    return graph_rewrite(graph, unmarking, notes.fused, name="fuse")


def _group(graph: UOp, notes: Kernels) -> UOp:
    if (observer := attached()) is None:
        stored = group(graph, notes.order_of(graph), notes.fused)
    else:
        decisions: Decisions = {}
        stored = group(graph, notes.order_of(graph), notes.fused, decisions)
        observer.artifact("grouping", "", *grouping_report(graph, decisions), {})
    return graph_rewrite(graph, storing, stored, bottom_up=True, name="group")


def _kernelize(graph: UOp, notes: Kernels) -> UOp:
    return graph_rewrite(graph, kernelizing, notes, gate=between_kernels, name="kernelize")


def _snapshots(graph: UOp, notes: Kernels) -> UOp:
    if (copies := snapshots(graph, notes)) is None:
        return graph
    return graph_rewrite(
        graph, snapshotting, copies, bottom_up=True, gate=between_kernels, name="snapshots"
    )


def _merge(graph: UOp, notes: Kernels) -> UOp:
    merged = merges(graph, notes)
    return graph_rewrite(graph, merging, merged, bottom_up=True, gate=between_kernels, name="merge")


def _unread(graph: UOp, notes: Kernels) -> UOp:
    if not any(notes.lengths) or not (lesser := unread(graph, notes)):
        return graph
    return graph_rewrite(
        graph, storing_less, lesser, bottom_up=True, gate=between_kernels, name="unread"
    )


PASSES: Final[tuple[Pass[Kernels], ...]] = (
    Pass(
        "multi",
        _multi,
        "the value of every output, up to the order in which reduces combine",
        "no value is on several devices: each has its part, and what it needs of others is copied",
        tensor_spec,
        gone=(Ops.MULTI, Ops.MSELECT, Ops.ALLREDUCE),
    ),
    Pass(
        "lengths",
        _lengths,
        "the value of every output before its lengths",
        "no length is a variable: reduces choose what counts",
        tensor_spec,
        (Ops.LENGTH,),
    ),
    Pass(
        "simplify tensors",
        _simplify_tensors,
        _VALUES,
        "nothing that needs no kernel: empty tensors, detached and repeated copies, movements that "
        "do nothing",
        tensor_spec,
        (Ops.DETACH, Ops.CONTIGUOUS_BACKWARD, Ops.DERIVATIVE),
    ),
    Pass(
        "views",
        _views,
        _VALUES,
        "between two other nodes stands at most one VIEW; constants are folded; what exactly is "
        "stored and copied is decided; a reduce of repeated elements is arithmetic",
        tensor_spec,
        leaves=(guarantees.VIEWS, guarantees.ONE_VIEW),
    ),
    Pass(
        "reduces: merge",
        _merge_reduces,
        "values up to the order in which reduces combine",
        "a reduce of a reduce of one op, through views that reorder elements, is one reduce where "
        "nothing else uses the inner one",
        tensor_spec,
    ),
    Pass(
        "reduces: split",
        _split_reduces,
        "values up to the order in which reduces combine",
        "reduces of at least `SPLIT_REDUCE` elements are two reduces where that is faster",
        tensor_spec,
        runs=lambda: OPT.value >= 2,
    ),
    Pass(
        "fuse",
        _fuse,
        _VALUES,
        "no value is marked by FUSE; which ones were is known to `group`",
        tensor_spec,
        (Ops.FUSE,),
    ),
    Pass(
        "group",
        _group,
        _VALUES,
        "what has to be memory between two kernels is CONTIGUOUS",
        tensor_spec,
    ),
    Pass(
        "kernelize",
        _kernelize,
        _VALUES,
        "the graph between buffers consists of KERNEL nodes alone; each kernel's AST satisfies "
        "`ast_spec`",
        gone=(Ops.CONTIGUOUS, Ops.ASSIGN),
        leaves=(guarantees.KERNELS,),
    ),
    Pass(
        "snapshots",
        _snapshots,
        _KERNELS,
        "some order of the kernels is right: a kernel that needs memory as it was before another "
        "one overwrote it, where no order gives that, reads a copy",
    ),
    Pass(
        "merge",
        _merge,
        _KERNELS,
        "elementwise assignments over one shape, and the reduce that they read, are one kernel "
        "with several outputs",
        runs=lambda: OPT.value >= 3,
    ),
    Pass(
        "unread",
        _unread,
        "all that an output or another kernel reads",
        "memory that the schedule made is not written behind a length that no reader goes beyond",
    ),
)
"""Each pass with its contract; the rows of docs/passes.md are made of it."""


def _name(result: Schedule, args: tuple[object, ...]) -> str:
    items, _ = result
    copies = sum(item.ast.op is Ops.COPY for item in items)
    kernels = len(items) - copies
    parts = [_counted(kernels, "kernel", "kernels")] if kernels or not copies else []
    parts += [_counted(copies, "copy", "copies")] if copies else []
    return f"schedule {', '.join(parts)}"


def _counted(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def run_passes(
    sink: UOp, notes: Kernels | None = None, start: str | None = None, stop: str | None = None
) -> UOp:
    """The graph of Tensors after the passes from `start` to `stop`, both included (None: from the
    first, to the last). `notes` are filled by `kernelize`, and read by the passes after it.

    Raises CompileError for a name that is no pass, ScheduleError or DeviceError for a graph that
    cannot be cut into kernels.
    """
    return run_table(PASSES, sink, Kernels() if notes is None else notes, start, stop)


@collector_paused()
@track_rewrites(name=_name, kind="schedule")
def create_schedule(sink: UOp) -> Schedule:
    """The kernels and copies that compute the sources of `sink`, and where each will be.

    The map gives for each source of `sink` a movement of the BUFFER that holds its value after the
    schedule ran. Raises ScheduleError or DeviceError for a graph that cannot be cut into kernels.
    """
    notes = Kernels()
    with working():
        graph = run_passes(sink, notes)
    kernels, before = ordered(graph, notes)
    for k in kernels:
        if lines := notes.lines_of(k):
            asked_for_kernel(k.src[0], lines.get)
    scheduled(sink)
    items = [item_of(k, notes) for k in kernels]
    observer = attached()
    realized = _realized(sink, graph, notes)
    temporary: list[UOp] = []
    planned = items
    if MEMORY_PLANNER.value:
        kept = {version_of(buffer_of(u.base)) for u in graph.src}
        temporary = [buffer for buffer in notes.fresh if buffer not in kept]
        planned = plan_memory(items, temporary)
    if observer is not None and items:
        observer.artifact("order", "", *order_report(kernels, before, notes, planned), {})
        if MEMORY_PLANNER.value:
            observer.artifact("memory", "", *memory_report(items, planned, temporary), {})
    items = planned
    if GRAPH:
        write_graph(items, sink, GRAPH.value)
    return items, realized


def _realized(sink: UOp, graph: UOp, notes: Kernels) -> dict[UOp, UOp]:
    """For each source of `sink`, movement of the BUFFER that holds its value."""
    stored = iter(graph.src)
    realized: dict[UOp, UOp] = {}
    for root in sink.src:
        if root in notes.outputs.forms:
            realized[root], count = notes.outputs.forms[root]
            for _ in range(count):
                next(stored)
        else:
            realized[root] = realized_form(root, next(stored))
        for axis, n in root.lengths:
            realized[root] = realized[root].length(axis, n)
    return realized


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
