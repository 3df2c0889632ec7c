"""Values that a gradient has no way to any more, because a leaf was changed in place since.

A loss is written down for what its leaves are then. Once a leaf has another value, the loss keeps
the old one, and nobody is left to take its gradient. Never keeps a Tensor or a node alive, and
never raises anything: it answers which nodes are such values.
"""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary, ref

from core.tensor.base import TensorBase
from core.uop.ops import Ops
from core.uop.uop import UOp

_changed: WeakKeyDictionary[UOp, ref[TensorBase]] = WeakKeyDictionary()
"""What a leaf was, by its graph. It is again once the new value is in the same memory."""
_computed: WeakKeyDictionary[UOp, None] = WeakKeyDictionary()
"""BUFFERs of values that were computed from such, because their memory was needed."""


def leaf_changes(leaf: TensorBase) -> None:
    """A leaf that requires a gradient is about to have another value."""
    _changed[leaf.uop] = ref(leaf)


def needs_changed(uop: UOp) -> bool:
    """Whether a graph is made from what a leaf was."""
    return any(u in _changed for u in uop.toposort(lambda u: u.op is not Ops.DETACH))


def computed(uop: UOp) -> None:
    """What `needs_changed` held for is now in memory, and its graph forgotten."""
    if uop.base.op is Ops.BUFFER:
        _computed[uop.base] = None


def stored_anew(buffer: UOp) -> None:
    """A BUFFER takes another value."""
    _computed.pop(buffer, None)


def lost_among(graph: Iterable[UOp]) -> list[UOp]:
    """The nodes of a graph that gradients are lost at."""
    if not _changed:
        return []
    return [u for u in graph if u in _computed or _no_longer(u)]


def _no_longer(uop: UOp) -> bool:
    known = _changed.get(uop)
    leaf = None if known is None else known()
    return leaf is not None and bool(leaf.requires_grad) and leaf.uop is not uop
