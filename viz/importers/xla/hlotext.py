"""The grammar of HLO's text that everybody needs who reads it: where computations and instructions
begin, and where brackets end. Never says what an op means."""

from __future__ import annotations

import re
from typing import Final

COMPUTATION: Final = re.compile(r"(ENTRY\s+)?%?([\w.\-]+)\s*(?:\(.*)?\{$")
"""(whether the module begins there, its name)"""
INSTRUCTION: Final = re.compile(r"\s*(ROOT\s+)?%?([\w.\-]+)\s*=\s*")
"""(whether it is the result, its name)"""
OPCODE: Final = re.compile(r"\s*([a-z][\w\-]*)\(")
TABLES: Final = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
"""Where places in the user's program are numbered."""


def closing(text: str, at: int) -> int:
    """Where the round bracket at `at` is closed; the length of the text where it is not. Brackets
    in strings do not count."""
    depth, size, quoted = 0, len(text), False
    while at < size:
        c = text[at]
        if quoted:
            at += c == "\\"
            quoted = c != '"'
        elif c == '"':
            quoted = True
        elif c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return size
