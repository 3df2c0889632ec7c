"""A log of MLIR made into passes: each pass that printed what it made is a step.

Dumps of one function are compared with those of the same function. A log that prints what is there
before each pass, and not after it, has what is there before the next one instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from viz.importers.mlir import Dump, dumps_in, parse
from viz.importers.snapshot import Op
from viz.importers.writing import Graph, Passes
from viz.write.writer import TraceWriter

KIND: Final = "mlir"
"""The kind of the texts."""
MAX_TEXTS: Final = 1 << 26
"""Characters of texts that are kept; further ones are left out."""


@dataclass
class Totals:
    """What a log held."""

    dumps: int = 0
    passes: int = 0
    steps: int = 0
    ops: int = 0
    odd: int = 0
    unknown: int = 0
    texts_left_out: int = 0
    problems: list[str] = field(default_factory=list[str])

    def told(self) -> list[dict[str, str]]:
        """What the trace lacks, for META's `left_out`."""
        said = list(self.problems)
        if self.odd:
            said.append(f"lines of the dump that are no ops that could be read: {self.odd:,}")
        if self.unknown:
            said.append(f"uses of values that nothing before them defines: {self.unknown:,}")
        if self.texts_left_out:
            said.append(
                f"texts that are left out, as they take too much room: {self.texts_left_out:,}"
            )
        return [{"what": what} for what in said]


@dataclass
class _State:
    """The last dump of one function or module. `waiting`: the pass that began with it and has
    printed nothing since."""

    graph: Graph
    waiting: Dump | None


class LogImport:
    """Writes the passes of one log to a trace, below a context."""

    def __init__(self, writer: TraceWriter, name: str) -> None:
        self._writer = writer
        self._passes = Passes(writer)
        self._states: dict[str, _State] = {}
        self._context = writer.context_begin(name, "module", at=0)
        self._time = 0
        self._room = MAX_TEXTS
        self.totals = Totals()

    def read(self, lines: Iterable[str]) -> Totals:
        """Takes all of the log; what it held."""
        for dump in dumps_in(lines):
            self._take(dump)
        self._writer.context_end(self._context, at=self._time)
        if self.totals.dumps and not self.totals.passes:
            self.totals.problems.append("the dump has one state of the program, and no pass")
        return self.totals

    def _take(self, dump: Dump) -> None:
        snapshot = parse(dump.lines)
        totals = self.totals
        totals.dumps += 1
        totals.ops += snapshot.ops
        totals.odd += snapshot.odd
        totals.unknown += snapshot.unknown
        if dump.failed:
            totals.problems.append(f"the pass {_called(dump)} failed")
        if not snapshot.ops:
            return
        key = _anchor(snapshot.root)
        graph = self._passes.graph(snapshot.root)
        last = self._states.get(key)
        if last is None:
            self._text(dump, "at first" if dump.when != "after" else f"after {_called(dump)}")
        elif dump.when == "after":
            self._step(_called(dump), dump, last.graph, graph)
        elif last.waiting is not None:
            self._step(_called(last.waiting), dump, last.graph, graph)
        self._states[key] = _State(graph, dump if dump.when == "before" else None)

    def _step(self, name: str, dump: Dump, before: Graph, after: Graph) -> None:
        self._time += 1  # their order: a log does not say when a pass ran, or for how long
        detail = dump.name if dump.when == "after" and dump.name != name else ""
        steps = self._passes.step(name, before, after, self._context, self._time, detail)
        self.totals.passes += 1
        self.totals.steps += steps
        if steps:
            self._text(dump, f"after {name} ({self.totals.passes})")

    def _text(self, dump: Dump, title: str) -> None:
        text = "".join(dump.lines)
        self._room -= len(text)
        if self._room < 0:
            self.totals.texts_left_out += 1
            return
        self._writer.artifact(self._context, KIND, "", text, title=title)


def _called(dump: Dump) -> str:
    """A pass as people call it on the command line, or its class."""
    return dump.argument or dump.name or "?"


def _anchor(root: Op) -> str:
    """What a dump is of: a module, or a function by its symbol."""
    at = root.text.find("@")
    symbol = root.text[at:].split("(", 1)[0] if at >= 0 else ""
    if not symbol and 'sym_name = "' in root.text:
        symbol = root.text.split('sym_name = "', 1)[1].split('"', 1)[0]
    return f"{root.name} {symbol}" if not root.name.endswith("module") else "module"
