"""Graphs as text: one line per node, one expression for a value, an excerpt for an error.

Reads graphs only; never creates a node. All three forms are bounded in size or linear in the graph.
"""

from __future__ import annotations

from typing import Final

from core.dtype import dtypes
from core.errors import UopvizError
from core.uop.facts.lengths import Lengths
from core.uop.kernelinfo import AxisType
from core.uop.node import Shape
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp

MAX_EXPRESSION: Final = 4000
"""Characters of one subexpression before it is shown as "...", so that graphs with much sharing do
not become texts of exponential length."""

_ATOM, _UNARY = 9, 8
_infix: Final[dict[Ops, tuple[str, int]]] = {
    Ops.MUL: ("*", 7),
    Ops.IDIV: ("//", 7),
    Ops.FDIV: ("/", 7),
    Ops.MOD: ("%", 7),
    Ops.ADD: ("+", 6),
    Ops.SUB: ("-", 6),
    Ops.SHL: ("<<", 5),
    Ops.SHR: (">>", 5),
    Ops.AND: ("&", 4),
    Ops.XOR: ("^", 3),
    Ops.OR: ("|", 2),
    Ops.CMPLT: ("<", 1),
    Ops.CMPNE: ("!=", 1),
    Ops.CMPEQ: ("==", 1),
}
_TERNARY = 0


def graph_text(*roots: UOp) -> str:
    """The graph, sources first: `u17 = MUL(u12, u16) float32  [32,16]`, where the shape (if any) is
    in brackets and an argument is written `arg=...`."""
    number: dict[UOp, int] = {}
    lines: list[str] = []
    for root in roots:
        for u in root.toposort(lambda u: u not in number):
            number[u] = len(number)
            lines.append(node_line(u, f"u{number[u]}", [f"u{number[s]}" for s in u.src]))
    return "\n".join(lines)


def shape_text(shape: Shape, lengths: Lengths[UOp]) -> str:
    """A shape as Python writes it, with variables where these are lengths: "(n, 4)"."""
    known = dict(lengths)
    sizes = [known[k].unbound().render() if k in known else str(n) for k, n in enumerate(shape)]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def excerpt(u: UOp, limit: int = 8) -> str:
    """`u` and the nodes closest below it, at most `limit` lines, with the user's line if known."""
    nearest: dict[UOp, int] = {u: 0}
    queue = [u]
    for v in queue:
        for s in v.src:
            if len(nearest) < limit and s not in nearest:
                nearest[s] = len(nearest)
                queue.append(s)
    lines = [
        node_line(v, f"u{i}", [f"u{nearest[s]}" if s in nearest else s.op.name for s in v.src])
        for v, i in nearest.items()
    ]
    if u.origin:
        lines.append(f"from {u.origin}")
    return "\n".join(lines)


def render(u: UOp) -> str:
    """The value as one expression, with the precedence of C: `(gidx0*4+lidx0)`."""
    parts: dict[UOp, tuple[str, int]] = {}
    for node in u.toposort():
        text, level = _expression(node, [parts[s] for s in node.src])
        parts[node] = (text, level) if len(text) <= MAX_EXPRESSION else ("...", _ATOM)
    text, level = parts[u]
    return text if level == _ATOM else f"({text})"


def node_line(u: UOp, name: str, sources: list[str], shaped: bool = True) -> str:
    """One node as `name = OP(sources) arg=... dtype  [shape]`; unless `shaped`, without shape."""
    if len(sources) > 12:
        sources = [*sources[:10], f"... {len(sources) - 10} more"]
    arg = "" if u.arg is None else f" arg={_short(u.arg)}"
    tag = "" if u.tag is None else f" tag={_short(u.tag)}"
    dtype = "" if u.dtype is dtypes.void else f" {u.dtype}"
    try:
        shape = u.shape if shaped else None
    except UopvizError:
        shape = None
    shown = "" if shape is None else f"  [{','.join(map(str, shape))}]"
    return f"{name} = {u.op.name}({', '.join(sources)}){arg}{tag}{dtype}{shown}"


def _short(arg: object) -> str:
    text = arg.name if isinstance(arg, Ops | AxisType) else repr(arg)
    return text if len(text) <= 200 else text[:197] + "..."


def _expression(u: UOp, src: list[tuple[str, int]]) -> tuple[str, int]:
    if u.op in _infix and len(src) == 2:
        sign, level = _infix[u.op]
        if u.op is Ops.CMPNE and u.src[1].op is Ops.CONST and u.src[1].arg is True:
            return f"!{_at_least(src[0], _UNARY)}", _UNARY
        return f"{_at_least(src[0], level)}{sign}{_at_least(src[1], level + 1)}", level
    if u.op is Ops.WHERE:
        test, yes, no = (_at_least(s, _TERNARY + 1) for s in src)
        return f"{test}?{yes}:{no}", _TERNARY
    if u.op is Ops.NEG:
        return f"-{_at_least(src[0], _UNARY)}", _UNARY
    if u.op is Ops.CONST:
        return str(u.arg), _ATOM if u.dtype.name == "bool" or u.arg >= 0 else _UNARY
    if u.op is Ops.DEFINE_VAR:
        return str(u.arg[0]), _ATOM
    if u.op is Ops.SPECIAL:
        return str(u.arg), _ATOM
    if u.op is Ops.RANGE:
        return f"{u.arg[1].letter}{u.arg[0]}", _ATOM
    if u.op in GroupOp.Defines:
        return f"{_memory[u.op]}{u.arg}", _ATOM
    if u.op is Ops.INDEX:
        return f"{src[0][0]}[{', '.join(text for text, _ in src[1:])}]", _ATOM
    if u.op is Ops.LOAD and u.src[0].op is Ops.INDEX and len(src) == 1:
        return src[0]
    if u.op is Ops.ADDRESS:
        more = f"{_at_least(src[1], _infix[Ops.MUL][1])}*{u.arg}" if len(src) > 1 else u.arg
        return f"{src[0][0]}+{more}", _infix[Ops.ADD][1]
    name = str(u.dtype) if u.op is Ops.CAST else u.op.name.lower()
    inner = [text for text, _ in src]
    if u.arg is not None and u.op is not Ops.CAST:
        inner.append(_short(u.arg))
    return f"{name}({', '.join(inner)})", _ATOM


_memory: Final = {Ops.DEFINE_GLOBAL: "data", Ops.DEFINE_LOCAL: "local", Ops.DEFINE_REG: "acc"}


def _at_least(part: tuple[str, int], level: int) -> str:
    return part[0] if part[1] >= level else f"({part[0]})"
