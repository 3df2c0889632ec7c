"""What is wrong with a graph that cannot be recorded: the first node in it that is none.

`UOp(...)` checks nothing, so that making a node stays cheap. A mistake shows where the node is used
first, which may be in the recorder. Never raises.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.dtype import DType
from core.errors import MalformedNodeError
from core.uop.ops import Ops
from core.uop.uop import UOp

_HINT = "UOp(op, dtype, src, arg) takes an Ops, a DType and a tuple of UOps; numbers are UOp.const"
_SHOWN = 80
"""Characters of a value in an error."""


def malformed(roots: Iterable[object]) -> MalformedNodeError | None:
    """The error for the first node below `roots` whose op, dtype or sources are of the wrong type,
    sources first; None where there is no such node."""
    seen: set[int] = set()
    stack: list[tuple[object, str]] = [(root, "a graph that was rewritten") for root in roots]
    while stack:
        node, used = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if not isinstance(node, UOp):
            return MalformedNodeError(f"{_shown(node)} is no node", where=used, hint=_HINT)
        what = _fault(node)
        place = f"{_name(node)} {f'from {node.origin}' if node.origin else f'in {used}'}"
        if what:
            return MalformedNodeError(f"a node is malformed: {what}", where=place, hint=_HINT)
        stack += [(s, f"source {at} of {place}") for at, s in reversed([*enumerate(node.src)])]
    return None


def _fault(node: UOp) -> str:
    """What is wrong with the fields of a node, apart from its sources; "" for nothing."""
    op, dtype, src = (_field(node, name) for name in ("op", "dtype", "src"))
    if not isinstance(op, Ops):
        return f"its op is {_shown(op)}"
    if not isinstance(dtype, DType):
        return f"its dtype is {_shown(dtype)}"
    if not isinstance(src, tuple):
        return f"its sources are {_shown(src)}"
    return ""


def _field(node: UOp, name: str) -> object:
    """A field, whatever it holds."""
    return getattr(node, name, None)


def _name(node: UOp) -> str:
    op = _field(node, "op")
    return op.name if isinstance(op, Ops) else "a node"


def _shown(value: object) -> str:
    """A value with its type."""
    try:
        text = repr(value)
    except Exception:  # of a type that is not ours
        text = "..."
    kind = type(value).__name__
    return f"{text[:_SHOWN]} ({kind})"
