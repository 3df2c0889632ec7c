"""What two processes have in common of a node's own fields: op, dtype, argument and tag, as a
64-bit number.

Out of it are what depends on what else a process has done, or on names: numbers of buffers
(UNIQUE), names of kernels, numbers that passes leave in tags, addresses of Python objects. Never
uses `hash`, which differs from process to process; a trace that was made for it may have two texts
of one number.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b
from typing import Any, Final, cast

from viz.budget import take
from viz.format.cells import parse_json

COUNTED: Final = frozenset({"UNIQUE", "LUNIQUE"})
"""Ops whose argument, where it is a number, is one that a process has counted up to."""
_ADDRESS: Final = re.compile(r"0x[0-9a-f]{6,16}\b")
_NAMED: Final = '"kernelinfo"'
_DEEPEST: Final = 40


def text_key(text: str) -> int:
    """A 64-bit number of a text, the same in every process."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def canonical_arg(op: str, text: str) -> str:
    """The argument of a node, typed JSON, as far as it says what the node is. Raises
    BudgetError."""
    if op in COUNTED and text.lstrip("-").isdecimal():
        return ""
    if _NAMED in text:
        take(len(text) // 16, 4 * len(text))
        data = parse_json(text)
        if data is not None:
            text = json.dumps(_nameless(data), sort_keys=True)
    return _ADDRESS.sub("0x", text) if "0x" in text else text


def canonical_tag(text: str) -> str:
    """The tag of a node, without those that are numbers: marks that a pass has counted."""
    return "" if text.lstrip("-").isdecimal() else _ADDRESS.sub("0x", text)


def _nameless(data: Any, depth: int = 0) -> Any:
    """JSON without the names of kernels, and without opts that a search has found: another search
    may find others."""
    if depth > _DEEPEST:
        return data
    if isinstance(data, list):
        return [_nameless(item, depth + 1) for item in cast("list[Any]", data)]
    if not isinstance(data, dict):
        return data
    made = {key: _nameless(value, depth + 1) for key, value in cast("dict[str, Any]", data).items()}
    info = made.get("kernelinfo")
    if isinstance(info, dict):
        fields = cast("dict[str, Any]", info)
        if fields.pop("found_for", ""):
            fields["opts"] = None
        made["kernelinfo"] = {k: v for k, v in fields.items() if k != "name"}
    return made
