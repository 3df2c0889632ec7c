"""The text of a linear program, made from its nodes where the trace leaves it out.

The words are those of the compiler's dialect; without any, or for nodes that it cannot read, the
program is listed without reasons. Takes its cost from the budget in force first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from core.errors import TraceError
from viz.budget import take
from viz.dialect.rundialect import RunDialect
from viz.read.tracefile import TraceFile

_NODE: Final = 600
"""Bytes of a node and of its line."""
_ITEMS: Final = 10
"""Of a budget, for a node."""
_SOURCES: Final = 12
"""Sources of a node that are listed."""
_CUT: Final = 200


def listing(file: TraceFile, lines: Sequence[Sequence[int]], dialect: RunDialect) -> str:
    """The text of a program whose nodes are behind these lines, one each but for the first line.
    Raises TraceError for other lines, and BudgetError."""
    if not lines or lines[0] or any(len(line) != 1 for line in lines[1:]):
        raise TraceError("a linear program is damaged (its lines are not a node each)")
    text = dialect.derived_text(file, lines)
    nodes = [node for (node,) in lines[1:]]
    return _plain(file, nodes, dialect.arg_text) if text is None else text


def _plain(file: TraceFile, nodes: Sequence[int], arg_text: Callable[[str], str]) -> str:
    """The program without reasons, from the texts of the trace."""
    said = sum(len(file.text(int(file.nodes.field("arg")[node]))) for node in nodes)
    used = sum(map(file.nodes.source_count, nodes))  # again for each time that a node is listed
    take(_ITEMS * len(nodes) + said // 4 + used, _NODE * len(nodes) + 4 * said)
    number = {node: at for at, node in reversed([*enumerate(nodes)])}
    text, field = file.text, file.nodes.field
    lines = ["; the nodes of the program, in their order"]
    for at, node in enumerate(nodes):
        sources = file.nodes.sources(node)[:_SOURCES]
        shown = [f"u{number[s]}" if s in number else _op(file, s) for s in sources]
        arg, dtype = (text(int(field(name)[node])) for name in ("arg", "dtype"))
        said_arg = f" arg={arg_text(arg)[:_CUT]}" if arg else ""
        called = f"u{at} = {_op(file, node)}({', '.join(shown)})"
        lines.append(f"{called}{said_arg} {dtype[:_CUT]}".rstrip())
    return "\n".join(lines) + "\n"


def _op(file: TraceFile, node: int) -> str:
    return file.name(int(file.nodes.field("op")[node]))
