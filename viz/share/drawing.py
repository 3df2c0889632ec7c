"""What a picture of a pass shows: its input graph, or what one step changed, as nodes and edges.

Colors and signs are those of the page: removed red and dashed, added green and thick, moved amber.
Never lays out a graph. Names of nodes are made of numbers, so that no text of a trace or an export
becomes one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from core.errors import TraceError
from viz.replay.graphtext import State, node_text, roles, states

MAX_LABEL: Final = 120


class Look(NamedTuple):
    """Color, style of Graphviz, and the sign before the label."""

    color: str
    style: str
    sign: str


REMOVED: Final = Look("#a81c12", "dashed", "- ")
ADDED: Final = Look("#07765a", "bold", "+ ")
MOVED: Final = Look("#a06c00", "solid", "~ ")
PLAIN: Final = Look("#57606a", "solid", "")
ORDER: Final = Look("#57606a", "dotted", "")
"""Of an edge from what only comes before its user."""


class Node(NamedTuple):
    """A node of the picture."""

    name: str
    label: str
    look: Look


class Edge(NamedTuple):
    """An edge, from the name of a source to that of its user."""

    source: str
    user: str
    look: Look


class Drawing(NamedTuple):
    """All of a picture."""

    title: str
    nodes: list[Node]
    edges: list[Edge]


def drawing(bundle: Mapping[str, Any], step: int) -> Drawing:
    """What step `step` (from 1) changed, in one graph: what is there after it, and what it removed.
    Step 0 is the input graph. Raises TraceError for a step that there is not."""
    if not 0 <= step <= len(bundle["steps"]):
        raise TraceError(
            f"there is no step {step} in pass {bundle['rewrite']}",
            hint=f"its steps are 0 (the input graph) to {len(bundle['steps'])}",
        )
    before, after = states(bundle, step)
    delta: Mapping[str, Any] = bundle["steps"][step - 1] if step else {}
    removed, added, moved = (set(delta.get(k, ())) for k in ("removed", "added", "moved"))
    gone = {slot: before[slot] for slot in removed if slot in before}
    nodes: list[Node] = []
    for slot, (node, _) in after.items():
        look = ADDED if slot in added else MOVED if slot in moved else PLAIN
        nodes.append(_node(bundle, f"s{slot:d}", node, look))
    for slot, (node, _) in gone.items():  # a slot that is removed and added holds another node now
        nodes.append(_node(bundle, f"r{slot:d}", node, REMOVED))
    title = str(bundle["name"]) + (f", step {step}" if step else "")
    return Drawing(title, nodes, [*_edges(bundle, before, after, gone, moved, step)])


def _edges(
    bundle: Mapping[str, Any],
    before: State,
    after: State,
    gone: State,
    moved: set[int],
    step: int,
) -> Iterator[Edge]:
    for slot, (node, src) in after.items():
        named = roles(bundle, node, len(src))
        old = list(before[slot][1]) if slot in before and slot not in gone else []
        for position, source in enumerate(src):
            kept = position < len(old) and old[position] == source
            new = step and not kept
            plain = ORDER if named[position] == "order" else PLAIN
            look = (MOVED if slot in moved else ADDED) if new else plain
            yield Edge(f"s{source:d}", f"s{slot:d}", look)
        if slot in moved:
            for position, source in enumerate(old):
                if position >= len(src) or src[position] != source:
                    yield Edge(_name(source, gone), f"s{slot:d}", REMOVED)
    for slot, (_, src) in gone.items():
        for source in src:
            yield Edge(_name(source, gone), f"r{slot:d}", REMOVED)


def _name(slot: int, gone: State) -> str:
    return f"r{slot:d}" if slot in gone else f"s{slot:d}"


def _node(bundle: Mapping[str, Any], name: str, node: int, look: Look) -> Node:
    text = node_text(bundle, node)
    label = text if len(text) <= MAX_LABEL else text[:MAX_LABEL] + "..."
    return Node(name, look.sign + label, look)
