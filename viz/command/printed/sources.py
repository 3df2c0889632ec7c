"""`uopviz show --text`: the texts that a run has of a kernel or a schedule, and one of them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from core.errors import TraceError
from viz.command.columns import Column, table
from viz.command.line.names import Row, program_rows
from viz.command.session import put
from viz.terminal import Line, Styled, show_command
from viz.views.answers import KERNEL, SCHEDULE
from viz.views.runs.run import Run

Text = dict[str, Any]
"""An `Artifact` of viz/web/src/data/messages/kernel.ts."""


def show_text(
    options: argparse.Namespace, store: Run, rows: Sequence[Row], number: int | None
) -> int:
    """Prints the text that is asked for, of the kernel or schedule that `number` is, or is in; or a
    list of its texts. Raises TraceError for one that there is not."""
    row = _subject(store, rows, number)
    answer = KERNEL if row["label"] == "kernel" else SCHEDULE
    texts: list[Text] = (store.ask(answer, row["id"]) or {"artifacts": []})["artifacts"]
    if not options.text:
        return put(options, texts, _listed(row, texts))
    text = _chosen(row, texts, options.text)
    if text["error"]:
        raise TraceError(text["error"]["what"], where=text["title"])
    lines = text["text"].splitlines()
    return put(options, text, lines, text_brief(text, lines))


def text_brief(text: Text, lines: Sequence[str]) -> Text:
    """A text by its lines, each with the nodes behind it."""
    numbered = [
        {
            "line": at + 1,
            "text": line,
            "nodes": text["lines"][at] if at < len(text["lines"]) else [],
        }
        for at, line in enumerate(lines)
    ]
    kept = {key: text[key] for key in ("kind", "target", "title")}
    return {**kept, "total": len(lines), "numbered": numbered}


def _subject(store: Run, rows: Sequence[Row], number: int | None) -> Row:
    """The row of the kernel or schedule; without a number, that of the only schedule."""
    listing = f"`{show_command(store.path, '--tree')}`"
    if number is None:
        found = [row for row in program_rows(rows) if row["label"] == "schedule"]
        if len(found) == 1:
            return found[0]
        raise TraceError(
            f"this run has {len(found)} schedules" if found else "this run has no schedule",
            hint=f"name one by its number, or a kernel with --kernel: {listing}",
        )
    by_place = {row["row"]: row for row in rows}
    row = next((row for row in rows if row["id"] == number), None)
    while row is not None and row["label"] not in ("kernel", "schedule"):
        row = by_place.get(row["parent"])
    if row is None:
        raise TraceError(
            f"number {number} is no part of a kernel or schedule, and has no texts",
            hint=f"{listing} lists the numbers",
        )
    return row


def _listed(row: Row, texts: Sequence[Text]) -> Iterator[Line]:
    yield "texts of ", Styled(row["name"], "name")
    columns = (Column("kind"), Column("target"), Column("lines", True), Column("text"))
    lines = (
        (text["kind"], text["target"], f"{text['text'].count(chr(10)):,}", text["title"])
        for text in texts
    )
    yield from table(columns, lines)


def _chosen(row: Row, texts: Sequence[Text], wanted: str) -> Text:
    """The text of this kind, or of this kind and target (`ptx:sm_90`)."""
    kind, _, target = wanted.partition(":")
    found = [t for t in texts if t["kind"] == kind and target in ("", t["target"])]
    if len(found) == 1:
        return found[0]
    among = found or texts
    names = ", ".join(f"{t['kind']}:{t['target']}" if t["target"] else t["kind"] for t in among)
    raise TraceError(
        f"{row['name']} has {len(found) or 'no'} text{'s' if found else ''} {wanted!r}",
        hint=f"name one of: {names}" if names else "no text of it was recorded",
    )
