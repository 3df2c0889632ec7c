"""Why a linear program has its order, as a text with a line for each node.

Made of the finished program, for those who watch; nothing reads it back. Never changes an order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.dtype import AddrSpace, PtrDType
from core.uop import Ops, UOp
from core.uop.show import node_line

_RULE: Final = (
    "; each node stands in the innermost loop that it needs (before all loops, where it needs "
    "none), in the order of a depth-first walk from the outputs"
)
Report = tuple[str, tuple[tuple[UOp, ...], ...]]
"""A text, and the nodes behind each of its lines."""


def order_report(uops: Sequence[UOp]) -> Report:
    """The program, indented by block. What follows the rule in the first line has no reason of its
    own: `u34 = STORE(u30, u33)  ; in L1, last: ...`."""
    number: dict[UOp, int] = {}
    lines = [_RULE]
    open_loops: list[UOp] = []
    late: set[UOp] = set()
    depth = 0
    for u in uops:
        number[u] = len(number)
        if u.op in (Ops.END, Ops.ENDIF):
            depth -= 1
        if u.op is Ops.END and open_loops:
            open_loops.pop()
        sources = [f"u{number[s]}" if s in number else s.op.name for s in u.src]
        shown = node_line(u, f"u{number[u]}", sources, shaped=False)
        why = _reason(u, open_loops, late, number)
        lines.append("  " * depth + shown + (f"  ; {why}" if why else ""))
        if u.op is Ops.RANGE:
            open_loops.append(u)
        if u.op in (Ops.RANGE, Ops.IF):
            depth += 1
    return "\n".join(lines) + "\n", ((), *((u,) for u in uops))


def _reason(u: UOp, open_loops: list[UOp], late: set[UOp], number: dict[UOp, int]) -> str:
    """Why a node is where it is; empty where it follows the rule."""
    if u.op is Ops.RANGE:
        return f"begins {_name(u)}: all that needs it, and no more, comes before its END"
    if u.op is Ops.END:
        return f"ends {_name(u.src[1])}, whose body is complete"
    if u.op is Ops.IF:
        return "neighbouring stores that share this gate"
    if u.op in (Ops.ENDIF, Ops.SINK):
        return "ends the block" if u.op is Ops.ENDIF else "the kernel is complete"
    place = f"in {_name(open_loops[-1])}" if open_loops else "outside of every loop"
    if _stores_global(u):
        late.add(u)
        return f"{place}, last: a store to global memory comes after every load of the body"
    behind = next((s for s in u.src if s in late), None)
    if behind is not None:
        late.add(u)
        return f"{place}, after u{number[behind]}, a store or what needs one"
    if not u.ranges:
        return "" if not open_loops else f"{place}, beside what uses it"
    inner = max((r for r in u.ranges if r in number), key=lambda r: number[r], default=None)
    if inner is None or not open_loops or inner is not open_loops[-1]:
        return f"{place}, beside what uses it"
    return ""


def _name(loop: UOp) -> str:
    return f"{loop.arg[-1].letter}{loop.arg[0]}"


def _stores_global(u: UOp) -> bool:
    dtype = u.src[0].dtype if u.op is Ops.STORE else None
    return isinstance(dtype, PtrDType) and dtype.addrspace is AddrSpace.GLOBAL
