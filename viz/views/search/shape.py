"""How nodes are asked for by their structure: `MUL(x, CONST 64)`.

    MUL(x, CONST 64)     a product with the constant 64, on either side: x is any node
    ADD(x, x)            the same node twice
    ADD|SUB(_, LOAD)     one of several ops; `_` is any node
    REDUCE(LOAD, ...)    any number of further sources
    CAST.float16(x)      a node of this dtype
    CONST 0.5            a node with this argument; in quotes, "a b", where it is more than a word

Ops and dtypes are compared without regard to case. The page reads the same queries where it has no
server (viz/web/src/data/offline/shape.ts); a table of queries (tests/viz/views/search) holds both
to the same answers. Never evaluates anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from core.errors import TraceError

MAX_LENGTH: Final = 400
"""Characters of a query."""
MAX_DEPTH: Final = 12
_TOKEN: Final = re.compile(
    r'\s*(?:(?P<word>[A-Za-z_]\w*)|(?P<number>-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf)|nan)'
    r'|"(?P<text>[^"]*)"|(?P<sign>\.\.\.|[(),.|]))', re.ASCII,
)  # fmt: skip
_SHOUTED: Final = re.compile(r"\s*[A-Z_][A-Z0-9_]*([|.][\w|.]*)?\s*(\(|\s[-\d\"])", re.ASCII)
"""How a structure begins whose op is in capitals, as those of `core` are."""
_CALLED: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*\(", re.ASCII)


@dataclass(frozen=True)
class Shape:
    """A node as a query describes it; None stands for anything. `name`: equal names are one node;
    `rest`: more sources than `src` may follow."""

    ops: frozenset[str] | None = None
    dtype: str | None = None
    arg: str | None = None
    src: tuple[Shape, ...] | None = None
    rest: bool = False
    name: str | None = None
    commutes: bool = False
    """Whether its two sources may stand in either order."""

    def walk(self) -> Iterator[Shape]:
        """This and all below it."""
        yield self
        for inner in self.src or ():
            yield from inner.walk()


def is_structural(text: str, ops: Callable[[], Iterable[str]] = tuple) -> bool:
    """Whether a query asks for a structure, not for a text: an op with sources or an argument. An
    op that is not in capitals is one of `ops`."""
    if _SHOUTED.match(text):
        return True
    called = _CALLED.match(text)
    return called is not None and called[1].casefold() in {op.casefold() for op in ops()}


def parse(text: str, commutative: frozenset[str] = frozenset()) -> Shape:
    """The structure that a query describes; `commutative`: the ops, case-folded, whose two sources
    may stand in either order. Raises TraceError with what is wrong in it."""
    if len(text) > MAX_LENGTH:
        raise TraceError(f"the query is longer than {MAX_LENGTH} characters")
    parser = _Parser(text, commutative)
    found = parser.node(0)
    parser.end()
    return found


@dataclass(frozen=True)
class _Token:
    kind: str
    """word, number, text or sign; "" for the end."""
    text: str
    at: int


class _Parser:
    def __init__(self, text: str, commutative: frozenset[str]) -> None:
        self._text, self._commutative = text, commutative
        self._tokens = [*self._read()]
        self._next = 0

    def _read(self) -> Iterator[_Token]:
        at, text = 0, self._text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._wrong("this cannot be read", at)
            kind = str(found.lastgroup)
            yield _Token(kind, found[kind], found.start(kind))
            at = found.end()
        yield _Token("", "", len(text))

    def node(self, depth: int) -> Shape:
        if depth > MAX_DEPTH:
            raise self._wrong("the query is nested too deeply")
        words = [self._take("an op, a name or _", "word")]
        while self._is("|"):
            words.append(self._take("an op", "word"))
        dtype = self._take("a dtype", "word").casefold() if self._is(".") else None
        has_arg = self._token.kind in ("number", "text")
        arg = self._take("an argument", "number", "text") if has_arg else None
        src, rest = self._sources(depth) if self._is("(") else (None, False)
        plain = dtype is None and arg is None and src is None and len(words) == 1
        if plain and words[0] != "_" and words[0].islower():
            return Shape(name=words[0])
        ops = None if words == ["_"] else frozenset(word.casefold() for word in words)
        two = src is not None and len(src) == 2 and not rest
        commutes = two and ops is not None and ops <= self._commutative
        return Shape(ops, dtype, arg, src, rest, commutes=commutes)

    def _sources(self, depth: int) -> tuple[tuple[Shape, ...], bool]:
        src: list[Shape] = []
        while not self._is(")"):
            if src and not self._is(","):
                raise self._wrong("a comma or ) is expected")
            if self._is("..."):
                if not self._is(")"):
                    raise self._wrong("... comes last")
                return tuple(src), True
            src.append(self.node(depth + 1))
        return tuple(src), False

    def end(self) -> None:
        if self._token.kind:
            raise self._wrong("the query should end")

    @property
    def _token(self) -> _Token:
        return self._tokens[self._next]

    def _is(self, sign: str) -> bool:
        """Whether the next token is this sign, which is taken then."""
        found = self._token.kind == "sign" and self._token.text == sign
        self._next += found
        return found

    def _take(self, what: str, *kinds: str) -> str:
        token = self._token
        if token.kind not in kinds:
            raise self._wrong(f"{what} is expected")
        self._next += 1
        return token.text

    def _wrong(self, what: str, at: int | None = None) -> TraceError:
        at = self._token.at if at is None else at
        return TraceError(
            f"{what}, at character {at + 1} of the query",
            where=self._text[:at] + " <-- here",
            hint="for example MUL(x, CONST 64), ADD(x, x), LOAD(...), CAST.float16(x)",
        )
