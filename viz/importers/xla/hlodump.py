"""A folder of XLA's dumps made into passes: `XLA_FLAGS=--xla_dump_to=D --xla_dump_hlo_pass_re=.*
--xla_dump_hlo_as_text`.

The names of the files say which module, pipeline and pass they are of. Texts of kernels that lie
beside them are texts of the module. What JAX dumps before (`JAX_DUMP_IR_TO`), its jaxpr and its
StableHLO, are the first graphs of the module that they became.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from viz.importers.files import beginning_of, lines_of
from viz.importers.mlir import mlir
from viz.importers.totals import Totals
from viz.importers.writing import Graph, Passes
from viz.importers.xla import hlo, jaxpr
from viz.write.texts.kepttexts import Text
from viz.write.writer import TraceWriter

_FILE: Final = re.compile(r"(module_\d+)\.(.+)$")
_PASS: Final = re.compile(
    r"(?P<module>.+?)\.(?P<at>\d{4,})\.(?P<pipeline>.+?)\.after_(?P<after>.+?)"
    r"(?:\.before_(?P<before>.+?))?\.txt$"
)
_ENDS: Final = re.compile(
    r"(?P<module>.+?)\.(?P<what>before_optimizations|(?:[\w.]+?_)?after_optimizations"
    r"(?:_before_buffer_assignment)?)\.txt$"
)
_KERNEL: Final = re.compile(
    r"(?P<module>.+?)\.(?:(?P<kernel>.+?)\.)?(?P<kind>ir-no-opt\.ll|ir-with-opt\.ll|ptx)$"
)
_KINDS: Final = {"ir-no-opt.ll": "llvm_before", "ir-with-opt.ll": "llvm", "ptx": "ptx"}
_JAXPR: Final = re.compile(r"jax_(\d+)_(.+)\.jaxpr\.txt$")
_STABLEHLO: Final = re.compile(r"jax_ir(\d+)_(.+)_compile\.mlir$")
_START: Final = "pipeline-start"
_MOST_TEXTS: Final = 64
"""Texts of kernels of one module."""
_LONGEST: Final = 1 << 22
"""Characters of one of these."""


def is_dump(name: str) -> bool:
    """Whether a file of this name is of a dump."""
    found = _FILE.match(name)
    return found is not None and any(pattern.match(found[2]) for pattern in (_PASS, _ENDS, _KERNEL))


@dataclass
class _Module:
    """The files of one module, in their order."""

    name: str
    before: Path | None = None
    passes: list[tuple[int, re.Match[str], Path]] = field(
        default_factory=list[tuple[int, re.Match[str], Path]]
    )
    after: list[Path] = field(default_factory=list[Path])
    kernels: list[tuple[str, str, Path]] = field(default_factory=list[tuple[str, str, Path]])


class HloImport:
    """Writes the modules of a folder."""

    def __init__(self, writer: TraceWriter) -> None:
        self._writer = writer
        self._passes = Passes(writer)
        self.totals = Totals()

    def read(self, files: Iterable[Path]) -> Totals:
        """Takes all of a dump; what it held."""
        modules: dict[str, _Module] = {}
        jaxprs: dict[str, list[Path]] = {}
        stable: dict[str, list[Path]] = {}
        for path in sorted(files):
            if (found := _FILE.match(path.name)) is not None:
                self._place(modules, found[1], found[2], path)
            elif (found := _STABLEHLO.match(path.name)) is not None:
                stable.setdefault(found[2], []).append(path)
            elif (found := _JAXPR.match(path.name)) is not None:
                jaxprs.setdefault(_plain(found[2]), []).append(path)
            else:
                modules.setdefault(path.name, _Module(path.stem)).before = path
        if not modules:
            modules = {name: _Module(name) for name in stable}
        for number, module in sorted(modules.items()):
            name = module.name
            lowered = [jaxprs.get(_plain(name.removeprefix("jit_"))), stable.get(name)]
            self._module(number, module, [paths.pop(0) for paths in lowered if paths])
            self._writer.flush()
        if self.totals.dumps and not self.totals.passes:
            self.totals.problems.append("the dump has one state of the program, and no pass")
        self.totals.problems += self._passes.texts.problems()
        return self.totals

    def _place(self, modules: dict[str, _Module], number: str, rest: str, path: Path) -> None:
        for pattern in (_PASS, _ENDS, _KERNEL):
            found = pattern.match(rest)
            if found is None:
                continue
            module = modules.setdefault(number, _Module(found["module"]))
            if pattern is _PASS:
                module.name = found["module"]
                module.passes.append((int(found["at"]), found, path))
            elif pattern is _KERNEL:
                module.kernels.append((_KINDS[found["kind"]], found["kernel"] or "", path))
            elif found["what"] == "before_optimizations":
                module.name, module.before = found["module"], path
            else:
                module.after.append(path)
            return

    def _module(self, number: str, module: _Module, lowered: list[Path]) -> None:
        writer = self._writer
        meta: dict[str, object] = {"target": ""}
        title = module.name if number in (module.name, "") else f"{module.name} ({number})"
        context = writer.context_begin(title, "kernel", meta=meta, at=0)
        last: Graph | None = None
        for path in lowered:
            last = self._lowered(path, last, context)
        frames = hlo.Frames()
        pipeline, inner, first = "", 0, 0
        states = [("to HLO", "", module.before)] if module.before else []
        states += [
            (found["after"], found["pipeline"], path)
            for _, found, path in sorted(module.passes, key=lambda one: (one[0], one[2].name))
        ]
        states += [("after optimizations", "", path) for path in module.after]
        for name, group, path in states:
            lines = lines_of(path)
            if last is not None and last.text is not None and last.text.lines == lines:
                continue
            if not hlo.is_module("".join(lines[:1])):
                continue
            snapshot, frames = hlo.parse(lines, frames)
            self.totals.count(snapshot)
            graph = self._passes.graph(snapshot.root, Text("hlo", lines))
            if not first:
                first = graph.sink
                writer.kernel(context, module.name, ast=first)
            if last is not None and name == _START and graph.sink == last.sink:
                continue  # the next pass is told with what differs in its text besides
            if last is not None:
                if group != pipeline:
                    if inner:
                        writer.context_end(inner, at=0)
                    pipeline = group
                    inner = group and writer.context_begin(group, "pipeline", parent=context, at=0)
                self._step(f"before {group}" if name == _START else name, last, graph,
                           inner or context)  # fmt: skip
            last = graph
        if inner:
            writer.context_end(inner, at=0)
        for kind, kernel, path in module.kernels[:_MOST_TEXTS]:
            text, is_whole = beginning_of(path, _LONGEST)
            facts = {} if is_whole else {"cut": f"after {_LONGEST:,} characters"}
            writer.artifact(context, kind, kernel, text, facts=facts)
        if len(module.kernels) > _MOST_TEXTS:
            left = len(module.kernels) - _MOST_TEXTS
            self.totals.problems.append(f"texts of kernels of {module.name}: {left:,}")
        writer.context_end(context, at=0)

    def _lowered(self, path: Path, last: Graph | None, context: int) -> Graph:
        lines = lines_of(path)
        is_jaxpr = jaxpr.is_jaxpr("".join(lines[:1]))
        snapshot = jaxpr.parse("".join(lines)) if is_jaxpr else mlir.parse(lines)
        self.totals.count(snapshot)
        kind = "jaxpr" if is_jaxpr else "mlir"
        graph = self._passes.graph(snapshot.root, Text(kind, lines))
        if last is not None:
            self._step("to StableHLO", last, graph, context)
        return graph

    def _step(self, name: str, before: Graph, after: Graph, context: int) -> None:
        self.totals.steps += self._passes.step(name, before, after, context)
        self.totals.passes += 1


def _plain(name: str) -> str:
    """A name as files have it: other characters than letters and numbers are underscores."""
    return re.sub(r"\W+", "_", name).strip("_")
