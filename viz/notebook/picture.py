"""The facts of a run as a still picture: what a notebook shows that fills no frames.

SVG without a script, a link or an address. Never reads events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

from viz.terminal import clean

MOST: Final = 8
"""Kernels that are listed."""
_WIDE: Final = 760
_LINE: Final = 24
_TOP: Final = 76
"""Where the first kernel stands."""
_NAME: Final = 52
"""Characters of the name of a kernel, with its calls."""
_TITLE: Final = 90
_BAR: Final = 150
"""Width of the bar of the kernel with most steps."""
_INK, _DIM, _FILL = "#1f2328", "#57606a", "#8fa8c8"


def facts_picture(title: str, facts: str, kernels: Sequence[Mapping[str, Any]]) -> str:
    """The name of a run, a line of its facts, and the kernels with most steps: rows of its tree
    with `name`, `calls`, `steps` and `ms`."""
    listed = sorted(kernels, key=lambda row: -row["steps"])[:MOST]
    lines = len(listed) + (len(kernels) > MOST)
    high = _TOP + _LINE * lines + 8 if lines else _TOP - 12
    return "".join(_elements(title, facts, listed, len(kernels) - len(listed), high))


def _elements(
    title: str, facts: str, listed: Sequence[Mapping[str, Any]], others: int, high: int
) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDE}" height="{high}" '
        f'viewBox="0 0 {_WIDE} {high}" font-family="system-ui,sans-serif" font-size="13">'
        f'<rect x="0.5" y="0.5" width="{_WIDE - 1}" height="{high - 1}" rx="6" fill="#fff" '
        'stroke="#d0d7de"/>'
    )
    yield _text(16, 28, _cut(title, _TITLE), _INK, 'font-weight="600"')
    yield _text(16, 50, facts, _DIM)
    most = max((row["steps"] for row in listed), default=0) or 1
    for at, row in enumerate(listed):
        y = _TOP + _LINE * at + 8
        calls = f"  {row['calls']}" if row.get("calls") else ""
        yield _text(16, y, _cut(row["name"] + calls, _NAME), _INK, 'font-family="monospace"')
        wide = max(2.0, _BAR * row["steps"] / most)
        place = f'x="430" y="{y - 10}" width="{wide:.1f}" height="12" rx="2"'
        yield f'<rect {place} fill="{_FILL}"/>'
        said = f"{row['steps']:,} steps, {row['ms']:,.1f} ms"
        yield _text(_WIDE - 16, y, said, _DIM, 'font-size="12" text-anchor="end"')
    if others:
        y = _TOP + _LINE * len(listed) + 8
        yield _text(16, y, f"and {others:,} kernels more", _DIM)
    yield "</svg>"


def _text(x: int, y: int, text: str, ink: str, more: str = "") -> str:
    return f'<text x="{x}" y="{y}" fill="{ink}" xml:space="preserve" {more}>{escape(text)}</text>'


def _cut(text: str, most: int) -> str:
    text = clean(text)
    return text if len(text) <= most else text[: most - 1] + "…"
