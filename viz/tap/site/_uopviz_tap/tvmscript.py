"""A module of TVM told as nodes: its TVMScript, which is Python, is parsed and never run.

A statement is a node; its sources are the statements that gave the names that it reads, and the
ends of its body. A node is the same in two modules where all of this is the same.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from _uopviz_tap.passtexts import Printed
from _uopviz_tap.stream import Stream

_MAX_ARG = 2000
_MAX_TYPE = 200
_SOURCE = "_uopviz_"
"""Stands for `$`, which is not in names, while a text is made."""
_Key = tuple[Any, ...]


class Script:
    """A module as it was told. `pairs`: its nodes by what lasts from pass to pass: the function,
    and the name that a statement gives or what it calls, with a count."""

    def __init__(self, text: str, stream: Stream, known: dict[_Key, int]) -> None:
        self._stream, self._known = stream, known
        self._twins: Counter[_Key] = Counter()
        self._places: Counter[_Key] = Counter()
        self.pairs: dict[_Key, int] = {}
        self._function = ""
        self._lines: dict[int, int] = {}
        """The node that begins on a line."""
        ends = self._body(ast.parse(text).body, {})
        self.sink = self._tell("module", "", "", ends, "module")
        count = text.count("\n") + 1
        lines = [self._lines.get(at, 0) for at in range(1, count + 1)]
        self.printed = Printed("python", text, lines)

    def _body(self, body: list[ast.stmt], scope: dict[str, int]) -> list[int]:
        """The statements of a body in order; those that nothing else in it reads."""
        made: dict[int, None] = {}
        read: set[int] = set()
        for statement in body:
            node, sources = self._statement(statement, scope)
            if node:
                made[node] = None
                read.update(sources)
        return [node for node in made if node not in read]

    def _statement(self, at: ast.stmt, scope: dict[str, int]) -> tuple[int, list[int]]:
        """The node of a statement, 0 for none, and what it reads."""
        if isinstance(at, (ast.Import, ast.ImportFrom, ast.Pass)):
            return 0, []
        if isinstance(at, ast.ClassDef):
            ends = self._body(at.body, scope)
            return self._tell("class", "", at.name, ends, at.name, at.lineno), ends
        if isinstance(at, ast.FunctionDef):
            return self._function_of(at, scope)
        inner: list[ast.stmt] = [
            one for name in ("body", "orelse") for one in getattr(at, name, ())
        ]
        head: list[ast.AST] = [
            child for child in ast.iter_child_nodes(at) if not isinstance(child, ast.stmt)
        ]
        given = [*_given(at)]
        names = dict.fromkeys(
            one.id
            for part in head
            for one in ast.walk(part)
            if isinstance(one, ast.Name) and one.id in scope and one.id not in given
        )
        sources = [scope[name] for name in names]
        ends = self._body(inner, scope)
        op, text, kind = _spelled(at, {name: f"{_SOURCE}{n}" for n, name in enumerate(names)})
        node = self._tell(op, kind, text, [*sources, *ends], given[0] if given else op, at.lineno)
        for name in given:
            scope[name] = node
        for name in _written(at):  # whoever reads the buffer now reads what was stored
            scope[name] = node
        return node, [*sources, *ends]

    def _function_of(self, at: ast.FunctionDef, scope: dict[str, int]) -> tuple[int, list[int]]:
        self._function = at.name
        own = dict(scope)
        for number, one in enumerate(at.args.args):
            kind = "" if one.annotation is None else ast.unparse(one.annotation)
            arg = f"#{number} of {at.name}"
            own[one.arg] = self._tell("argument", kind, arg, [], one.arg)
        arguments = [own[one.arg] for one in at.args.args]
        ends = self._body(at.body, own)
        sources = [*arguments, *ends]
        return self._tell("function", "", at.name, sources, "function", at.lineno), sources

    def _tell(
        self, op: str, kind: str, text: str, sources: list[int], name: str, line: int = 0
    ) -> int:
        key: _Key = (op, kind[:_MAX_TYPE], text[:_MAX_ARG], *sources)
        self._twins[key] += 1
        key = (self._twins[key], *key)
        number = self._known.get(key, 0)
        if not number:
            number = self._known[key] = len(self._known) + 1
            more = {"arg": json.dumps(text[:_MAX_ARG])} if text else {}
            if key[0] > 1:
                more["tag"] = json.dumps(f"#{key[0]}")
            self._stream.put("node", number, op, kind[:_MAX_TYPE], sources, more)
        place = self._function, name
        self._places[place] += 1
        self.pairs[(*place, self._places[place])] = number
        if line:
            self._lines.setdefault(line, number)
        return number


def _given(at: ast.stmt) -> Iterator[str]:
    """The names that a statement gives a value."""
    targets: list[ast.expr] = []
    if isinstance(at, ast.Assign):
        targets = at.targets
    elif isinstance(at, ast.AnnAssign):
        targets = [at.target]
    for target in targets:
        for one in ast.walk(target):
            if isinstance(one, ast.Name) and not isinstance(target, ast.Subscript):
                yield one.id


def _written(at: ast.stmt) -> Iterator[str]:
    """The buffers that a statement stores to."""
    for target in at.targets if isinstance(at, ast.Assign) else ():
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            yield target.value.id


def _spelled(at: ast.stmt, names: dict[str, str]) -> tuple[str, str, str]:
    """Op, argument and type of a statement, in whose text `$0` is the first name that it reads."""

    class Renaming(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.Name:
            return ast.Name(names.get(node.id, node.id))

    def text(part: ast.AST | None) -> str:
        return "" if part is None else ast.unparse(Renaming().visit(part)).replace(_SOURCE, "$")

    value = getattr(at, "value", None)
    kind = text(at.annotation) if isinstance(at, ast.AnnAssign) else ""
    if isinstance(at, ast.Return):
        return "return", text(value), ""
    if isinstance(at, ast.Assign) and isinstance(at.targets[0], ast.Subscript):
        return "store", f"{text(at.targets[0])} = {text(value)}", ""
    if isinstance(at, ast.For):
        return "for", f"{text(at.target)} in {text(at.iter)}", ""
    if isinstance(at, (ast.If, ast.While)):
        return type(at).__name__.lower(), text(at.test), ""
    if isinstance(at, ast.With):
        items = at.items[0].context_expr
        called = ast.unparse(items.func) if isinstance(items, ast.Call) else "with"
        return called, ", ".join(text(one) for one in at.items), ""
    if isinstance(value, ast.Call):
        arguments = [*map(text, value.args), *(f"{k.arg}={text(k.value)}" for k in value.keywords)]
        return ast.unparse(value.func), ", ".join(arguments), kind
    return type(at).__name__.lower() if value is None else "value", text(value), kind
