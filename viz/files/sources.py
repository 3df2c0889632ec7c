"""Source files of a program: their digests, and whether they have changed since.

Opens regular files only, of bounded size. Never runs anything.
"""

from __future__ import annotations

import hashlib
import io
import tokenize
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from viz.files.regular import open_regular

MAX_SOURCE: Final = 1 << 22
"""Bytes of a source file that is compared; larger ones are not looked at."""


def source_digest(lines: Sequence[str]) -> str:
    """A digest of the lines of a file as `linecache` gives them."""
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def has_changed(path: str, digest: str) -> bool | None:
    """Whether the file at `path` differs from the one with this digest; None where that cannot be
    told: it is gone, too large, or no text."""
    if not digest or not Path(path).is_absolute():
        return None
    try:
        with open_regular(Path(path)) as file:
            raw = file.read(MAX_SOURCE + 1)
        if len(raw) > MAX_SOURCE:
            return None
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        text = io.TextIOWrapper(io.BytesIO(raw), encoding).readlines()
    except (OSError, SyntaxError, ValueError):
        return None
    if text and not text[-1].endswith("\n"):
        text[-1] += "\n"
    return source_digest(text) != digest
