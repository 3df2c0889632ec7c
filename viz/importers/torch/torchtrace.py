"""A TORCH_TRACE made into passes: each text of a graph that differs from the one before is a step.

A compilation is a context, with one for its forward and one for its backward graph: which of them a
text is of follows from the names of its inputs. The code that Inductor made is a text of the graph
that it came from, and its lines are linked to nodes where the trace says which kernel holds which.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from viz.importers.torch import fx
from viz.importers.torch.torchrecords import Record
from viz.importers.totals import Totals
from viz.importers.writing import Graph, Passes
from viz.write.texts.kepttexts import Text
from viz.write.writer import TraceWriter

_CODE: Final = re.compile(r"inductor_output_code")
_MAPPINGS: Final = "inductor_provenance_tracking_node_mappings"
_RUNNABLE: Final = "fx_graph_runnable"
"""A script around a graph that other records have."""
_HALVES: Final = (("forward", "forward"), ("inference", "inference"), ("backward", "backward"))
_ENDS: Final = re.compile(r"^'''\)")
_DAY: Final = 24 * 3600 * 1_000_000
_HANDLE: Final = re.compile(r"# \[Provenance debug handles\] (\S+)")
_SOURCES: Final = re.compile(r"# Topologically Sorted Source Nodes: \[([^\]]*)\]")
_FRAGMENT: Final = re.compile(r"#\s+%(\w+)\b.*= call_function")
_LONGEST: Final = 2000
"""Characters of a line of code that are looked at."""
_MOST_LINKS: Final = 100_000


@dataclass
class _Half:
    """The graphs of a compilation before it was cut in two, or those of its forward or backward."""

    context: int
    graph: Graph
    inputs: tuple[str, ...]
    code: str = ""
    time: int = 0
    """Of the last one."""


@dataclass
class _Compilation:
    context: int
    halves: dict[str, _Half] = field(default_factory=dict[str, _Half])
    """By "", "forward", "inference", "backward"."""
    last: str = ""
    """Of which half the last text was."""


class TorchImport:
    """Writes what a trace of PyTorch says; `within`: below a context of this name."""

    def __init__(self, writer: TraceWriter, within: str = "") -> None:
        self._writer = writer
        self._around = writer.context_begin(within, "process", at=0) if within else 0
        self._passes = Passes(writer)
        self._compilations: dict[str, _Compilation] = {}
        self._titles: dict[str, str] = {}
        self._files: dict[int, str] = {}
        self._lines: dict[str, str] = {}
        self._without = 0
        self._time = self._first = 0
        self.totals = Totals()

    @property
    def seconds(self) -> float:
        """From the first record to the last."""
        return self._time / 1e6

    def read(self, records: Iterable[Record]) -> Totals:
        """Takes all of a trace; what it held."""
        for record in records:
            if record.at:
                first = self._first = self._first or record.at
                # a compilation may go on over midnight
                self._time = max(self._time, (record.at - first) % _DAY)
            self._take(record)
        for compilation in self._compilations.values():
            for half in compilation.halves.values():
                self._code(half, {})
                if half.context != compilation.context:
                    self._writer.context_end(half.context, at=half.time)
            self._writer.context_end(compilation.context, at=self._time)
        if self._around:
            self._writer.context_end(self._around, at=self._time)
        for place, text in self._lines.items():
            file, _, line = place.rpartition(":")
            self._writer.user_lines(file, int(line), f"{text}\n", cut=True)
        self.totals.problems += self._passes.texts.problems()
        if self._without:
            what = "graphs whose texts are not here, as in raw.jsonl alone"
            self.totals.problems.append(f"{what}: {self._without:,}")
        return self.totals

    def _take(self, record: Record) -> None:
        match record.fields:
            case {"str": [str(file), int(number)]}:
                self._files[number] = file
            case {
                "dynamo_start": {"stack": [*_, {"filename": number, "line": line, "name": name}]}
            }:
                file = self._files.get(number, "?") if isinstance(number, int) else number
                where = f"{str(file).rpartition('/')[2]}:{line}"
                self._titles.setdefault(record.of, f"{name}, {where}")
            case _:
                pass
        if record.name == _MAPPINGS:
            self._mappings(record)
        elif _CODE.match(record.name):
            self._output_code(record)
        elif record.name == _RUNNABLE:
            pass
        elif fx.is_graph(record.payload):
            self._stage(record)
        elif record.name.endswith("_graph") and not record.payload:
            self._without += 1

    def _stage(self, record: Record) -> None:
        lines = record.payload.splitlines(keepends=True)
        snapshot = fx.parse(record.payload)
        self.totals.count(snapshot)
        self._lines |= snapshot.lines
        if not snapshot.ops:
            return
        graph = self._passes.graph(snapshot.root, Text("python", lines))
        inputs = tuple(op.key for op in graph.ops if op.name == "placeholder")
        name = record.name.removeprefix("artifact:")
        made = self._compilations.get(record.of)
        if made is None:
            title = " ".join(filter(None, (f"[{record.of or '?'}]", self._titles.get(record.of))))
            context = self._writer.context_begin(title, "graph", parent=self._around, at=self._time)
            made = self._compilations[record.of] = _Compilation(context)
        which = self._half(made, name, inputs)
        made.last = which
        half = made.halves.get(which)
        before = half or made.halves.get("")
        if half is None:
            context = made.context
            if which:
                title = f"{which} of [{record.of or '?'}]"
                context = self._writer.context_begin(
                    title, "kernel", parent=made.context, at=self._time
                )
                self._writer.kernel(context, title, ast=graph.sink)
            half = made.halves[which] = _Half(context, graph, inputs)
        if before is not None:
            self._time += 1
            steps = self._passes.step(name, before.graph, graph, half.context, self._time)
            self.totals.passes += 1
            self.totals.steps += steps
        half.graph, half.inputs, half.time = graph, inputs, self._time

    def _half(self, made: _Compilation, name: str, inputs: tuple[str, ...]) -> str:
        """Which half of a compilation a graph is: by the name of the stage, else by its inputs."""
        for word, half in _HALVES:
            if word in name:
                return half
        if not [half for half in made.halves if half]:
            return ""
        for which in reversed(made.halves):
            if made.halves[which].inputs == inputs:
                return which

        def alike(which: str) -> float:
            own = {*made.halves[which].inputs}
            return len(own.intersection(inputs)) / (len(own.union(inputs)) or 1)

        return max((half for half in made.halves if half), key=alike)

    def _output_code(self, record: Record) -> None:
        made = self._compilations.get(record.of)
        if made is None or not record.payload:
            return
        half = made.halves.get(made.last)
        if half is not None:
            self._code(half, {})
            half.code = record.payload

    def _mappings(self, record: Record) -> None:
        """Which kernel computes which nodes: told after the code of a half."""
        try:
            found: object = json.loads(record.payload)
        except (ValueError, RecursionError):
            found = None
        made = self._compilations.get(record.of)
        if made is None or not isinstance(found, dict):
            return
        half = made.halves.get(made.last)
        kernels = cast("dict[str, Any]", found).get("cppCodeToPost")
        if half is not None and isinstance(kernels, dict):
            self._code(half, cast("dict[str, Any]", kernels))

    def _code(self, half: _Half, kernels: dict[str, Any]) -> None:
        """Writes the code of a half, whose lines belong to the nodes of the kernels they name."""
        if not half.code:
            return
        text, half.code = half.code, ""
        nodes = {op.key: half.graph.nodes[op] for op in half.graph.ops if op.key}
        linking = _Linking(nodes, kernels)
        lines = [linking.take(line) for line in text.splitlines()]
        self._writer.artifact(
            half.context, "output_code", "", text, lines=lines, title="Output code"
        )

    @property
    def compilations(self) -> int:
        """How many there were."""
        return len(self._compilations)


class _Linking:
    """The nodes behind the lines of Inductor's code: of the definition of a kernel, of all of its
    calls; of a call, of that one. `kernels`: the names of nodes by kernel and number of the call.
    Where the trace does not say them, comments of the code do, as far as they name nodes."""

    def __init__(self, nodes: Mapping[str, int], kernels: Mapping[str, Any]) -> None:
        self._nodes = nodes
        self._calls: dict[str, list[int]] = {}
        self._kernels: dict[str, list[int]] = {}
        for key, names in [*kernels.items()][:_MOST_LINKS]:
            found = self._known(
                map(str, cast("list[Any]", names) if isinstance(names, list) else ())
            )
            self._calls[key] = found
            kernel = self._kernels.setdefault(key.rpartition(":")[0] or key, [])
            kernel += [node for node in found if node not in kernel]
        self._told: list[int] = []
        """What comments have said of the next line of code."""
        self._fragment: list[int] = []
        """What they have said of the next kernel that is defined."""
        self._inside: list[int] = []

    def _known(self, names: Iterable[str]) -> list[int]:
        return [self._nodes[name] for name in names if name in self._nodes]

    def take(self, line: str) -> list[int]:
        """The nodes behind the next line."""
        text = line[:_LONGEST].strip()
        if text.startswith("#") and not self._inside:
            self._comment(text)
            return []
        if self._inside:
            inside = self._inside
            if _ENDS.match(line):
                self._inside = []
            return inside
        words = re.findall(r"[A-Za-z_]\w*(?:\.\w+)*", text)
        kernel = next((self._kernels[word] for word in words if word in self._kernels), [])
        if "async_compile." in text and "=" in text:
            found = kernel or self._fragment
            self._inside = [] if text.endswith(("'''')", ")")) else found
            self._fragment = []
            return found
        told, self._told = self._told, self._told if not text else []
        return (told or kernel) if text else []

    def _comment(self, text: str) -> None:
        if (handle := _HANDLE.match(text)) is not None:
            self._told = self._calls.get(handle[1]) or self._told
        elif (sources := _SOURCES.match(text)) is not None:
            self._told = self._known(part.strip() for part in sources[1].split(","))
        elif text.startswith("# Graph fragment"):
            self._fragment = []
        elif (fragment := _FRAGMENT.match(text)) is not None:
            self._fragment += self._known([fragment[1]])
