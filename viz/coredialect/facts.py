"""What follows from a node: shape, bounds, open ranges and device, worked out by `core` when shown.

Recording them would cost every run; the graph in the trace has all that is needed. Nodes are built
from data that may be hostile: through the strict decoder, within a time limit, and a node that does
not make sense has no facts. Never runs a kernel or any code of the trace.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, cast

import numpy as np

from core.dtype import dtypes
from core.errors import BudgetError, TraceError, UopvizError
from core.uop.data.serial import decode_node
from core.uop.facts.shapes import shown
from core.uop.ops import Ops
from core.uop.uop import UOp
from viz.budget import part, take
from viz.coredialect.openranges import OpenRanges
from viz.dialect.dialect import NO_FACT, Fact
from viz.dialect.saidfacts import SaidFacts
from viz.read.tracefile import TraceFile
from viz.views.runs.process import Process

SECONDS: Final = 3.0
"""Processor time for one request; nodes that are not reached have no facts until the next."""
_MAX_SHOWN: Final = 60
_MAX_TEXT: Final = 2000
_MAX_ARG: Final = 1 << 16
"""Characters of an argument; a node with a longer one has no facts."""
_KEPT: Final = 500_000
"""Nodes whose facts are kept."""
_NODE: Final = 1500
"""Bytes of a node of `core` with its facts."""
_TOGETHER: Final = 1024
"""Nodes whose loops are known before the first of them is spelled: those are sorted each time."""
_ITEMS: Final = 40
"""Of a budget, for a node: working it out takes as long as looking at that many numbers."""
INVALID: Final = (
    *(UopvizError, ArithmeticError, ValueError, TypeError, LookupError, AttributeError),
    RecursionError,
)
"""What deriving the facts of an invalid node may raise."""


class CoreFacts:
    """The facts of the nodes of one file, each worked out once."""

    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._uops: dict[int, UOp | None] = {}
        self._facts: dict[int, Fact] = {}
        self._stated = SaidFacts(file)
        self._args: dict[int, Any] = {}
        self._open = OpenRanges()
        self._lock = threading.Lock()

    def of(self, nodes: Sequence[int]) -> list[Fact]:
        """The facts of `nodes`, given so that sources come before their users; of those that there
        is no time for, facts without texts."""
        with self._lock:
            if len(self._facts) + len(nodes) > _KEPT:
                self._uops.clear()
                self._facts.clear()
                self._args.clear()
                self._open = OpenRanges()
            with suppress(BudgetError), part(1 / 2, SECONDS):
                for at in range(0, len(nodes), _TOGETHER):
                    new = [n for n in nodes[at : at + _TOGETHER] if n not in self._facts]
                    for node in new:
                        take(_ITEMS, _NODE)
                        self._find_loops(node)
                    for node in new:
                        self._facts[node] = self._work_out(node)
            return [self._facts.get(node, NO_FACT) for node in nodes]

    def left_out(self, nodes: Sequence[int]) -> list[str]:
        """Sentences of how many of `nodes` have no facts, if there are any, and why."""
        said: list[str] = []
        if missing := sum(node not in self._facts for node in nodes):
            said.append(f"Shapes and bounds of {missing:,} nodes are left out: they take too long.")
        used = self._file.nodes.field("arg")[np.asarray(nodes, np.int64)].tolist()
        too_long = {string for string in set(used) if len(self._file.text(string)) > _MAX_ARG}
        if too_long and (long := sum(string in too_long for string in used)):
            said.append(
                f"Shapes and bounds of {long:,} nodes are left out: their arguments are too long."
            )
        return said

    def uops(self, nodes: Sequence[int]) -> list[UOp | None]:
        """The nodes as UOps; None where the trace has none that makes sense. Raises BudgetError."""
        with self._lock:
            take(_ITEMS * len(nodes))
            return [
                self.uop(node) if 0 < node <= self._file.nodes.count else None for node in nodes
            ]

    def uop(self, node: int) -> UOp | None:
        """The node as a UOp; None where the trace has none that makes sense."""
        stack = [node]
        while stack:
            n = stack[-1]
            if n in self._uops:  # reached on several ways
                stack.pop()
                continue
            sources = self._file.nodes.sources(n)
            missing = dict.fromkeys(s for s in sources if s not in self._uops)
            stack.extend(missing)
            if not missing:
                stack.pop()
                self._uops[n] = self._build(n, sources)
        return self._uops[node]

    def _build(self, node: int, sources: Sequence[int]) -> UOp | None:
        src = [self._uops[s] for s in sources]
        if None in src:
            return None
        nodes, text = self._file.nodes, self._file.text
        op, dtype, arg, tag = (int(nodes.field(f)[node]) for f in ("op", "dtype", "arg", "tag"))
        places: list[Any] = list(range(len(src)))
        fields = [text(op), text(dtype), places, self._arg(arg), self._arg(tag)]
        with suppress(UopvizError, ValueError, TypeError, RecursionError):
            return decode_node(fields, cast("list[UOp]", src))
        return None

    def _arg(self, string: int) -> Any:
        """The typed JSON of an argument, read once; of one that is too long, what no node has."""
        if string not in self._args:
            text = self._file.text(string)
            take(1 + len(text) // 8)
            self._args[string] = _parsed(text) if len(text) <= _MAX_ARG else {}
        return self._args[string]

    def _find_loops(self, node: int) -> None:
        nodes = self._file.nodes
        if not nodes.field("extra")[node] and (u := self.uop(node)) is not None:
            self._open.add(node, u, nodes.sources(node))

    def _work_out(self, node: int) -> Fact:
        nodes = self._file.nodes
        extra = int(nodes.field("extra")[node])
        if extra:  # it says so itself
            return self._stated.said(extra)
        u = self.uop(node)
        return (
            NO_FACT
            if u is None
            else Fact(_shape(u), *_bounds(u), self._open.text(node), _device(u))
        )


def core_facts(process: Process) -> CoreFacts:
    """The nodes of a process as `core` makes them. Raises TraceError where its run is in another
    dialect, or cannot be read as `core`'s."""
    own = process.facts.own
    if not isinstance(own, CoreFacts):
        raise TraceError("the graphs of this run are none of core's", where=process.file.path.name)
    return own


def _parsed(text: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(text) if text else None
    return {}


def _shape(u: UOp) -> str:
    with suppress(*INVALID):
        shape = u.shape
        return "" if shape is None else "x".join(map(str, shape))[:_MAX_TEXT]
    return ""


def _device(u: UOp) -> str:
    """ "CPU:1", or "CPU and CPU:1, cut along axis 0"; a DEVICE says it by itself."""
    with suppress(*INVALID):
        if u.op is Ops.DEVICE or (device := u.device) is None:
            return ""
        cut = "" if u.axis is None else f", cut along axis {u.axis}"
        return f"{shown(device)}{cut}"[:_MAX_TEXT]
    return ""


def _bounds(u: UOp) -> tuple[str, str]:
    with suppress(*INVALID):
        if u.dtype.count == 1 and (dtypes.is_int(u.dtype) or dtypes.is_bool(u.dtype)):
            low, high = u.bounds
            return str(low)[:_MAX_SHOWN], str(high)[:_MAX_SHOWN]
    return "", ""
