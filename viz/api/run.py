"""A run for scripts: what the commands and the page answer, as typed objects.

A thin layer over `viz/views`: it names and types answers that are made there. Not for several
threads at a time. Never writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final, overload

import numpy as np

from core.errors import TraceError
from viz.api.graph import Bundle, Event, Graph, Node, content_node
from viz.api.listed import Listed, Table, arrow_stream
from viz.command.line.names import (
    below,
    find_kernel,
    find_pass,
    find_rule,
    find_trace,
    program_rows,
)
from viz.command.printed.show import step_data
from viz.format.events import MatchField
from viz.replay.graphtext import states
from viz.share.reopened import open_run
from viz.share.sql import Part, run_query
from viz.views.nodes.history import node_history
from viz.views.store import Store
from viz.why.answers import NEAR_MISSES, WHY_NOT

_FEW: Final = 8
"""Passes whose steps are kept."""


@dataclass(frozen=True)
class Rule:
    """A rule of the compiler, with what it did in the whole run."""

    number: int
    name: str
    equation: str
    file: str
    line: int
    source: str
    """Its text when it was recorded."""
    matches: int
    declines: int
    us: float
    """Microseconds of its function in its matches."""


@dataclass(frozen=True)
class Text:
    """A source text of a kernel: PTX, LLVM IR and others."""

    kind: str
    target: str
    text: str
    nodes: list[list[int]]
    """The nodes of the linear program behind each line."""
    origins: list[list[int]]
    """The nodes of the kernel's AST that each line comes from."""


class Kernel:
    """A kernel of a run."""

    def __init__(self, run: Run, row: Mapping[str, Any]) -> None:
        self._run = run
        self.number: int = row["id"]
        self.name: str = row["name"]
        self.calls: list[str] = [call for call in row["calls"].split(", ") if call]
        """The user's calls that it computes, such as "conv2d"."""
        self.target: str = row["arch"]
        self.step_count: int = row["steps"]
        self.ms: float = row["ms"]
        """Milliseconds that it took to compile."""
        self.status: str = row["status"]

    @property
    def passes(self) -> Listed[Pass]:
        """Its passes, in order."""
        return self._run.passes_below(self.number)

    def rewrite(self, name: str) -> Pass:
        """Its pass of this name, or `simplify#2` for the second. Raises TraceError."""
        return self._run.rewrite(name, self.name)

    @cached_property
    def _data(self) -> Mapping[str, Any]:
        made = self._run.store.kernel(self.number)
        if made is None:
            raise TraceError(f"there is no kernel {self.number} in this run")
        return made

    @property
    def texts(self) -> list[Text]:
        """The source texts that the trace has of it."""
        return [
            Text(one["kind"], one["target"], one["text"], one["lines"], one["origins"])
            for one in self._data["artifacts"]
        ]

    def text(self, kind: str) -> Text:
        """The text of this kind, such as "ptx". Raises TraceError where there is none."""
        texts = self.texts
        for one in texts:
            if one.kind == kind:
                return one
        kinds = ", ".join(dict.fromkeys(one.kind for one in texts)) or "none"
        raise TraceError(
            f"the trace has no text {kind!r} of this kernel", self.name, f"it has {kinds}"
        )

    @property
    def launches(self) -> list[float]:
        """Microseconds of each launch, of at most 10,000."""
        return [*self._data["launches"]["us"]]

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self.shown()

    def shown(self) -> dict[str, str]:
        """How a notebook shows it: its first graph, and what it is."""
        passes = self.passes
        shown = passes[0].before.shown() if passes else {}
        return {**shown, "text/plain": repr(self)}

    def __repr__(self) -> str:
        calls = f" ({', '.join(self.calls)})" if self.calls else ""
        return f"Kernel {self.number} {self.name}{calls}: {self.step_count} steps, {self.ms:.3g} ms"


