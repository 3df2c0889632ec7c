"""Shapes of JSON, written as TypeScript: read, and compared with data.

Knows the few forms that this project's declarations use. Never runs anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

_TOKEN = re.compile(r'\s*(/\*.*?\*/|"[^"]*"|\w+|\S)', re.DOTALL)
_DECLARED = re.compile(
    r"^(?:export )?((?:interface (\w+)[^{]*\{.*?^\})|(?:type (\w+) =.*?;$))",
    re.DOTALL | re.MULTILINE,
)
Shape = tuple[Any, ...]


def declarations(text: str) -> dict[str, str]:
    """The text of each interface and type, by name."""
    return {found[2] or found[3]: found[1] for found in _DECLARED.finditer(text)}


def needed(names: Iterable[str], known: dict[str, str]) -> list[str]:
    """The declarations that those of `names` lead to, in the order of `known`."""
    reached: set[str] = set()
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name in known and name not in reached:
            reached.add(name)
            waiting += re.findall(r"\b[A-Z]\w*", re.sub(r"/\*.*?\*/", "", known[name], flags=re.S))
    return [name for name in known if name in reached]


class Shapes:
    """Declared shapes by name."""

    def __init__(self, declared: dict[str, str]) -> None:
        parsed = {name: _Parser(text) for name, text in declared.items()}
        self._known = {name: parser.declaration() for name, parser in parsed.items()}
        self._parameters = {name: parser.parameters for name, parser in parsed.items()}

    def problems(self, value: Any, name: str) -> list[str]:
        """Where a value is not of the shape of that name; nothing where it is."""
        return [*self._compare(value, ("name", name), name)]

    def _fields(self, shape: Shape) -> dict[str, tuple[bool, Shape]]:
        kind, *rest = shape
        if kind == "name":
            return self._fields(self._known[rest[0]])
        if kind == "apply":
            return self._fields(self._applied(rest[0], rest[1]))
        if kind == "extends":
            return {k: v for base in (*rest[0], rest[1]) for k, v in self._fields(base).items()}
        if kind == "omit":
            return {k: v for k, v in self._fields(rest[0]).items() if k not in rest[1]}
        assert kind == "object", shape
        return rest[0]

    def _applied(self, name: str, arguments: list[Shape]) -> Shape:
        """A shape with parameters, with these in their places."""
        return _put(self._known[name], dict(zip(self._parameters[name], arguments, strict=True)))

    def _compare(self, value: Any, shape: Shape, at: str) -> Iterator[str]:
        kind, *rest = shape
        if kind == "name" and rest[0] in self._known:
            yield from self._compare(value, self._known[rest[0]], at)
        elif kind == "apply":
            yield from self._compare(value, self._applied(rest[0], rest[1]), at)
        elif kind == "index":
            yield from self._compare(value, self._fields(rest[0])[rest[1]][1], at)
        elif kind == "union":
            found = [[*self._compare(value, one, at)] for one in rest[0]]
            if all(found):
                yield min(found, key=len)[0]
        elif kind == "literal":
            if value != rest[0] or type(value) is not type(rest[0]):
                yield f"{at} is {value!r}, not {rest[0]!r}"
        elif kind in ("array", "tuple", "record", "object", "omit", "extends"):
            yield from self._compare_parts(value, shape, at)
        else:
            types = {"string": (str,), "number": (int, float), "boolean": (bool,)}[rest[0]]
            if type(value) not in types:
                yield f"{at} is {value!r}, no {rest[0]}"

    def _compare_parts(self, value: Any, shape: Shape, at: str) -> Iterator[str]:
        kind, *rest = shape
        if not isinstance(value, list if kind in ("array", "tuple") else dict):
            yield f"{at} is {value!r}, no {kind}"
        elif kind == "array":
            for i, one in enumerate(value):
                yield from self._compare(one, rest[0], f"{at}[{i}]")
        elif kind == "tuple":
            if len(value) != len(rest[0]):
                yield f"{at} has {len(value)} parts"
            for i, (one, of) in enumerate(zip(value, rest[0], strict=False)):
                yield from self._compare(one, of, f"{at}[{i}]")
        elif kind == "record":
            for key, one in value.items():
                yield from self._compare(one, rest[0], f"{at}.{key}")
        else:
            fields = self._fields(shape)
            yield from (f"{at}.{key} is not documented" for key in value if key not in fields)
            for key, (optional, of) in fields.items():
                if key in value:
                    yield from self._compare(value[key], of, f"{at}.{key}")
                elif not optional:
                    yield f"{at}.{key} is missing"


class _Parser:
    def __init__(self, text: str) -> None:
        found = (match[1] for match in _TOKEN.finditer(text))
        self._tokens = [token for token in found if not token.startswith("/*")] + [""]
        self._at = 0
        self.parameters: list[str] = []

    def declaration(self) -> Shape:
        if self._next() == "interface":
            self._next()
            if self._take("<"):
                self.parameters = [name for _, name in self._arguments()]
            bases: list[Shape] = []
            while self._take("extends") or self._take(","):
                bases.append(self._primary())
            own = self._primary()
            return ("extends", bases, own) if bases else own
        self._next()
        self._expect("=")
        return self._type()

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, token: str) -> bool:
        if self._tokens[self._at] == token:
            self._at += 1
            return True
        return False

    def _expect(self, token: str) -> None:
        found = self._next()
        assert found == token, f"{found!r} where {token!r} was to come"

    def _type(self) -> Shape:
        self._take("|")
        parts = [self._postfix()]
        while self._take("|"):
            parts.append(self._postfix())
        return parts[0] if len(parts) == 1 else ("union", parts)

    def _postfix(self) -> Shape:
        shape = self._primary()
        while self._take("["):
            if self._take("]"):
                shape = "array", shape
            else:
                shape = "index", shape, json.loads(self._next())
                self._expect("]")
        return shape

    def _primary(self) -> Shape:
        token = self._next()
        if token == "{":
            return self._object()
        if token == "(":
            shape = self._type()
            self._expect(")")
            return shape
        if token == "[":
            parts = [self._type()]
            while self._take(","):
                parts.append(self._type())
            self._expect("]")
            return "tuple", parts
        if token[0] == '"' or token.isdecimal() or token in ("null", "true", "false"):
            return "literal", json.loads(token)
        if token in ("Record", "Omit"):
            self._expect("<")
            first = self._type()
            self._expect(",")
            second = self._type()
            self._expect(">")
            return ("record", second) if token == "Record" else ("omit", first, _names(second))
        return ("apply", token, self._arguments()) if self._take("<") else ("name", token)

    def _arguments(self) -> list[Shape]:
        found = [self._type()]
        while self._take(","):
            found.append(self._type())
        self._expect(">")
        return found

    def _object(self) -> Shape:
        fields: dict[str, tuple[bool, Shape]] = {}
        while not self._take("}"):
            name = self._next()
            optional = self._take("?")
            self._expect(":")
            fields[name] = optional, self._type()
            self._take(";")
        return "object", fields


def _put(shape: Any, values: dict[str, Shape]) -> Any:
    """A shape with others in the place of names."""
    match shape:
        case ("name", name) if name in values:
            return values[name]
        case tuple():
            return tuple(_put(part, values) for part in shape)
        case list():
            return [_put(part, values) for part in shape]
        case dict():
            return {key: _put(part, values) for key, part in shape.items()}
        case _:
            return shape


def _names(shape: Shape) -> set[str]:
    return {one[1] for one in (shape[1] if shape[0] == "union" else [shape])}
