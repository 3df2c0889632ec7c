"""Writes the recorder's buffers to the trace: numbers nodes and rules, keeps a stack per thread.

A buffer is written as columns: one call for many events, a step of Python only for each pass,
context and text. Runs on whichever thread flushes.
"""

from __future__ import annotations

import weakref
from array import array
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from core.uop.matcher import PatternMatcher
from core.uop.rule import Rule
from core.uop.visits import Visits
from viz.format.events import Events
from viz.format.pack import Ints
from viz.format.schema import DECLINE, MATCH, REBUILD
from viz.recording.buffer import OTHER, Batch
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
    Report,
    RewriteBegin,
    RewriteEmpty,
    RewriteEnd,
    Values,
    Visited,
)
from viz.recording.userlines import UserSources
from viz.write.writer import TraceWriter

MAX_RULES: Final = 20_000
LEAST: Final = 10_000
"""Nanoseconds of a rule's tries in a pass that are kept of this very pass. What took less counts
for all passes of the name together: half of the rows, and a fiftieth of the time."""


class Entry(NamedTuple):
    """An open context or rewrite. Number 0: it is not recorded."""

    is_context: bool
    number: int
    name: str
    kind: str = ""


class Transcriber:
    """Writes the events of all threads of one process to one trace."""

    def __init__(self, writer: TraceWriter, user_lines: bool = True) -> None:
        self.writer = writer
        self._number = Interner(writer.numbers)
        self._stacks: dict[int, list[Entry]] = {}
        self._rules: dict[Rule, int] = {}
        self._matchers: weakref.WeakSet[PatternMatcher] = weakref.WeakSet()
        self._sources = UserSources(user_lines)
        self._visits: dict[tuple[str, int], Visits] = {}
        """By name of the pass and set of rules, what is not written yet."""
        self._sets: weakref.WeakKeyDictionary[PatternMatcher, int] = weakref.WeakKeyDictionary()

    def open_entries(self, thread: int) -> list[Entry]:
        """What is open in a thread, outermost first."""
        return list(self._stacks.get(thread, ()))

    def resume(self, thread: int, entries: Sequence[Entry]) -> None:
        """After a fork: the contexts that were open go on in this trace, the rewrites do not."""
        stack = self._stacks[thread] = []
        for entry in entries:
            number = self._begin_context(thread, entry) if entry.is_context else 0
            stack.append(entry._replace(number=number))

    def forget(self, thread: int) -> None:
        """A thread has ended."""
        self._stacks.pop(thread, None)

    def run(self, thread: int, batch: Batch) -> None:
        """Writes what a thread has told of."""
        rules, before, after, ns = batch.matched
        declining, declined = batch.declined
        bound, old, new = batch.bound, batch.old, batch.new
        nodes = before + after + bound + old + new + declined
        ends = np.cumsum([len(part) for part in (before, after, bound, old, new)])
        numbers = np.split(self._number.all(nodes, batch.roots), ends)

        codes = np.frombuffer(batch.codes, np.uint8)
        rewrites = self._others(thread, batch, np.flatnonzero(codes == OTHER))
        codes = codes[codes != OTHER]

        names = [tuple(binds) for binds in batch.binds]
        signatures = {name: self.writer.signature(name) for name in set(names)}
        counts = np.fromiter(map(len, names), np.int64, len(names))
        matches = (
            self._rules_of(rules),
            numbers[0],
            numbers[1],
            np.fromiter(ns, np.int64, len(ns)),
            np.fromiter(map(signatures.__getitem__, names), np.int64, len(names)),
            counts,
        )
        events = Events()
        inside = rewrites > 0  # what happens outside of any rewrite is left out
        kept = {kind: inside[codes == kind] for kind in (MATCH, REBUILD, DECLINE)}
        events.kind.frombytes(codes[inside].tobytes())
        _fill(events.rewrite, rewrites[inside])
        _fill(events.matches, np.stack(matches, 1)[kept[MATCH]])
        differences = np.repeat(numbers[0], counts) - numbers[2]
        _fill(events.binds, differences[np.repeat(kept[MATCH], counts)])
        _fill(events.rebuilds, np.stack(numbers[3:5], 1)[kept[REBUILD]])
        declines = (self._rules_of(declining), numbers[5])
        _fill(events.declines, np.stack(declines, 1)[kept[DECLINE]])
        self.writer.extend(events)
        for origin in self._number.new_origins:
            self._sources.note(origin)
        self._number.new_origins.clear()

    def _others(self, thread: int, batch: Batch, at: Ints) -> Ints:
        """Writes all but matches, rebuilds and declines, which are at the positions `at`; for each
        of those the rewrite that it belongs to, or 0."""
        stack = self._stacks.setdefault(thread, [])
        current = [self._rewrite(stack)]
        for report in batch.others:
            if isinstance(report, RewriteEmpty):
                if current[-1]:
                    self.writer.rewrite_empty(current[-1])
            elif isinstance(report, Visited):
                self._visited(stack, report)
            elif isinstance(report, Gated):
                if current[-1]:
                    nodes = self._number.all(report.nodes, report.nodes)
                    self.writer.gated(current[-1], nodes.tolist())
            elif isinstance(report, RewriteBegin):
                self._begin_rewrite(stack, current[-1], report)
            elif isinstance(report, RewriteEnd):
                self._end_rewrite(stack, report)
            else:
                self._other(thread, stack, report)
            current.append(self._rewrite(stack))
        between = np.diff(at, prepend=-1, append=len(batch.codes)) - 1
        return np.repeat(np.asarray(current, np.int64), between)

    def _begin_context(self, thread: int, entry: Entry) -> int:
        """Begins a context of the parent process again."""
        parent, meta = self._context(self._stacks[thread]), {"forked": True}
        return self.writer.context_begin(
            entry.name, entry.kind, parent=parent, meta=meta, thread=thread, at=0
        )

    def _begin_rewrite(self, stack: list[Entry], parent: int, begin: RewriteBegin) -> None:
        matcher = begin.matcher
        self._sources.note(begin.caller)
        if matcher not in self._matchers:
            self._matchers.add(matcher)
            for rule in matcher.rules:
                self._rule(rule, matcher.name)
        number = self.writer.rewrite_begin(
            begin.name,
            self._number(begin.root),
            context=self._context(stack),
            parent=parent,
            matcher=matcher.name,
            caller=begin.caller,
            bottom_up=begin.bottom_up,
            at=self.writer.since(begin.at),
        )
        stack.append(Entry(False, number, begin.name))

    def _end_rewrite(self, stack: list[Entry], end: RewriteEnd) -> None:
        if not stack or stack[-1].is_context:
            return  # began before the recording did
        number = stack.pop().number
        if not number:
            return
        result, error, failed = end.root, end.error, end.rule
        made = 0 if result is None else self._number(result)
        size = 0 if result is None or end.inside else self._number.size(result)
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
        self.writer.rewrite_end(number, made, nodes=size, error=error, at=self.writer.since(end.at))

    def _visited(self, stack: list[Entry], visited: Visited) -> None:
        name, visits = visited.name, visited.visits
        if stack and not stack[-1].is_context and not stack[-1].number:
            return  # in a rewrite that began before the recording did
        number, rules = self._rule, self._sets
        rule_set = rules.get(visits.matcher)
        if rule_set is None:
            found = [number(rule, visits.matcher.name) for rule in visits.matcher.rules]
            rule_set = rules[visits.matcher] = self.writer.rule_set(found)
        key = name, rule_set
        if key not in self._visits:
            self._visits[key] = Visits(visits.matcher)
        self._visits[key].add(visits)
        rewrite, tried = self._rewrite(stack) if visited.begun else 0, self.writer.tried
        for rule, spent in visits.spent.items():
            one = rewrite if spent.ns >= LEAST else 0
            tried(one, number(rule, ""), spent.tries, spent.ns, spent.function_ns, name)

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

    def _other(self, thread: int, stack: list[Entry], report: Report) -> None:
        writer, context = self.writer, self._context(stack)
        match report:
            case Launch():
                start = writer.since(report.at)
                writer.launch(report.name, report.device, start, report.ns, report.size)
            case Values():
                told = report.arguments, report.variables, report.launch, report.why
                writer.captured(self._number(report.root), report.name, report.device, *told)
            case Memory():
                writer.memory(report.device, report.allocated, writer.since(report.at))
            case ContextBegin(name=name, kind=kind):
                number = writer.context_begin(
                    name,
                    kind,
                    parent=context,
                    meta=report.meta,
                    thread=thread,
                    at=writer.since(report.at),
                )
                stack.append(Entry(True, number, name, kind))
            case ContextRename():
                if context:
                    writer.context_rename(context, report.name)
            case ContextEnd():
                while (
                    context and not stack[-1].is_context
                ):  # rewrites that an interrupt ended unseen
                    stack.pop()
                if context:
                    at = writer.since(report.at)
                    writer.context_end(stack.pop().number, report.error, at=at)
            case Artifact():
                numbers = self._number.all(report.nodes, report.nodes)
                writer.artifact_of(
                    context,
                    report.kind,
                    report.target,
                    report.text,
                    report.counts,
                    numbers,
                    report.facts,
                )
            case Kernel():
                info = program_info(report.program)
                writer.kernel(
                    context,
                    info.name,
                    target=info.target,
                    device=info.device,
                    ast=self._number(report.root),
                    info=info.details,
                )
            case _:  # rewrites, which `_others` writes
                pass

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


def _fill(column: array[int], values: Ints) -> None:
    column.frombytes(np.ascontiguousarray(values).tobytes())
