"""What two processes have in common of a node's own fields: op, dtype, argument and tag, as a
64-bit number.

Out of it are what depends on what else a process has done, or on names: numbers of buffers
(UNIQUE), names of kernels, numbers that passes leave in tags, addresses of Python objects. Never
uses `hash`, which differs from process to process; a trace that was made for it may have two texts
of one number.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final

from viz.dialect.rundialect import RunDialect

_ADDRESS: Final = re.compile(r"0x[0-9a-f]{6,16}\b")


def text_key(text: str) -> int:
    """A 64-bit number of a text, the same in every process."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def canonical_arg(dialect: RunDialect, op: str, text: str) -> str:
    """The argument of a node, typed JSON, as far as it says what the node is. Raises
    BudgetError."""
    if text.lstrip("-").isdecimal():
        return "" if dialect.dialect.op(op).counted else text
    text = dialect.lasting(text)
    return _ADDRESS.sub("0x", text) if "0x" in text else text


def canonical_tag(text: str) -> str:
    """The tag of a node, without those that are numbers: marks that a pass has counted."""
    return "" if text.lstrip("-").isdecimal() else _ADDRESS.sub("0x", text)
