"""Values that gradients cannot reach any more, because what they are made from has changed since. A
loss is an expression of its leaves at that time. Once a leaf has another value, the loss keeps the
old one, and nothing is left to take its gradient. Never keeps a Tensor or a node alive, and never
raises anything: it answers which nodes are such values.
"""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary, ref

from core.tensor.state.base import TensorBase
from core.uop.uop import UOp

_changed: WeakKeyDictionary[UOp, ref[TensorBase]] = WeakKeyDictionary()
"""The former value of a leaf, by its graph, until the new value is in the same memory."""
_lost: WeakKeyDictionary[UOp, None] = WeakKeyDictionary()
"""BUFFERs of values that were computed from such."""
_former: WeakKeyDictionary[UOp, None] = WeakKeyDictionary()
"""BUFFERs without memory, which stand for values that were overwritten."""


def leaf_changes(leaf: TensorBase) -> None:
    """A leaf that requires a gradient is about to have another value."""
    _changed[leaf.uop] = ref(leaf)


def mark(buffer: UOp) -> None:
    """Marks the value in a BUFFER as one whose expression is lost."""
    _lost[buffer] = None


def stored_anew(buffer: UOp) -> None:
    """A BUFFER has another value."""
    _lost.pop(buffer, None)


def former(memory: UOp, differentiable: bool) -> UOp:
    """A node that stands for the value that a BUFFER had before it was overwritten, and that no
    kernel can read. `differentiable`: a gradient that flows to it is lost."""
    made = memory.new_memory().base
    _former[made] = None
    if differentiable:
        _lost[made] = None
    return made


def is_lost(uop: UOp) -> bool:
    """Whether a gradient that flows to a node is lost there."""
    return uop in _lost or _no_longer(uop)


def lost_among(graph: Iterable[UOp]) -> list[UOp]:
    """The nodes of a graph that gradients are lost at."""
    return [u for u in graph if is_lost(u)] if _changed or _lost else []


def reads_former(graph: UOp) -> bool:
    """Whether a graph reads a value that was overwritten."""
    return bool(_former) and any(u in _former for u in graph.toposort())


def _no_longer(uop: UOp) -> bool:
    known = _changed.get(uop)
    leaf = None if known is None else known()
    return leaf is not None and bool(leaf.requires_grad) and leaf.uop is not uop
