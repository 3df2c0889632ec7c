"""Writes the recorder's buffers to the trace: numbers nodes and rules, keeps a stack per thread.

A buffer is written as columns: one call for many events, a step of Python only for each pass,
context and text. Runs on the recorder's own thread (viz/recording/worker.py).
"""

from __future__ import annotations

import weakref
from array import array
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from core.capture.capturereport import KIND, NUMBER
from core.kernelname import kernel_name
from core.uop.engine.observe import MemoryChange
from core.uop.engine.origin import lines_in
from core.uop.engine.visits import Visits
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import Rule
from core.uop.uop import UOp
from viz.format.events import Events
from viz.format.pack import Ints
from viz.format.schema import DECLINE, MATCH, REBUILD
from viz.recording.buffer import OTHER, Batch
from viz.recording.exceptions import OURS
from viz.recording.intern import Interner
from viz.recording.patterns import group_of, pattern_data, source_of
from viz.recording.programs import program_info
from viz.recording.reports import (
    Artifact,
    ContextBegin,
    ContextEnd,
    ContextRename,
    Gated,
    Kernel,
    Launch,
    Memory,
    Origins,
    Report,
    RewriteBegin,
    RewriteEmpty,
    RewriteEnd,
    StepValues,
    Unloadable,
    Values,
    Visited,
)
from viz.write.texts.usersources import UserSources
from viz.write.writer import TraceWriter

MAX_RULES: Final = 20_000
LEAST: Final = 10_000
"""Nanoseconds of a rule's tries in a pass that are kept of this very pass. What took less counts
for all passes of the name together: half of the rows, and a fiftieth of the time."""


UNSEEN: Final = {
    "message": "an interrupt came before its end: what it led to is not known",
    "traceback": "",
    "full": "",
    "place": "",
}
"""The error of a context or rewrite whose end was not reported."""


class Entry(NamedTuple):
    """An open context or rewrite. Number 0: it is not recorded."""

    is_context: bool
    number: int
    name: str
    kind: str = ""


class Told(NamedTuple):
    """A report (None: the begin of a batch), whether the innermost rewrite has been written by
    then, and how many events that are no reports follow it."""

    report: Report | None
    written: bool
    events: int


class Pending(NamedTuple):
    """A rewrite in which nothing has happened yet, and where it is among the events of the batch;
    -1: in an earlier one. Most end so: their graphs are neither numbered nor written."""

    begin: RewriteBegin
    at: int


