"""Why a rule fires at a node or does not: `explain`.

The pattern is walked by the interpreted matcher, which defines what a match is, and told of every
part that does not fit; the part that was reached after the most others is the answer. Where the
pattern fits, the function is called under a tracer that keeps the line on which it returns. Never
rewrites a graph. It runs the rule's own code: only for rules that the caller trusts.
"""

from __future__ import annotations

import inspect
import linecache
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Final, Literal, TypeAlias

from core.uop.patterns.interpreted import Fitted, Place, matches
from core.uop.patterns.rule import Rule
from core.uop.patterns.upat import UPat, arg_matches, dtype_matches
from core.uop.show import node_line
from core.uop.uop import UOp

Kind: TypeAlias = Literal["op", "dtype", "argument", "condition", "among", "sources", "name"]
"""In what a node is not what a pattern wants: its op, dtype or argument; a condition written in
Python; an op that must be among its sources; their number; or that it be the node that a name is
bound to already."""
MAX_MATCHES: Final = 1000
"""Ways to match of which the function declines each."""
MAX_OPS: Final = 6
MAX_LOCALS: Final = 12
MAX_TEXT: Final = 200
"""Characters of the text of a value."""
_NAME: Final = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Fires:
    """The rule replaces the node by `result`."""

    binds: Mapping[str, UOp]
    result: UOp


@dataclass(frozen=True)
class Declines:
    """The pattern fits, and the function returned None (or the node itself) at `line` of `file`:
    for the last of `ways` ways to match, the one that is told. `values` are the locals that the
    line names, as texts."""

    binds: Mapping[str, UOp]
    file: str
    line: int
    text: str
    values: Mapping[str, str]
    ways: int = 1


@dataclass(frozen=True)
class Raises:
    """The pattern fits, and the function raised an error at `line` of `file`."""

    binds: Mapping[str, UOp]
    file: str
    line: int
    text: str
    values: Mapping[str, str]
    error: str


@dataclass(frozen=True)
class Misfits:
    """The pattern does not fit. Of all its variants and orders of sources, the one that got
    furthest failed at `path`: which child of the pattern it is, from the whole pattern down, and at
    `node`, where `expected` was wanted and `found` is. `fitted` are the paths and nodes before it
    that did fit, with the names bound there in `binds`."""

    kind: Kind
    path: tuple[int, ...]
    node: UOp
    expected: str
    found: str
    binds: Mapping[str, UOp]
    fitted: tuple[tuple[tuple[int, ...], UOp], ...] = field(default=())


Explanation: TypeAlias = "Fires | Declines | Raises | Misfits"


def explain(rule: Rule, node: UOp, ctx: Any = None) -> Explanation:
    """What `rule` says of `node`: `ctx` is what the rewrite would hand to it.

    An error of the function is `Raises`, never raised.
    """
    furthest = _Furthest()
    last: Explanation | None = None
    for ways, binds in enumerate(matches(rule.pattern, node, furthest.misfit), 1):
        last = _called(rule, node, binds, ctx, ways)
        if not isinstance(last, Declines) or ways == MAX_MATCHES:
            break
    return last or furthest.answer()


def misfit(pattern: UPat, node: UOp) -> Misfits | None:
    """Where a pattern does not fit a node; None where it fits. Runs no code of a rule, unless a
    part of the pattern has a condition."""
    furthest = _Furthest()
    if next(matches(pattern, node, furthest.misfit), None) is not None:
        return None
    return furthest.answer()


class _Furthest:
    """The misfit that was reached after the most parts that fit; of several, the first whose op at
    least is wanted, else the first."""

    def __init__(self) -> None:
        self._parts = -1
        self._place: Place[UOp] | None = None
        self._fitted: Fitted[UOp] = None
        self._binds: Mapping[str, UOp] = {}

    def misfit(self, place: Place[UOp], fitted: Fitted[UOp], binds: Mapping[str, UOp]) -> None:
        """A part that did not fit."""
        parts, rest = 0, fitted
        while rest is not None:
            parts, rest = parts + 1, rest[1]
        nearer = parts == self._parts and _has_op(place) and not _has_op(self._place)
        if parts > self._parts or nearer:
            self._parts, self._place, self._fitted, self._binds = parts, place, fitted, binds

    def answer(self) -> Misfits:
        """That misfit."""
        place = self._place
        assert place is not None, "a pattern that does not fit has a part that does not"
        kind, expected, found = _difference(place.pattern, place.node, self._binds)
        fitted: list[tuple[tuple[int, ...], UOp]] = []
        rest = self._fitted
        while rest is not None:
            one, rest = rest
            fitted.append((_path(one), one.node))
        binds = dict(self._binds)
        return Misfits(
            kind, _path(place), place.node, expected, found, binds, tuple(reversed(fitted))
        )


