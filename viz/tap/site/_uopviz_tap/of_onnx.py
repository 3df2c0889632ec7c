"""ONNX Script's rewriter: what its rules replaced in a model, and why they did not.

A pass is an application of a set of rules to a model. A step is a rule whose replacement is in the
graph afterwards. Where a pattern fits in part, or a condition says no, the rule has declined: the
reason is the rewriter's own, which it tells a `MatchingTracer`. Graphs change in place: a node is
written anew where it reads something else than it did.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import json
import weakref
from collections import Counter
from collections.abc import Callable
from types import ModuleType
from typing import Any

from _uopviz_tap.guard import GuardedTap, member, version_of
from _uopviz_tap.stream import Stream

DIALECT = 1
_MOST = 64
"""Declines of a rule in a pass."""
_LONGEST = 300
_MAX_ARG = 2000
_WANTED = {
    "RewriteRuleSet.apply_to_model": ("self", "model", "verbose", "tracer"),
    "RewriteRule.try_rewrite": ("self", "model", "graph_or_function", "node", "verbose", "tracer"),
}
"""What is patched, and its parameters."""
_taps: weakref.WeakKeyDictionary[Stream, _Tap] = weakref.WeakKeyDictionary()


def attach(module: ModuleType, stream: Stream) -> None:
    """Patches `onnxscript.rewriter._rewrite_rule`, whose body has just run; tells a problem where
    it is not what is known, and leaves it as it was."""
    for path, names in _WANTED.items():
        found = member(module, path)
        if found is None or tuple(inspect.signature(found).parameters) != names:
            version = version_of("onnxscript")
            what = f"onnxscript {version}: {path} is not as expected; nothing is recorded"
            stream.problem(what, module.__name__, "uopviz records onnxscript 0.7")
            return
    tap = _taps.get(stream)
    if tap is None:
        tap = _taps[stream] = _Tap(stream)
    tap.patch(module)


class _Declines:
    """What `try_rewrite` takes for a MatchingTracer: hears why a rule said no."""

    def __init__(self, tell: Callable[..., Any]) -> None:
        self._tell = tell

    def log(self, rule: Any, container: Any, node: Any, found: Any, status: Any) -> None:
        """As MatchingTracer.log."""
        self._tell(rule, node, found, status)


class _Pass:
    """A set of rules that is being applied."""

    def __init__(self, number: int, model: _Model) -> None:
        self.number, self.model = number, model
        self.waiting: tuple[Any, Any, int] | None = None
        """A rule that gave a replacement, that, and the node that it is for."""
        self.declined: Counter[int] = Counter()
        self.steps = 0


class _Tap(GuardedTap):
    """Tells what rules do to models."""

    COMPILER, PACKAGE, TITLE, DIALECT = "onnx", "onnxscript", "ONNX Script", DIALECT

    def reset(self) -> None:
        """No model, rule or pass is known."""
        self._count, self._entries = itertools.count(1), itertools.count(1)
        self._rules: dict[int, tuple[int, Any]] = {}
        self._passes: list[_Pass] = []

    def begin(self, model: Any) -> _Pass:
        """Rules begin to be applied."""
        made = _Model(self._stream, self._count, model)
        sink = made.written()
        opened = _Pass(next(self._entries), made)
        parent = self._passes[-1].number if self._passes else 0
        how = {"parent": parent, "at": self._stream.now()}
        self._stream.put("rewrite", opened.number, 0, "rewrite rules", sink, how)
        self._passes.append(opened)
        return opened

    def end(self, opened: _Pass, error: BaseException | None) -> None:
        """They have been: what else is other than it was is told."""
        self.settle(opened)
        while self._passes and self._passes.pop() is not opened:
            pass
        before = opened.model.numbers()
        sink = opened.model.written()
        for old, new in opened.model.changes(before):
            self._stream.put("rebuild", opened.number, old, new)
        said = None if error is None else {"message": f"{type(error).__name__}: {error}"[:2000]}
        self._stream.put("result", opened.number, sink, self._stream.now(), said)

    def settle(self, opened: _Pass) -> None:
        """The replacement that waits is a step, if it is in the graph."""
        waiting, opened.waiting = opened.waiting, None
        if waiting is None:
            return
        rule, made, old = waiting
        new = made.new_outputs[0]
        producer = new.producer()
        if not old or (producer is not None and producer.graph is None):
            return
        number = opened.model.value(new)
        self._stream.put("match", opened.number, self._rule(rule), old, number, {}, 0)
        opened.steps += 1

    def replaced(self, opened: _Pass, rule: Any, made: Any) -> None:
        """A rule gave a replacement, which the set of rules is about to put in."""
        old = opened.model.value(made.match.outputs[0])
        opened.waiting = rule, made, old

    def declined(self, rule: Any, node: Any, found: Any, status: Any) -> None:
        """A rule said no."""
        opened = self._passes[-1] if self._passes else None
        if opened is None or status.name == "SUCCESS":
            return
        if status.name == "NO_MATCH" and not found.nodes:
            return  # no node of its pattern fits
        number, known = self._rule(rule), opened.model.node(node)
        opened.declined[number] += 1
        if not known or opened.declined[number] > _MOST:
            return
        reason = found.reason or "no reason is given"
        why = {
            "CONDITION_FAILED": "its pattern fits, and its condition says no",
            "REPLACEMENT_FAILED": "its pattern fits, and it gave no replacement",
        }.get(status.name, f"its pattern fits in {len(found.nodes)} nodes")
        said = f"{why}: {reason}"[:_LONGEST]
        self._stream.put("decline", opened.number, number, known, said)

    def _rule(self, rule: Any) -> int:
        known = self._rules.get(id(rule))
        if known is None:
            number = len(self._rules) + 1
            known = self._rules[id(rule)] = number, rule  # kept, so that its id stays its own
            self._stream.put("rule", number, str(rule), _about(rule))
        return known[0]

    def patch(self, module: ModuleType) -> None:
        """Sets of rules, and rules."""
        tap = self
        rules, rule = module.RewriteRuleSet, module.RewriteRule
        apply, attempt = rules.apply_to_model, rule.try_rewrite

        @functools.wraps(apply)
        def apply_to_model(
            self: Any, model: Any, *, verbose: Any = None, tracer: Any = None
        ) -> Any:
            opened = None if tracer is not None else tap.safely(tap.begin, model)
            if opened is None:
                return apply(self, model, verbose=verbose, tracer=tracer)
            error: BaseException | None = None
            try:
                return apply(self, model, verbose=verbose, tracer=tracer)
            except BaseException as raised:
                error = raised
                raise
            finally:
                tap.safely(tap.end, opened, error)

        def decline(*said: Any) -> None:
            tap.safely(tap.declined, *said)

        @functools.wraps(attempt)
        def try_rewrite(
            self: Any, model: Any, graph: Any, node: Any, *, verbose: Any = None, tracer: Any = None
        ) -> Any:
            opened = tap._passes[-1] if tap._passes and tracer is None else None
            if opened is None or not tap._stream.is_open:
                return attempt(self, model, graph, node, verbose=verbose, tracer=tracer)
            tap.safely(tap.settle, opened)
            made = attempt(self, model, graph, node, verbose=verbose, tracer=_Declines(decline))
            if made is not None:
                tap.safely(tap.replaced, opened, self, made)
            return made

        rules.apply_to_model, rule.try_rewrite = apply_to_model, try_rewrite


class _Model:
    """The nodes of a model, with the numbers of what was written of each last."""

    def __init__(self, stream: Stream, count: Any, model: Any) -> None:
        self._stream, self._count, self._model = stream, count, model
        self._serials: dict[int, int] = {}
        self._known: dict[int, tuple[int, Any, Any]] = {}
        """By identity: the number, what it says, and the object, which keeps its identity."""

    def numbers(self) -> dict[int, int]:
        """The numbers as they are."""
        return {key: number for key, (number, _, _) in self._known.items()}

    def changes(self, before: dict[int, int]) -> list[tuple[int, int]]:
        """What has another number than before, sources first."""
        now = self.numbers().items()
        return sorted(
            (
                (before[key], number)
                for key, number in now
                if key in before and before[key] != number
            ),
            key=lambda pair: pair[1],
        )

    def written(self) -> int:
        """The number of all of the model as it is now."""
        graphs = [self._graph(self._model.graph)]
        graphs += [self._graph(one) for one in self._model.functions.values()]
        return self._tell(self._model, ("model", "", "", tuple(graphs)))

    def node(self, node: Any) -> int:
        """The number of a node as it was written last; it is written where it never was."""
        known = self._known.get(id(node))
        return known[0] if known is not None else self._node(node)

    def value(self, value: Any) -> int:
        """The number of what makes a value."""
        producer = value.producer()
        if producer is not None:
            return self.node(producer)
        known = self._known.get(id(value))
        if known is not None:
            return known[0]
        kind = "input" if value.const_value is None else "initializer"
        return self._tell(value, (kind, _type(value), value.name or "", ()))

    def _graph(self, graph: Any) -> int:
        for node in graph:
            self._node(node)
        ends = tuple(self.value(value) for value in graph.outputs)
        return self._tell(graph, ("graph", "", str(graph.name or ""), ends))

    def _node(self, node: Any) -> int:
        sources = [self.value(value) for value in node.inputs if value is not None]
        places = [
            f"${at}#{value.index()}"
            for at, value in enumerate(v for v in node.inputs if v is not None)
            if value.producer() is not None and value.index()
        ]
        parts: list[str] = []
        for name, attribute in node.attributes.items():
            if attribute.type.name == "GRAPH":
                sources.append(self._graph(attribute.value))
            elif attribute.type.name == "GRAPHS":
                sources += [self._graph(one) for one in attribute.value]
            else:
                parts.append(f"{name} = {_shown(attribute)}")
        name = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        types = ", ".join(_type(value) for value in node.outputs)
        text = ", ".join(parts + places)[:_MAX_ARG]
        return self._tell(node, (name, types, text, tuple(sources)))

    def _tell(self, thing: Any, what: tuple[str, str, str, tuple[int, ...]]) -> int:
        known = self._known.get(id(thing))
        if known is not None and known[1] == what:
            return known[0]
        number = next(self._count)
        self._known[id(thing)] = number, what, thing
        serial = self._serials.setdefault(id(thing), len(self._serials) + 1)
        op, dtype, arg, sources = what
        more = {"tag": json.dumps(f"#{serial}")}
        if arg:
            more["arg"] = json.dumps(arg)
        self._stream.put("node", number, op, dtype, [*sources], more)
        return number


def _type(value: Any) -> str:
    kind = "" if value.dtype is None else value.dtype.name.lower()
    return kind if value.shape is None else f"{kind}{value.shape}"


def _shown(attribute: Any) -> str:
    """The value of an attribute; of a tensor its type, as its values may have to be loaded."""
    if attribute.type.name in ("TENSOR", "TENSORS", "SPARSE_TENSOR", "SPARSE_TENSORS"):
        value = attribute.value
        return _type(value) if hasattr(value, "shape") else "tensors"
    return str(attribute.value)[:_LONGEST]


def _about(rule: Any) -> dict[str, Any]:
    """Where the condition or the replacement of a rule is written."""
    function: Any = getattr(getattr(rule, "_replacement_pattern", None), "_function", None)
    try:
        lines, line = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or ""
    except (OSError, TypeError):
        return {}
    doc = inspect.getdoc(function) or ""
    return {"file": file, "line": line, "source": "".join(lines[:120]), "doc": doc[:2000]}
