"""LLVM IR text as tokens, each with its line.

Knows no grammar. The text may come from a stranger: its size and that of each token are bounded,
and every pattern takes linear time.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple, NoReturn

from core.errors import CompileError

MAX_TEXT: Final = 1 << 23
"""Characters of a text."""
MAX_NAME: Final = 256
"""Characters of a name or a number."""

_NAME: Final = r'(?:[-\w$.]+|"[^"\n]*")'
_TOKEN: Final = re.compile(
    rf"""
    (?P<skip>[ \t\r]+|;[^\n]*)
  | (?P<end>\n)
  | (?P<label>{_NAME}:)
  | (?P<local>%{_NAME})
  | (?P<global>@{_NAME})
  | (?P<metadata>!{_NAME}|!)
  | (?P<group>\#\d+)
  | (?P<string>c?"[^"\n]*")
  | (?P<number>[-+]?\d+(?:\.\d*(?:[eE][-+]?\d+)?)?(?![\w.$])|0x[HRKLM]?[0-9A-Fa-f]+(?![\w.$]))
  | (?P<word>[A-Za-z_][\w.]*)
  | (?P<mark>\.\.\.|[-=,()\[\]{{}}<>*|:])
    """,
    re.VERBOSE | re.ASCII,
)


class Token(NamedTuple):
    """`kind` is a group of the pattern above, `text` what it stands for: names come without their
    sign and quotes. `line` counts from 1."""

    kind: str
    text: str
    line: int


def tokens_of(text: str) -> list[Token]:
    """All tokens, and one of kind "over" at the end. Raises CompileError for a character that no
    token begins with, and for a text or name that is too long."""
    if len(text) > MAX_TEXT:
        raise CompileError(
            f"the text is too long: {len(text):,} characters", hint=f"at most {MAX_TEXT:,}"
        )
    tokens: list[Token] = []
    line, at = 1, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            refuse(f"{text[at]!a} does not begin anything", text, line)
        at, kind = match.end(), str(match.lastgroup)
        if kind == "end":
            line += 1
        elif kind != "skip":
            if at - match.start() > MAX_NAME and kind != "string":
                refuse(f"a name of {at - match.start()} characters", text, line)
            tokens.append(Token(kind, _shorn(kind, match[0]), line))
    tokens.append(Token("over", "the end of the text", tokens[-1].line if tokens else 1))
    return tokens


def _shorn(kind: str, text: str) -> str:
    if kind in ("local", "global"):
        text = text[1:]
    elif kind == "label":
        text = text[:-1]
    return text.strip('"') if kind in ("local", "global", "label", "string") else text


def refuse(what: str, text: str, line: int, hint: str = "") -> NoReturn:
    """Raises CompileError for a line of `text`, with the line."""
    lines = text.split("\n")
    shown = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    raise CompileError(
        f"LLVM IR: {what}",
        f"line {line}: {shown[:160]}",
        hint or "correct the text, or revert it",
    )
