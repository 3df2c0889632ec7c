"""One of the two runs: its scopes, and for each file the keys of its nodes and its matches.

A scope is a kernel, a schedule, or what is outside of both: the outermost group, or a pass without
one (as in viz/views/nodes/lineage.py). Grows with the run. Never looks at the other run.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final, Literal, cast

from viz.budget import take
from viz.compare.matching.keys import NodeKeys
from viz.compare.matching.steps import MatchTable
from viz.format.cells import as_text
from viz.format.rows import KERNELS
from viz.format.schema import EDITED, WHAT_IF
from viz.read.records import Context, Rewrite
from viz.read.tracefile import TraceFile
from viz.views.runs.process import Process
from viz.views.store import Store
from viz.views.tree import calls_of

_SCOPE: Final = 600
"""Bytes of a scope; _PASS those of a pass in it."""
_PASS: Final = 60
_MAX_CALLS: Final = 300
Kind = Literal["kernel", "schedule", "other"]


class Part:
    """One file of a run, and what comparing needs of it."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.file: TraceFile = process.file
        self.keys = NodeKeys(process.file, process.dialect)
        self.matches = MatchTable(process.file)

    def refresh(self, seconds: float = float("inf")) -> float:
        """Reads what is new for about so long; how much has been read, 0 to 1. Raises
        BudgetError."""
        self.keys.refresh()
        return self.matches.refresh(seconds)

    def key(self, node: int) -> int:
        """The key of a node; 0 for none."""
        return int(self.keys.keys[node]) if 0 < node < self.keys.known else 0


@dataclass(eq=False)
class Scope:
    """A kernel, schedule or other group of passes; `root`: its first graph, or a kernel's AST; 0
    for none."""

    part: Part
    kind: Kind
    entry: Context | Rewrite
    passes: list[Rewrite] = field(default_factory=list[Rewrite])
    root: int = 0

    @property
    def key(self) -> int:
        """Of the graph that it begins with; 0 for none."""
        return self.part.key(self.root)

    @property
    def number(self) -> int:
        """Of the context or rewrite, in the run."""
        return self.part.process.id(self.entry.id)

    @property
    def name(self) -> str:
        """As the navigator has it."""
        return self.entry.name

    @property
    def target(self) -> str:
        """Of a kernel: what it was compiled for."""
        meta = self.entry.meta if isinstance(self.entry, Context) else {}
        target = meta.get("target")
        return target[:200] if isinstance(target, str) else ""

    @property
    def call(self) -> str:
        """Of a kernel: the names of the user's calls that it computes."""
        calls = calls_of(self.entry) if isinstance(self.entry, Context) else None
        return (calls or "")[:_MAX_CALLS]

    @property
    def is_edited(self) -> bool:
        """Whether its text is one that a user has edited (viz/whatif): no pass made it."""
        return bool(self.part.file.meta.get(EDITED))

    @property
    def steps(self) -> int:
        """Matches of all its passes."""
        return sum(rewrite.matches for rewrite in self.passes)

    @property
    def nodes(self) -> int:
        """Nodes of its last graph; 0 where no pass says it."""
        outer = (r.nodes for r in reversed(self.passes) if not r.parent and r.nodes)
        return next(outer, 0)


class Side:
    """A run that is compared."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._parts: dict[int, Part] = {}
        self._scopes: dict[int, Scope] = {}
        self._counted: tuple[int, ...] = ()
        self._only: frozenset[str] | None = None

    def beside(self, other: Side) -> None:
        """Leaves out what the other run cannot have: one that was recorded when kernels were
        compiled otherwise (viz/whatif) has these kernels and nothing else."""
        names = other.store.files[0].meta.get(WHAT_IF)
        if isinstance(names, list):
            self._only = frozenset(as_text(name, 300) for name in cast("list[object]", names))
            self._counted = ()

    @property
    def is_edited(self) -> bool:
        """Whether it is the edited text of a kernel (viz/whatif), which no pass made."""
        return bool(self.store.files[0].meta.get(EDITED))

    @property
    def is_part(self) -> bool:
        """Whether only some of its kernels are compared."""
        return self._only is not None

    @property
    def parts(self) -> list[Part]:
        """Its files, in the order of its processes."""
        for process in self.store.processes:
            if process.number not in self._parts:
                self._parts[process.number] = Part(process)
        return [*self._parts.values()]

    def refresh(self, seconds: float = float("inf")) -> float:
        """Reads what is new for about so long; how much has been read, 0 to 1. Raises
        BudgetError."""
        until = time.monotonic() + seconds
        done = [part.refresh(max(0.0, until - time.monotonic())) for part in self.parts]
        return sum(done) / len(done)

    def version(self) -> tuple[int, ...]:
        """Changes when the run goes on."""
        return tuple(
            count
            for part in self.parts
            for count in (
                len(part.file.contexts),
                len(part.file.rewrites),
                len(part.file.event_blocks),
                sum(c.us is None for c in [*part.file.contexts.values()]),
                len(part.file.launches),
            )
        )

    def scopes(self) -> list[Scope]:
        """Every scope in the order in which they began, those of further processes behind. Raises
        BudgetError."""
        counted = self.version()
        if counted != self._counted:
            found = (scope for part in self.parts for scope in scopes_of(part))
            self._scopes = {scope.number: scope for scope in found if self._counts(scope)}
            self._counted = counted
        return [*self._scopes.values()]

    def _counts(self, scope: Scope) -> bool:
        if self._only is None:
            return True
        return scope.kind == "kernel" and scope.name[:300] in self._only

    def scope(self, number: int) -> Scope | None:
        """The scope of a number of the run; None for a number that is none's."""
        self.scopes()
        return self._scopes.get(number)

    def rewrite(self, number: int) -> tuple[Part, Rewrite] | None:
        """A rewrite by its number in the run; None for a number that is none's."""
        for part in self.parts:
            found = part.file.rewrites.get(number - part.process.id(0))
            if found is not None:
                return part, found
        return None


def scopes_of(part: Part) -> list[Scope]:
    """The scopes of a file. Raises BudgetError."""
    file = part.file
    contexts, rewrites = [*file.contexts.values()], [*file.rewrites.values()]
    take(4 * len(contexts) + 4 * len(rewrites), _SCOPE * len(contexts) + _PASS * len(rewrites))
    holder = _holders(contexts)
    found: dict[int, Scope] = {}
    for context in contexts:
        if context.role:
            found[context.id] = Scope(part, context.role, context)
    of: dict[int, int] = {}
    for rewrite in sorted(rewrites, key=lambda rewrite: rewrite.id):
        number = holder.get(rewrite.context) or of.get(rewrite.parent) or rewrite.id
        of[rewrite.id] = number
        if number not in found:
            take(0, _SCOPE)
            found[number] = Scope(part, "other", file.contexts.get(number) or rewrite)
        found[number].passes.append(rewrite)
    bare = [scope for scope in found.values() if not scope.passes]
    asts = {row.context: row.ast for row in file.db.all(KERNELS)} if bare else {}
    for number, scope in found.items():
        scope.root = scope.passes[0].sink if scope.passes else asts.get(number, 0)
    return [found[number] for number in sorted(found)]


def _holders(contexts: list[Context]) -> dict[int, int]:
    """Of each context the innermost schedule or kernel around it, or else the outermost context."""
    named: dict[int, int] = {}
    outer: dict[int, int] = {}
    for context in sorted(contexts, key=lambda context: context.id):
        outer[context.id] = outer.get(context.parent, context.id)
        if context.role:
            named[context.id] = context.id
        elif context.parent in named:
            named[context.id] = named[context.parent]
    return outer | named
