"""Aligned columns, and numbers as people read them.

Makes lines; never prints, and never truncates: that is done for whole lines, where they are
printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from viz.terminal import Line, Piece, Style, Styled, line_room, plain, width

GAP = "  "


class Column(NamedTuple):
    """A column of a table: its title, whether its cells are right-aligned (numbers), its style, and
    its rank: where a table is too wide for the terminal, columns of higher rank are dropped first
    (0: never)."""

    title: str
    right: bool = False
    style: Style | None = None
    spare: int = 0


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[Piece]], head: bool = True
) -> Iterator[Line]:
    """Lines with the cells of each column below each other, two columns in from the left."""
    kept = [list(row) for row in rows]
    left_out: list[str] = []
    room = line_room()
    while room is not None and (spare := max(column.spare for column in columns)):
        if _wide(columns, kept, head) <= room:
            break
        gone = max(at for at, column in enumerate(columns) if column.spare == spare)
        left_out.insert(0, columns[gone].title)
        columns = [*columns[:gone], *columns[gone + 1 :]]
        for row in kept:
            del row[gone]
    titles = [Styled(column.title, "hint") for column in columns]
    widths = [
        max((width(plain(row[at])) for row in ([titles] if head else []) + kept), default=0)
        for at in range(len(columns))
    ]
    if head:
        yield _line(columns, widths, titles)
    for row in kept:
        yield _line(columns, widths, row)
    if left_out and kept:
        yield Styled(f"  for want of room without {', '.join(left_out)}; --wide has all", "hint")


def _wide(columns: Sequence[Column], rows: Sequence[Sequence[Piece]], head: bool) -> int:
    """Columns of the terminal that a table takes."""
    cells = [[column.title for column in columns]] * head + [*map(list, rows)]
    return sum(
        len(GAP) + max((width(plain(row[at])) for row in cells), default=0)
        for at in range(len(columns))
    )


def plural(n: int, one: str, many: str = "") -> str:
    """`1 step`, `2 steps`; `many` where adding an s is wrong."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def duration(us: float) -> str:
    """A time in the unit that suits it, to three digits: `21 us`, `1.98 ms`, `12.9 s`."""
    value, unit = next(
        ((us / factor, unit) for unit, factor in (("s", 1e6), ("ms", 1e3)) if us >= factor),
        (us, "us"),
    )
    decimals = 0 if value >= 100 or value == int(value) else 1 if value >= 10 else 2
    return f"{value:,.{decimals}f} {unit}"


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
