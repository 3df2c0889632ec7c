"""Blocks of the user's own source lines: packing and unpacking.

Never reads a source file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, cast

from core.errors import TraceError
from viz.budget import take
from viz.format import schema
from viz.format.cells import as_int, as_text
from viz.format.pack import pack_json, unpack_json

_LINE: Final = 120
"""Bytes that are kept of a line apart from its text."""


@dataclass(frozen=True, slots=True)
class UserLines:
    """Some lines of a file, from line `first` on. `file` is as in the origins of nodes; `digest` is
    of the whole file (`viz/files/sources.py`), "" where it is not known; `cut`: other lines of this
    file that the trace names were left out, because there are too many; `proof`: what
    `viz/vouching.py` says of path and digest, "" for nothing."""

    file: str
    first: int
    text: str
    digest: str = ""
    cut: bool = False
    proof: str = ""

    @property
    def lines(self) -> list[str]:
        """The lines, without their ends."""
        return self.text.removesuffix("\n").split("\n") if self.text else []


FIELDS: Final = tuple(field.name for field in fields(UserLines))
"""The keys of a part in a block."""


def pack_user_lines(parts: Sequence[UserLines]) -> bytes:
    """A block of kind USER_LINES."""
    return pack_json([asdict(part) for part in parts])


def unpack_user_lines(data: bytes) -> list[UserLines]:
    """What `pack_user_lines` made; what makes no sense is left out. Raises TraceError and
    BudgetError."""
    items = unpack_json(data)
    if not isinstance(items, list):
        raise TraceError("a block of user lines is damaged")
    found: list[UserLines] = []
    for item in cast("list[Any]", items):
        made = _part(cast("dict[str, Any]", item)) if isinstance(item, dict) else None
        if made is not None:
            take(1 + made.text.count("\n"), _LINE * (1 + made.text.count("\n")) + len(made.text))
            found.append(made)
    return found


def _part(item: dict[str, Any]) -> UserLines | None:
    first = as_int(item.get("first"))
    file = as_text(item.get("file"))
    if not file or not 0 < first < 1 << 31:
        return None
    text, digest = as_text(item.get("text")), as_text(item.get("digest"), schema.MAX_DIGEST)
    proof = as_text(item.get("proof"), schema.MAX_DIGEST)
    return UserLines(file, first, text, digest, item.get("cut") is True, proof)
