"""Text of a linear program, worked out from the nodes of a trace when it is shown.

Recording it would take a tenth of what recording costs, and as much room as the text that is
compiled. The words are those of `core.passes.order`; a program with a node that `core` cannot make
(an argument of another compiler's), or with more loops than any has, is listed without reasons.
Takes what it needs from the budget in force, before it makes it. Never runs any code of the trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from core.errors import TraceError
from core.passes.order import order_report
from viz.budget import take
from viz.read.tracefile import TraceFile
from viz.replay.argtext import arg_text
from viz.replay.facts import INVALID, Facts

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


def listing(file: TraceFile, lines: Sequence[Sequence[int]]) -> str:
    """The text of a program whose nodes are behind these lines, one each but for the first line.
    Raises TraceError for other lines, and BudgetError."""
    if not lines or lines[0] or any(len(line) != 1 for line in lines[1:]):
        raise TraceError("a linear program is damaged (its lines are not a node each)")
    nodes = [node for (node,) in lines[1:]]
    below: set[int] = set()
    for node in reversed(nodes):  # the last one of a program reaches most
        if node not in below:
            below.update(file.nodes.reachable(node))
    all_nodes = [*below, *nodes]
    opened = sum(_op(file, node) in _BLOCKS for node in all_nodes)
    said = sum(len(file.text(int(file.nodes.field("arg")[node]))) for node in all_nodes)
    each = _NODE + _LOOP * min(opened, MAX_BLOCKS)
    used = sum(map(file.nodes.source_count, nodes))  # again for each time that a node is listed
    take(_ITEMS * len(all_nodes) + said // 4 + used,
         each * len(all_nodes) + 4 * said + _SOURCE * used)  # fmt: skip
    if opened <= MAX_BLOCKS:
        facts = Facts(file)
        uops = [u for node in nodes if (u := facts.uop(node)) is not None]
        with suppress(*INVALID):  # nodes that no compiler made
            if len(uops) == len(nodes):
                return order_report(uops)[0]
    return _plain(file, nodes)


def _plain(file: TraceFile, nodes: Sequence[int]) -> str:
    """The program without reasons, from the texts of the trace."""
    number = {node: at for at, node in reversed([*enumerate(nodes)])}
    text, field = file.text, file.nodes.field
    lines = ["; the nodes of the program, in their order"]
    for at, node in enumerate(nodes):
        sources = file.nodes.sources(node)[:12]
        shown = [f"u{number[s]}" if s in number else _op(file, s) for s in sources]
        arg, dtype = (text(int(field(name)[node])) for name in ("arg", "dtype"))
        said = f" arg={arg_text(arg)[:200]}" if arg else ""
        lines.append(f"u{at} = {_op(file, node)}({', '.join(shown)}){said} {dtype[:200]}".rstrip())
    return "\n".join(lines) + "\n"


def _op(file: TraceFile, node: int) -> str:
    return file.name(int(file.nodes.field("op")[node]))
