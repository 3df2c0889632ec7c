"""A stream made into a trace: numbers are translated, and what an engine did silently between two
matches is derived. Every event that cannot be taken is counted in a Problem; none ends the reading.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from core.errors import BudgetError
from viz.budget import Budget, within
from viz.format.cells import as_text
from viz.streams.events import VERSION, Event, StreamError, parse
from viz.streams.following import Following, Rebuild
from viz.write.texts.kepttexts import KeptTexts, Text
from viz.write.writer import TraceWriter

_FACTS: Final = ("shape", "lo", "hi", "ranges")
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_REASONS: Final = 20_000
"""Reasons of declines that are kept."""
_REASON: Final = 300
"""Characters of one."""
_LANGUAGE: Final = 40
"""Characters of the name of a language."""
_NAMED: Final = 20
"""Problems of one kind of fault that are told apart by their texts."""


class _Match(NamedTuple):
    rule: int
    before: int
    after: int
    binds: dict[str, int]
    ns: int


class _Rebuild(NamedTuple):
    old: int
    new: int


class _Decline(NamedTuple):
    rule: int
    node: int


@dataclass
class _Pass:
    """A pass that is not over. Its events are kept, in order, until it is."""

    number: int
    sink: int
    walks: bool
    events: list[_Match | _Rebuild | _Decline] = field(
        default_factory=list[_Match | _Rebuild | _Decline]
    )
    texts: dict[str, Text] = field(default_factory=dict[str, Text])
    """Of the program "before" and "after" it."""

    @property
    def is_silent(self) -> bool:
        """Whether its compiler tells of matches and of no rebuilds."""
        kinds = {type(event) for event in self.events}
        return _Match in kinds and _Rebuild not in kinds


class StreamReader:
    """Writes what one stream tells to a trace."""

    def __init__(self, writer: TraceWriter) -> None:
        self.writer = writer
        self._nodes: dict[int, int] = {}
        self._rules: dict[int, int] = {}
        self._contexts: dict[int, int] = {}
        self._sets: dict[int, int] = {}
        self._passes: dict[int, _Pass] = {}
        self._heads: dict[int, tuple[str, ...]] = {}
        self._sources: dict[int, tuple[int, ...]] = {}
        self._known: dict[tuple[object, tuple[int, ...]], int] = {}
        self._texts: dict[str, int] = {}
        self._reasons: list[tuple[int, int, int, int]] = []
        """Why rules declined: pass, rule, node, and which of the texts."""
        self._pass_texts = KeptTexts(writer)
        self._last_text: Text | None = None
        self._faults: Counter[str] = Counter()
        self._told: list[dict[str, str]] = []
        self.compiler = ""
        """Name and version of whose work it is."""
        self.matches = 0
        self.ended = False
        """Whether the process told that it ends."""
        self.seconds = 0.0
        """How long it took, as far as it told."""
        self._takes: Mapping[str, Callable[[Event], None]] = {
            "stream": self._begin,
            "compiler": self._compiler,
            "node": self._node,
            "rule": self._rule,
            "context": self._context,
            "name": self._name,
            "end-context": self._end_context,
            "rewrite": self._rewrite,
            "match": self._match,
            "rebuild": self._rebuild,
            "decline": self._decline,
            "pass-text": self._pass_text,
            "result": self._result,
            "kernel": self._kernel,
            "text": self._text,
            "launch": self._launch,
            "memory": self._memory,
            "tried": self._tried,
            "rules": self._rule_set,
            "offered": self._offered,
            "problem": self._problem,
            "end": self._end,
        }

    def take(self, line: bytes) -> None:
        """Takes one line. Raises TraceError where the trace cannot be written."""
        try:
            event = parse(line)
            take = self._takes.get(event.kind)
            if take is None:
                raise StreamError(f"{event.kind[:40]!r} is no kind of event")
            take(event)
        except StreamError as error:
            self._faults[str(error)] += 1

    def finish(self) -> None:
        """The stream is over: what is open ends, and the trace says what it lacks."""
        for number in [*self._passes]:
            self._close(number, 0, None, {"message": "the process ended before the pass did"})
        said = self._told
        said += [{"what": what} for what in self._pass_texts.problems()]
        if not self.ended:
            said.append(
                {"what": "a process did not say that it ended: its last events may be missing"}
            )
        for what, count in self._faults.most_common(_NAMED):
            said.append({"what": f"{count:,} events could not be read: {what}"})
        if len(self._faults) > _NAMED:
            rest = sum(sorted(self._faults.values())[:-_NAMED])
            said.append({"what": f"{rest:,} more events could not be read"})
        self.writer.meta("left_out", said)
        if self._reasons:
            self.writer.meta("reasons", {"texts": [*self._texts], "rows": self._reasons})

    # events

    def _begin(self, event: Event) -> None:
        if event.number(1) > VERSION:
            self._told.append(
                {
                    "what": f"the stream is of version {event.number(1)}, newer than {VERSION}",
                    "hint": "update uopviz",
                }
            )

    def _compiler(self, event: Event) -> None:
        self.compiler = f"{event.text(1)} {event.text(2, '-')}".removesuffix(" -")[:200]
        self.writer.meta("compiler", self.compiler)
        if event.has(3):
            self.writer.meta("dialect", {"name": event.text(1)[:200], "version": event.number(3)})

    def _node(self, event: Event) -> None:
        op, dtype = event.text(2), event.text(3, "-").removesuffix("-")
        sources = tuple(self._node_of(s) for s in event.numbers(4)) if event.has(4) else ()
        more = event.fields(5)
        arg, tag = _typed(more.text("arg")), _typed(more.text("tag"))
        loc, call = more.text("loc"), more.text("call")
        extra = {key: more.text(key)[:200] for key in _FACTS if key in more.values}
        roles = more.texts("roles")[: len(sources)]
        made = self.writer.node(
            op, dtype, sources, arg=arg, tag=tag, origin=call, loc=loc, extra=extra, roles=roles
        )
        self._nodes[event.number(1)] = made
        head = (op, dtype, arg, tag)
        self._heads[made], self._sources[made] = head, sources
        self._known.setdefault((head, sources), made)

    def _rule(self, event: Event) -> None:
        more = event.fields(3)
        pattern = more.values.get("pattern")
        self._rules[event.number(1)] = self.writer.rule(
            event.text(2),
            more.text("file"),
            more.number("line"),
            matcher=more.text("matcher"),
            equation=more.text("equation"),
            doc=more.text("doc"),
            source=more.text("source"),
            pattern=pattern if isinstance(pattern, dict) else None,
        )

    def _context(self, event: Event) -> None:
        parent = event.number(2)
        self._contexts[event.number(1)] = self.writer.context_begin(
            _plain(event.text(3)),
            event.text(4, "group"),
            parent=self._contexts.get(parent, 0),
            at=event.number(5, 0) if event.has(5) else None,
        )

    def _name(self, event: Event) -> None:
        self.writer.context_rename(self._context_of(event), _plain(event.text(2)))

    def _end_context(self, event: Event) -> None:
        at = event.number(2) if event.has(2) else None
        self.writer.context_end(self._context_of(event), _error(event, 3), at)

    def _rewrite(self, event: Event) -> None:
        context, more = event.number(2), event.fields(5)
        parent = self._passes.get(more.number("parent"))
        sink = self._node_of(event.number(4))
        number = self.writer.rewrite_begin(
            event.text(3),
            sink,
            context=self._contexts.get(context, 0),
            parent=parent.number if parent else 0,
            matcher=more.text("matcher"),
            caller=more.text("caller"),
            bottom_up=more.flag("bottomUp"),
            at=more.number("at") if "at" in more.values else None,
        )
        self._passes[event.number(1)] = _Pass(number, sink, more.flag("walk"))

    def _match(self, event: Event) -> None:
        binds = {name: self._node_of(number) for name, number in event.pairs(5)}
        nodes = self._node_of(event.number(3)), self._node_of(event.number(4))
        rule = self._rules.get(event.number(2), 0)
        self._pass_of(event).events.append(_Match(rule, *nodes, binds, event.number(6, 0)))
        self.matches += 1

    def _rebuild(self, event: Event) -> None:
        nodes = self._node_of(event.number(2)), self._node_of(event.number(3))
        self._pass_of(event).events.append(_Rebuild(*nodes))

    def _decline(self, event: Event) -> None:
        rule, within = self._rules.get(event.number(2), 0), self._pass_of(event)
        node = self._node_of(event.number(3))
        within.events.append(_Decline(rule, node))
        if event.has(4) and len(self._reasons) < _REASONS:
            text = event.text(4)[:_REASON]
            at = self._texts.setdefault(text, len(self._texts))
            self._reasons.append((within.number, rule, node, at))

    def _pass_text(self, event: Event) -> None:
        within, when = self._pass_of(event), event.text(2)
        if when not in ("before", "after"):
            raise StreamError("pass-text: value 2 is neither before nor after")
        if event.has(4):
            nodes = event.numbers(5) if event.has(5) else ()
            linked = {at: [self._node_of(n)] for at, n in enumerate(nodes) if n}
            text = Text(event.text(3)[:_LANGUAGE], [*io.StringIO(event.text(4))], linked)
            self._last_text = text
        if self._last_text is None:
            raise StreamError("pass-text: no text was told before")
        within.texts[when] = self._last_text

    def _result(self, event: Event) -> None:
        node = event.number(2) if event.has(2) else -1
        at = event.number(3) if event.has(3) else None
        error = _error(event, 4)
        if error is not None:
            error["rule"] = self._rules.get(error.get("rule", 0), 0)
            error["node"] = self._nodes.get(error.get("node", 0), 0)
        self._pass_of(event)
        self._close(event.number(1), self._nodes.get(node, node if node < 0 else 0), at, error)
        if node > 0:
            self._node_of(node)

    def _kernel(self, event: Event) -> None:
        more = event.fields(3)
        ast = more.number("ast")
        self.writer.kernel(
            self._context_of(event),
            _plain(event.text(2)),
            target=more.text("target"),
            device=more.text("device"),
            ast=self._node_of(ast) if ast else 0,
        )

    def _text(self, event: Event) -> None:
        self.writer.artifact(self._context_of(event), event.text(2), event.text(3), event.text(4))

    def _launch(self, event: Event) -> None:
        self.writer.launch(
            event.text(1), event.text(2), event.number(3), event.number(4), event.number(5, 0)
        )

    def _memory(self, event: Event) -> None:
        self.writer.memory(
            event.text(1), event.number(2), event.number(3), event.number(4, 0), event.number(5, 0)
        )

    def _tried(self, event: Event) -> None:
        number, rule = event.number(1), self._rules.get(event.number(2), 0)
        if not rule:
            raise StreamError("a rule is named that was not told")
        within = self._pass_of(event).number if number else 0
        self.writer.tried(within, rule, event.number(3), event.number(4), name=event.text(5, ""))

    def _rule_set(self, event: Event) -> None:
        rules = tuple(self._rules[n] for n in event.numbers(2) if n in self._rules)
        self._sets[event.number(1)] = self.writer.rule_set(rules)

    def _offered(self, event: Event) -> None:
        found = self._sets.get(event.number(2))
        if found is None:
            raise StreamError("rules are named that were not told")
        ended = {
            (self._rules[rule], op): count
            for rule, op, count in event.rows(4)
            if rule in self._rules
        }
        self.writer.visited(event.text(1), found, dict(event.pairs(3)), ended)

    def _problem(self, event: Event) -> None:
        said = {"what": event.text(1), "where": event.text(2, "-"), "hint": event.text(3, "-")}
        self._told.append({key: text for key, text in said.items() if text != "-"})

    def _end(self, event: Event) -> None:
        self.ended = True
        self.seconds = event.number(1, 0) / 1e6

    # what events name

    def _node_of(self, number: int) -> int:
        found = self._nodes.get(number)
        if found is None:
            raise StreamError("a node is named that was not told")
        return found

    def _context_of(self, event: Event) -> int:
        found = self._contexts.get(event.number(1))
        if found is None:
            raise StreamError("a context is named that was not told")
        return found

    def _pass_of(self, event: Event) -> _Pass:
        found = self._passes.get(event.number(1))
        if found is None:
            raise StreamError("a rewrite is named that was not told, or is over")
        return found

    # passes

    def _close(
        self, number: int, result: int, at: int | None, error: Mapping[str, object] | None
    ) -> None:
        """Writes the events of a pass, and ends it. `result` -1: what its events lead to."""
        done = self._passes.pop(number)
        follows = _Followed(self.writer, done.number)
        if done.is_silent or result < 0:
            follows.following = Following(
                done.sink,
                self._sources.__getitem__,
                self._heads.__getitem__,
                lambda head, sources: self._known.get((head, sources), 0),
                remembers=not done.walks,
            )
        with within(Budget("the pass")):
            for event in done.events:
                follows.tell(event)
            if result > 0:
                follows.end(result)
            elif result < 0:
                result = follows.result(self._made)
        if follows.gave_up:
            what = f"rebuilds of a pass, from match {follows.gave_up:,} on: they take too long"
            self._told.append({"what": what, "where": f"pass {done.number}"})
        if done.texts:
            self._pass_texts.keep(done.number, done.texts.get("before"), done.texts.get("after"))
        self.writer.rewrite_end(done.number, result, error=error, at=at)

    def _made(self, like: int, sources: tuple[int, ...]) -> int:
        """The node that `like` is with other sources."""
        head = self._heads[like]
        known = self._known.get((head, sources))
        if known is None:
            op, dtype, arg, tag = head
            known = self.writer.node(op, dtype, sources, arg=arg, tag=tag)
            self._heads[known], self._sources[known] = head, sources
            self._known[head, sources] = known
        return known


class _Followed:
    """Writes the events of one pass, with what is derived of them as far as its budget goes: the
    matches themselves are all written."""

    def __init__(self, writer: TraceWriter, number: int) -> None:
        self._writer, self._number = writer, number
        self.following: Following | None = None
        self._matches = 0
        self.gave_up = 0
        """The match from which on nothing is derived, counted from 1; 0 for none."""

    def tell(self, event: _Match | _Rebuild | _Decline) -> None:
        """Writes an event, and what is derived before and after it."""
        match event:
            case _Match(rule, before, after, binds, ns):
                self._matches += 1
                self._derive(lambda following: following.before(before))
                self._writer.match(self._number, rule, before, after, binds, ns)
                self._derive(lambda following: following.match(before, after))
            case _Rebuild(old, new):
                self._writer.rebuild(self._number, old, new)
            case _Decline(rule, node):
                self._writer.decline(self._number, rule, node)

    def end(self, result: int) -> None:
        """Writes what is derived of the result."""
        self._derive(lambda following: following.end(result))

    def result(self, make: Callable[[int, tuple[int, ...]], int]) -> int:
        """The last graph, whose nodes are made where the stream has not named them; 0 where it is
        not known."""
        found = 0

        def last(following: Following) -> Sequence[Rebuild]:
            nonlocal found
            found, rebuilds = following.last(make)
            return rebuilds

        self._derive(last)
        return found

    def _derive(self, derive: Callable[[Following], Sequence[Rebuild]]) -> None:
        if self.following is None:
            return
        try:
            for old, new in derive(self.following):
                self._writer.rebuild(self._number, old, new)
        except BudgetError:
            self.following, self.gave_up = None, max(1, self._matches)


def _error(event: Event, at: int) -> dict[str, Any] | None:
    fields = event.fields(at) if event.has(at) else None
    if fields is None or not fields.values:
        return None
    made: dict[str, Any] = {
        "message": fields.text("message"),
        "traceback": fields.text("traceback"),
    }
    made |= {name: fields.number(name) for name in ("rule", "node") if name in fields.values}
    return made


def _plain(name: str) -> str:
    """A name without the colours that a compiler gives it in a terminal."""
    return _COLOUR.sub("", name)


def _typed(text: str) -> str:
    """Typed JSON as it came; a text that is none, as a JSON text."""
    if not text:
        return ""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return json.dumps(as_text(text))
    return text
