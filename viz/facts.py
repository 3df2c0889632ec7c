"""What follows from a node: shape, value bounds and open ranges, worked out by `core` when shown.

Recording them would cost every run; the graph in the trace has all that is needed. Nodes are built
from data that may be hostile: through the strict decoder, within a time limit, and a node that does
not make sense has no facts. Never runs a kernel or any code of the trace.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, cast

from core.dtype import dtypes
from core.errors import UopvizError
from core.uop.serial import decode_node
from core.uop.uop import UOp
from viz.readonly import parse_object
from viz.tracefile import TraceFile

SECONDS: Final = 3.0
"""For one request; nodes that are not reached have no facts until the next."""
_MAX_SHOWN: Final = 60


@dataclass(frozen=True)
class Fact:
    """Texts, "" where there is nothing to say."""

    shape: str = ""
    low: str = ""
    high: str = ""
    ranges: str = ""


class Facts:
    """The facts of the nodes of one file, each worked out once."""

    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._uops: dict[int, UOp | None] = {}
        self._facts: dict[int, Fact] = {}
        self._said: dict[int, Fact] = {}
        self._lock = threading.Lock()

    def of(self, nodes: Iterable[int]) -> list[Fact]:
        """The facts of `nodes`, given so that sources come before their users."""
        with self._lock:
            return self._of(nodes)

    def _of(self, nodes: Iterable[int]) -> list[Fact]:
        deadline = time.monotonic() + SECONDS
        made: list[Fact] = []
        for i, node in enumerate(nodes):
            fact = self._facts.get(node)
            if fact is None:
                if i % 64 == 0 and time.monotonic() > deadline:
                    deadline = 0.0
                if not deadline:
                    made.append(Fact())
                    continue
                fact = self._facts[node] = self._work_out(node)
            made.append(fact)
        return made

    def uop(self, node: int) -> UOp | None:
        """The node as a UOp; None where the trace has none that makes sense."""
        stack = [node] if node not in self._uops else []
        while stack:
            n = stack[-1]
            missing = [s for s in self._file.nodes.sources(n) if s not in self._uops]
            stack.extend(missing)
            if not missing:
                stack.pop()
                if n not in self._uops:
                    self._uops[n] = self._build(n)
        return self._uops[node]

    def _build(self, node: int) -> UOp | None:
        src = [self._uops[s] for s in self._file.nodes.sources(node)]
        if None in src:
            return None
        return build_node(self._file, node, cast("list[UOp]", src))

    def _work_out(self, node: int) -> Fact:
        nodes = self._file.nodes
        extra = int(nodes.field("extra")[node])
        if extra:  # another compiler's node says so itself
            fact = self._said.get(extra)
            if fact is None:
                said = parse_object(self._file.text(extra))
                texts = (str(said.get(k, ""))[:200] for k in ("shape", "lo", "hi", "ranges"))
                fact = self._said[extra] = Fact(*texts)
            return fact
        u = self.uop(node)
        return Fact() if u is None else Fact(_shape(u), *_bounds(u), _ranges(u))


def build_node(file: TraceFile, node: int, src: list[UOp]) -> UOp | None:
    """One node on top of its sources; None where its fields are not those of any UOp."""
    nodes = file.nodes
    op, dtype, arg, tag = (
        file.text(int(nodes.field(f)[node])) for f in ("op", "dtype", "arg", "tag")
    )
    places: list[Any] = list(range(len(src)))
    try:
        return decode_node([op, dtype, places, _json(arg), _json(tag)], src)
    except (UopvizError, ValueError, TypeError, RecursionError):
        return None


def _json(text: str) -> Any:
    return json.loads(text) if text else None


def _shape(u: UOp) -> str:
    try:
        shape = u.shape
    except (UopvizError, ArithmeticError, ValueError, TypeError, LookupError):
        return ""
    if shape is None:
        return ""
    return "x".join(map(str, shape))


def _bounds(u: UOp) -> tuple[str, str]:
    if u.dtype.count != 1 or not (dtypes.is_int(u.dtype) or dtypes.is_bool(u.dtype)):
        return "", ""
    try:
        low, high = u.bounds
    except (UopvizError, ArithmeticError, ValueError, TypeError, LookupError):
        return "", ""
    return str(low)[:_MAX_SHOWN], str(high)[:_MAX_SHOWN]


def _ranges(u: UOp) -> str:
    try:
        found = sorted(u.ranges, key=lambda r: str(r.arg))
        return " ".join(f"{r.arg[1].letter}{r.arg[0]}" for r in found)
    except (UopvizError, ArithmeticError, ValueError, TypeError, LookupError, AttributeError):
        return ""
