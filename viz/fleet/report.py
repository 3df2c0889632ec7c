"""The changes of a folder of runs as one HTML file: a section for each commit, with the figures
that changed there. It holds no script and asks for nothing, so that it can be kept and mailed."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Final

from viz.fleet.changes import interval_text
from viz.fleet.since import Found

PLOTTED: Final = 12
"""Figures of a commit that are drawn: those that changed most."""
_MARK: Final = '<meta name="uopviz-report" content="1">'
_WIDE, _HIGH, _EDGE = 360, 64, 4
_HEADS: Final = ("figure", "of", "program", "before", "after", "ratio, 95 %", "over the commits")
_STYLE: Final = (
    ":root{color-scheme:light dark}"
    "body{font:14px/1.5 system-ui,sans-serif;max-width:1200px;margin:32px auto;padding:0 24px}"
    "table{border-collapse:collapse;width:100%}"
    "td,th{text-align:left;padding:4px 12px 4px 0;border-bottom:1px solid #8884;"
    "overflow-wrap:anywhere}"
    "td.n,th.n{text-align:right;white-space:nowrap}"
    "code{font-size:13px}svg{display:block}h2{margin-top:40px}"
)


def is_report(head: bytes) -> bool:
    """Whether a file that begins like this is such a report."""
    return _MARK.encode() in head


def report(folder: str, found: Sequence[Found]) -> str:
    """The changes, which are in the order of their commits."""
    title = f"Changes of {escape(folder)}"
    body = "".join(_commit(one, [*own]) for one, own in groupby(found, key=lambda f: f.commit))
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8>{_MARK}"
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>"
        f"{body or '<p>No figure has changed.</p>'}</body></html>\n"
    )


def _commit(commit: str, found: Sequence[Found]) -> str:
    most = sorted(found, key=lambda one: -one.change.size)
    before, now = most[0].runs
    left = len(most) - PLOTTED
    heads = "".join(
        f"<th{' class=n' if 3 <= at <= 5 else ''}>{head}</th>" for at, head in enumerate(_HEADS)
    )
    rows = "".join(_row(one, at < PLOTTED) for at, one in enumerate(most))
    return (
        f"<h2><code>{escape(commit or 'unknown')}</code></h2>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        + (f"<p>Drawn are the {PLOTTED} that changed most.</p>" if left > 0 else "")
        + f"<p>Side by side: <code>uopviz open {escape(before)} {escape(now)}</code></p>"
    )


def _row(one: Found, is_drawn: bool) -> str:
    more = f" and {one.programs - 1} more" if one.programs > 1 else ""
    texts = one.metric, one.of, one.program + more
    cells = "".join(f"<td>{escape(text)}</td>" for text in texts)
    change = one.change
    ratio = interval_text(change.low, change.high)
    numbers = f"{change.before:,.6g}", f"{change.after:,.6g}", ratio
    cells += "".join(f"<td class=n>{number}</td>" for number in numbers)
    return f"<tr>{cells}<td>{_plot(one) if is_drawn else ''}</td></tr>"


def _plot(one: Found) -> str:
    """The median of each commit, with the range of its runs, and where it changed."""
    values = one.series.values
    top = max(max(own) for own in values) or 1.0
    step = (_WIDE - 2 * _EDGE) / len(values)

    def y(value: float) -> str:
        return f"{_EDGE + (_HIGH - 2 * _EDGE) * (1 - value / top):.1f}"

    def parts() -> Iterator[str]:
        at = f"{_EDGE + step * one.change.at:.1f}"
        yield (
            f'<line x1="{at}" x2="{at}" y1="0" y2="{_HIGH}" stroke="#c60" stroke-dasharray="3 3"/>'
        )
        for number, own in enumerate(values):
            x = f"{_EDGE + step * (number + 0.5):.1f}"
            yield (
                f'<line x1="{x}" x2="{x}" y1="{y(max(own))}" y2="{y(min(own))}" '
                'stroke="#36c" stroke-opacity=".4"/>'
            )
            yield f'<circle cx="{x}" cy="{y(statistics.median(own))}" r="2" fill="#36c"/>'

    said = f"{one.metric} of {one.of} over {len(values)} commits, from 0 to {top:,.6g}"
    return (
        f'<svg role="img" width="{_WIDE}" height="{_HIGH}" viewBox="0 0 {_WIDE} {_HIGH}">'
        f"<title>{escape(said)}</title>{''.join(parts())}</svg>"
    )
