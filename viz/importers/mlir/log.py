"""A log of MLIR made into passes: each pass that printed what it made is a step.

Dumps of one function are compared with those of the same function. A log that prints what is there
before each pass, and not after it, has what is there before the next one instead. A log does not
say when a pass ran, or for how long: all times are 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from viz.importers.mlir import llvm
from viz.importers.mlir.mlir import Dump, dumps_in, parse
from viz.importers.mlir.remarks import Remark
from viz.importers.snapshot import Op
from viz.importers.totals import Totals
from viz.importers.writing import Graph, Passes, symbol
from viz.write.texts.kepttexts import Text
from viz.write.writer import TraceWriter

_SAID: Final = re.compile(
    r"(?:Running|Skipping|Invalidating|Clearing) (?:pass|analysis|all analys)"
)
"""Lines between the dumps of LLVM."""
_ENTRY: Final = re.compile(r"(?:\.entry|\.globl)\s+([\w$.]+)")


@dataclass
class _State:
    """The last dump of one function or module. `waiting`: the pass that began with it and has
    printed nothing since."""

    graph: Graph
    waiting: Dump | None


class LogImport:
    """Writes the passes of one log to a trace, below a context. `remarks`: what its passes say that
    they did not do; of a pass that is not in the log, they are told of the first state."""

    def __init__(self, writer: TraceWriter, name: str, remarks: Sequence[Remark] = ()) -> None:
        self._writer = writer
        self._passes = Passes(writer)
        self._states: dict[str, _State] = {}
        self._context = writer.context_begin(name, "module", at=0)
        self._places = llvm.Places()
        self._remarks: dict[str, list[Remark]] = {}
        """Those that no pass has told yet, by the plain names of their passes."""
        for remark in remarks:
            if remark.declines:
                self._remarks.setdefault(_plain(remark.category), []).append(remark)
        self._first: Graph | None = None
        self.totals = Totals()

    def read(self, lines: Iterable[str]) -> Totals:
        """Takes all of the log; what it held."""
        for dump in dumps_in(lines):
            self._take(dump)
        self._end()
        self._writer.context_end(self._context, at=0)
        self.totals.problems += self._passes.texts.problems()
        if self.totals.dumps and not self.totals.passes:
            self.totals.problems.append("the dump has one state of the program, and no pass")
        return self.totals

    def _take(self, dump: Dump) -> None:
        dump.lines = _without_ends(dump.lines)
        if dump.language in ("ptx", "amd_isa"):
            self._kernel(dump)
            return
        if dump.language == "llvm":
            dump.lines = [line for line in dump.lines if not _SAID.match(line)]
            snapshot, self._places = llvm.parse(dump.lines, self._places)
        else:
            snapshot = parse(dump.lines)
        totals = self.totals
        totals.count(snapshot)
        if dump.failed:
            totals.problems.append(f"the pass {_called(dump)} failed")
        if not snapshot.ops:
            return
        key = _anchor(snapshot.root) if dump.language == "mlir" else _llvm_anchor(snapshot.root)
        graph = self._passes.graph(snapshot.root, Text(dump.language, dump.lines))
        self._first = self._first or graph
        last = self._states.get(key)
        if last is not None and dump.when == "after":
            self._step(_called(dump), dump, last.graph, graph)
        elif last is not None and last.waiting is not None:
            self._step(_called(last.waiting), dump, last.graph, graph)
        self._states[key] = _State(graph, dump if dump.when == "before" else None)

    def _kernel(self, dump: Dump) -> None:
        """The text that a kernel became."""
        text = "".join(dump.lines)
        entry = _ENTRY.search(text)
        name, writer = entry[1] if entry else "kernel", self._writer
        context = writer.context_begin(name, "kernel", parent=self._context, at=0)
        last = [*self._states.values()][-1].graph.sink if self._states else 0
        writer.kernel(context, name, ast=last)
        writer.artifact(context, dump.language, "", text)
        writer.context_end(context, at=0)

    def _step(self, name: str, dump: Dump, before: Graph, after: Graph) -> None:
        detail = dump.name if dump.when == "after" and dump.name != name else ""
        declined = self._declined(self._remarks_of(name, detail), before)
        steps = self._passes.step(name, before, after, self._context, 0, detail, declined)
        self.totals.passes += 1
        self.totals.steps += steps

    def _remarks_of(self, *names: str) -> list[Remark]:
        """The remarks of a pass, by its name or class, which are no longer kept."""
        plain = [_plain(name) for name in names]
        plain += [name.removesuffix("pass") for name in plain]
        return [remark for name in plain if name for remark in self._remarks.pop(name, ())]

    def _end(self) -> None:
        """Remarks of passes that are not in the log, by their categories."""
        for remarks in self._remarks.values():
            if self._first is None:
                return
            declined = self._declined(remarks, self._first)
            name = f"remarks of {remarks[0].category}"
            self._passes.step(name, self._first, self._first, self._context, 0, "", declined)

    def _declined(self, remarks: Sequence[Remark], graph: Graph) -> list[tuple[int, int]]:
        """The rules that remarks tell of, and the op at their place: without one, all of it."""
        if not remarks:
            return []
        by_place: dict[str, int] = {}
        by_file_name: dict[str, int] = {}
        """Where one of both has no folder: by the name of the file alone."""
        functions: dict[str, int] = {}
        for op in graph.ops:
            if op.place:
                by_place.setdefault(op.place, graph.nodes[op])
                by_file_name.setdefault(_file_name(op.place), graph.nodes[op])
            functions.setdefault(symbol(op).strip('"'), graph.nodes[op])
        declined: list[tuple[int, int]] = []
        for remark in remarks:
            name = f"{remark.category}: {remark.name}" if remark.name else remark.category
            file, _, line = remark.place.rpartition(":")
            rule = self._writer.rule(name, file, int(line or 0), doc=remark.reason)
            node = by_place.get(remark.place) or by_file_name.get(_file_name(remark.place))
            declined.append((rule, node or functions.get(remark.function) or graph.sink))
        return declined


def _file_name(place: str) -> str:
    """A place without the folders of its file."""
    return place.rpartition("/")[2]


def _plain(name: str) -> str:
    """The name of a pass as its class and its option both have it."""
    return re.sub(r"\W|_", "", name).casefold()


def _called(dump: Dump) -> str:
    """A pass as people call it on the command line, or its class."""
    return dump.argument or dump.name or "?"


def _llvm_anchor(root: Op) -> str:
    """The same of LLVM's text: a function that is printed alone, or all of the module."""
    functions = [op for block in root.blocks for op in block.ops if op.name == "llvm.func"]
    others = any(op.name == "llvm.global" for block in root.blocks for op in block.ops)
    return f"llvm {functions[0].text}" if len(functions) == 1 and not others else "llvm module"


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
