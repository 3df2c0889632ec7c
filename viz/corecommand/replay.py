"""`uopviz replay`: kernels of a run compiled again with the code that is on disk, and compared."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from core.errors import TraceError
from viz.command.columns import Column, plural, table
from viz.command.session import put, trace_of
from viz.corecommand.whatif import chosen_kernel, difference_lines
from viz.terminal import Line, Piece, Style, Styled, shell_word
from viz.whatif.replay import replay as replay_kernels
from viz.workers.executors import executor_for

Data = dict[str, Any]
_STYLES: Final[dict[str, Style]] = {"changed": "changed", "failed": "problem"}
_FEW: Final = 3
"""Rules that are named in a row."""


def replay(options: argparse.Namespace) -> int:
    """Compiles kernels again; exit code 1 where one of them differs, 2 where one cannot be
    compiled."""
    keep = None if options.output is None else Path(options.output)
    if keep is not None and keep.suffix:
        raise TraceError(
            "what is recorded are several traces: -o names a folder",
            where=str(keep),
            hint=f"-o {shell_word(keep.stem)}",
        )
    store = trace_of(options)
    kernel = None if options.kernel is None else chosen_kernel(options, store)
    options.progress.begin("compiling with the code on disk")
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    with executor_for(options.executor) as executor:
        made = replay_kernels(
            store,
            kernel,
            seconds=options.seconds,
            executor=executor,
            keep=keep,
            progress=options.progress.update,
        )
    put(options, made, replay_lines(made, options.all))
    if any(row["state"] == "failed" for row in made["kernels"]):
        return 2
    return int(not made["equal"])


def replay_lines(made: Data, everything: bool) -> Iterator[Line]:
    """What has changed in the code, and what that changes."""
    for one in made["changed"]:
        yield Styled(one["said"], "changed")
    if not made["changed"]:
        yield "no rule of the run has changed since"
    counts = Counter(row["state"] for row in made["kernels"])
    said = ", ".join(f"{count:,} {state}" for state, count in counts.items())
    yield Styled(f"{plural(len(made['kernels']), 'kernel')}: {said}", "heading")
    for note in made["notes"]:
        yield Styled(note, "problem")
    shown = [row for row in made["kernels"] if everything or row["state"] != "equal"]
    if len(made["kernels"]) == 1 and shown:
        yield from _one(shown[0])
    elif shown:
        yield ""
        columns = (
            Column("state"),
            Column("kernel", style="name"),
            Column("differs first"),
            Column(""),
        )
        yield from table(columns, map(_row, shown))


def _one(row: Data) -> Iterator[Line]:
    if row["error"] is not None:
        yield Styled(row["error"]["what"], "problem")
    if row["differences"] is not None:
        yield from difference_lines(row["differences"])


def _row(row: Data) -> tuple[Piece, ...]:
    style = _STYLES.get(row["state"])
    state: Piece = Styled(row["state"], style) if style else row["state"]
    if row["error"] is not None:
        return state, row["name"], row["error"]["what"], ""
    differences: Data = row["differences"]
    first = differences["pair"]["first"]
    rules = [f"{r['name']} {r['a']:,} > {r['b']:,}" for r in differences["rules"][:_FEW]]
    return state, row["name"], "" if first is None else f"pass {first['pass']}", ", ".join(rules)
