"""The user's own lines of a run, and the kernels that each became.

Shows them as they were when the program ran; `viz/views/since/` says how they have changed. Never
opens a source file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from viz.budget import take
from viz.format.userlines import UserLines
from viz.views.runs.places import line_of
from viz.views.runs.process import Process

_LINE: Final = 100
"""Bytes of a line in an answer, apart from its text."""
_KERNEL: Final = 40


@dataclass
class _File:
    """What a run has of one file, in one state of it."""

    path: str
    cut: bool = False
    lines: dict[int, str] = field(default_factory=dict[int, str])
    kernels: dict[int, dict[int, None]] = field(default_factory=dict[int, dict[int, None]])
    """By line, the kernels that it became."""

    def add(self, part: UserLines) -> None:
        """Adds lines."""
        self.cut = self.cut or part.cut
        for number, text in enumerate(part.lines, part.first):
            take(1, _LINE + 4 * len(text))
            self.lines.setdefault(number, text)

    def data(self, short: Callable[[str], str]) -> dict[str, Any]:
        """In the form of the page."""
        parts: list[dict[str, Any]] = []
        for number in sorted(self.lines):
            if not parts or parts[-1]["first"] + len(parts[-1]["lines"]) != number:
                parts.append({"first": number, "lines": []})
            parts[-1]["lines"].append(self.lines[number])
        return {
            "file": short(self.path),
            "cut": self.cut,
            "parts": parts,
            "kernels": [
                {"line": line, "kernels": [*found]} for line, found in sorted(self.kernels.items())
            ],
        }


def user_lines(processes: Sequence[Process], short: Callable[[str], str]) -> list[dict[str, Any]]:
    """The files of which the run has lines: UserFile[] of the page. A file that changed during the
    run is there once for each state; its kernels are told of the last one. `short`: a file's name
    as the page shows it. Raises BudgetError."""
    files: dict[tuple[str, str], _File] = {}
    for process in processes:
        for part in process.file.user_lines:
            key = part.file, part.digest
            files.setdefault(key, _File(part.file)).add(part)
    last = {file.path: file for file in files.values()}
    for process in processes if last else ():
        for kernel, places in _kernels(process):
            for path, line in places:
                if path in last:
                    take(1, _KERNEL)
                    last[path].kernels.setdefault(line, {})[kernel] = None
    return [file.data(short) for file in files.values() if file.lines or file.cut]


def _kernels(process: Process) -> list[tuple[int, list[tuple[str, int]]]]:
    """Of each kernel its number in the run, and the places that its AST comes from."""
    file, found = process.file, list[tuple[int, list[tuple[str, int]]]]()
    for context in [*file.contexts.values()]:
        if context.role == "kernel":
            ast = process.kernels.ast(context)
            origins = file.origins.within(ast)
            nodes = file.nodes.reachable(ast)
            texts = dict.fromkeys(text for node in nodes for text in origins(node))
            places = (line_of(file.text(text)) for text in texts)
            found.append((process.id(context.id), [place for place in places if place]))
    return found