class Pass:
    """A pass of a run: one rewriting of a graph."""

    def __init__(self, run: Run, row: Mapping[str, Any]) -> None:
        self._run = run
        self.number: int = row["id"]
        self.name: str = row["name"]
        self.ms: float = row["ms"]
        self.step_count: int = row["steps"]
        self.status: str = row["status"]

    @property
    def data(self) -> Bundle:
        """The pass as the page has it: `Bundle` of docs/json.md."""
        return self._run.bundle(self.number)

    @property
    def before(self) -> Graph:
        """Its input graph."""
        return self.graph(0)

    @property
    def after(self) -> Graph:
        """The graph after its last step."""
        return self.graph(len(self.data["steps"]))

    def graph(self, step: int) -> Graph:
        """The graph after a step; 0: the input graph. Raises TraceError where there is none."""
        bundle = self.data
        self._check(bundle, step, 0)
        return Graph(self._run, bundle, states(bundle, step)[1], step)

    @property
    def steps(self) -> Listed[Step]:
        """Its steps, in order."""
        count = len(self.data["steps"])
        return Listed([Step(self._run, self, at) for at in range(1, count + 1)], _step_row)

    def step(self, number: int) -> Step:
        """A step, counted from 1. Raises TraceError where there is none."""
        self._check(self.data, number, 1)
        return Step(self._run, self, number)

    def _check(self, bundle: Bundle, step: int, least: int) -> None:
        last = len(bundle["steps"])
        if not least <= step <= last:
            raise TraceError(
                f"there is no step {step} in pass {self.number}",
                hint=f"its steps are {least} to {last}",
            )

    def __repr__(self) -> str:
        return f"Pass {self.number} {self.name}: {self.step_count} steps, {self.ms:.3g} ms"


class Step:
    """One step: a rule that matched a node and replaced it."""

    def __init__(self, run: Run, rewrite: Pass, number: int) -> None:
        self._run = run
        self.rewrite = rewrite
        self.number = number

    @property
    def _delta(self) -> Mapping[str, Any]:
        return self.rewrite.data["steps"][self.number - 1]

    @property
    def rule(self) -> Rule:
        """The rule that matched."""
        return self._run.rule(int(self._delta["rule"]))

    @property
    def us(self) -> int:
        """Microseconds of the match."""
        return int(self._delta["us"])

    @property
    def matched(self) -> Node:
        """The node that was replaced."""
        return content_node(self._run, self.rewrite.data, self._delta["before"])

    @property
    def replacement(self) -> Node:
        """What stands in its place."""
        return content_node(self._run, self.rewrite.data, self._delta["after"])

    @property
    def bindings(self) -> dict[str, Node]:
        """What the pattern bound, by name."""
        bundle = self.rewrite.data
        return {name: content_node(self._run, bundle, at) for name, at in self._delta["binds"]}

    @property
    def before(self) -> Graph:
        """The graph before it."""
        bundle = self.rewrite.data
        before, _ = states(bundle, self.number)
        return Graph(self._run, bundle, before, self.number - 1)

    @property
    def after(self) -> Graph:
        """The graph after it."""
        return self.rewrite.graph(self.number)

    @property
    def data(self) -> dict[str, Any]:
        """The step as `uopviz show --json` prints it: `ShowStep` of docs/json.md."""
        return step_data(self._run.store, dict(self.rewrite.data), self.number)

    def __repr__(self) -> str:
        return (
            f"Step {self.number} of {self.rewrite.name} ({self.rewrite.number}): {self.rule.name}"
        )


def _step_row(step: Step) -> Mapping[str, Any]:
    return {
        "rewrite": step.rewrite.number,
        "pass": step.rewrite.name,
        "step": step.number,
        "rule": step.rule.name,
        "us": step.us,
        "before": step.matched.number,
        "after": step.replacement.number,
    }


class Matches(Sequence[Step]):
    """Matches in the order of the run, by pass. Rows are read when they are asked for."""

    def __init__(self, run: Run, rows: np.ndarray[Any, np.dtype[np.int64]]) -> None:
        self._run, self._rows = run, rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> Matches: ...
    def __getitem__(self, index: int | slice) -> Step | Matches:
        if isinstance(index, slice):
            return Matches(self._run, self._rows[index])
        rewrite, step = (int(value) for value in self._rows[index, :2])
        return self._run.rewrite(rewrite).step(step)

    def __iter__(self) -> Iterator[Step]:
        for at in range(len(self)):
            yield self[at]

    def __repr__(self) -> str:
        return f"{len(self):,} matches"

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        names = "rewrite", "step", "rule", "before", "after", "us"
        columns: dict[str, Sequence[Any]] = {
            name: self._rows[:, at].tolist() for at, name in enumerate(names)
        }
        columns["rule"] = [self._run.store.rule_name(number) for number in columns["rule"]]
        return arrow_stream(columns, requested_schema)