def _has_op(place: Place[UOp] | None) -> bool:
    """Whether a part of a pattern may have the op of the node it is held against."""
    return place is not None and (place.pattern.op is None or place.node.op in place.pattern.op)


def _path(place: Place[UOp]) -> tuple[int, ...]:
    path: list[int] = []
    while place.above is not None:
        path.append(place.child)
        place = place.above
    return tuple(reversed(path))


def _difference(p: UPat, node: UOp, binds: Mapping[str, UOp]) -> tuple[Kind, str, str]:
    """In what `node` is not what `p` wants of it, what that is, and what there is."""
    if p.op is not None and node.op not in p.op:
        return "op", _ops(p), node.op.name
    if p.dtype is not None and not dtype_matches(node.dtype, p.dtype):
        return "dtype", " or ".join(map(str, p.dtype[:MAX_OPS])) + _more(p.dtype), str(node.dtype)
    if p.arg is not None and not arg_matches(node.arg, p.arg):
        return "argument", _short(repr(p.arg)), _short(repr(node.arg))
    if p.custom is not None and not p.custom(node):
        return "condition", getattr(p.custom, "__name__", "a condition"), "false"
    sources = {s.op for s in node.src}
    if missing := p.early_reject - sources:
        names = ", ".join(sorted(op.name for op in missing))
        return "among", f"{names} among the sources", _counted(node)
    if p.name is not None and (bound := binds.get(p.name, node)) is not node:
        return "name", f"the same node as {p.name}: {_node(bound)}", _node(node)
    if isinstance(p.src, UPat):
        return "sources", "one source or more", _counted(node)
    wanted = len(p.src or ())
    more = " or more" if p.allow_any_len else ""
    return "sources", f"{wanted} source{'' if wanted == 1 else 's'}{more}", _counted(node)


def _ops(p: UPat) -> str:
    names = sorted(op.name for op in p.op or ())
    return " or ".join(names[:MAX_OPS]) + _more(names)


def _more(values: Any) -> str:
    left = len(values) - MAX_OPS
    return f" or {left} more" if left > 0 else ""


def _counted(node: UOp) -> str:
    names = ", ".join(s.op.name for s in node.src[:MAX_OPS])
    more = "" if len(node.src) <= MAX_OPS else f" and {len(node.src) - MAX_OPS} more"
    return f"{len(node.src)}: {names}{more}" if node.src else "none"


def _node(node: UOp) -> str:
    return _short(node_line(node, "", [s.op.name for s in node.src], shaped=False)[3:])


def _short(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 3] + "..."


def _called(
    rule: Rule, node: UOp, binds: Mapping[str, UOp], ctx: Any, ways: int
) -> Fires | Declines | Raises:
    """What the function makes of one match."""
    given = rule.variants[0].call.keywords(dict(binds), ctx)
    tracer = Returns(getattr(inspect.unwrap(rule.function), "__code__", None))
    try:
        result = tracer.call(rule.function, given)
    except Exception as error:
        return Raises(binds, *tracer.where(rule), f"{type(error).__name__}: {error}")
    if isinstance(result, UOp) and result is not node:
        return Fires(binds, result)
    return Declines(binds, *tracer.where(rule), ways)


class Returns:
    """Keeps the line on which one function was left, and what its locals were there."""

    def __init__(self, code: Any) -> None:
        self._code = code
        self._line = 0
        self._locals: dict[str, Any] = {}

    def call(self, function: Any, given: Mapping[str, Any]) -> Any:
        """Calls a function; a tracer in force, such as a debugger's, is put back."""
        before = sys.gettrace()
        sys.settrace(self._entered)
        try:
            return function(**given)
        finally:
            sys.settrace(before)

    def _entered(self, frame: FrameType, event: str, arg: Any) -> Any:
        return self._left if frame.f_code is self._code else None

    def _left(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event in ("return", "exception"):
            self._line, self._locals = frame.f_lineno, dict(frame.f_locals)
        return self._left

    def where(self, rule: Rule) -> tuple[str, int, str, dict[str, str]]:
        """The file, the line, its text, and the values that it names, or where it names none, as
        `return None` does, all; of a function that is not written in Python, where the rule is."""
        line = self._line or rule.line
        text = linecache.getline(rule.file, line).strip()
        named = [n for n in dict.fromkeys(_NAME.findall(text)) if n in self._locals]
        values = {n: _value(self._locals[n]) for n in (named or [*self._locals][:MAX_LOCALS])}
        return rule.file, line, text, values


def _value(value: Any) -> str:
    if isinstance(value, UOp):
        return _node(value)
    try:
        return _short(repr(value))
    except Exception as error:
        return f"<no text: {type(error).__name__}>"
