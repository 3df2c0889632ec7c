"""Aligned columns, and numbers as people read them.

Makes lines; never prints, and never cuts: that is done for the whole line, where it is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from viz.terminal import Line, Piece, Style, Styled, plain, width

GAP = "  "


class Column(NamedTuple):
    """A column of a table: its title, whether its cells end at the right (numbers), its style."""

    title: str
    right: bool = False
    style: Style | None = None


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[Piece]], head: bool = True
) -> Iterator[Line]:
    """Lines with the cells of each column below each other, two columns in from the left."""
    kept = [list(row) for row in rows]
    titles = [Styled(column.title, "hint") for column in columns]
    widths = [
        max((width(plain(row[at])) for row in ([titles] if head else []) + kept), default=0)
        for at in range(len(columns))
    ]
    if head:
        yield _line(columns, widths, titles)
    for row in kept:
        yield _line(columns, widths, row)


def plural(n: int, one: str, many: str = "") -> str:
    """`1 step`, `2 steps`; `many` where adding an s is wrong."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def milliseconds(us: float) -> str:
    """A time in milliseconds: `1,234.5 ms`."""
    return f"{us / 1000:,.1f} ms"


def microseconds(us: float) -> str:
    """A time in microseconds: `1,234 us`."""
    return f"{us:,.0f} us"


def size(count: int) -> str:
    """Bytes as `811 kB`."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return plural(count, "byte")


def moment(text: str) -> str:
    """A time of a trace as the clock here shows it: `2026-11-22 03:46:43`."""
    try:
        return f"{datetime.fromisoformat(text).astimezone():%Y-%m-%d %H:%M:%S}"
    except (ValueError, OverflowError, OSError):
        return text


def _line(columns: Sequence[Column], widths: Sequence[int], row: Sequence[Piece]) -> Line:
    pieces: list[Piece] = []
    texts = [plain(cell) for cell in row]
    last = max((at for at, text in enumerate(texts) if text), default=-1)
    for at, (column, wide, cell) in enumerate(zip(columns, widths, row, strict=True)):
        if at > last:
            break
        space = " " * (wide - width(texts[at]))
        styled = Styled(cell, column.style) if isinstance(cell, str) and column.style else cell
        ends = "" if at == last else space
        pieces += [GAP, space, styled] if column.right else [GAP, styled, ends]
    return tuple(pieces)
