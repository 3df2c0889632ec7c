"""The pass of a trace, so that a worker can run it again up to one node: its kernel or graph of
Tensors, and which of its rewrites it is. Never runs it.
"""

from __future__ import annotations

from typing import Any, Final

from core.target import targets
from viz.budget import part
from viz.coredialect.flags import COMPILING, SCHEDULING, flags_in, machine_in
from viz.coredialect.graph import graph_data
from viz.format.cells import as_text
from viz.why.subject import Subject

FLAGS: Final = (*COMPILING, *SCHEDULING)
"""Those that a pass depends on."""
MAX_GRAPH: Final = 200_000
"""Nodes of a kernel or schedule that is run again."""


def pass_request(subject: Subject) -> dict[str, Any] | str:
    """What a worker needs to run the pass again; or why it cannot. Raises BudgetError."""
    rewrite, file = subject.rewrite, subject.file
    context = file.contexts.get(rewrite.context)
    kind = "" if context is None else context.kind
    if context is None or kind not in ("kernel", "schedule"):
        return "it takes what its pass hands to it, and this pass is of no kernel and no schedule"
    same = [one for one in file.rewrites.values() if one.context == rewrite.context]
    target = as_text(context.meta.get("target"), 200)
    if kind == "schedule":
        root = min(same, key=lambda one: one.id).sink
    else:
        if target not in targets:
            return f"it takes what its pass hands to it, and there is no target {target!r} here"
        root = subject.process.kernels.ast(context)
    order = file.nodes.reachable(root) if root else []
    if not order:
        return "it takes what its pass hands to it, and the trace has no graph to run that on"
    if len(order) > MAX_GRAPH:
        return f"it takes what its pass hands to it, and that has more than {MAX_GRAPH:,} nodes"
    with part(1 / 2):
        graph = graph_data(file, order)
    before = sum(one.name == rewrite.name and one.id < rewrite.id for one in same)
    return {
        "kind": kind,
        "graph": graph,
        "target": target,
        "flags": {**flags_in(file.meta.get("flags"), FLAGS), **machine_in(context.meta)},
        "rewrite": rewrite.name,
        "before": before,
    }
