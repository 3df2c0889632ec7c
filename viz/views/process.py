"""One process of a run: its trace file, what is derived from it, and its numbers in the whole run.

The main process has its own numbers; those of further processes begin at multiples of STRIDE. Never
writes.
"""

from __future__ import annotations

import functools
import json
from typing import Any, Final

from core.errors import BudgetError, UopvizError
from core.uop.args import decode_arg
from core.uop.serial import MAX_ORIGIN
from viz.budget import take
from viz.format.pack import take_json
from viz.read.tracefile import TraceFile
from viz.replay.bundle import Numbers
from viz.replay.economics import NodeCounts
from viz.replay.facts import Facts
from viz.views.kernels import KernelReader
from viz.views.lineage import Lineage
from viz.views.overview.launches import Launches
from viz.views.overview.programs import Programs
from viz.views.rules.matches import Matches
from viz.views.search.index import Index
from viz.views.search.sourcetexts import SourceTexts

STRIDE: Final = 1_000_000_000
MAX_PROCESSES: Final = 256


def is_compiled(number: int) -> bool:
    """Whether a context, rewrite or node of the run is of a kernel that was compiled on request."""
    return number // STRIDE >= MAX_PROCESSES


class Process:
    """One file of the run."""

    def __init__(self, file: TraceFile, number: int) -> None:
        self.file = file
        self.number = number
        self.facts = Facts(file)
        self.kernels = KernelReader(file, self.id, self.node)
        self.index = Index(file, self.kernels.graph_of)
        self.source_texts = SourceTexts(file, self.kernels)
        self.node_counts = NodeCounts(file)
        self.matches = Matches(file)
        self.launches = Launches(file)
        self.programs = Programs(file, self.kernels)
        self.lineages: dict[int, Lineage] = {}
        self.rules: dict[int, int] = {}
        """Numbers of its rules in the run, by their own."""

    @property
    def pid(self) -> int:
        """Its process id when it ran; 0 where the trace does not say."""
        match self.file.meta.get("process"):
            case {"pid": int(pid)}:
                return pid
            case _:
                return 0

    def id(self, local: int) -> int:
        """The number in the run of a context or rewrite of this file."""
        return self.number * STRIDE + local

    def node(self, local: int) -> int:
        """The number in the run of a node of this file."""
        return self.id(local)

    def local_node(self, number: int) -> int | None:
        """The number in this file of a node of the run; None where this file does not have it."""
        at, local = divmod(number, STRIDE)
        return local if at == self.number and 0 < local <= self.file.nodes.count else None

    def rule(self, local: int) -> int:
        """The number in the run of a rule."""
        return self.rules.get(local, self.id(local))

    @property
    def numbers(self) -> Numbers:
        """The numbers in the run of all that this file numbers by itself."""
        return Numbers(self.id, self.node, self.rule)


def graph_data(file: TraceFile, order: list[int]) -> dict[str, Any]:
    """Nodes of a file in the form of `core.uop.serial`; `order` has sources before users and ends
    in the root. Origins are those of the kernel with that root. Raises BudgetError."""
    position = {node: i for i, node in enumerate(order)}
    fields = [file.nodes.field(name) for name in ("op", "dtype", "arg", "tag")]
    origins = file.origins.within(order[-1])
    nodes: list[list[Any]] = []
    decoded = functools.cache(argument)
    for node in order:
        op, dtype, arg, tag = (file.text(int(field[node])) for field in fields)
        origin = "\n".join(map(file.text, origins(node)))
        src = [position[s] for s in file.nodes.sources(node)]
        # the data becomes text, in which an argument is as often as it has users
        length = len(op) + len(dtype) + len(arg) + len(tag) + len(origin)
        take(4 + len(src), 200 + 50 * len(src) + 2 * length)
        nodes.append([op, dtype, src, decoded(arg), decoded(tag)])
        if 0 < len(origin) <= MAX_ORIGIN:
            nodes[-1].append(origin)
    return {"version": 1, "nodes": nodes, "roots": [len(order) - 1]}


def argument(text: str) -> Any:
    """Typed JSON that decodes; anything else becomes None, which the graph's reader then judges."""
    try:
        take_json(text)
        data = json.loads(text) if text else None
        decode_arg(data)
    except BudgetError:
        raise
    except (UopvizError, ValueError, RecursionError):
        return None
    return data
