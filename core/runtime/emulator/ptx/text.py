"""PTX text as statements: labels, scopes, directives and instructions with their operands.

Knows the grammar and no instruction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from core.errors import CompileError

_TOKEN: Final = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<float>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|\d+\.\d*(?:[eE][+-]?\d+)?)
    |(?P<int>0[xX][0-9a-fA-F]+U?\b|0[bB][01]+U?\b|\d+U?\b)
    |(?P<string>"[^"\n]*")
    |(?P<word>[%$_A-Za-z.][\w$.%]*(?:::[\w.]+)*)
    |(?P<mark>[@!{}\[\](),;:+\-<>=|])""",
    re.VERBOSE | re.DOTALL,
)
_TO_LINE_END: Final = {
    ".version",
    ".target",
    ".address_size",
    ".file",
    ".loc",
    ".pragma",
    ".section",
}
_BASES: Final = {"0x": 16, "0b": 2, "0": 8}
_QUOTED: Final = 160
"""Characters of a line, and of what is wrong with it, that an error has."""


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is a group of the grammar: float, int, string, word or mark."""

    kind: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Number:
    """A literal: an integer, or the 64 bits of a float64 or the 32 bits of a float32."""

    value: int
    bits: int = 0


@dataclass(frozen=True, slots=True)
class Name:
    """A register, a special register, a variable or a label. `negated`: !%p."""

    text: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Vector:
    """{a, b, ...}"""

    items: tuple[Number | Name, ...]


@dataclass(frozen=True, slots=True)
class Address:
    """[base+offset]; `base` is "" for a bare number."""

    base: str
    offset: int


@dataclass(frozen=True, slots=True)
class Pair:
    """a|b: two results."""

    first: Name
    second: Name


Item: TypeAlias = Number | Name | Vector | Address | Pair


@dataclass(frozen=True, slots=True)
class Statement:
    """`kind` is label, open, close, directive or instruction; `tokens` are all of it but the
    semicolon."""

    kind: str
    line: int
    tokens: tuple[Token, ...]


def bad_text(text: str, line: int, what: str, hint: str = "") -> CompileError:
    """The error for a line of PTX, with its text."""
    lines = text.splitlines()
    quoted = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return CompileError(f"ptx: {what[:_QUOTED]}", f"line {line}: {quoted[:_QUOTED]}", hint)


def tokens_of(text: str) -> list[Token]:
    """All tokens. Raises CompileError for a character that PTX does not have."""
    found: list[Token] = []
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise bad_text(text, line, f"{text[at]!r} is not PTX")
        kind = match.lastgroup or ""
        if kind != "skip":
            found.append(Token(kind, match.group(), line))
        line += text.count("\n", at, match.end())
        at = match.end()
    return found


def statements_of(text: str) -> list[Statement]:
    """All statements, in order. Raises CompileError for text that ends within one."""
    tokens, found, at = tokens_of(text), list[Statement](), 0
    while at < len(tokens):
        first = tokens[at]
        if first.text in ("{", "}"):
            found.append(Statement("open" if first.text == "{" else "close", first.line, ()))
            at += 1
            continue
        if at + 1 < len(tokens) and first.kind == "word" and tokens[at + 1].text == ":":
            found.append(Statement("label", first.line, (first,)))
            at += 2
            continue
        end = _end(tokens, at)
        if end is None:
            raise bad_text(text, first.line, "the text ends within a statement", "is a ';' missing")
        kind = "directive" if first.text.startswith(".") else "instruction"
        found.append(Statement(kind, first.line, tuple(tokens[at:end])))
        at = end + (end < len(tokens) and tokens[end].text == ";")
    return found


def _end(tokens: Sequence[Token], at: int) -> int | None:
    """Where the statement ends: at its semicolon, at the brace that opens a body, or at the end of
    the line of a directive that has none."""
    if tokens[at].text in _TO_LINE_END:
        end = at + 1
        while end < len(tokens) and tokens[end].line == tokens[at].line and tokens[end].text != ";":
            end += 1
        return end
    header = any(t.text in (".entry", ".func") for t in tokens[at : at + 4])
    for end in range(at, len(tokens)):
        if tokens[end].text == ";" or (header and tokens[end].text == "{"):
            return end
    return None


class Reader:
    """Walks over the tokens of one statement."""

    def __init__(self, text: str, statement: Statement) -> None:
        self._text, self._tokens, self.line = text, statement.tokens, statement.line
        self.at = 0

    def error(self, what: str, hint: str = "") -> CompileError:
        """An error about this statement."""
        return bad_text(self._text, self.line, what, hint)

    def peek(self) -> str:
        """The next token's text; "" at the end."""
        return self._tokens[self.at].text if self.at < len(self._tokens) else ""

    def next(self, wanted: str | None = None) -> Token:
        """The next token, which must be `wanted`. Raises CompileError otherwise."""
        if self.at >= len(self._tokens):
            raise self.error(
                "the statement ends too early" + (f": no {wanted!r}" if wanted else "")
            )
        token = self._tokens[self.at]
        if wanted is not None and token.text != wanted:
            raise self.error(f"{token.text!r} where {wanted!r} should be")
        self.at += 1
        return token

    def takes(self, text: str) -> bool:
        """Whether the next token is `text`, which is then read."""
        if self.peek() != text:
            return False
        self.at += 1
        return True

    def word(self) -> str:
        """A word. Raises CompileError for anything else."""
        token = self.next()
        if token.kind != "word":
            raise self.error(f"{token.text!r} where a name should be")
        return token.text

    def number(self) -> Number:
        """A literal, with its sign."""
        negative = self.takes("-")
        token = self.next()
        text = token.text
        if token.kind == "int":
            value = self._integer(text.rstrip("U"))
            return Number(-value if negative else value)
        if token.kind == "float" and text[:2].lower() in ("0f", "0d"):
            bits = 32 if text[1] in "fF" else 64
            return Number(int(text[2:], 16) ^ (negative << (bits - 1)), bits)
        raise self.error(f"{text!r} where a number should be", "write floats as 0f or 0d and bits")

    def _integer(self, text: str) -> int:
        """An integer of at most 64 bits: hexadecimal, octal, binary or decimal by its beginning."""
        base = next((_BASES[start] for start in _BASES if text.lower().startswith(start)), 10)
        digits = (text[2:] if text[1:2].isalpha() else text).lstrip("0") or "0"
        if base == 8 and not {*digits}.isdisjoint("89"):
            raise self.error(f"{text!r} where an octal number should be")
        if len(digits) > 64 or (value := int(digits, base)) >> 64:
            raise self.error(f"a number of more than 64 bits: {text}")
        return value

    def item(self) -> Item:
        """One operand. Raises CompileError."""
        following = self.peek()
        if following == "{":
            return self._vector()
        if following == "[":
            return self._address()
        found = self._simple()
        if isinstance(found, Name) and self.takes("|"):
            return Pair(found, Name(self.word()))
        return found

    def _simple(self) -> Number | Name:
        if self.takes("!"):
            return Name(self.word(), True)
        if self.at < len(self._tokens) and self._tokens[self.at].kind == "word":
            return Name(self.word())
        return self.number()

    def _vector(self) -> Vector:
        self.next("{")
        items = [self._simple()]
        while self.takes(","):
            items.append(self._simple())
        self.next("}")
        return Vector(tuple(items))

    def _address(self) -> Address:
        self.next("[")
        base = ""
        offset = 0
        if self.at < len(self._tokens) and self._tokens[self.at].kind == "word":
            base = self.word()
        while self.peek() != "]":
            plus = self.takes("+")
            if base and not plus and self.peek() != "-":
                raise self.error(f"{self.peek()!r} within an address")
            offset += self.number().value
        self.next("]")
        return Address(base, offset)

    def items(self) -> list[Item]:
        """The operands up to the end of the statement."""
        found: list[Item] = []
        if self.peek():
            found.append(self.item())
            while self.takes(","):
                found.append(self.item())
        if self.peek():
            raise self.error(f"{self.peek()!r} after the last operand")
        return found
