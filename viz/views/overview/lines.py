"""The user's own lines that made work: each with its share of it, and the kernels it became.

The work of a kernel that comes from several lines is split evenly between them. Never opens a file
of the user's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from core.origintext import split_origin
from viz.budget import take
from viz.views.overview.table import Kernel, Table

MAX_LINES: Final = 200
MAX_CHIPS: Final = 40
"""Kernels that are named of one line."""
_LINE: Final = 2000
Data = dict[str, Any]


@dataclass
class Line:
    """A line of the user's program."""

    calls: dict[str, None] = field(default_factory=dict[str, None])
    weight: float = 0.0
    us: float = 0.0
    kernels: list[Kernel] = field(default_factory=list[Kernel])


def lines_data(table: Table, place: Callable[[str], str]) -> list[Data]:
    """The heaviest lines first, in the form `LineShare` of the page. Raises BudgetError."""
    found: dict[str, Line] = {}
    for kernel in table.kernels:
        lines: dict[str, list[str]] = {}
        for text in kernel.program.calls:
            where, call = split_origin(text)
            lines.setdefault(where, []).append(call)
        take(1 + len(lines), 200 * len(lines))
        for where, calls in lines.items():
            line = found.setdefault(where, Line())
            line.calls |= dict.fromkeys(filter(None, calls))
            line.weight += table.weight(kernel) / len(lines)
            line.us += kernel.us / len(lines)
            line.kernels.append(kernel)
    heaviest = sorted(found.items(), key=lambda item: -item[1].weight)[:MAX_LINES]
    take(4 * len(heaviest), _LINE * len(heaviest))
    return [_line(table, place(where), line) for where, line in heaviest]


def _line(table: Table, where: str, line: Line) -> Data:
    file, _, number = where.rpartition(":")
    chips = sorted(line.kernels, key=lambda kernel: -table.weight(kernel))[:MAX_CHIPS]
    return {
        "file": file or where,
        "line": int(number) if number.isascii() and number.isdigit() else 0,
        "calls": ", ".join(line.calls)[:200],
        "share": line.weight / table.whole if table.whole > 0 else 0.0,
        "us": line.us,
        "kernels": [
            {"context": kernel.contexts[0], "name": kernel.program.name} for kernel in chips
        ],
        "more": len(line.kernels) - len(chips),
    }
