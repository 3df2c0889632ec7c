"""tinygrad: what its patterns ask for, and the source of its rules."""

from __future__ import annotations

import linecache
from typing import Any

_MOST_LINES = 60
"""Lines of the source of a rule."""


def _is_any(pattern: Any) -> bool:
    """Whether it stands for one of several patterns."""
    return getattr(pattern, "is_any", False) or type(pattern).__name__ == "UPatAny"  # of 0.11


def binds_below(pattern: Any, depth: int) -> bool:
    """Whether a pattern names any of its sources; where that cannot be told, it may."""
    if depth > 16 or not hasattr(pattern, "_in_src") or _is_any(pattern):
        return True
    given = pattern._in_src
    if given is None:
        return False
    below: Any = given if isinstance(given, (list, tuple)) else [given]
    return any(
        getattr(one, "name", None) is not None or binds_below(one, depth + 1) for one in below
    )


def source_at(file: str, line: int) -> str:
    """The expression or function that begins at a line: to where its brackets close, or what is
    further to the right. The tokenizer would take half a second for all rules."""
    lines = linecache.getlines(file)[line - 1 : line + _MOST_LINES] if line > 0 else []
    if not lines:
        return ""
    base = len(lines[0]) - len(lines[0].lstrip())
    function = lines[0].lstrip().startswith(("def ", "@"))
    depth, end = 0, 0
    for text in lines:
        bare = text.strip()
        inside = depth > 0 or not bare or len(text) - len(text.lstrip()) > base
        if end and not inside and not (function and lines[end - 1].lstrip().startswith("@")):
            break
        depth += sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))
        end += 1
        if not function and depth <= 0:
            break
    return "".join(lines[:end]).rstrip() + "\n"


def pattern_data(pattern: Any, depth: int) -> dict[str, Any]:
    """A UPat in the form of docs/trace-format.md; sources far below are left open."""
    names = [op.name for op in pattern.op] if pattern.op is not None else []
    dtypes = getattr(pattern, "match_dtype", None)
    if dtypes is None and not hasattr(type(pattern), "match_dtype"):
        dtypes = getattr(pattern, "dtype", None)
    made: dict[str, Any] = {
        "op": names,
        "dtype": [str(dtype) for dtype in dtypes or ()],
        "name": pattern.name,
        "arg": None if pattern.arg is None else str(pattern.arg),
        "src": {"kind": "any"},
    }
    given = getattr(pattern, "_in_src", None)
    if depth > 16 or given is None:
        return made
    among = getattr(pattern, "custom_early_reject", None)
    if among is not None:
        made["among"] = [op.name for op in among]
    if _is_any(pattern):
        made["anyOf"] = [pattern_data(one, depth + 1) for one in given]
    elif isinstance(given, (list, tuple)):
        kind = "ordered" if isinstance(given, tuple) else "permuted"
        made["src"] = {"kind": kind, "of": [pattern_data(one, depth + 1) for one in given]}
        if not getattr(pattern, "strict_length", True):
            made["allowAny"] = True
    else:
        made["src"] = {"kind": "repeat", "of": pattern_data(given, depth + 1)}
    return made
