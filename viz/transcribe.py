"""From the recorder's buffers to the trace: numbers nodes and rules, keeps each thread's stack.

A buffer is a flat list: a code, then the fields that go with it (`SIZES`). Flat, because building a
tuple per event would make the garbage collector walk the whole program more often. Runs on the
flushing thread; never called while a node of the buffer could be dead.
"""

from __future__ import annotations

import traceback
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Final

from core.uop.matcher import PatternMatcher
from core.uop.rule import Rule
from core.uop.uop import UOp
from viz import schema
from viz.columns import Events
from viz.intern import Interner
from viz.patterns import group_of, pattern_data, source_of
from viz.programs import program_info
from viz.writer import TraceWriter

CONTEXT_BEGIN, CONTEXT_RENAME, CONTEXT_END, REWRITE_BEGIN, MATCH, REBUILD = range(6)
DECLINE, REWRITE_END, ARTIFACT, KERNEL, LAUNCH, MEMORY = range(6, 12)
SIZES: Final = (5, 2, 3, 7, 6, 3, 3, 6, 6, 3, 6, 4)
"""Length of each event, its code included."""

MAX_RULES: Final = 20_000
Entry = tuple[bool, int, str, str]
"""An open context (True) or rewrite: its number, name and kind. Number 0: not recorded."""


class _Part:
    """Events of one rewrite that are not written yet, and per rule (matches, declines, ns)."""

    __slots__ = ("events", "totals")

    def __init__(self) -> None:
        self.events = Events()
        self.totals: dict[int, tuple[int, int, int]] = {}

    def count(self, rule: int, matches: int, declines: int, ns: int) -> None:
        """Adds to a rule's total."""
        m, d, t = self.totals.get(rule, (0, 0, 0))
        self.totals[rule] = m + matches, d + declines, t + ns

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
        self._intern = Interner(writer.numbers)
        self._stacks: dict[int, list[Entry]] = {}
        self._rules: dict[Rule, int] = {}
        self._matchers: weakref.WeakSet[PatternMatcher] = weakref.WeakSet()
        self._sizes: dict[int, int] = {}

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
        writer, intern, stack = self.writer, self._intern, self._stacks.setdefault(thread, [])
        intern.memo.clear()
        at, end, current, part = 0, len(items), self._rewrite(stack), _Part()
        while at < end:
            code = items[at]
            if code == REBUILD:
                if current:
                    part.events.kind.append(schema.REBUILD)
                    part.events.rebuilds += (intern(items[at + 1]), intern(items[at + 2]))
                at += 3
            elif code == DECLINE:
                if current:
                    rule = self._rule(items[at + 1], "")
                    part.count(rule, 0, 1, 0)
                    if writer.keeps_decline(current, rule):
                        part.events.kind.append(schema.DECLINE)
                        part.events.declines += (rule, intern(items[at + 2]))
                at += 3
            elif code == MATCH:
                if current:
                    _, rule, before, after, binds, ns = items[at : at + 6]
                    self._match(part, rule, before, after, binds, ns)
                at += 6
            else:
                fields = items[at + 1 : at + SIZES[code]]
                at += SIZES[code]
                if code == REWRITE_BEGIN and current and _ends_at_once(items, at):
                    writer.rewrite_empty(current)
                    at += SIZES[REWRITE_END]
                    continue
                part = part.write(writer, current)
                if code == REWRITE_BEGIN:
                    self._begin_rewrite(thread, stack, current, *fields)
                elif code == REWRITE_END:
                    self._end_rewrite(stack, *fields)
                else:
                    self._other(code, thread, stack, fields)
                current = self._rewrite(stack)
        part.write(writer, current)
        intern.memo.clear()

    def _match(
        self,
        part: _Part,
        rule: Rule,
        before: UOp,
        after: UOp,
        binds: Mapping[str, object],
        ns: int,
    ) -> None:
        intern, events = self._intern, part.events
        number, old = self._rule(rule, ""), intern(before)
        bound = {k: v for k, v in binds.items() if isinstance(v, UOp)}
        signature = self.writer.signature(tuple(bound))
        events.kind.append(schema.MATCH)
        events.matches += (number, old, intern(after), ns // 1000, signature)
        events.counts.append(len(bound))
        events.binds += [old - intern(v) for v in bound.values()]
        part.count(number, 1, 0, ns)

    def _begin_context(self, thread: int, name: str, kind: str, meta: Mapping[str, object]) -> int:
        parent = self._innermost(self._stacks[thread], True)
        return self.writer.context_begin(name, kind, parent=parent, meta=meta, thread=thread)

    def _begin_rewrite(
        self,
        thread: int,
        stack: list[Entry],
        parent: int,
        name: str,
        sink: UOp,
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
            self._intern(sink),
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
        error: Mapping[str, object] | None,
        rule: Rule | None,
        node: UOp | None,
        ns: int,
    ) -> None:
        if not stack or stack[-1][0]:
            return  # began before the recording did
        number = stack.pop()[1]
        if not number:
            return
        if error is not None:
            where = {"rule": self._rule(rule, "") if rule else 0}
            error = {**error, **where, "node": self._intern(node) if node is not None else 0}
        made = self._intern(result) if result is not None else 0
        nested = bool(self._rewrite(stack))
        size = 0 if result is None or nested else self._size(made, result)
        self.writer.rewrite_end(number, made, nodes=size, error=error, at=self.writer.since(ns))

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
            kind, target, text, lines, facts = fields
            numbers = [[self._intern(u) for u in line] for line in lines]
            writer.artifact(context, kind, target, text, lines=numbers, facts=facts)
        elif code == KERNEL:
            ast, program = fields
            info = program_info(program)
            writer.kernel(
                context,
                info.name,
                target=info.target,
                device=info.device,
                ast=self._intern(ast),
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

    def _size(self, number: int, result: UOp) -> int:
        """Nodes below `result`; passes that changed nothing cost no walk."""
        found = self._sizes.get(number)
        if found is None:
            if len(self._sizes) > 10_000:
                self._sizes.clear()
            seen, stack = {result}, [result]
            while stack:
                for s in stack.pop().src:
                    if s not in seen:
                        seen.add(s)
                        stack.append(s)
            found = self._sizes[number] = len(seen)
        return found


def error_data(error: BaseException) -> dict[str, object]:
    """An exception as text."""
    lines = traceback.format_exception(error)
    return {"message": f"{type(error).__name__}: {error}", "traceback": "".join(lines)}


def _ends_at_once(items: Sequence[Any], at: int) -> bool:
    """Whether the rewrite whose first event is at `at` ended well without any event."""
    return at < len(items) and items[at] == REWRITE_END and items[at + 2] is None