class Transcriber:
    """Writes the events of all threads of one process to one trace."""

    def __init__(self, writer: TraceWriter, user_lines: bool = True) -> None:
        self.writer = writer
        self._number = Interner(writer.numbers)
        self._stacks: dict[int, list[Entry]] = {}
        self._pending: dict[int, list[RewriteBegin]] = {}
        """By thread, what is open and not written: deeper than all of its stack."""
        self._rules: dict[Rule, int] = {}
        self._matchers: weakref.WeakSet[PatternMatcher] = weakref.WeakSet()
        self._sources = UserSources(user_lines, ours=OURS)
        self._allocations: dict[int, int] = {}
        """Numbers of those that last, by the core's keys."""
        self._taken = 0
        self._compiled: dict[int, int] = {}
        """The context in which each kernel was compiled last, by its AST."""
        self._asked: dict[int, int] = {}
        """Of each kernel, by its AST, a hash of the lines that were written last."""
        self._steps: dict[int, int] = {}
        """The context that has the text of each capture of this process, by number."""
        self._visits: dict[tuple[str, int], Visits] = {}
        """By name of the pass and set of rules, what is not written yet."""
        self._sets: weakref.WeakKeyDictionary[PatternMatcher, int] = weakref.WeakKeyDictionary()

    def open_entries(self, thread: int) -> list[Entry]:
        """What is open in a thread, outermost first."""
        begun = [Entry(False, 0, begin.name) for begin in self._pending.get(thread, ())]
        return [*self._stacks.get(thread, ()), *begun]

    def resume(self, thread: int, entries: Sequence[Entry]) -> None:
        """After a fork: the contexts that were open go on in this trace, the rewrites do not."""
        stack = self._stacks[thread] = []
        for entry in entries:
            number = self._begin_context(thread, entry) if entry.is_context else 0
            stack.append(entry._replace(number=number))

    def forget(self, thread: int) -> None:
        """A thread has ended."""
        self._unwind(self._stacks.pop(thread, []), 0, self.writer.now())
        self._pending.pop(thread, None)

    def run(self, thread: int, batch: Batch) -> None:
        """Writes what a thread has told of."""
        codes = batch.codes
        told, roots = self._told(thread, batch)
        is_match, is_rebuild, is_decline = (codes == kind for kind in (MATCH, REBUILD, DECLINE))
        parts = (
            *(batch.nodes(is_match), batch.came(is_match), batch.bound),
            *(batch.nodes(is_rebuild), batch.came(is_rebuild), batch.nodes(is_decline)),
        )
        nodes = [node for part in parts for node in part]
        ends = np.cumsum([len(part) for part in parts[:-1]])
        numbers = np.split(self._number.all(nodes, roots), ends)

        rewrites = self._reports(thread, told)
        codes = codes[codes != OTHER]

        names = [tuple(binds) for binds in batch.binds]
        signatures = {name: self.writer.signature(name) for name in set(names)}
        counts = np.fromiter(map(len, names), np.int64, len(names))
        ns = batch.ns
        matches = (
            self._rules_of(batch.rules(is_match)),
            numbers[0],
            numbers[1],
            np.fromiter(ns, np.int64, len(ns)),
            np.fromiter(map(signatures.__getitem__, names), np.int64, len(names)),
            counts,
        )
        inside = rewrites > 0  # what happens outside of any rewrite is left out
        kept = {kind: inside[codes == kind] for kind in (MATCH, REBUILD, DECLINE)}
        declines = (self._rules_of(batch.rules(is_decline)), numbers[5])
        events = Events(
            codes[inside].astype(np.int64),
            rewrites[inside],
            np.stack(matches, 1)[kept[MATCH]],
            numbers[2][np.repeat(kept[MATCH], counts)],
            np.stack(numbers[3:5], 1)[kept[REBUILD]],
            np.stack(declines, 1)[kept[DECLINE]],
        )
        self.writer.extend(events)
        for origin in self._number.new_origins:
            self._sources.note(origin)
        self._number.new_origins.clear()

    def _told(self, thread: int, batch: Batch) -> tuple[list[Told], list[UOp]]:
        """The reports without rewrites that ended as they began, which become RewriteEmpty; and the
        nodes that came in with all events, in their order."""
        at = np.flatnonzero(batch.codes == OTHER)
        events = (np.diff(at, append=len(batch.codes)) - 1).tolist()
        roots, early, found = batch.roots, list[UOp](), list[Told]()
        pending = [Pending(begin, -1) for begin in self._pending.get(thread, ())]

        def settle() -> None:
            for begin, place in pending:
                found.append(Told(begin, True, 0))
                if place < 0:
                    early.append(begin.root)
                else:
                    roots[place] = begin.root
            pending.clear()

        def tell(report: Report, place: int) -> None:
            settle()
            found.append(Told(report, True, 0))
            roots[place] = report.root

        if first := int(at[0]) if len(at) else len(batch.codes):
            settle()
        found.append(Told(None, True, first))
        for report, place, following in zip(batch.others, at.tolist(), events, strict=True):
            match report:
                case RewriteBegin():
                    if pending and pending[-1].begin.depth >= report.depth:
                        settle()
                    pending.append(Pending(report, place))
                    if not report.inside:
                        settle()
                case RewriteEnd(error=None) if pending:
                    if pending[-1].begin.depth == report.depth:
                        pending.pop()
                        report = RewriteEmpty()
                    tell(report, place)
                case Visited() | Gated() | Launch() | Memory() | Values() | Origins():
                    found.append(Told(report, not pending, 0))
                    roots[place] = report.root
                case _:
                    tell(report, place)
            if following:
                settle()
                found[-1] = found[-1]._replace(events=following)
        self._pending[thread] = [one.begin for one in pending]
        return found, [*early, *(root for root in roots if root is not None)]

    def _reports(self, thread: int, told: Sequence[Told]) -> Ints:
        """Writes the reports; for each of the events that follow them the rewrite that it belongs
        to, or 0."""
        stack = self._stacks.setdefault(thread, [])
        current: list[int] = []
        for report, written, _ in told:
            if report is None:
                pass
            elif isinstance(report, RewriteEmpty):
                if current[-1]:
                    self.writer.rewrite_empty(current[-1])
            elif isinstance(report, Visited):
                self._visited(stack, report, written)
            elif isinstance(report, Gated):
                if current[-1] and written:
                    nodes = self._number.all(report.nodes, report.nodes)
                    self.writer.gated(current[-1], nodes.tolist())
            elif isinstance(report, RewriteBegin):
                self._begin_rewrite(stack, report)
            elif isinstance(report, RewriteEnd):
                self._end_rewrite(stack, report)
            else:
                self._other(thread, stack, report)
            current.append(self._rewrite(stack))
        return np.repeat(np.asarray(current, np.int64), [one.events for one in told])

    def _unwind(self, stack: list[Entry], depth: int, at: int) -> None:
        """Ends what is deeper, whose end was not reported."""
        while len(stack) > depth:
            entry = stack.pop()
            if entry.number and entry.is_context:
                self.writer.context_end(entry.number, UNSEEN, at=at)
            elif entry.number:
                self.writer.rewrite_end(entry.number, 0, error=UNSEEN, at=at)

    def _begin_context(self, thread: int, entry: Entry) -> int:
        """Begins a context of the parent process again."""
        parent, meta = self._context(self._stacks[thread]), {"forked": True}
        return self.writer.context_begin(
            entry.name, entry.kind, parent=parent, meta=meta, thread=thread, at=0
        )

    def _begin_rewrite(self, stack: list[Entry], begin: RewriteBegin) -> None:
        matcher = begin.matcher
        at = self.writer.since(begin.at)
        self._unwind(stack, begin.depth, at)
        self._sources.note(begin.caller)
        if matcher not in self._matchers:
            self._matchers.add(matcher)
            for rule in matcher.rules:
                self._rule(rule, matcher.name)
        number = self.writer.rewrite_begin(
            begin.name,
            self._number(begin.root),
            context=self._context(stack),
            parent=self._rewrite(stack),
            matcher=matcher.name,
            caller=begin.caller,
            bottom_up=begin.bottom_up,
            at=at,
        )
        stack.append(Entry(False, number, begin.name))

    def _end_rewrite(self, stack: list[Entry], end: RewriteEnd) -> None:
        at = self.writer.since(end.at)
        self._unwind(stack, end.depth + 1, at)
        number = stack.pop().number if len(stack) > end.depth else 0
        if not number:
            return  # began before a fork, or its end was told twice
        result, error, failed = end.root, end.error, end.rule
        made = 0 if result is None else self._number(result)
        size = 0 if result is None or self._rewrite(stack) else self._number.size(result)
        if error is not None:
            loop = [
                (self._rule(rule, ""), self._number(before), self._number(after))
                for rule, before, after in error["loop"]
            ]
            where = {
                "rule": self._rule(failed, "") if failed else 0,
                "node": 0 if end.node is None else self._number(end.node),
            }
            error = {**error, **where, "loop": loop}
        self.writer.rewrite_end(number, made, nodes=size, error=error, at=at)

    def _visited(self, stack: list[Entry], visited: Visited, written: bool) -> None:
        name, visits = visited.name, visited.visits
        if stack and not stack[-1].is_context and not stack[-1].number:
            return  # in a rewrite that began before a fork
        number, rules = self._rule, self._sets
        rule_set = rules.get(visits.matcher)
        if rule_set is None:
            found = [number(rule, visits.matcher.name) for rule in visits.matcher.rules]
            rule_set = rules[visits.matcher] = self.writer.rule_set(found)
        key = name, rule_set
        if key not in self._visits:
            self._visits[key] = Visits(visits.matcher)
        self._visits[key].add(visits)
        rewrite, named = self._rewrite(stack) if written else 0, self.writer.string(name)
        tries = array("q")
        for rule, spent in visits.spent.items():
            if spent.tries:
                of = (rewrite, 0) if rewrite and spent.ns >= LEAST else (0, named)
                tries.extend((*of, number(rule, ""), spent.tries, spent.ns, spent.function_ns))
        self.writer.tried_of(tries)

    def tell_user_lines(self) -> None:
        """Writes the user's lines that were named since the last call."""
        for part in self._sources.take():
            self.writer.user_lines(
                part.file,
                part.first,
                part.text,
                digest=part.digest,
                cut=part.cut,
                proof=part.proof,
            )

    def tell_visits(self) -> None:
        """Writes the visits since the last call, those of all passes of a name at once."""
        number, op_number = self._rule, self._number.op
        for (name, rule_set), visits in self._visits.items():
            nodes = {op_number(op): count for op, count in visits.nodes.items()}
            ended = {(number(rule, ""), op_number(op)): n for (rule, op), n in visits.ended.items()}
            self.writer.visited_of(name, rule_set, nodes, ended)
        self._visits.clear()

    def _allocation(self, change: MemoryChange) -> int:
        """The number of an allocation; 0 for one that the recording has not seen begin."""
        if change.nbytes <= 0:
            return self._allocations.pop(change.key, 0)
        self._taken += 1
        self._allocations[change.key] = self._taken
        return self._taken

    def _other(self, thread: int, stack: list[Entry], report: Report) -> None:
        writer, context = self.writer, self._context(stack)
        match report:
            case Launch():
                start = writer.since(report.at)
                writer.launch(report.name, report.device, start, report.ns, report.size)
            case Origins():
                self._origins(report)
            case Values():
                told = report.arguments, report.variables, report.launch, report.why
                writer.captured(self._number(report.root), report.name, report.device, *told)
            case StepValues(number=number):
                if (where := self._steps.get(number)) is not None:
                    kept = report.before, report.after, report.replay, report.why
                    writer.captured_step(where, report.name, report.device, *kept)
            case Memory(change=change):
                number, taken = self._allocation(change), max(0, change.nbytes)
                at = writer.since(report.at)
                writer.memory(
                    change.device,
                    change.allocated,
                    at=at,
                    number=number,
                    taken=taken,
                    kernel=change.kernel,
                    lines=change.lines,
                )
            case ContextBegin(name=name, kind=kind):
                at = writer.since(report.at)
                self._unwind(stack, report.depth, at)
                number = writer.context_begin(
                    name,
                    kind,
                    parent=self._context(stack),
                    meta=report.meta,
                    thread=thread,
                    at=at,
                )
                stack.append(Entry(True, number, name, kind))
            case ContextRename():
                if context:
                    writer.context_rename(context, report.name)
            case ContextEnd():
                at = writer.since(report.at)
                self._unwind(stack, report.depth + 1, at)
                if len(stack) > report.depth:
                    writer.context_end(stack.pop().number, report.error, at=at)
            case Artifact():
                numbers, facts = self._number.all(report.nodes, report.nodes), {**report.facts}
                if report.kind == KIND:
                    self._steps[int(facts.pop(NUMBER))] = context
                writer.artifact_of(
                    context,
                    report.kind,
                    report.target,
                    report.text,
                    report.counts,
                    numbers,
                    facts,
                )
            case Unloadable():
                self._unloadable(report)
            case Kernel():
                info = program_info(report.program)
                self._compiled[self._number(report.root)] = context
                writer.kernel(
                    context,
                    info.name,
                    target=info.target,
                    device=info.device,
                    ast=self._number(report.root),
                    info=info.details,
                )
            case _:  # rewrites, which `_reports` writes
                pass

    def _unloadable(self, report: Unloadable) -> None:
        """The context in which the kernel was compiled has failed; where that was before the
        recording, one of its own."""
        context, at = self._compiled.get(self._number(report.root), 0), self.writer.since(report.at)
        if not context:
            context = self.writer.context_begin(kernel_name(report.root), "kernel", at=at)
            self.writer.context_end(context, report.error, at=at)
        else:
            self.writer.context_failed(context, report.error)

    def _origins(self, report: Origins) -> None:
        kernel, told = self._number(report.root), tuple(report.lines.values())
        if self._asked.get(kernel) == hash(told):
            return  # a kernel is reported when it is built, and again when it is compiled
        self._asked[kernel] = hash(told)
        other = [u for u, line in report.lines.items() if line != (u.origin or "")]
        numbers = self._number.all(other, (report.root,)).tolist()
        asked = [lines_in(report.lines[u]) for u in other]
        for line in dict.fromkeys(line for lines in asked for line in lines):
            self._sources.note(line)
        root = lines_in(report.lines.get(report.root, report.root.origin))
        self.writer.origins(kernel, {kernel: root, **dict(zip(numbers, asked, strict=True))})

    def _rules_of(self, rules: list[Rule]) -> Ints:
        """The numbers of many rules."""
        numbers = {rule: self._rule(rule, "") for rule in set(rules)}
        return np.fromiter(map(numbers.__getitem__, rules), np.int64, len(rules))

    def _rule(self, rule: Rule, matcher: str) -> int:
        found = self._rules.get(rule)
        if found is None:
            if len(self._rules) > MAX_RULES:  # a program that makes rules as it goes
                self._rules.clear()
            self._sources.vouch(rule.file)
            found = self._rules[rule] = self.writer.rule(
                rule.name,
                rule.file,
                rule.line,
                matcher=group_of(rule, matcher),
                equation=rule.equation,
                doc=rule.doc,
                source=source_of(rule),
                pattern=dict(pattern_data(rule.pattern)),
                assumes=rule.assumes,
            )
        return found

    def _rewrite(self, stack: list[Entry]) -> int:
        """The rewrite that events belong to: the innermost entry, if it is one."""
        return stack[-1].number if stack and not stack[-1].is_context else 0

    def _context(self, stack: Sequence[Entry]) -> int:
        """The innermost context."""
        return next((entry.number for entry in reversed(stack) if entry.is_context), 0)
