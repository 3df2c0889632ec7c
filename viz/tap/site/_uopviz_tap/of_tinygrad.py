"""tinygrad: each match of each `graph_rewrite`, for 0.11 and newer.

`PatternMatcher.rewrite` is replaced by one that does the same and tells of matches;
`graph_rewrite` and the decorators of groups are wrapped before other modules take them. tinygrad's
own tracking stays off. What tinygrad does between two matches, rebuilding users of what was
replaced, it does not report: the reader of the stream derives it.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import json
import math
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

from _uopviz_tap.guard import version_of
from _uopviz_tap.stream import Stream, encode
from _uopviz_tap.tinygrad_launches import Launches
from _uopviz_tap.tinygrad_patterns import binds_below, pattern_data, source_at

DIALECT = 1
"""The version of the dialect in which nodes are told: `viz/compilers/tinygrad.py`."""
_MAX_ARG = 2000
"""Characters of an argument; longer ones are cut."""
_SMALL = 1 << 60
"""Numbers from which on JSON has them as texts."""
_MOST_OF_TEXT = 200
_MOST_TEXTS = 1 << 16
"""Characters of a text that is kept as JSON, and how many are."""
_KERNELS = ("get_program", "do_to_program", "to_program")
"""Functions whose groups are kernels; those with "schedule" in their name schedule."""
_DECORATORS = ("track_rewrites", "rewrite_group")
"""Make a group of a function."""
_PASSES = ("track_matches", "profile_matches")
"""Make, of a function with passes inside, what tinygrad lists as one more pass: here a group."""


def attach(ops: ModuleType, stream: Stream) -> None:
    """Patches `tinygrad.uop.ops`, whose body has just run; tells a problem where it is not what is
    known, and leaves it as it was."""
    missing = _missing(ops)
    if missing:
        version = version_of("tinygrad")
        what = f"tinygrad {version}: {missing} is not as expected; nothing is recorded"
        stream.problem(what, "tinygrad/uop/ops.py", "uopviz records tinygrad 0.11 to 0.14")
        return
    stream.put("compiler", "tinygrad", version_of("tinygrad"), DIALECT)
    stream.flush()
    tap = _Tap(ops, stream)
    original = ops.PatternMatcher.rewrite
    for name in ("PatternMatcher", "TrackedPatternMatcher"):
        if name in vars(ops):
            getattr(ops, name).rewrite = tap.rewriting(original)
    for name in ("graph_rewrite", "graph_rewrite_map"):
        if name in vars(ops):
            setattr(ops, name, tap.passing(getattr(ops, name), name))
    for name in _PASSES:
        if name in vars(ops):
            setattr(ops, name, tap.grouped)
    for name in _DECORATORS:
        if name in vars(ops):
            setattr(ops, name, tap.grouping(getattr(ops, name)))
    ops.TRACK_MATCH_STATS.value = 1  # 0 in contexts that are to stay silent


def _missing(ops: ModuleType) -> str:
    """The name of what is not there or not as expected."""
    for name in ("PatternMatcher", "graph_rewrite", "Ops", "UOp", "UPat", "TRACK_MATCH_STATS"):
        if name not in vars(ops):
            return name
    rewrite = getattr(ops.PatternMatcher, "rewrite", None)
    if rewrite is None or [*inspect.signature(rewrite).parameters] != ["self", "uop", "ctx"]:
        return "PatternMatcher.rewrite"
    empty = ops.PatternMatcher([])
    if not isinstance(getattr(empty, "pdict", None), dict):
        return "PatternMatcher.pdict"
    fields = {"op", "dtype", "src", "arg"}
    if not fields <= {*getattr(ops.UOp, "__dataclass_fields__", ())}:
        return "UOp"
    return "" if any(name in vars(ops) for name in _DECORATORS) else _DECORATORS[-1]


class _Pass:
    """A pass that is open. `offered`: by the identity of a matcher's entries for an op, how many
    nodes of that it was given, the matcher and the op; `ended`: by the identity of a pattern and by
    an op the matcher, and how many nodes the rule replaced."""

    def __init__(self, number: int, name: str) -> None:
        self.number, self.name = number, name
        self.offered: dict[int, list[Any]] = {}
        self.ended: dict[tuple[int, Any], tuple[Any, int]] = {}


class _State(threading.local):
    """What is open in a thread."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Nothing is open."""
        self.passes: list[_Pass] = []
        self.groups: list[int] = [0]
        self.failed: tuple[int, int] | None = None
        """Rule and node of the last function that raised."""


