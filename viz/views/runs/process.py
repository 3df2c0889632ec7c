"""One process of a run: its trace file, what is derived from it, and its numbers in the whole run.

The main process has its own numbers; those of further processes begin at multiples of STRIDE. Never
writes.
"""

from __future__ import annotations

from typing import Final

from viz.dialect.rundialect import RunDialect
from viz.read.tracefile import TraceFile
from viz.replay.bundle import Numbers
from viz.replay.economics import NodeCounts
from viz.views.kernels.kernels import KernelReader
from viz.views.nodes.lineage import Lineage
from viz.views.overview.launches import Launches
from viz.views.overview.programs import Programs
from viz.views.rules.matches import Matches
from viz.views.search.index import Index
from viz.views.search.textlines import PassTextLines, SourceTexts

STRIDE: Final = 1_000_000_000
MAX_PROCESSES: Final = 256


def is_compiled(number: int) -> bool:
    """Whether a context, rewrite or node of the run is of a kernel that was compiled on request."""
    return number // STRIDE >= MAX_PROCESSES


class Process:
    """One file of the run; `dialect` is that of the run's first file."""

    def __init__(self, file: TraceFile, number: int, dialect: RunDialect) -> None:
        self.file = file
        self.number = number
        self.dialect = dialect
        file.give_roles(dialect.dialect.roles)
        self.facts = dialect.facts(file)
        self.kernels = KernelReader(file, self.id, self.node, dialect)
        self.index = Index(file, self.kernels.graph_of)
        self.source_texts = SourceTexts(file, self.kernels)
        self.pass_texts = PassTextLines(file)
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
        """The numbers in the run of what this file numbers itself."""
        return Numbers(self.id, self.node, self.rule)
