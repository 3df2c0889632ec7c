"""`uopviz show PASS --text`: the compiler's own text of the program before and after a pass."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Iterator
from typing import Any

from core.errors import TraceError
from viz.command.columns import plural
from viz.command.line.names import Row
from viz.command.session import put
from viz.command.styles import difference_style
from viz.terminal import Line, Styled
from viz.views.answers import PASS_TEXTS
from viz.views.runs.run import Run

SIDES = ("before", "after")


def show_pass_text(options: argparse.Namespace, store: Run, row: Row) -> int:
    """Prints the difference of both, or the one that is asked for. Raises TraceError where there is
    no such text, or it cannot be read."""
    texts: dict[str, Any] = store.ask(PASS_TEXTS, row["id"])
    wanted = options.text
    if wanted and wanted not in SIDES:
        hint = "give before or after, or neither for the difference"
        raise TraceError(f"{row['name']} is a pass and has no text {wanted!r}", hint=hint)
    for side in SIDES:
        text = texts[side]
        if text is not None and text["error"]:
            raise TraceError(text["error"], where=f"the text {side} {row['name']}")
        if text is None and wanted in ("", side):
            other = SIDES[side == "before"]
            what = f"the trace has no text of the program {side} this pass"
            hint = f"--text {other} prints the one {other} it" if texts[other] else ""
            raise TraceError(what, hint=hint)
    if wanted:
        return put(options, texts, _one(texts[wanted]))
    return put(options, texts, _difference(texts, options.all))


def _one(text: dict[str, Any]) -> Iterator[Line]:
    yield from text["text"].splitlines()
    if text["leftOut"]:
        yield Styled(_left_out(text), "hint")


def _difference(texts: dict[str, Any], everything: bool) -> Iterator[Line]:
    before, after = ([*_plain(texts[side])] for side in SIDES)
    context = max(len(before), len(after)) if everything else 3
    for line in difflib.unified_diff(before, after, *SIDES, lineterm="", n=context):
        style = difference_style(line)
        yield (Styled(line, style) if style else line,)


def _plain(text: dict[str, Any]) -> Iterator[str]:
    yield from text["text"].splitlines()
    if text["leftOut"]:
        yield f"... {_left_out(text)}"


def _left_out(text: dict[str, Any]) -> str:
    return f"not kept: {plural(text['leftOut'], 'more line')}"
