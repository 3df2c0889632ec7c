"""Serializes rules: the pattern as data, and the source of the function.

The form of a pattern is `Pat` of the page (`viz/web/src/data/messages`): the ops and dtypes that a
node may have (none: any), the name it is bound to, its argument as text, and its sources. Never
matches anything; `core` does.
"""

from __future__ import annotations

import functools
import linecache
from typing import Final, TypedDict

from core.dtype import DType
from core.uop.patterns.rule import Rule
from core.uop.patterns.upat import UPat

MAX_LINES: Final = 400
"""Longer functions are cut, with a note."""
MAX_DEPTH: Final = 32


class Pat(TypedDict, total=False):
    """One pattern; `anyOf` alone stands for alternatives."""

    op: list[str]
    dtype: list[str]
    name: str | None
    arg: str | None
    src: dict[str, object]
    anyOf: list[Pat]
    allowAny: bool
    among: list[str]


def pattern_data(pattern: UPat, depth: int = 0) -> Pat:
    """A pattern as data. Below MAX_DEPTH, sources are left open."""
    inner = depth + 1
    made: Pat = {
        "op": [] if pattern.op is None else sorted(o.name for o in pattern.op),
        "dtype": [] if pattern.dtype is None else _texts(pattern.dtype),
        "name": pattern.name,
        "arg": None if pattern.arg is None else str(pattern.arg),
        "src": {"kind": "any"},
    }
    if depth > MAX_DEPTH:
        return made
    if isinstance(pattern.src, UPat):
        made["src"] = {"kind": "repeat", "of": pattern_data(pattern.src, inner)}
    elif pattern.src is not None:
        kind = "ordered" if isinstance(pattern.src, tuple) else "permuted"
        made["src"] = {"kind": kind, "of": [pattern_data(p, inner) for p in pattern.src]}
    if pattern.alternatives:
        made["anyOf"] = [pattern_data(p, inner) for p in pattern.alternatives]
    if pattern.allow_any_len:
        made["allowAny"] = True
    if pattern.early_reject:
        made["among"] = sorted(o.name for o in pattern.early_reject)
    return made


@functools.cache
def _texts(dtypes: tuple[DType, ...]) -> list[str]:
    """Many patterns have the same list, with every vector of every integer in it."""
    return [str(d) for d in dtypes]


def source_of(rule: Rule) -> str:
    """The lines of a rule's function, decorator included; empty where the file is not there.

    Reads indentation instead of parsing: a run uses hundreds of rules, and `inspect.getsource`
    tokenizes for each of them.
    """
    lines = linecache.getlines(rule.file)
    start = rule.line - 1
    if not 0 <= start < len(lines):
        return ""
    is_function = lines[start].lstrip().startswith(("def ", "async def ", "@"))
    count = (_function_lines if is_function else _expression_lines)(lines, start)
    if count > MAX_LINES:
        cut = f"... ({count - MAX_LINES} more lines)\n"
        return "".join(lines[start : start + MAX_LINES]) + cut
    return "".join(lines[start : start + count]).rstrip() + "\n"


def _function_lines(lines: list[str], start: int) -> int:
    """Lines of a function with its decorators: its head, and all that is indented below."""
    base, in_body = _indent(lines[start]), False
    for end in range(start + 1, len(lines)):
        text = lines[end].strip()
        if not text:
            continue
        deeper = _indent(lines[end]) > base
        in_head = not in_body and text.startswith(("def ", "async def ", "@"))
        if not deeper and not in_head and text[0] not in ")]}":  # these end a head of several lines
            return end - start
        in_body = in_body or (deeper and lines[end - 1].rstrip().endswith(":"))
    return len(lines) - start


def _expression_lines(lines: list[str], start: int) -> int:
    """Lines of an expression such as a lambda: until its brackets are closed."""
    depth = 0
    for end in range(start, len(lines)):
        depth += sum((c in "([{") - (c in ")]}") for c in lines[end])
        if depth <= 0:
            return end - start + 1
    return len(lines) - start


def group_of(rule: Rule, matcher: str) -> str:
    """The matcher a rule belongs to, or, of one seen in a sum of matchers only, its module."""
    if matcher and "+" not in matcher:
        return matcher
    parts = rule.file.replace("\\", "/").removesuffix(".py").split("/")
    return "/".join(p for p in parts[-2:] if p != "__init__")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
