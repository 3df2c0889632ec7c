"""Synthetic traces for benchmarks: real graphs of programs, with made-up but plausible rewrites.

Written through the public `TraceWriter`, in the order in which an engine works: sources before
users, a rebuild where a source has changed, then the matches at that node. Every trace is a
function of its arguments and of the files in `graphs/`. Never runs `core`.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from viz.format.schema import CORE_DIALECT
from viz.write.writer import TraceWriter

GRAPHS: Final = Path(__file__).parent / "graphs"
FIRST_OF_7000: Final = 12_099
"""The node of program_24255 that has 7,025 nodes below and with it."""
SWAPS: Final = {"ADD": "SUB", "SUB": "ADD", "MUL": "FDIV", "FDIV": "MUL", "CMPLT": "CMPNE"}
INFO: Final = {
    "command": ["python", "bench.py"],
    "started": "synthetic",
    "dialect": CORE_DIALECT,
}
FLUSH: Final = 20_000


@dataclass(frozen=True)
class Graph:
    """Nodes with sources first: the op and the sources of each. The last one is the root."""

    op: list[str]
    src: list[list[int]]

    def __len__(self) -> int:
        return len(self.op)


def load_graph(name: str, root: int | None = None) -> Graph:
    """A graph of `graphs/`; or what is below (and with) one node of it."""
    data = json.loads(gzip.decompress((GRAPHS / f"{name}.json.gz").read_bytes()))
    op: list[str] = data["op"]
    src: list[list[int]] = [[] for _ in op]
    used = [False] * len(op)
    for source, user in data["edges"]:
        src[user].append(source)
        used[source] = True
    start = [root] if root is not None else [n for n in range(len(op)) if not used[n]]
    place: dict[int, int] = {}
    order: list[int] = []
    stack = [(n, False) for n in start]
    while stack:
        node, done = stack.pop()
        if done and node not in place:
            place[node] = len(order)
            order.append(node)
        elif node not in place:
            stack.append((node, True))
            stack.extend((s, False) for s in reversed(src[node]) if s not in place)
    return Graph([op[n] for n in order], [[place[s] for s in src[n]] for n in order])


def chain(length: int, width: int = 4) -> Graph:
    """A small graph: sums of products, `width` leaves."""
    op, src = ["DEFINE_VAR"] * width, [[] for _ in range(width)]
    for i in range(length):
        op.append("ADD" if i % 3 else "MUL")
        src.append([len(op) - 2, i % width])
    return Graph(op, src)


class Synthesis:
    """A trace in the making: contexts, and passes with matches over graphs. With `other`, one match
    of so many is another one than without."""

    def __init__(self, writer: TraceWriter, seed: int = 1, other: int = 0) -> None:
        self.writer = writer
        self._other = other
        self._choose = random.Random(seed)
        self._steps = 0
        self._serial = 0
        places = [("fold", 12), ("swap", 30), ("expand", 48), ("forward", 66)]
        self._rules = {
            name: writer.rule(
                f"{name}_{i}",
                f"core/passes/{name}.py",
                line + 10 * i,
                matcher=name,
                equation=f"{name} {i}",
                source=f"def {name}_{i}(x):\n    return x\n",
                pattern={"op": ["ADD", "MUL"], "name": "x"},
            )
            for name, line in places
            for i in range(1)
        }

    def graph(self, graph: Graph, label: str, inner: bool = True) -> list[int]:
        """The nodes of a graph; `label` keeps them apart from those of another one. Without
        `inner`, only its leaves are told apart by themselves."""
        made: list[int] = []
        for i, (op, src) in enumerate(zip(graph.op, graph.src, strict=True)):
            arg = f"{label} {i}" if inner or not src else ""
            made.append(self._node(op, [made[s] for s in src], arg))
        return made

    def rewrite(
        self, name: str, graph: Graph, nodes: Sequence[int], matches: int, *, context: int = 0
    ) -> int:
        """One pass with this many matches, spread evenly; the number of its result."""
        writer = self.writer
        step = writer.rewrite_begin(
            name, nodes[-1], context=context, matcher="bench", caller=f"core/passes/{name}.py:7"
        )
        now: list[int] = []
        done = 0
        for i, (node, src) in enumerate(zip(nodes, graph.src, strict=True)):
            sources = [now[s] for s in src]
            current = node
            if sources != [nodes[s] for s in src]:
                current = self._node(graph.op[i], sources, f"{name} {i}")
                writer.rebuild(step, node, current)
            wanted = matches * (i + 1) // len(nodes)
            while done < wanted:
                shared = i < len(nodes) - 1 and done + 1 == wanted
                current, sources = self._match(step, graph.op[i], current, sources, shared)
                done += 1
            now.append(current)
        writer.rewrite_end(step, now[-1], nodes=len(nodes))
        return now[-1]

    def _match(
        self, step: int, op: str, node: int, sources: list[int], shared: bool
    ) -> tuple[int, list[int]]:
        """One made-up match at a node: what takes its place, and the sources of that. With
        `shared` it may be a node that others have too; an engine never matches that once more."""
        self._serial += 1
        label = f"s{self._serial}"
        kind = self._choose.choices(("swap", "expand", "forward", "fold"), (60, 25, 10, 5))[0]
        if self._other and self._serial % self._other == 0:
            kind = "expand" if kind == "swap" else "swap"
        after, new = node, sources
        if kind == "expand" and sources:
            inner = self._node("MUL", [sources[0], self._constant()], label)
            new = [inner, *sources[1:]]
            after = self._node(op, new, label)
        elif kind == "forward" and shared and len(sources) == 1:
            after, new = sources[0], []
        elif kind == "fold" and shared and not sources:
            after = self._constant()
        else:
            kind = "swap"
            after = self._node(SWAPS.get(op, op), sources, label)
        binds = {"x": node, **{f"a{i}": s for i, s in enumerate(sources[:3])}}
        self.writer.match(step, self._rules[kind], node, after, binds, ns=2_000)
        self._steps += 1
        if self._steps % FLUSH == 0:
            self.writer.flush()
        return after, new

    def _constant(self) -> int:
        return self._node("CONST", [], str(self._choose.randrange(64)))

    def _node(self, op: str, sources: Sequence[int], arg: str) -> int:
        return self.writer.node(
            op,
            "float32",
            sources,
            arg=json.dumps(arg),
            origin=f"examples/net.py:{40 + len(arg) % 9}",
            loc=f"core/passes/{op.lower()}.py:9",
            extra={"shape": "(32, 64)"},
        )


def synthetic(path: Path, write: Callable[[Synthesis], object], other: int = 0) -> Path:
    """A finished trace of what `write` does; `other`: see Synthesis."""
    with TraceWriter(path, INFO) as writer:
        write(Synthesis(writer, other=other))
    return path


def one_pass(
    path: Path, graph: Graph, matches: int, *, after_small: bool = False, other: int = 0
) -> Path:
    """One kernel with one pass of this many matches over a graph. `after_small`: after a kernel
    with a pass of a few nodes, which the page then opens by itself. `other`: see Synthesis."""

    def write(made: Synthesis) -> None:
        if after_small:
            context = made.writer.context_begin("kernel small", "kernel")
            small = chain(24)
            made.rewrite("small", small, made.graph(small, "s"), 2, context=context)
            made.writer.context_end(context)
        context = made.writer.context_begin("kernel large", "kernel")
        made.rewrite("large", graph, made.graph(graph, "g"), matches, context=context)
        made.writer.context_end(context)

    return synthetic(path, write, other)


def many_passes(path: Path, passes: int, matches: int, per_kernel: int = 10) -> Path:
    """A run of small kernels: `passes` passes of `matches` matches each."""
    graph = chain(24)

    def write(made: Synthesis) -> None:
        context = 0
        for i in range(passes):
            if i % per_kernel == 0:
                if context:
                    made.writer.context_end(context)
                context = made.writer.context_begin(f"kernel k_{i // per_kernel}", "kernel")
            nodes = made.graph(graph, f"k{i % 100}")
            made.rewrite(f"pass {i % per_kernel}", graph, nodes, matches, context=context)
        made.writer.context_end(context)

    return synthetic(path, write)
