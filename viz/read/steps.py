"""Splits the events of one rewrite into steps: one match and the rebuilds up to the next.

An event with the number of a node that does not exist is dropped, and counted. Reads as far as the
budget in force goes. Never replays anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from core.errors import BudgetError
from viz.budget import take
from viz.format import schema
from viz.read.records import Rewrite
from viz.read.tracefile import TraceFile

_EVENT: Final = 300
"""Bytes of an event; _BOUND more for each node that it bound."""
_BOUND: Final = 100


@dataclass(frozen=True)
class Match:
    """One match; `binds` are names and nodes of the graph before."""

    rule: int
    before: int
    after: int
    us: int
    binds: list[tuple[str, int]]


@dataclass
class RewriteSteps:
    """All events of a rewrite. `steps` are (match, rebuilds after it); `leading` are the rebuilds
    before the first match; `declines` are (step, rule, node), with `step` matches before it."""

    steps: list[tuple[Match, list[tuple[int, int]]]] = field(
        default_factory=list[tuple[Match, list[tuple[int, int]]]]
    )
    leading: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    declines: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])
    lost: int = 0
    """Events with numbers of nodes that do not exist."""
    more: bool = False
    """There are further matches, which were not read."""
    cut: str = ""
    """Why what comes after the last step was not read, if it was the budget."""


def read_steps(file: TraceFile, rewrite: Rewrite, most: int | None = None) -> RewriteSteps:
    """The events of `rewrite`, in engine order; of its first `most` matches."""
    made = RewriteSteps()
    try:
        _read(made, file, rewrite, most)
    except BudgetError as error:
        made.more, made.cut = True, error.what
    return made


def _read(made: RewriteSteps, file: TraceFile, rewrite: Rewrite, most: int | None) -> None:
    nodes = file.nodes.count
    names: dict[int, list[str]] = {}
    for arrays, positions in file.event_blocks.of(rewrite):
        take(len(arrays.rewrite) // 8 + 2 * len(positions), _EVENT * len(positions))
        kinds, rows = arrays.kind[positions], arrays.row[positions]
        rebuilds = iter(arrays.rebuild[rows[kinds == schema.REBUILD]].tolist())
        for kind, row in zip(kinds.tolist(), rows.tolist(), strict=True):
            if kind == schema.REBUILD:
                old, new = next(rebuilds)
                if not (0 < old <= nodes and 0 < new <= nodes):
                    made.lost += 1
                elif made.steps:
                    made.steps[-1][1].append((old, new))
                else:
                    made.leading.append((old, new))
            elif kind == schema.MATCH:
                rule, before, after, ns, signature, count = arrays.match[row].tolist()
                if not (0 < before <= nodes and 0 < after <= nodes):
                    made.lost += 1
                    continue
                if most is not None and len(made.steps) >= most:
                    made.more = True
                    return
                if signature not in names:
                    names[signature] = file.names(signature)
                take(count, _BOUND * count)
                first = arrays.bound_start[row]
                bound = arrays.bound[first : first + count].tolist()
                pairs = zip(names[signature], bound, strict=False)
                binds = [(name, node) for name, node in pairs if 0 < node <= nodes]
                made.steps.append((Match(rule, before, after, ns // 1000, binds), []))
            else:
                rule, node = arrays.decline[row].tolist()
                if 0 < node <= nodes:
                    made.declines.append((len(made.steps), rule, node))
                else:
                    made.lost += 1