class _Tap:
    """Tells what `ops` does. Never lets an exception out: the first one ends the stream."""

    def __init__(self, ops: ModuleType, stream: Stream) -> None:
        self._ops, self._stream = ops, stream
        self._state = _State()
        self._count = itertools.count(1)
        self._entries = itertools.count(1)
        self._generation = stream.generation
        self._nodes: dict[int, tuple[weakref.ref[Any], int]] = {}
        """By identity, which is another's once the node is gone."""
        self._rules: dict[int, tuple[Any, int, bool]] = {}
        """Patterns by identity, their numbers, and whether they bind nothing below their node."""
        self._heads: dict[tuple[int, int], tuple[Any, Any, str]] = {}
        """Ops and dtypes by identity, which they keep, and both as JSON."""
        self._arguments: dict[str, str] = {}
        """Texts of arguments as JSON in JSON."""
        self._names: dict[int, tuple[Any, str]] = {}
        self._launches = Launches(stream)
        self._metadata: Any = getattr(getattr(ops, "all_metadata", None), "data", None)
        """By weak reference, what `UOp.metadata` looks up by ways that take longer."""
        self._sets: dict[int, tuple[Any, int]] = {}
        self._offered: dict[tuple[str, int], tuple[dict[str, int], dict[tuple[int, str], int]]] = {}
        stream.at_end(lambda: self._safely(self._tell_offered))

    # what is wrapped

    def rewriting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`PatternMatcher.rewrite`, which does the same as `original`."""
        tracking, uop_class, state = self._ops.TRACK_MATCH_STATS, self._ops.UOp, self._state
        clock = time.perf_counter_ns
        code = getattr(original, "__code__", None)
        remembers = code is not None and "_src_ops" in code.co_consts

        def rewrite(matcher: Any, uop: Any, ctx: Any = None) -> Any:
            if not state.passes or not tracking.value:
                return original(matcher, uop, ctx)
            entries = matcher.pdict.get(uop.op)
            if not entries:
                return None
            this = state.passes[-1]
            try:
                this.offered[id(entries)][0] += 1
            except KeyError:
                this.offered[id(entries)] = [1, matcher, uop.op]
            below = uop.__dict__.get("_src_ops") if remembers else None
            if below is None:
                below = {source.op for source in uop.src}
                if remembers:  # where `original` keeps it as well
                    uop.__dict__["_src_ops"] = below
            for entry in entries:
                if not entry[2].issubset(below):
                    continue
                begun = clock()
                try:
                    made = entry[1](uop, ctx)
                except Exception:
                    self._safely(self._note_failure, matcher, entry[0], uop)
                    raise
                if made is not None and made is not uop:
                    if isinstance(made, uop_class):
                        ns = clock() - begun
                        self._safely(self._match, matcher, entry[0], uop, made, ns)
                    key = id(entry[0]), uop.op
                    this.ended[key] = matcher, this.ended.get(key, (None, 0))[1] + 1
                    return made
            return None

        return rewrite

    def passing(self, function: Callable[..., Any], called: str) -> Callable[..., Any]:
        """A function whose calls are passes over the graph of its first argument."""
        tracking = self._ops.TRACK_MATCH_STATS

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not tracking.value or not args or not isinstance(args[0], self._ops.UOp):
                return function(*args, **kwargs)
            frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]: as cheap as can be
            place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            number = self._safely(self._begin_pass, called, args[0], kwargs, place)
            if number is None:
                return function(*args, **kwargs)
            return self._until_end(function, args, kwargs, self._end_pass, number, args[0])

        return call

    def grouping(self, decorator: Callable[..., Any]) -> Callable[..., Any]:
        """A decorator whose functions' calls are groups."""

        @functools.wraps(decorator)
        def decorate(*args: Any, **kwargs: Any) -> Callable[..., Any]:
            wrap = decorator(*args, **kwargs)
            name = kwargs.get("name", args[0] if args else None)

            def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
                return self._group(wrap(function), function.__name__, name)

            return wrapped

        return decorate

    def grouped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function whose calls are groups."""
        return self._group(function, function.__name__, None)

    def _group(self, function: Callable[..., Any], called: str, name: Any) -> Callable[..., Any]:
        """A function whose calls are groups. `name`: names a call by what it returns."""

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not self._ops.TRACK_MATCH_STATS.value:
                return function(*args, **kwargs)
            number = self._safely(self._begin_group, called)
            if number is None:
                return function(*args, **kwargs)
            end = self._end_group
            return self._until_end(function, args, kwargs, end, number, name, args, kwargs)

        return call

    def _until_end(
        self,
        function: Callable[..., Any],
        args: Any,
        kwargs: Any,
        end: Callable[..., Any],
        *of: Any,
    ) -> Any:
        """What the function returns; `end` hears of that, or of its exception, after `of`."""
        made: Any = None
        error: BaseException | None = None
        try:
            made = function(*args, **kwargs)
            return made
        except BaseException as raised:
            error = raised
            raise
        finally:
            self._safely(end, *of, made, error)

    def _safely(self, tell: Callable[..., Any], *args: Any) -> Any:
        """What `tell` gives; None once the stream is over."""
        if not self._stream.is_open:
            return None
        if self._generation != self._stream.generation:
            self._begin_child()
        try:
            return tell(*args)
        except Exception as error:
            self._stream.problem("the tap of tinygrad failed, and recording ends", repr(error))
            self._stream.is_open = False
            return None

    def _begin_child(self) -> None:
        """This process was forked from one that had told of its nodes, rules and groups."""
        self._generation = self._stream.generation
        self._nodes, self._rules = {}, {}
        self._sets, self._offered = {}, {}
        self._state.reset()  # what was open is told in the other process
        self._stream.put("compiler", "tinygrad", version_of("tinygrad"), DIALECT)

    # what is told

    def _begin_group(self, called: str) -> int:
        state, number = self._state, next(self._entries)
        kind = "schedule" if "schedule" in called else "group"
        kind = "kernel" if called in _KERNELS else kind
        self._stream.put("context", number, state.groups[-1], called, kind, self._stream.now())
        state.groups.append(number)
        return number

    def _end_group(
        self, number: int, name: Any, args: Any, kwargs: Any, made: Any, error: BaseException | None
    ) -> None:
        state = self._state
        if number not in state.groups:
            return  # it began before a fork
        while state.groups.pop() != number:
            pass
        if error is None and callable(name):
            said = name(*args, **kwargs, ret=made)
            self._stream.put("name", number, str(getattr(said, "display_name", said)))
        if error is None:
            self._tell_program(number, made)
        self._stream.put("end-context", number, self._stream.now(), _said(error))
        if len(state.groups) == 1:
            self._stream.flush()  # the program may run for long before it rewrites again

    def _begin_pass(self, called: str, sink: Any, kwargs: dict[str, Any], place: str) -> int:
        state, number = self._state, next(self._entries)
        self._launches.begin()
        parent = state.passes[-1].number if state.passes else 0
        node = self._node(sink)
        how = {
            "parent": parent,
            "caller": place,
            "bottomUp": bool(kwargs.get("bottom_up")),
            "walk": bool(kwargs.get("walk")),
            "at": self._stream.now(),
        }
        name = str(kwargs.get("name") or called)
        self._stream.put("rewrite", number, state.groups[-1], name, node, how)
        if not state.passes:
            self._stream.flush()  # what a pass that is killed was about is known
        state.passes.append(_Pass(number, name))
        state.failed = None
        return number

    def _end_pass(self, number: int, sink: Any, made: Any, error: BaseException | None) -> None:
        state = self._state
        if all(one.number != number for one in state.passes):
            return  # it began before a fork
        while (ended := state.passes.pop()).number != number:
            pass
        self._add_offered(ended)
        result = made.get(sink) if isinstance(made, dict) else made
        if isinstance(result, tuple) and result:  # such as (graph, what else was found)
            result = result[0]
        node = self._node(result) if isinstance(result, self._ops.UOp) else 0
        said = _said(error)
        if said is not None and state.failed is not None:
            said["rule"], said["node"] = state.failed
        self._stream.put("result", number, node, self._stream.now(), said)

    def _add_offered(self, ended: _Pass) -> None:
        """Which nodes a pass offered to its rules, with all passes of its name."""
        for count, matcher, op in ended.offered.values():
            counts, _ = self._of(ended.name, matcher)
            counts[op.name] = counts.get(op.name, 0) + count
        for (pattern, op), (matcher, count) in ended.ended.items():
            _, by_rule = self._of(ended.name, matcher)
            if pattern in self._rules:
                rule = self._rules[pattern][1]
                by_rule[rule, op.name] = by_rule.get((rule, op.name), 0) + count

    def _of(self, name: str, matcher: Any) -> tuple[dict[str, int], dict[tuple[int, str], int]]:
        """What a matcher was offered in passes of a name, and what its rules did."""
        return self._offered.setdefault((name, self._rule_set(matcher)), ({}, {}))

    def _rule_set(self, matcher: Any) -> int:
        """The number of the rules of a matcher, told with it."""
        known = self._sets.get(id(matcher))
        if known is None:
            rules = [self._rule(matcher, pattern) for pattern, _ in matcher.patterns]
            known = self._sets[id(matcher)] = matcher, len(self._sets) + 1
            self._stream.put("rules", known[1], rules)
        return known[1]

    def _tell_offered(self) -> None:
        for (name, number), (counts, ended) in self._offered.items():
            rows = [[rule, op, count] for (rule, op), count in ended.items()]
            self._stream.put("offered", name, number, counts, rows)
        self._offered = {}

    def _match(self, matcher: Any, pattern: Any, before: Any, after: Any, ns: int) -> None:
        known = self._rules.get(id(pattern))
        if known is None:
            self._rule(matcher, pattern)
            known = self._rules[id(pattern)]
        _, rule, is_plain = known
        at = self._node(before)
        if is_plain:
            binds = f"{self._quoted(pattern.name)}:{at}" if pattern.name is not None else ""
        else:
            found = pattern.match(before, {})
            bound = found[0].items() if found else ()
            binds = ",".join(f"{self._quoted(name)}:{self._node(u)}" for name, u in bound)
        self._stream.line(
            f'["match",{self._state.passes[-1].number},{rule},{at},{self._node(after)},'
            f"{{{binds}}},{ns}]"
        )

    def _note_failure(self, matcher: Any, pattern: Any, node: Any) -> None:
        self._state.failed = self._rule(matcher, pattern), self._node(node)

    def _tell_program(self, group: int, made: Any) -> None:
        """The kernel that a group has made, and its texts."""
        source, name, ast = "", "", 0
        device = (
            str(getattr(made, "device", "") or "") if not isinstance(made, self._ops.UOp) else ""
        )
        if isinstance(made, self._ops.UOp):
            if made.op.name != "PROGRAM":
                return
            for part in made.src:
                if part.op.name == "SOURCE":
                    source = str(part.arg)
                elif part.op.name == "SINK":
                    name = str(getattr(part.arg, "name", "") or "")
                elif part.op.name == "DEVICE":
                    device = str(part.arg)
            name = str(getattr(made.arg, "function_name", "") or name)
            key = getattr(made, "key", None)
            name = self._launches.kernel(key, name) if isinstance(key, bytes) else name
        elif isinstance(getattr(made, "src", None), str):
            source, name = made.src, str(getattr(made, "function_name", "") or made.name)
            ast = (
                self._node(made.ast) if isinstance(getattr(made, "ast", None), self._ops.UOp) else 0
            )
        else:
            return
        self._stream.put("kernel", group, name, {"device": device, "ast": ast})
        if source:
            self._stream.put("text", group, "source", device, source)

    # numbers

    def _node(self, node: Any) -> int:
        """The number of a node, told with all below it that were not."""
        known = self._nodes.get(id(node))
        if known is not None and known[0]() is node:
            return known[1]
        stack = [node]
        number = 0
        while stack:
            u = stack[-1]
            known = self._nodes.get(id(u))
            if known is not None and known[0]() is u:
                number = known[1]
                stack.pop()
                continue
            sources: list[int] = []
            for source in u.src:
                below = self._nodes.get(id(source))
                if below is None or below[0]() is not source:
                    stack.append(source)
                else:
                    sources.append(below[1])
            if len(sources) == len(u.src):
                number = next(self._count)
                ref = weakref.ref(u)
                self._nodes[id(u)] = ref, number
                stack.pop()
                self._tell_node(u, ref, number, sources)
        return number

    def _tell_node(self, u: Any, ref: Any, number: int, sources: list[int]) -> None:
        op, dtype, arg = u.op, u.dtype, u.arg
        head = self._heads.get((id(op), id(dtype)))
        if head is None:
            head = op, dtype, f"{encode(op.name)},{encode(str(dtype))}"
            self._heads[id(op), id(dtype)] = head
        tag = getattr(u, "tag", None)
        known = self._metadata
        metadata = getattr(u, "metadata", None) if known is None else known.get(ref)
        if tag is None and not metadata:
            told = f',{{"arg":{self._argument(arg)}}}' if arg is not None else ""
        else:
            more = [f'"arg":{self._argument(arg)}'] if arg is not None else []
            if tag is not None:
                more.append(f'"tag":{self._argument(tag)}')
            if metadata:
                calls = ", ".join(dict.fromkeys(str(one) for one in metadata))
                more.append(f'"call":{encode(calls)}')
            told = f",{{{','.join(more)}}}"
        self._stream.line(f'["node",{number},{head[2]},{sources}{told}]')

    def _argument(self, value: Any) -> str:
        """An argument as JSON in a string of JSON; most are small numbers, or were there before."""
        if type(value) is int and -_SMALL < value < _SMALL:
            return f'"{value}"'
        if isinstance(value, (bool, int, float, bytes, bytearray)):
            return encode(_argument(value))
        text = value if isinstance(value, str) else repr(value)
        known = self._arguments.get(text)
        if known is None:
            known = encode(_argument(text))
            if len(text) <= _MOST_OF_TEXT and len(self._arguments) < _MOST_TEXTS:
                self._arguments[text] = known
        return known

    def _quoted(self, value: Any) -> str:
        """The name of an op, the text of a dtype, or a name, as JSON: there are few of them."""
        known = self._names.get(id(value))
        if known is None or known[0] is not value:
            text = value.name if isinstance(value, self._ops.Ops) else str(value)
            known = self._names[id(value)] = value, encode(text)
        return known[1]

    def _rule(self, matcher: Any, pattern: Any) -> int:
        known = self._rules.get(id(pattern))
        if known is not None:
            return known[1]
        number = len(self._rules) + 1
        self._rules[id(pattern)] = pattern, number, not binds_below(pattern, 0)
        file, line = getattr(pattern, "location", None) or ("", 0)
        function = next((f for p, f in matcher.patterns if p is pattern), None)
        name = getattr(function, "__name__", "") or ""
        code = getattr(function, "__code__", None)
        if name in ("", "<lambda>"):
            name = f"{os.path.basename(file)}:{line}"
        about: dict[str, Any] = {
            "file": file,
            "line": line,
            "doc": inspect.getdoc(function) or "" if function is not None else "",
            "source": source_at(file, line),
            "pattern": pattern_data(pattern, 0),
        }
        if code is not None and (code.co_filename, code.co_firstlineno) != (file, line):
            made = source_at(code.co_filename, code.co_firstlineno)
            about["source"] += "\n" + made if made not in about["source"] else ""
        self._stream.put("rule", number, name, about)
        return number


def _said(error: BaseException | None) -> dict[str, Any] | None:
    if error is None:
        return None
    text = str(error)
    return {
        "message": f"{type(error).__name__}: {text[:_MAX_ARG]}" if text else type(error).__name__
    }


def _argument(value: Any) -> str:
    """An argument as JSON: numbers, booleans and texts as they are, all else as Python writes
    it."""
    if isinstance(value, (bool, int)):
        return json.dumps(value) if abs(value) < 1 << 60 else json.dumps(str(value))
    if isinstance(value, float):
        finite = math.isfinite(value)
        return json.dumps({"float": float(value) if finite else str(float(value))})
    if isinstance(value, (bytes, bytearray)):
        return json.dumps(f"{len(value)} bytes")
    text = value if isinstance(value, str) else repr(value)
    return json.dumps(text if len(text) <= _MAX_ARG else f"{text[:_MAX_ARG]}...")
