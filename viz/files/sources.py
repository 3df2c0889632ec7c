"""Source files of a program: their digests, and how they have changed since.

Opens regular files only, of bounded size. Never runs anything.
"""

from __future__ import annotations

import hashlib
import io
import tokenize
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from viz.files.regular import open_regular

MAX_SOURCE: Final = 1 << 22
"""Bytes of a source file that is compared; larger ones are not looked at."""
FileState = Literal["same", "changed", "gone"]
"""A file beside what it was: as it was, with another text, or not there any more."""


def source_digest(lines: Sequence[str]) -> str:
    """A digest of the lines of a file as `linecache` gives them."""
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def source_lines(path: str | Path) -> list[str]:
    """The lines of a file, as `linecache` gives them. Raises FileNotFoundError where there is no
    file, and OSError, SyntaxError or ValueError where it is too large, or no text."""
    if not Path(path).is_absolute():
        raise ValueError("this is no whole path")
    try:
        with open_regular(Path(path)) as file:
            raw = file.read(MAX_SOURCE + 1)
    except NotADirectoryError as error:
        raise FileNotFoundError(*error.args) from error
    if len(raw) > MAX_SOURCE:
        raise ValueError("this file is too large")
    encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    text = io.TextIOWrapper(io.BytesIO(raw), encoding).readlines()
    if text and not text[-1].endswith("\n"):
        text[-1] += "\n"
    return text


def lines_today(path: str | Path) -> list[str] | None:
    """The lines of a file; none where it is gone, None where that cannot be told: it cannot be
    read, is too large, or no text."""
    try:
        return source_lines(path)
    except FileNotFoundError:
        return []
    except (OSError, SyntaxError, ValueError):
        return None


def file_state(path: str, digest: str) -> FileState | None:
    """How the file that had this digest has changed; None where that is not known."""
    if not digest:
        return None
    try:
        return "same" if source_digest(source_lines(path)) == digest else "changed"
    except FileNotFoundError:
        return "gone"
    except (OSError, SyntaxError, ValueError):
        return None
