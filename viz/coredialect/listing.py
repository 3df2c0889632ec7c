"""Text of a linear program, worked out from the nodes of a trace when it is shown.

Recording it would take a tenth of what recording costs, and as much room as the text that is
compiled. The words are those of `core.passes.program.order`; a program with a node that `core`
cannot make, or with more loops than any has, has none. Takes what it needs from the budget in
force, before it makes it. Never runs any code of the trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from core.passes.program.order import order_report
from viz.budget import take
from viz.coredialect.facts import INVALID, CoreFacts
from viz.read.tracefile import TraceFile

MAX_BLOCKS: Final = 400
"""Loops and gates, each as a node and as a line: the sets of loops that are open in every node grow
with them. A kernel has some tens."""
_NODE: Final = 2000
"""Bytes of a node of `core` and of its line, apart from loops."""
_LOOP: Final = 64
"""Bytes that an open loop takes in the sets of a node, and in the indentation of its line."""
_SOURCE: Final = 30
"""Bytes of a source of a listed node: its place in the node, and its name."""
_ITEMS: Final = 40
"""Of a budget, for a node."""
_BLOCKS: Final = frozenset({"RANGE", "IF"})
"""Ops that open a block."""


def program_text(file: TraceFile, lines: Sequence[Sequence[int]]) -> str | None:
    """The text of a program whose nodes are behind these lines, one each but for the first line.
    Raises BudgetError."""
    nodes = [node for (node,) in lines[1:]]
    below: set[int] = set()
    for node in reversed(nodes):  # the last one of a program reaches most
        if node not in below:
            below.update(file.nodes.reachable(node))
    all_nodes = [*below, *nodes]
    text, field = file.text, file.nodes.field
    opened = sum(file.name(int(field("op")[node])) in _BLOCKS for node in all_nodes)
    if opened > MAX_BLOCKS:
        return None
    said = sum(len(text(int(field("arg")[node]))) for node in all_nodes)
    used = sum(map(file.nodes.source_count, nodes))  # again for each time that a node is listed
    take(_ITEMS * len(all_nodes) + said // 4 + used,
         (_NODE + _LOOP * opened) * len(all_nodes) + 4 * said + _SOURCE * used)  # fmt: skip
    facts = CoreFacts(file)
    uops = [u for node in nodes if (u := facts.uop(node)) is not None]
    with suppress(*INVALID):  # nodes that no compiler made
        if len(uops) == len(nodes):
            return order_report(uops)[0]
    return None
