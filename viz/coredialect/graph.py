"""Nodes of a trace as `core` reads a graph. Believes the trace nothing; never makes a node."""

from __future__ import annotations

import functools
import json
from typing import Any

from core.errors import BudgetError, UopvizError
from core.uop.data.args import decode_arg
from core.uop.data.serial import MAX_ORIGIN
from viz.budget import take
from viz.format.pack import take_json
from viz.read.tracefile import TraceFile


def graph_data(file: TraceFile, order: list[int]) -> dict[str, Any]:
    """Nodes of a file in the form of `core.uop.data.serial`; `order` has sources before users and
    ends in the root. Origins are those of the kernel with that root. Raises BudgetError."""
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
