"""Properties of a node that follow from those of its sources, worked out once, without recursion.

Knows no property by name; never makes a node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.uop.uop import UOp


def derive(u: UOp, attr: str, rule: Callable[[UOp], Any]) -> Any:
    """Computes a property of `u` after that of its sources, without recursion."""
    stack = [u]
    while stack:
        node = stack[-1]
        if hasattr(node, attr):
            stack.pop()
            continue
        missing = [s for s in node.src if not hasattr(s, attr)]
        if missing:
            stack.extend(missing)
        else:
            setattr(node, attr, rule(node))
            stack.pop()
    return getattr(u, attr)
