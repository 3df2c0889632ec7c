"""Patterns and nodes as the trace has them, for the interpreted matcher: texts, no code.

So the point where a pattern fails can be found for rules that are not installed here, and for other
compilers. A recorded pattern lacks conditions written in Python: it may fit where the rule's own
does not. Hostile patterns cost a bounded amount: each node that is looked at is taken from the
budget.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, cast

from core.errors import TraceError, UopvizError
from core.uop.data.args import decode_arg
from core.uop.ops import Ops
from core.uop.patterns.upat import MAX_VARIANTS, UPat
from core.uop.uop import UOp
from viz.budget import take
from viz.read.tracefile import TraceFile
from viz.views.rules.rulebook import clean_pattern

MAX_ORDERED: Final = 6
"""Sources that a pattern may want in any order: 720 orders."""
_MAX_ARG: Final = 1 << 16
_NODE: Final = 1200
"""Bytes of a node."""
_VECTOR: Final = re.compile(r"([^*\[\]]+)\.vec\((\d{1,6})\)")
_NUMBER: Final = re.compile(r"-?(\d{1,30}(\.\d{0,30})?(e[+-]?\d{1,3})?|inf)|nan|True|False")


@dataclass(frozen=True)
class OpText:
    """The name of an op."""

    name: str


@dataclass(frozen=True)
class TypeText:
    """The text of a dtype. A pattern's "int32" also stands for "int32.vec(4)"."""

    text: str

    @property
    def name(self) -> str:
        """That of one element."""
        found = _VECTOR.fullmatch(self.text)
        return found[1] if found else self.text

    @property
    def count(self) -> int:
        """How many elements it has; 0 for a pointer, which stands for itself alone."""
        found = _VECTOR.fullmatch(self.text)
        return int(found[2]) if found else "*" not in self.text

    def __str__(self) -> str:
        return self.text


class ArgText:
    """An argument known by its text: equal to anything with that text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __eq__(self, other: object) -> bool:
        return str(other) == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return self._text


class TextNode:
    """A node of a trace, with its fields as texts; each is one object in its `TextNodes`."""

    __slots__ = ("_among", "arg", "dtype", "number", "op", "tag")

    def __init__(self, among: TextNodes, number: int, texts: Sequence[str]) -> None:
        self._among, self.number = among, number
        self.op, self.dtype = OpText(texts[0] or "?"), TypeText(texts[1])
        self.arg, self.tag = _value(texts[2]), _value(texts[3])

    @property
    def src(self) -> tuple[TextNode, ...]:
        """Its sources. Raises BudgetError."""
        return self._among.sources(self.number)


class TextNodes:
    """The nodes of one file."""

    def __init__(self, file: TraceFile) -> None:
        self._file = file
        self._made: dict[int, TextNode] = {}
        self._sources: dict[int, tuple[TextNode, ...]] = {}

    def node(self, number: int) -> TextNode:
        """A node by its number. Raises BudgetError."""
        made = self._made.get(number)
        if made is None:
            nodes, text = self._file.nodes, self._file.text
            fields = (nodes.field(name) for name in ("op", "dtype", "arg", "tag"))
            texts = [text(int(field[number])) for field in fields]
            take(8 + len(texts[2]) // 8, _NODE + 2 * len(texts[2]))
            made = self._made[number] = TextNode(self, number, texts)
        return made

    def sources(self, number: int) -> tuple[TextNode, ...]:
        """The sources of a node. Raises BudgetError."""
        found = self._sources.get(number)
        if found is None:
            below = self._file.nodes.sources(number)
            take(len(below), 60 * len(below))
            found = self._sources[number] = tuple(self.node(s) for s in below)
        take(2 + len(found))
        return found


def pattern_of(data: object) -> UPat:
    """A recorded pattern for `TextNode`s. Raises TraceError for one that no rule can have, and
    BudgetError."""
    if not isinstance(data, dict) or not data:  # other compilers, and redacted copies, have none
        raise TraceError("the trace has no pattern of this rule")
    cleaned = clean_pattern(cast("object", data))
    if _variants(cleaned) > MAX_VARIANTS:
        raise TraceError("the recorded pattern has too many variants")
    return _pattern(cleaned)


def as_uop(node: TextNode) -> UOp:
    """The node, typed as the matcher of `core` takes it: that reads only fields that a `TextNode`
    has."""
    return cast("UOp", node)


def _pattern(data: Mapping[str, Any]) -> UPat:
    made = UPat()  # fields are set, not passed: names of other compilers need not be identifiers
    if alternatives := cast("list[Any]", data.get("anyOf", [])):
        made.alternatives = tuple(_pattern(p) for p in alternatives)
        return made
    if data["op"]:
        made.op = cast("frozenset[Ops]", frozenset(map(OpText, data["op"])))
    if data["dtype"]:
        made.dtype = cast("Any", tuple(map(TypeText, data["dtype"])))
    made.name = data["name"] or None
    made.arg = None if data["arg"] is None else _wanted(data["arg"])
    made.allow_any_len = data.get("allowAny", False)
    among = cast("list[str]", data.get("among", []))
    made.early_reject = cast("frozenset[Ops]", frozenset(map(OpText, among)))
    match data["src"]:
        case {"kind": "repeat", "of": inner}:
            made.src = _pattern(inner)
        case {"kind": "ordered", "of": items}:
            made.src = tuple(_pattern(p) for p in items)
        case {"kind": "permuted", "of": items}:
            if len(items) > MAX_ORDERED:
                raise TraceError(f"the recorded pattern has {len(items)} sources in any order")
            made.src = [_pattern(p) for p in items]
        case _:
            pass
    return made


def _variants(data: Mapping[str, Any]) -> int:
    """How many ways there are to choose among the alternatives of a pattern."""
    if alternatives := cast("list[Any]", data.get("anyOf", [])):
        return min(MAX_VARIANTS + 1, sum(map(_variants, alternatives)))
    match data["src"]:
        case {"kind": "ordered" | "permuted", "of": items}:
            count = 1
            for item in items:
                count = min(MAX_VARIANTS + 1, count * _variants(item))
            return count
        case {"kind": "repeat", "of": inner}:
            return _variants(inner)
        case _:
            return 1


def _wanted(text: str) -> object:
    """What a pattern wants of an argument: a number, or a text."""
    if not _NUMBER.fullmatch(text):
        return ArgText(text)
    if text in ("True", "False"):
        return text == "True"
    return int(text) if text.lstrip("-").isdecimal() else float(text)


def _value(text: str) -> object:
    """The argument of a node: typed JSON of `core` as the value that it stands for, any other
    unchanged."""
    if not text:
        return None
    if len(text) > _MAX_ARG:
        return text[:_MAX_ARG]
    with suppress(ValueError, RecursionError):
        data = json.loads(text)
        with suppress(UopvizError, ArithmeticError, TypeError, LookupError):
            return decode_arg(data)
        return data
    return text
