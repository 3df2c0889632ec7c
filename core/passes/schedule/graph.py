"""The graph of a schedule's kernels and memory, to look at: in memory, and as a DOT file.

Never changes a schedule.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from core.passes.schedule.item import ScheduleItem
from core.uop import Ops, UOp
from core.uop.kernels import output_count

if TYPE_CHECKING:
    import networkx as nx

Graph: TypeAlias = "nx.MultiDiGraph[Any]"
_numbers = count()


def kernel_graph(items: Sequence[ScheduleItem], asts: bool = False) -> Graph:
    """Nodes are BUFFERs and positions of items; edges lead from what is read to the item and from
    the item to what it writes, with the number of the argument. With `asts`, also every node of
    each kernel, as (position, node). Nodes have a `label`, items and AST nodes the `op`.
    """
    import networkx as nx  # a quarter of a second, which only those who ask for graphs pay

    graph: Graph = nx.MultiDiGraph()
    for position, item in enumerate(items):
        stores = output_count(item.ast)
        devices = " from ".join(dict.fromkeys(str(buf.device) for buf in item.bufs))
        lines = (f"{item.ast.op.name} {position}", devices, *item.metadata)
        label = "\n".join(lines)
        graph.add_node(position, label=label, op=item.ast.op.name)
        for number, buf in enumerate(item.bufs):
            memory = buf.src[0] if buf.op is Ops.BUFFER_VIEW else buf
            graph.add_node(memory, label=f"{memory.dtype}[{memory.size}]\n{memory.device}")
            ends = (position, memory) if number < stores else (memory, position)
            graph.add_edge(*ends, argument=number)
        if asts:
            _add_ast(graph, position, item.ast)
    return graph


def _add_ast(graph: Graph, position: int, ast: UOp) -> None:
    for u in ast.toposort():
        if u is not ast:
            arg = u.arg if u.op in (Ops.CONST, Ops.DEFINE_GLOBAL, Ops.REDUCE_AXIS) else ""
            graph.add_node((position, u), label=f"{u.op.name} {arg}", op=u.op.name)
        for source in u.src:
            graph.add_edge((position, source), position if u is ast else (position, u))


def add_values(graph: Graph, sink: UOp) -> None:
    """Adds the graph of Tensors that was scheduled, each node as itself: its BUFFERs are those that
    the kernels use."""
    for u in sink.toposort():
        if u not in graph:
            lines = (u.op.name, "" if u.shape is None else str(u.shape), u.origin or "")
            graph.add_node(u, label="\n".join(filter(None, lines)), op=u.op.name)
        for source in u.src:
            graph.add_edge(source, u)


def to_dot(graph: Graph) -> str:
    """The text of the graph in the DOT language: items as boxes, memory as ovals."""
    import graphviz

    made = graphviz.Digraph("schedule")
    names = {node: f"n{k}" for k, node in enumerate(graph.nodes)}
    for node, facts in graph.nodes(data=True):
        memory = "op" not in facts
        made.node(names[node], label=facts["label"], shape="oval" if memory else "box")
    for a, b, facts in graph.edges(data=True):
        made.edge(names[a], names[b], label=str(facts.get("argument", "")))
    return str(made.source)


def write_graph(items: Sequence[ScheduleItem], values: UOp, level: int) -> Path:
    """Writes `schedule-<number>.dot` in the current directory, from level 2 on with the ASTs, from
    3 on with what the kernels were made of. Raises OSError where it cannot."""
    path = Path(f"schedule-{next(_numbers)}.dot")
    graph = kernel_graph(items, asts=level > 1)
    if level > 2:
        add_values(graph, values)
    path.write_text(to_dot(graph), encoding="utf-8")
    return path
