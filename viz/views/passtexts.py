"""The compiler's own texts before and after a pass, in the form of the page.

Lines link to nodes. Never asks what a text means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from core.errors import TraceError
from viz.budget import take
from viz.read.records import Rewrite
from viz.read.tracefile import TraceFile

_KIND: Final = 100


def pass_texts(
    file: TraceFile, rewrite: Rewrite, number: Callable[[int], int], node: Callable[[int], int]
) -> dict[str, Any]:
    """The texts of a pass; `number` and `node`: those of the run. Raises BudgetError."""
    made: dict[str, Any] = {"rewrite": number(rewrite.id), "before": None, "after": None}
    for one in file.pass_texts.of(rewrite.id):
        said: dict[str, Any] = {"kind": file.name(one.kind)[:_KIND], "leftOut": one.left_out}
        said |= {"text": "", "lines": [], "error": ""}
        try:
            text = file.pass_texts.text(one)
            take(len(text) // 16, 3 * len(text))
            lines = [
                [node(n) for n in nodes if 0 < n <= file.nodes.count]
                for nodes in file.pass_texts.nodes(one)
            ]
            said |= {"text": text, "lines": lines[: text.count("\n") + 1]}
        except TraceError as error:
            said["error"] = error.what
        made["after" if one.after else "before"] = said
    return made
