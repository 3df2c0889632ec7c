"""Where nodes come from, as texts in the form of `core.origintext`. Never looks at frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from core.origintext import split_origin
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp, line_of

COMPUTING: Final = GroupOp.Elementwise | {Ops.REDUCE_AXIS, Ops.COPY}
"""What lines are named for that ask for a kernel."""
_STORING: Final = frozenset({Ops.STORE, Ops.CONTIGUOUS, Ops.ASSIGN})
_BACKWARD: Final = ".backward"


def lines_in(origins: str | None) -> list[str]:
    """The origins in a text of several, as `core.uop.uop.line_of` gives it."""
    return origins.split("\n") if origins else []


def backward_of(origins: str) -> str:
    """The origins of the gradient of a node: those of the node, with "relu.backward" for "relu"."""
    return "\n".join(map(_backward, lines_in(origins)))


def _backward(origin: str) -> str:
    call = split_origin(origin)[1]
    return origin + _BACKWARD if call and not call.endswith(_BACKWARD) else origin


def calls_of(nodes: Iterable[UOp], lines: Callable[[UOp], str | None] = line_of) -> tuple[str, ...]:
    """The origins of what `nodes` compute, in their order, without repetition; of what they store,
    where they only move values. `lines`: those of a node.

    Constants and views are left out: each is one object for all who want the same, and has the
    origin of the line that asked first.
    """
    marked = [(u.op, origin) for u in nodes for origin in lines_in(lines(u))]
    computed = dict.fromkeys(origin for op, origin in marked if op in COMPUTING)
    return tuple(computed or dict.fromkeys(origin for op, origin in marked if op in _STORING))
