"""Files of dumps, read as text: bytes that are no UTF-8 are replaced."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from core.errors import TraceError


def opened(path: Path) -> TextIO:
    """A file as text. Raises TraceError where it cannot be read."""
    try:
        return path.open(encoding="utf-8", errors="replace")
    except OSError as error:
        raise TraceError(f"cannot be read: {error.strerror}", str(path)) from error


def lines_of(path: Path) -> list[str]:
    """The lines of a file, with their ends. Raises TraceError where it cannot be read."""
    with opened(path) as file:
        return file.readlines()


def beginning_of(path: Path, most: int) -> tuple[str, bool]:
    """The first `most` characters of a file, and whether that is all. Raises TraceError where it
    cannot be read."""
    with opened(path) as file:
        text = file.read(most)
        return text, not file.read(1)
