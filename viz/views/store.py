"""`Store`: the run in the trace files of all of its processes, as the page sees it.

Answers are in the form of viz/web/src/data/messages; numbers count in the whole run. Each answer
has a budget (`viz/budget.py`); one that cannot be made within it is a BudgetError. Safe to use from
several threads. Never writes, and never runs anything.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from core.errors import TraceError
from viz.budget import answering, part, take
from viz.dialect.adapters import CORE
from viz.dialect.dialect import Action, Dialect
from viz.dialect.registry import named_in
from viz.format.cells import as_text
from viz.format.rows import ARTIFACT_HEADS
from viz.read.records import RuleRecord
from viz.read.tracefile import Progress, TraceFile, silent
from viz.replay.bundle import make_bundle
from viz.replay.economics import untimed
from viz.replay.graphtext import step_text
from viz.views.checks import Checks
from viz.views.kernels.captured import captured_request, step_data
from viz.views.kernels.compiled import Compilation
from viz.views.kernels.emulations import Emulations
from viz.views.kernels.shaders import KernelShaders
from viz.views.kernels.texts import Texts
from viz.views.nodes.lineage import rewrites_in, scope_of
from viz.views.nodes.lineages import Lineages
from viz.views.nodes.userlines import user_lines
from viz.views.overview.overviews import Overviews
from viz.views.passtexts import pass_texts
from viz.views.rules.cost import costs
from viz.views.rules.times import pass_rules, rule_times
from viz.views.runs.process import Process
from viz.views.runs.run import FIRST, Answer
from viz.views.runs.runfiles import RunFiles
from viz.views.search.find import find
from viz.views.search.message import search_index
from viz.views.since.message import since_data
from viz.views.summary import is_live, run_data
from viz.views.timeline import timeline_data

_ROW: Final = 800
"""Bytes of a row of the navigator in an answer."""


class Store:
    """A run. `progress` is told while its files are read; `order` as in `RunFiles`. Raises
    TraceError where `path` is no trace."""

    def __init__(
        self, path: str | Path, progress: Progress = silent, order: Sequence[str] = ()
    ) -> None:
        self.path = Path(path)
        self.held_as = FIRST
        self._files = RunFiles(self.path, progress, order)
        self._lock = self._files.lock
        """Held for moments. What takes longer has a lock of its own for what it keeps, and reads
        what only grows, at its end, or is replaced, not changed: nobody waits for another kind of
        question, nor for the passes of others."""
        self._counting, self._tracing, self._searching = (threading.Lock() for _ in range(3))
        self._lineages = Lineages(self._files, self._tracing)
        self._overviews = Overviews(self._files)
        self.places = self._files.places
        self._rules, self._tree = self._files.rules, self._files.tree
        self._processes, self._compilations = self._files.processes, self._files.compilations
        self.emulations = Emulations()
        """What was emulated of its kernels."""
        self.texts = Texts()
        """What its kernels were compiled to for an exported file."""
        self.shaders = KernelShaders()
        """What its kernels were compiled to for the GPU of a browser."""
        self.checks = Checks()
        """What is known of its steps."""

    def close(self) -> None:
        """Closes the files."""
        self._files.close()

    def refresh(self) -> None:
        """Reads what was written since, in files of new processes too."""
        self._files.refresh()

    @property
    def files(self) -> list[TraceFile]:
        """The trace file of each process, the main one first; what they hold is numbered by
        process, see STRIDE."""
        with self._lock:
            return [process.file for process in self._processes]

    @property
    def processes(self) -> list[Process]:
        """Each process of the run with what is derived from its file, in the order of `files`."""
        with self._lock:
            return [*self._processes]

    @property
    def compilations(self) -> list[Compilation]:
        """Kernels that were compiled on request: no part of what the program did."""
        with self._lock:
            return [*self._compilations]

    @property
    def live(self) -> bool:
        """Whether a process of the run still writes."""
        with self._lock:
            return is_live(self._processes)

    @property
    def compiles(self) -> bool:
        """Whether its kernels can be compiled and run. Those of other compilers are only shown."""
        return Action.COMPILE in self.dialect.actions

    @property
    def is_of_core(self) -> bool:
        """Whether the recorder of `core` wrote it."""
        with self._lock:
            return named_in(self._processes[0].file.meta)[0] == CORE

    @property
    def dialect(self) -> Dialect:
        """What its graphs mean, as far as it is known."""
        return self._files.dialect.dialect

    def ask(self, answer: Answer, *values: int | str, seconds: float = float("inf")) -> Any:
        """Any answer of the table in `viz/views/answers.py`. One that may be partial takes about
        `seconds` at most; asking again goes on."""
        limits = {"seconds": seconds} if answer.whole else {}
        return answer.make(self, *values, **limits)

    def run(self) -> dict[str, Any]:
        """The run as a whole, without what can be done with it on this machine."""
        with self._lock:
            said = [self._rules.problem, self._files.dropped]
            noted = [*self._compilations]
            made = run_data(
                self._processes, [what for what in said if what], noted, self._files.dialect
            )
            return made | {
                "emulated": self.emulations.kernels(),
                "shaders": (shaded := self.shaders.kernels()),
                "stepValues": [
                    process.id(step.context)
                    for process in self._processes
                    for step in process.file.captured_steps.values()
                    if step.all and step.context in process.file.contexts
                ],
                "browser": self.dialect.browser if shaded else None,
            }

    def tree(self, since: int = 0) -> dict[str, Any]:
        """Rows of the navigator from number `since` on, and older ones that have changed."""
        with self._lock, answering("the list of passes"):
            new = self._tree.since(since)
            take(4 * len(new), sum(_ROW + 2 * len(row.name) + 2 * len(row.calls) for row in new))
            rows = [vars(row).copy() for row in new]
            return {"rows": rows, "total": len(self._tree.rows)}

    def bundle(self, rewrite: int) -> dict[str, Any] | None:
        """One rewrite; None for a number that no rewrite has."""
        with self._lock:
            found = self._files.find(rewrite, lambda f: f.rewrites)
        if found is None:
            return None
        process, record = found
        with answering("this pass"):
            return make_bundle(
                process.file,
                record,
                process.facts,
                process.numbers,
                self._files.place_of(process),
                process.node_counts.learn,
                process.kernels.graph_of(record),
            )

    def pass_texts(self, rewrite: int) -> dict[str, Any] | None:
        """The compiler's own texts before and after a rewrite; None for a number that no rewrite
        has."""
        with self._lock:
            found = self._files.find(rewrite, lambda f: f.rewrites)
        if found is None:
            return None
        with self._tracing, answering("the texts of this pass"):
            process, record = found
            return pass_texts(process.file, record, process.id, process.node)

    def is_open(self, rewrite: int) -> bool:
        """Whether a rewrite may still get more steps."""
        with self._lock:
            found = self._files.find(rewrite, lambda f: f.rewrites)
            return found is not None and found[1].us is None

    def result_of(self, rewrite: int) -> int | None:
        """The number of the node that a rewrite returned; None for none."""
        with self._lock:
            found = self._files.find(rewrite, lambda f: f.rewrites)
            return found[0].node(found[1].result) if found and found[1].result else None

    def step_text(self, rewrite: int, step: int) -> dict[str, str] | None:
        """The graphs before and after a step as text; None for what there is not."""
        bundle = self.bundle(rewrite)
        return None if bundle is None else step_text(bundle, step)

    def rules(self) -> list[dict[str, Any]]:
        """Every rule with its counts."""
        with self._lock, answering("the list of rules"):
            return self._rules.data(self._processes)

    def rule_totals(self, seconds: float = float("inf")) -> dict[str, Any]:
        """Counts and time of each rule in each pass, the most expensive first. Added and removed
        nodes are counted for at most `seconds` more: `counted` of `steps` steps are."""
        until = time.monotonic() + seconds
        with self._counting:
            for process in list(self._processes):
                process.node_counts.work(until - time.monotonic())
        with self._lock, answering("the list of what rules cost"):
            steps = [process.node_counts.steps for process in self._processes]
            spent = costs(self._processes)
            return {
                "rows": self._rules.totals(spent, self._processes),
                "silent": self._rules.silent(spent),
                "counted": sum(counted for counted, _ in steps),
                "steps": sum(total for _, total in steps),
                "untimed": untimed(process.file for process in self._processes),
            }

    def node_counts(self, rewrite: int) -> list[tuple[int, int, int]] | None:
        """The rules of a pass, by the numbers of its file, with how many nodes each added and
        removed; None where that has not been counted."""
        with self._lock:
            found = self._files.find(rewrite, lambda f: f.rewrites)
        return found and found[0].node_counts.of(found[1].id)

    def take_node_counts(self, rewrite: int, counts: Sequence[tuple[int, int, int]]) -> None:
        """Takes over what `node_counts` says of a pass of the same trace in another process."""
        with self._lock:
            found = self._files.find(rewrite, lambda f: f.rewrites)
        if found is not None:
            found[0].node_counts.take_over(found[1], counts)

    def rule_matches(self, seconds: float = float("inf")) -> dict[str, Any]:
        """How often each rule matched in each rewrite: `matches` of `rule` in `rewrite`, by rule,
        then in the order in which the rewrites began. Counts for at most `seconds` more; `done`
        where all is counted, `leftOut` pairs for which there is no room."""
        until = time.monotonic() + seconds
        found: dict[int, list[tuple[int, int]]] = {}
        with self._counting, answering("where rules matched"):
            processes = list(self._processes)
            done = [process.matches.work(until - time.monotonic()) for process in processes]
            for process in processes:
                columns = [column.tolist() for column in process.matches.by_rule()]
                for rule, rewrite, matches in zip(*columns, strict=True):
                    pairs = found.setdefault(process.rule(rule), [])
                    pairs.append((process.id(rewrite), matches))
            rows = [(rule, *pair) for rule, pairs in found.items() for pair in pairs]
            take(len(rows), 300 * len(rows))
            return {
                "rule": [row[0] for row in rows],
                "rewrite": [row[1] for row in rows],
                "matches": [row[2] for row in rows],
                "leftOut": sum(process.matches.left_out for process in processes),
                "done": all(done),
            }

    def pass_rules(self, rewrite: int) -> dict[str, Any] | None:
        """How long the tries of each rule took in one rewrite, the longest first; None for a number
        that no rewrite has."""
        with self._lock:
            found = self._files.find(rewrite, lambda f: f.rewrites)
            rules = self._rules
        if found is None:
            return None
        with self._counting, answering("the rules of this pass"):
            return pass_rules(*found, rules.name, rules.place)

    def rule_times(self, rule: int) -> dict[str, Any] | None:
        """In which rewrites the tries of a rule took most time, the longest first; None where the
        trace does not say it."""
        with self._counting, answering("the times of this rule"):
            return rule_times(self.processes, rule)

    def timeline(self) -> dict[str, Any]:
        """When everything happened, in all processes."""
        with self._lock:
            processes = [*self._processes]
        with answering("the timeline"):
            return timeline_data(processes)

    def overview(self) -> dict[str, Any]:
        """What ran and what took how long: the page that opens first."""
        return self._overviews.of_run()

    def kernel_page(self, context: int) -> dict[str, Any] | None:
        """One kernel: calls, passes, times; None for a number that no context has."""
        return self._overviews.of_kernel(context)

    def user_lines(self) -> list[dict[str, Any]]:
        """The lines of the user's program that the run names, and the kernels that they became."""
        with self._lock:
            processes = [*self._processes]
        with self._tracing, answering("the lines of the program"):
            return user_lines(processes, self.places.file)

    def since(self) -> dict[str, Any]:
        """Who made the run, and how its files and rules have changed since."""
        with self._lock:
            processes, rules = [*self._processes], self._rules.records
        with answering("what has changed since the run"):
            return since_data(processes, self.is_of_core, rules, self.places.file)

    def scope_of(self, rewrite: int) -> int | None:
        """The context or rewrite that a rewrite's lineage belongs to; None for an unknown one."""
        with self._lock:
            found = self._files.find(rewrite, lambda f: f.rewrites)
            if found is None:
                return None
            return found[0].id(scope_of(found[0].file, found[1]))

    def lineage(self, scope: int, seconds: float = float("inf")) -> dict[str, Any] | None:
        """Where the nodes of a context (or of a rewrite without one) come from and go; or, where
        that takes longer than `seconds`, how far it is. None for a number that nothing has."""
        return self._lineages.of(scope, seconds)

    def rule_records(self) -> dict[int, RuleRecord]:
        """Every rule as its trace has it, by its number in the run."""
        with self._lock:
            return self._rules.records

    def rule_name(self, rule: int) -> str:
        """The name of a rule; "?" for an unknown one."""
        with self._lock:
            return self._rules.name(rule)

    def kernels(self) -> list[int]:
        """Numbers of all kernel contexts."""
        with self._lock:
            return [
                process.id(context.id)
                for process in self._processes
                for context in process.file.contexts.values()
                if context.role == "kernel"
            ]

    def kernel(self, context: int) -> dict[str, Any] | None:
        """A kernel; None for a number that no context has."""
        with self._lock:
            found = self._files.find(context, lambda f: f.contexts)
        if found is None:
            return None
        with self._lock:
            others = self._compilations.of_kernel(context)
        with self._tracing, answering("this kernel"):
            with part(1 / (1 + len(others))):
                made = found[0].kernels.data(found[1])
            artifacts: list[dict[str, Any]] = made["artifacts"]
            if isinstance(found[0], Compilation):
                artifacts[:] = [one | {"passes": made["context"]} for one in artifacts]
            for i, one in enumerate(others, 1):
                known = {(a["kind"], a["target"]) for a in artifacts}
                with part(1 / (1 + len(others) - i)):
                    more = one.artifacts()
                artifacts += [a for a in more if (a["kind"], a["target"]) not in known]
            known = {(a["kind"], a["target"]) for a in artifacts}
            more = self.texts.of(context)
            artifacts += [a for a in more if (a["kind"], a["target"]) not in known]
        made["tensorCalls"] = [self.places.place(call) for call in made["tensorCalls"]]
        for place in made["places"]:
            place["file"] = self.places.file(place["file"])
        return made

    def recorded_targets(self, context: int) -> set[str]:
        """The targets that the trace itself has texts of a kernel for."""
        with self._lock:
            found = self._files.find(context, lambda f: f.contexts)
        if found is None:
            return set()
        rows = found[0].file.db.where(ARTIFACT_HEADS, "context", found[1].id)
        return {target for row in rows if (target := as_text(row.target))}

    def captured(self, context: int) -> dict[str, Any] | None:
        """The values that a kernel read in the run, for a worker; None where there are none, or
        they cannot be read."""
        with self._lock:
            found = self._files.find(context, lambda f: f.contexts)
        if found is None:
            return None
        process, record = found
        try:
            return captured_request(process.file, process.kernels.captured(record))
        except TraceError as error:
            process.file.db.problem(error.what)
            return None

    def step_values(self, context: int) -> dict[str, Any] | None:
        """What the memory of a captured step held; None where the trace has none of it. Raises
        TraceError where it cannot be read."""
        with self._lock:
            found = self._files.find(context, lambda f: f.contexts)
        if found is None:
            return None
        process, record = found
        kept = process.file.captured_steps.get(record.id)
        if kept is None:
            return None
        with answering("the values of this step"):
            return step_data(process.file, kept)

    def emulated(self, context: int) -> list[dict[str, Any]]:
        """What was emulated of a kernel, the newest last."""
        return self.emulations.of(context)

    def kernel_shaders(self, context: int) -> dict[str, Any] | None:
        """A kernel compiled for the GPU of a browser; None where none was."""
        return self.shaders.of(context)

    def checked(self) -> list[int]:
        """Numbers of the passes of which steps were checked."""
        return self.checks.rewrites()

    def schedule(self, context: int) -> dict[str, Any] | None:
        """The texts recorded of a schedule, and which of its first graph's nodes others come from;
        None for a number that no context has."""
        with self._lock:
            found = self._files.find(context, lambda f: f.contexts)
        if found is None:
            return None
        process, record = found
        with self._tracing, answering("the texts of this schedule"):
            return {
                "context": context,
                "artifacts": process.kernels.artifacts(record, self.places.inside),
                "origins": process.kernels.origins_within(record, 0.5),
            }

    def origins(self, context: int) -> dict[str, Any] | None:
        """Which AST nodes a kernel's nodes come from; None for a number that no context has."""
        with self._lock:
            found = self._files.find(context, lambda f: f.contexts)
        if found is None:
            return None
        with self._tracing, answering("where the nodes of this kernel come from"):
            return found[0].kernels.origins(found[1])

    def tiles(self, context: int) -> dict[str, Any] | None:
        """The tiles of a kernel, and the nodes of its passes that stand for them; None for a number
        that no context has."""
        with self._lock:
            found = self._files.find(context, lambda f: f.contexts)
        if found is None:
            return None
        process, record = found
        with self._tracing, answering("the tiles of this kernel"):
            return process.dialect.tiles(process, record, rewrites_in(process.file, record.id))

    def acted(self, context: int, action: str) -> dict[str, Any] | None:
        """What an action of the compiler's own says of a kernel; None for a number that no context
        has. Raises TraceError where there is no such action, or it fails."""
        with self._lock:
            found = self._files.find(context, lambda f: f.contexts)
        if found is None:
            return None
        process, record = found
        with answering("this action"):
            root = process.kernels.ast(record)
            if not root:
                raise TraceError("this kernel has no graph", where=record.name)
            return {"text": process.dialect.act(action, process.file, process.facts, root)}

    def kernel_graph(self, context: int) -> tuple[dict[str, Any], list[int]] | None:
        """A kernel's AST as data for `core.uop.data.serial.from_data`, and the numbers of its nodes
        in
        the run, in the order of the data; None where there is none."""
        with self._lock:
            found = self._files.find(context, lambda f: f.contexts)
        if found is None:
            return None
        process, record = found
        with answering("the graph of this kernel"):
            order = process.file.nodes.reachable(process.kernels.ast(record))
            if not order:
                return None
            data = process.dialect.graph_data(process.file, order)
            return None if data is None else (data, [process.node(n) for n in order])

    def attach(
        self, path: Path, dropped: Callable[[], None] | None = None, number: int | None = None
    ) -> int:
        """See `RunFiles.attach`."""
        return self._files.attach(path, dropped, number)

    def compiled(self, kernel: int, target: str) -> Compilation | None:
        """What a kernel, as it is now, was compiled to for a target; None if it was not."""
        return self._files.compiled(kernel, target)

    def kernel_of(self, context: int) -> int:
        """The kernel of the program that a context is, or was compiled from on request."""
        return self._files.kernel_of(context)

    def search(self, text: str, seconds: float = float("inf")) -> dict[str, Any]:
        """What has `text`, or nodes of the structure that it describes: see `find`."""
        with self._lock:
            processes = [*self._processes, *self._compilations]
        with self._searching:
            row_of, place, reading = self._tree.row_of, self.places.place, self._tracing
            return find(processes, text, seconds, row_of, place, reading)

    def search_index(self, seconds: float = float("inf")) -> dict[str, Any]:
        """What `search` looks up besides names, for a page without a server; `done` where all
        events were looked at in that many seconds, else asking again goes on."""
        with self._lock:
            processes = [*self._processes, *self._compilations]
        with self._searching, answering("the index of the search"):
            return search_index(processes, self.places.place, seconds)
