"""From the recorder's buffers to the trace: numbers rules, keeps each thread's stack.

A buffer is a flat list: a code, then the fields that go with it (`SIZES`; a match goes on with the
nodes that it bound). Flat, because building a tuple per event would make the garbage collector walk
the whole program more often. Runs on the flushing thread; never sees a node, only its number.
"""

from __future__ import annotations

import traceback
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.uop.matcher import PatternMatcher
from core.uop.rule import Rule
from core.uop.visits import Visits
from viz.columns import Events
from viz.patterns import group_of, pattern_data, source_of
from viz.programs import program_info
from viz.schema import DECLINE as DECLINED
from viz.schema import MATCH as MATCHED
from viz.schema import REBUILD as REBUILT
from viz.writer import DECLINES_KEPT, TraceWriter

CONTEXT_BEGIN, CONTEXT_RENAME, CONTEXT_END, REWRITE_BEGIN, MATCH, REBUILD = range(6)
DECLINE, REWRITE_END, ARTIFACT, KERNEL, LAUNCH, MEMORY, REWRITE_EMPTY, VISITED = range(6, 14)
SIZES: Final = (5, 2, 3, 7, 6, 3, 3, 7, 6, 3, 6, 4, 1, 3)
"""Length of each event, its code included."""

MAX_RULES: Final = 20_000
Entry = tuple[bool, int, str, str]
"""An open context (True) or rewrite: its number, name and kind. Number 0: not recorded."""


class _Part:
    """Events of one rewrite that are not written yet, and per rule (matches, declines, ns)."""

    __slots__ = ("events", "totals")

    def __init__(self) -> None:
        self.events = Events()
        self.totals: dict[int, list[int]] = {}

    def total(self, rule: int) -> list[int]:
        """The total of a rule, to be added to."""
        found = self.totals.get(rule)
        if found is None:
            found = self.totals[rule] = [0, 0, 0]
        return found

    def write(self, writer: TraceWriter, rewrite: int) -> _Part:
        """Writes the events; what follows goes to the part that is returned."""
        if not self.events.kind and not self.totals:
            return self
        writer.extend(rewrite, self.events, self.totals)
        return _Part()


class Transcriber:
    """Writes the events of all threads of one process to one trace."""

    def __init__(self, writer: TraceWriter) -> None:
        self.writer = writer
        self._stacks: dict[int, list[Entry]] = {}
        self._rules: dict[Rule, int] = {}
        self._matchers: weakref.WeakSet[PatternMatcher] = weakref.WeakSet()
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

    def run(self, thread: int, items: Sequence[Any]) -> None:
        """Writes one buffer of a thread."""
        writer, stack = self.writer, self._stacks.setdefault(thread, [])
        at, end, current, part = 0, len(items), self._rewrite(stack), _Part()
        while at < end:
            at = self._steps(items, at, end, current, part)
            if at == end:
                break
            code = items[at]
            fields = items[at + 1 : at + SIZES[code]]
            at += SIZES[code]
            if code == REWRITE_EMPTY:
                if current:
                    writer.rewrite_empty(current)
                continue
            if code == VISITED:
                self._visited(stack, *fields)
                continue
            part = part.write(writer, current)
            if code == REWRITE_BEGIN:
                self._begin_rewrite(stack, current, *fields)
            elif code == REWRITE_END:
                self._end_rewrite(stack, *fields)
            else:
                self._other(code, thread, stack, fields)
            current = self._rewrite(stack)
        part.write(writer, current)

    def _steps(self, items: Sequence[Any], at: int, end: int, current: int, part: _Part) -> int:
        """Adds the matches, rebuilds and declines from `at` on, nine events in ten, to `part`; the
        position of what follows. Those outside of any rewrite (`current` is 0) are left out."""
        rules, rule_of, signature = self._rules.get, self._rule, self.writer.signature
        events, total = (
            part.events if current else Events(),
            part.total if current else _Part().total,
        )
        kinds, matches, binds = events.kind, events.matches, events.binds
        rebuilds, declines, counts = events.rebuilds, events.declines, events.counts
        declined = self.writer.declined(current)
        while at < end:
            code = items[at]
            if code == REBUILD:
                kinds.append(REBUILT)
                rebuilds += items[at + 1 : at + 3]
                at += 3
            elif code == DECLINE:
                rule = rules(items[at + 1]) or rule_of(items[at + 1], "")
                total(rule)[1] += 1
                declined[rule] = seen = declined.get(rule, 0) + 1
                if seen <= DECLINES_KEPT:
                    kinds.append(DECLINED)
                    declines += (rule, items[at + 2])
                at += 3
            elif code == MATCH:
                _, made, before, after, ns, names = items[at : at + 6]
                rule = rules(made) or rule_of(made, "")
                kinds.append(MATCHED)
                matches += (rule, before, after, ns // 1000, signature(names))
                counts.append(len(names))
                at += 6 + len(names)
                binds += items[at - len(names) : at]
                sums = total(rule)
                sums[0] += 1
                sums[2] += ns
            else:
                break
        return at

    def _begin_context(self, thread: int, name: str, kind: str, meta: Mapping[str, object]) -> int:
        parent = self._innermost(self._stacks[thread], True)
        return self.writer.context_begin(name, kind, parent=parent, meta=meta, thread=thread)

    def _begin_rewrite(
        self,
        stack: list[Entry],
        parent: int,
        name: str,
        sink: int,
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
        result: int,
        size: int,
        error: Mapping[str, object] | None,
        rule: Rule | None,
        node: int,
        ns: int,
    ) -> None:
        if not stack or stack[-1][0]:
            return  # began before the recording did
        number = stack.pop()[1]
        if not number:
            return
        if error is not None:
            error = {**error, "rule": self._rule(rule, "") if rule else 0, "node": node}
        self.writer.rewrite_end(number, result, nodes=size, error=error, at=self.writer.since(ns))

    def _visited(self, stack: list[Entry], name: str, visits: Visits) -> None:
        if stack and not stack[-1][0] and not stack[-1][1]:
            return  # in a rewrite that began before the recording did
        number, rules = self._rule, self._sets
        rule_set = rules.get(visits.matcher)
        if rule_set is None:
            found = [number(rule, visits.matcher.name) for rule in visits.matcher.rules]
            rule_set = rules[visits.matcher] = self.writer.rule_set(found)
        nodes = {op.name: count for op, count in visits.nodes.items()}
        ended = {(number(rule, ""), op.name): count for (rule, op), count in visits.ended.items()}
        self.writer.visited(name, rule_set, nodes, ended)

    def _other(self, code: int, thread: int, stack: list[Entry], fields: Sequence[Any]) -> None:
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
            if stack and stack[-1][0]:
                writer.context_end(stack.pop()[1], fields[0], at=writer.since(fields[1]))
        elif code == ARTIFACT:
            kind, target, text, (counts, nodes), facts = fields
            writer.artifact_of(context, kind, target, text, counts, nodes, facts)
        elif code == KERNEL:
            ast, program = fields
            info = program_info(program)
            writer.kernel(
                context,
                info.name,
                target=info.target,
                device=info.device,
                ast=ast,
                info=info.details,
            )
        elif code == LAUNCH:
            name, device, ns, start_ns, size = fields
            writer.launch(name, device, writer.since(start_ns), ns, size)
        elif code == MEMORY:
            device, allocated, ns = fields
            writer.memory(device, allocated, writer.since(ns))

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


def error_data(error: BaseException) -> dict[str, object]:
    """An exception as text."""
    lines = traceback.format_exception(error)
    return {"message": f"{type(error).__name__}: {error}", "traceback": "".join(lines)}
