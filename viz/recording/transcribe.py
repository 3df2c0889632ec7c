"""From the recorder's buffers to the trace: numbers nodes and rules, keeps each thread's stack.

A buffer is written as columns: one call for many events, a step of Python only for each pass,
context and text. Runs on whichever thread flushes.
"""

from __future__ import annotations

import weakref
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from core.uop.matcher import PatternMatcher
from core.uop.rule import Rule
from core.uop.uop import UOp
from core.uop.visits import Visits
from viz.format.events import Events
from viz.format.pack import Ints
from viz.format.schema import DECLINE, MATCH, REBUILD
from viz.recording.buffer import OTHER, Batch
from viz.recording.intern import Interner
from viz.recording.patterns import group_of, pattern_data, source_of
from viz.recording.programs import program_info
from viz.write.writer import TraceWriter

CONTEXT_BEGIN, CONTEXT_RENAME, CONTEXT_END, REWRITE_BEGIN, REWRITE_END = range(5)
REWRITE_EMPTY, ARTIFACT, KERNEL, LAUNCH, MEMORY, VISITED = range(5, 11)

MAX_RULES: Final = 20_000
Entry = tuple[bool, int, str, str]
"""An open context (True) or rewrite: its number, name and kind. Number 0: not recorded."""


class Transcriber:
    """Writes the events of all threads of one process to one trace."""

    def __init__(self, writer: TraceWriter) -> None:
        self.writer = writer
        self._number = Interner(writer.numbers)
        self._stacks: dict[int, list[Entry]] = {}
        self._rules: dict[Rule, int] = {}
        self._matchers: weakref.WeakSet[PatternMatcher] = weakref.WeakSet()
        self._visits: dict[tuple[str, int], Visits] = {}
        """By name of the pass and set of rules, what is not written yet."""
        self._sets: weakref.WeakKeyDictionary[PatternMatcher, int] = weakref.WeakKeyDictionary()

    def open_entries(self, thread: int) -> list[Entry]:
        """What is open in a thread, outermost first."""
        return list(self._stacks.get(thread, ()))

    def resume(self, thread: int, entries: Sequence[Entry]) -> None:
        """After a fork: the contexts that were open go on in this trace, the rewrites do not."""
        stack = self._stacks[thread] = []
        for is_context, _, name, kind in entries:
            made = self._begin_context(thread, name, kind, {"forked": True}) if is_context else 0
            stack.append((is_context, made, name, kind))

    def forget(self, thread: int) -> None:
        """A thread has ended."""
        self._stacks.pop(thread, None)

    def run(self, thread: int, batch: Batch) -> None:
        """Writes what a thread has told of."""
        rules, before, after, ns = batch.matched
        declining, declined = batch.declined
        bound, old, new = batch.bound, batch.rebuilds[0::2], batch.rebuilds[1::2]
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

    def _others(self, thread: int, batch: Batch, at: Ints) -> Ints:
        """Writes all but matches, rebuilds and declines, which are at the positions `at`; for each
        of those the rewrite that it belongs to, or 0."""
        stack = self._stacks.setdefault(thread, [])
        current = [self._rewrite(stack)]
        for code, node, *fields in batch.others:
            if code == REWRITE_BEGIN and node is not None:
                self._begin_rewrite(stack, current[-1], self._number(node), *fields)
            elif code == REWRITE_END:
                self._end_rewrite(stack, node, *fields)
            elif code == REWRITE_EMPTY:
                if current[-1]:
                    self.writer.rewrite_empty(current[-1])
            elif code == VISITED:
                self._visited(stack, *fields)
            else:
                self._other(code, thread, stack, node, fields)
            current.append(self._rewrite(stack))
        between = np.diff(at, prepend=-1, append=len(batch.codes)) - 1
        return np.repeat(np.asarray(current, np.int64), between)

    def _begin_context(self, thread: int, name: str, kind: str, meta: Mapping[str, object]) -> int:
        parent = self._innermost(self._stacks[thread], True)
        return self.writer.context_begin(name, kind, parent=parent, meta=meta, thread=thread, at=0)

    def _begin_rewrite(
        self,
        stack: list[Entry],
        parent: int,
        sink: int,
        name: str,
        matcher: PatternMatcher,
        bottom_up: bool,
        caller: str,
        ns: int,
    ) -> None:
        if matcher not in self._matchers:
            self._matchers.add(matcher)
            for rule in matcher.rules:
                self._rule(rule, matcher.name)
        number = self.writer.rewrite_begin(
            name,
            sink,
            context=self._innermost(stack, True),
            parent=parent,
            matcher=matcher.name,
            caller=caller,
            bottom_up=bottom_up,
            at=self.writer.since(ns),
        )
        stack.append((False, number, name, ""))

    def _end_rewrite(
        self,
        stack: list[Entry],
        result: UOp | None,
        inside: bool,
        error: Mapping[str, Any] | None,
        rule: Rule | None,
        node: UOp | None,
        ns: int,
    ) -> None:
        if not stack or stack[-1][0]:
            return  # began before the recording did
        number = stack.pop()[1]
        if not number:
            return
        made = 0 if result is None else self._number(result)
        size = 0 if result is None or inside else self._number.size(result)
        if error is not None:
            where = 0 if node is None else self._number(node)
            loop = [
                (self._rule(rule, ""), self._number(before), self._number(after))
                for rule, before, after in error["loop"]
            ]
            failed = self._rule(rule, "") if rule else 0
            error = {**error, "rule": failed, "node": where, "loop": loop}
        self.writer.rewrite_end(number, made, nodes=size, error=error, at=self.writer.since(ns))

    def _visited(self, stack: list[Entry], name: str, visits: Visits) -> None:
        if stack and not stack[-1][0] and not stack[-1][1]:
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

    def tell_visits(self) -> None:
        """Writes the visits since the last call, those of all passes of a name at once."""
        number = self._rule
        for (name, rule_set), visits in self._visits.items():
            nodes = {op.name: count for op, count in visits.nodes.items()}
            ended = {(number(rule, ""), op.name): n for (rule, op), n in visits.ended.items()}
            self.writer.visited(name, rule_set, nodes, ended)
        self._visits.clear()

    def _other(
        self,
        code: int,
        thread: int,
        stack: list[Entry],
        node: UOp | None,
        fields: Sequence[Any],
    ) -> None:
        writer, context = self.writer, self._innermost(stack, True)
        if code == CONTEXT_BEGIN:
            name, kind, meta, ns = fields
            made = writer.context_begin(
                name, kind, parent=context, meta=meta, thread=thread, at=writer.since(ns)
            )
            stack.append((True, made, name, kind))
        elif code == CONTEXT_RENAME:
            if context:
                writer.context_rename(context, fields[0])
        elif code == CONTEXT_END:
            while context and not stack[-1][0]:  # rewrites that an interrupt ended unseen
                stack.pop()
            if context:
                writer.context_end(stack.pop()[1], fields[0], at=writer.since(fields[1]))
        elif code == ARTIFACT:
            kind, target, text, counts, nodes, facts = fields
            numbers = self._number.all(nodes, nodes)
            writer.artifact_of(context, kind, target, text, counts, numbers, facts)
        elif code == KERNEL and node is not None:
            info = program_info(fields[0])
            writer.kernel(
                context,
                info.name,
                target=info.target,
                device=info.device,
                ast=self._number(node),
                info=info.details,
            )
        elif code == LAUNCH:
            name, device, ns, start_ns, size = fields
            writer.launch(name, device, writer.since(start_ns), ns, size)
        elif code == MEMORY:
            device, allocated, ns = fields
            writer.memory(device, allocated, writer.since(ns))

    def _rules_of(self, rules: list[Rule]) -> Ints:
        """The numbers of many rules."""
        numbers = {rule: self._rule(rule, "") for rule in set(rules)}
        return np.fromiter(map(numbers.__getitem__, rules), np.int64, len(rules))

    def _rule(self, rule: Rule, matcher: str) -> int:
        found = self._rules.get(rule)
        if found is None:
            if len(self._rules) > MAX_RULES:  # a program that makes rules as it goes
                self._rules.clear()
            found = self._rules[rule] = self.writer.rule(
                rule.name,
                rule.file,
                rule.line,
                matcher=group_of(rule, matcher),
                equation=rule.equation,
                doc=rule.doc,
                source=source_of(rule),
                pattern=dict(pattern_data(rule.pattern)),
            )
        return found

    def _rewrite(self, stack: list[Entry]) -> int:
        """The rewrite that events belong to: the innermost entry, if it is one."""
        return stack[-1][1] if stack and not stack[-1][0] else 0

    def _innermost(self, stack: Sequence[Entry], contexts: bool) -> int:
        for is_context, number, _, _ in reversed(stack):
            if is_context is contexts:
                return number
        return 0


def _fill(column: array[int], values: Ints) -> None:
    column.frombytes(np.ascontiguousarray(values).tobytes())
