"""The history of one node across passes: its ancestors back to the user's line, its descendants
down to the last pass of its kernel.

A walk over lineages (`lineage.py`), written a second time: what the page finds on the same data
(viz/web/src/data/lineage.ts) is compared with what this finds. Never guesses: where the lineage
ends, so does the history.
"""

from __future__ import annotations

from typing import Any, Final

from viz.views.runs.run import Run

MAX_ROWS: Final = 2000
MAX_SCOPES: Final = 4

Data = dict[str, Any]


def node_history(store: Run, node: int, rewrite: int, seconds: float) -> Data | None:
    """What happened to `node`, as seen in `rewrite`: {"done", "rows"}, oldest first; or how far it
    is where that takes longer than `seconds`. None for an unknown rewrite."""
    scope = store.scope_of(rewrite)
    if scope is None:
        return None
    lineage = store.lineage(scope, seconds)
    if lineage is None or not lineage["done"]:
        return lineage
    ids: list[int] = lineage["node"]["id"]
    if node not in ids:
        return {"done": True, "rows": []}
    here = ids.index(node)
    past, waits = _past(store, lineage, here, seconds)
    if waits is not None:
        return waits
    first = next((i for i, r in enumerate(lineage["event"]["rewrite"]) if r >= rewrite), 0)
    first = max(first, lineage["node"]["event"][here] + 1)
    future, waits = _future(store, lineage, here, first, seconds)
    return waits or {"done": True, "rows": (past + future)[:MAX_ROWS]}


def _past(store: Run, lineage: Data, at: int, seconds: float) -> tuple[list[Data], Data | None]:
    """From the node back to where it began, turned round; or how far a lineage is."""
    rows: list[Data] = []
    for _ in range(MAX_SCOPES):
        while (event := lineage["node"]["event"][at]) >= 0 and len(rows) < MAX_ROWS:
            rows.append(_row(lineage, event, at))
            at = lineage["event"]["old"][event]
        rows.append(_input(lineage, at))
        origin = lineage["from"]
        earlier = store.lineage(origin["scope"], seconds) if origin is not None else None
        if earlier is None:
            break
        if not earlier["done"]:
            return [], earlier
        ids: list[int] = earlier["node"]["id"]
        if lineage["node"]["id"][at] not in ids:
            break
        at, lineage = ids.index(lineage["node"]["id"][at]), earlier
    return rows[::-1], None


def _future(
    store: Run, lineage: Data, at: int, first: int, seconds: float
) -> tuple[list[Data], Data | None]:
    """What took the node's place, one after the other, from event `first` on, and on into the first
    kernel whose graph has it; or how far a lineage is."""
    rows: list[Data] = []
    for _ in range(MAX_SCOPES):
        old, new = lineage["event"]["old"], lineage["event"]["new"]
        for event in range(first, len(old)):
            if old[event] == at:
                at = new[event]
                rows.append(_row(lineage, event, at))
        node = lineage["node"]["id"][at]
        kernel = next((k for k in lineage["kernels"] if at in k["node"]), None)
        if kernel is None:
            break
        rows.append(_input(lineage, at) | {"rewrite": kernel["rewrite"]})
        later = store.lineage(kernel["scope"], seconds)
        if later is None or not later["done"]:
            return rows, later
        if node not in later["node"]["id"]:
            break
        at, lineage, first = later["node"]["id"].index(node), later, 0
    return rows, None


def _row(lineage: Data, event: int, node: int) -> Data:
    events, rule = lineage["event"], lineage["event"]["rule"][event]
    replaced = events["new"][event] == node
    kind = "rebuilt" if rule == -1 else "between" if rule < -1 else "became"
    return {
        "kind": kind if replaced else "created",
        "rewrite": events["rewrite"][event],
        "step": events["step"][event],
        "rule": rule,
        **_node(lineage, node),
    }


def _input(lineage: Data, node: int) -> Data:
    rewrite = lineage["node"]["rewrite"][node]
    return {"kind": "input", "rewrite": rewrite, "step": 0, "rule": -1, **_node(lineage, node)}


def _node(lineage: Data, node: int) -> Data:
    nodes = lineage["node"]
    line = nodes["line"][node]
    return {
        "node": nodes["id"][node],
        "op": lineage["ops"][nodes["op"][node]],
        "line": lineage["lines"][line] if line >= 0 else "",
    }
