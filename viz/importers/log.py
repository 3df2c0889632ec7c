"""A log of MLIR made into passes: each pass that printed what it made is a step.

Dumps of one function are compared with those of the same function. A log that prints what is there
before each pass, and not after it, has what is there before the next one instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from viz.importers.mlir import Dump, dumps_in, parse
from viz.importers.snapshot import Op
from viz.importers.texts import Text
from viz.importers.totals import Totals
from viz.importers.writing import Graph, Passes, symbol
from viz.write.writer import TraceWriter


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
        self.totals = Totals()

    def read(self, lines: Iterable[str]) -> Totals:
        """Takes all of the log; what it held."""
        for dump in dumps_in(lines):
            self._take(dump)
        self._writer.context_end(self._context, at=self._time)
        self.totals.problems += self._passes.texts.problems()
        if self.totals.dumps and not self.totals.passes:
            self.totals.problems.append("the dump has one state of the program, and no pass")
        return self.totals

    def _take(self, dump: Dump) -> None:
        dump.lines = _without_ends(dump.lines)
        snapshot = parse(dump.lines)
        totals = self.totals
        totals.count(snapshot)
        if dump.failed:
            totals.problems.append(f"the pass {_called(dump)} failed")
        if not snapshot.ops:
            return
        key = _anchor(snapshot.root)
        graph = self._passes.graph(snapshot.root, Text("mlir", dump.lines))
        last = self._states.get(key)
        if last is not None and dump.when == "after":
            self._step(_called(dump), dump, last.graph, graph)
        elif last is not None and last.waiting is not None:
            self._step(_called(last.waiting), dump, last.graph, graph)
        self._states[key] = _State(graph, dump if dump.when == "before" else None)

    def _step(self, name: str, dump: Dump, before: Graph, after: Graph) -> None:
        self._time += 1  # their order: a log does not say when a pass ran, or for how long
        detail = dump.name if dump.when == "after" and dump.name != name else ""
        steps = self._passes.step(name, before, after, self._context, self._time, detail)
        self.totals.passes += 1
        self.totals.steps += steps


def _called(dump: Dump) -> str:
    """A pass as people call it on the command line, or its class."""
    return dump.argument or dump.name or "?"


def _without_ends(lines: list[str]) -> list[str]:
    """Without the empty lines around them."""
    begin, end = 0, len(lines)
    while begin < end and not lines[begin].strip():
        begin += 1
    while end > begin and not lines[end - 1].strip():
        end -= 1
    return lines[begin:end]


def _anchor(root: Op) -> str:
    """What a dump is of: a module, or a function by its symbol."""
    return f"{root.name} {symbol(root)}" if not root.name.endswith("module") else "module"
