"""Graphs of a run: the nodes of one state, and what is known of each. Never changes a trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Protocol

import networkx as nx

from core.errors import TraceError
from viz.replay.graphtext import State, graph_text, node_text
from viz.share.drawing import drawing
from viz.share.svg import svg_text

Bundle = Mapping[str, Any]
"""One pass as the page has it."""
MOST_DRAWN: Final = 400
"""Most nodes of a graph that is drawn in a notebook: larger ones cannot be read."""


@dataclass(frozen=True)
class Event:
    """What happened to a node, or to what it was before or became."""

    kind: str
    """How the node came: "input" with the first graph, "became" in place of another, "created"
    inside what a match made, "rebuilt" with other sources, "between" two passes."""
    rewrite: int
    """The number of the pass, and of its step; step 0 is the input graph."""
    step: int
    rule: str
    """The name of the rule; "" where no rule did it."""
    node: int
    op: str
    line: str
    """"file:line" of the user's program; "" where that is not known."""

    def __str__(self) -> str:
        by = f" by {self.rule}" if self.rule else ""
        return f"u{self.node} {self.op} {self.kind}{by} in {self.rewrite}, step {self.step}"


class Historian(Protocol):
    """What knows where nodes come from and go."""

    def history(self, node: int, rewrite: int) -> list[Event]:
        """What happened to a node, as seen in a pass, oldest first."""
        ...


class Node:
    """A node of a graph. `number` is that of the whole run, shown as u123."""

    def __init__(self, graph: Graph | None, of: Historian, bundle: Bundle, at: int, src: list[int]):
        self._graph, self._of, self._bundle = graph, of, bundle
        self._at, self._src = at, src

    def _text(self, table: str, field: str) -> str:
        at: int = self._bundle["nodes"][field][self._at]
        return str(self._bundle[table][at]) if at >= 0 else ""

    @property
    def number(self) -> int:
        """Its number in the run."""
        return int(self._bundle["nodes"]["id"][self._at])

    @property
    def op(self) -> str:
        """What it does, such as "ADD"."""
        return self._text("ops", "op")

    @property
    def dtype(self) -> str:
        """The type of its value, such as "float32"."""
        return self._text("dtypes", "dtype")

    @property
    def arg(self) -> str:
        """Its argument as text; "" for none."""
        return self._text("args", "arg")

    @property
    def shape(self) -> str:
        """Its shape as text; "" where it has none, or that is not known."""
        return self._text("shapes", "shape")

    @property
    def bounds(self) -> tuple[str, str]:
        """The least and the largest value that it can have, as texts; "" where not known."""
        nodes = self._bundle["nodes"]
        return str(nodes["lo"][self._at]), str(nodes["hi"][self._at])

    @property
    def lines(self) -> list[str]:
        """The lines of the user's program that asked for it: "file:line", and what was called."""
        return [line for line in self._text("origins", "origin").split("\n") if line]

    @property
    def sources(self) -> list[Node]:
        """What it is computed of, in order."""
        if self._graph is not None:
            return [self._graph.at(slot) for slot in self._src]
        sources: list[list[int]] = self._bundle["nodes"]["src"]
        return [Node(None, self._of, self._bundle, s, sources[s]) for s in self._src]

    def history(self) -> list[Event]:
        """What happened to it in all passes of its kernel, from the user's graph on, oldest first.
        Raises BudgetError where that takes too long."""
        return self._of.history(self.number, int(self._bundle["rewrite"]))

    def __repr__(self) -> str:
        return f"u{self.number} {node_text(self._bundle, self._at)}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and (self._of, self.number) == (other._of, other.number)

    def __hash__(self) -> int:
        return hash(self.number)


def content_node(of: Historian, bundle: Bundle, at: int) -> Node:
    """A node that a step names, with the sources that it has in the trace."""
    return Node(None, of, bundle, at, bundle["nodes"]["src"][at])


class Graph:
    """One state of a pass: its nodes, sources first. `step` is that of the picture."""

    def __init__(self, of: Historian, bundle: Bundle, state: State, step: int) -> None:
        self._of, self._bundle, self._state, self._step = of, bundle, state, step

    def at(self, slot: int) -> Node:
        """The node in a slot. Raises TraceError where there is none."""
        if slot not in self._state:
            raise TraceError(f"this graph has no slot {slot}")
        node, src = self._state[slot]
        return Node(self, self._of, self._bundle, node, src)

    @cached_property
    def _order(self) -> list[int]:
        order: list[int] = []
        done: set[int] = set()
        stack = [(int(self._bundle["root"]), False)]
        while stack:
            slot, ready = stack.pop()
            if slot in done or slot not in self._state:
                continue
            if ready:
                done.add(slot)
                order.append(slot)
            else:
                stack.append((slot, True))
                sources = self._state[slot][1]
                stack += ((s, False) for s in reversed(sources) if s not in done)
        return order

    @property
    def nodes(self) -> list[Node]:
        """All nodes that the root needs, sources before their users."""
        return [self.at(slot) for slot in self._order]

    @property
    def root(self) -> Node:
        """The node that everything is for. Raises TraceError for a graph that is not shown."""
        return self.at(int(self._bundle["root"]))

    def node(self, number: int | str) -> Node:
        """The node with this number, 123 or "u123". Raises TraceError where there is none."""
        wanted = int(number.removeprefix("u")) if isinstance(number, str) else number
        for node in self.nodes:
            if node.number == wanted:
                return node
        raise TraceError(f"there is no node u{wanted} in this graph")

    @property
    def text(self) -> str:
        """The graph as text, a node to a line."""
        return graph_text(self._bundle, self._state)

    @property
    def svg(self) -> str:
        """The graph as a picture, with what its step changed. Raises TraceError for one that is too
        large for a picture."""
        return svg_text(drawing(self._bundle, self._step))

    def to_networkx(self) -> nx.MultiDiGraph[int]:
        """The graph with an edge from each source to its user, whose key is the position of the
        source. Nodes are the numbers of the run; each has `op`, `dtype`, `arg` and `shape`."""
        graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
        for node in self.nodes:
            facts = {"op": node.op, "dtype": node.dtype, "arg": node.arg, "shape": node.shape}
            graph.add_node(node.number, **facts)
        for node in self.nodes:
            for position, source in enumerate(node.sources):
                graph.add_edge(source.number, node.number, key=position)
        return graph

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __repr__(self) -> str:
        return f"Graph({len(self)} nodes of {self._bundle['name']})"

    def __str__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self.shown()

    def shown(self) -> dict[str, str]:
        """How a notebook shows it: the picture, where it can be read, and the text."""
        shown = {"text/plain": self.text}
        if len(self) <= MOST_DRAWN:
            shown["image/svg+xml"] = self.svg
        return shown