class Run:
    """A recorded run. A context manager, which lets go of its files."""

    def __init__(self, store: Store) -> None:
        self.store = store
        """What answers: `viz.Store`."""
        self._cached: Callable[[int], Bundle] = lru_cache(maxsize=_FEW)(self._bundle)

    @property
    def path(self) -> Path:
        """The file that was opened."""
        return self.store.path

    @property
    def facts(self) -> dict[str, Any]:
        """The run as a whole: command, commit, times, problems; `RunHere` of docs/json.md."""
        return self.store.run()

    @property
    def _rows(self) -> list[dict[str, Any]]:
        return program_rows(self.store.tree()["rows"])

    @property
    def kernels(self) -> Listed[Kernel]:
        """Its kernels, in the order in which they were compiled."""
        rows = [row for row in self._rows if row["label"] == "kernel"]
        return Listed([Kernel(self, row) for row in rows], _kernel_row)

    def kernel(self, name: str | int) -> Kernel:
        """The kernel that is meant by its name, the beginning of it, its number, or a call that it
        alone computes. Raises TraceError where none or several are."""
        return Kernel(self, find_kernel(self.store.tree()["rows"], str(name)))

    @property
    def passes(self) -> Listed[Pass]:
        """All passes, in order."""
        return self._passes(self._rows)

    def passes_below(self, number: int) -> Listed[Pass]:
        """The passes of a kernel or group, in order."""
        return self._passes(program_rows(below(self.store.tree()["rows"], number)))

    def _passes(self, rows: Sequence[Mapping[str, Any]]) -> Listed[Pass]:
        return Listed([Pass(self, row) for row in rows if row["kind"] == "rewrite"], _pass_row)

    def rewrite(self, name: str | int, kernel: str | int | None = None) -> Pass:
        """The pass that is meant: its number, its name or the beginning of it, or `simplify#2` for
        the second; of all, or of one kernel. Raises TraceError where none or several are."""
        rows = self.store.tree()["rows"]
        if kernel is None:
            return Pass(self, find_pass(rows, str(name)))
        of = find_kernel(rows, str(kernel))
        return Pass(self, find_pass(below(rows, of["id"]), str(name), of["name"]))

    @property
    def rules(self) -> Listed[Rule]:
        """Its rules, with what each did."""
        return Listed([*self._rules.values()], vars)

    @cached_property
    def _rules(self) -> dict[int, Rule]:
        return {
            row["id"]: Rule(
                row["id"],
                *(row["name"], row["equation"], row["file"], row["line"], row["source"]),
                *(row["matches"], row["declines"], row["us"]),
            )
            for row in self.store.rules()
        }

    def rule(self, name: str | int) -> Rule:
        """The rule that is meant by its name, the beginning of it, or its number. Raises TraceError
        where none or several are."""
        if isinstance(name, int) and name in self._rules:
            return self._rules[name]
        return self._rules[find_rule(self.store.rules(), str(name))["id"]]

    def matches(
        self, rule: str | int | Rule | None = None, kernel: str | int | None = None
    ) -> Matches:
        """Every match, of one rule, in one kernel. Raises TraceError for names that nothing has."""
        wanted = None
        if rule is not None:
            wanted = rule.number if isinstance(rule, Rule) else self.rule(rule).number
        passes = self.passes if kernel is None else self.kernel(kernel).passes
        of_passes = {one.number for one in passes}
        rows: list[np.ndarray[Any, np.dtype[np.int64]]] = []
        for process in self.store.processes:
            file, of_run = process.file, np.vectorize(process.rule, otypes=[np.int64])
            for rewrite in [*file.rewrites.values()]:
                number = process.id(rewrite.id)
                if number not in of_passes or not rewrite.matches:
                    continue
                found = file.event_blocks.matches(rewrite)
                if not len(found):
                    continue
                made = np.empty((len(found), 6), np.int64)
                made[:, 0], made[:, 1] = number, np.arange(1, len(found) + 1)
                made[:, 2] = of_run(found[:, MatchField.RULE])
                made[:, 3] = found[:, MatchField.BEFORE] + process.id(0)
                made[:, 4] = found[:, MatchField.AFTER] + process.id(0)
                made[:, 5] = found[:, MatchField.NS] // 1000
                rows.append(made if wanted is None else made[made[:, 2] == wanted])
        return Matches(self, np.concatenate(rows) if rows else np.empty((0, 6), np.int64))

    def find(self, text: str) -> list[dict[str, Any]]:
        """What has a text in a name, call, rule, op, file or source, or nodes of the structure that
        it describes. Raises TraceError for a structure that is wrong."""
        found = self.store.search(text)
        if (problem := found["problem"]) is not None:
            raise TraceError(**problem)
        return found["hits"]

    def query(self, sql: str, kernel: str | int | None = None) -> Table:
        """One SELECT over the tables of docs/cli.md. Raises TraceError for SQL that is wrong."""
        part = None
        if kernel is not None:
            rows = self.store.tree()["rows"]
            of = find_kernel(rows, str(kernel))
            part = Part({row["id"] for row in below(rows, of["id"])}, of["name"])
        return Table(*run_query(self.store.files, sql, part))

    def why_not(self, rewrite: str | int, rule: str | int, node: int | None = None) -> Any:
        """Why a rule did not fire at a node of a pass (`WhyNot` of docs/json.md), or without a node
        where it nearly did (`NearMisses`). Raises TraceError for names that nothing has."""
        of, number = self.rewrite(rewrite).number, self.rule(rule).number
        if node is None:
            return self.store.ask(NEAR_MISSES, of, number)
        return self.store.ask(WHY_NOT, of, node, number)

    def history(self, node: int, rewrite: int) -> list[Event]:
        """What happened to a node, as seen in a pass, oldest first."""
        found = node_history(self.store, node, rewrite, float("inf"))
        if found is None:
            raise TraceError(f"there is no pass {rewrite} in this run")
        return [
            Event(
                *(row["kind"], row["rewrite"], row["step"]),
                self.store.rule_name(row["rule"]) if row["rule"] >= 0 else "",
                *(row["node"], row["op"], row["line"]),
            )
            for row in found["rows"]
        ]

    def bundle(self, number: int) -> Bundle:
        """A pass as the page has it. Raises TraceError where there is none."""
        return self._cached(number)

    def _bundle(self, number: int) -> Bundle:
        made = self.store.bundle(number)
        if made is None:
            raise TraceError(f"there is no pass {number} in this run")
        return made

    def close(self) -> None:
        """Lets go of its files."""
        self.store.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        totals = self.facts["totals"]
        return f"Run {self.path.name}: {totals['kernels']} kernels, {totals['steps']} steps"


def _kernel_row(kernel: Kernel) -> Mapping[str, Any]:
    return {
        "number": kernel.number,
        "name": kernel.name,
        "calls": ", ".join(kernel.calls),
        "target": kernel.target,
        "steps": kernel.step_count,
        "ms": kernel.ms,
        "status": kernel.status,
    }


def _pass_row(one: Pass) -> Mapping[str, Any]:
    return {
        "number": one.number,
        "name": one.name,
        "steps": one.step_count,
        "ms": one.ms,
        "status": one.status,
    }


def open(path: str | Path | None = None) -> Run:
    """A run: a trace, an exported file, a part of the name of a recent trace; without a path the
    youngest. Raises TraceError where there is none, and for an exported file without its trace."""
    file = path if isinstance(path, Path) else find_trace(path).path
    store = open_run(file)
    if not isinstance(store, Store):
        store.close()
        raise TraceError(
            "this exported file has no trace in it", str(file), "open the trace it was made of"
        )
    return Run(store)
