"""PyTorch: passes of Inductor and of users over FX graphs, and the matches inside of them.

Brackets of `GraphTransformObserver` are passes; `apply` of the pattern entries is a match, and so
is what `subgraph_rewriter` replaced; passes of an fx `PassManager` are bracketed as well. A pass
that edits its graph without a pattern is one step. FX nodes change in place: `fxgraph` says how
each is told and when. Interfaces of PyTorch that are not public may change with each release: what
is not as expected is told, and left alone.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import linecache
import threading
import time
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

from _uopviz_tap.fxgraph import Graph
from _uopviz_tap.guard import GuardedTap, member, version_of
from _uopviz_tap.passtexts import PassTexts, Printed
from _uopviz_tap.stream import Stream

DIALECT = 1
"""The version of the dialect in which nodes are told: `viz/compilers/torch.py`."""
_MAX_TEXT = 1 << 20
"""Characters of a text."""
_REASONS = 64
"""Reasons that are kept of one pattern in one pass."""
_LONGEST = 300
"""Characters of a reason."""
_ENTRIES = ("LoweringPatternEntry", "GraphPatternEntry", "ReplacementPatternEntry")
_taps: weakref.WeakKeyDictionary[Stream, _Tap] = weakref.WeakKeyDictionary()


def attach(module: ModuleType, stream: Stream) -> None:
    """Patches one of the modules that `TAPS` names, whose body has just run; tells a problem where
    it is not what is known, and leaves it as it was."""
    tap = _taps.get(stream)
    if tap is None:
        tap = _taps[stream] = _Tap(stream)
    patch, wanted = _PATCHES[module.__name__]
    missing = next((name for name in wanted if member(module, name) is None), None)
    if missing is not None:
        what = f"torch {version_of('torch')}: {missing} is not as expected"
        what = f"{what}; {module.__name__} is not recorded"
        stream.problem(what, module.__name__, "uopviz records torch 2.13 and its neighbours")
        return
    patches: list[tuple[Any, str, Any]] = []
    tap.patches = patches
    try:
        patch(tap, module)
    except Exception:
        for owner, name, value in reversed(patches):
            setattr(owner, name, value)
        raise


class _Open:
    """A pass that is open: of which graph, and what its patterns did. `waits`: the pattern that
    fitted last, and where: its entry says next whether it declines."""

    def __init__(self, number: int, name: str, module: Any, graph: Graph, by: Any) -> None:
        self.number, self.name, self.module, self.graph = number, name, module, graph
        self.by = by
        """The function that does it, where it is known."""
        self.sink = graph.sink
        self.text: Printed | None = None
        """The graph before it, as a node and as text."""
        self.entries: dict[int, Any] = {}
        self.waits: tuple[Any, Any] | None = None
        self.reasons: dict[int, int] = {}
        self.matches = 0


class _State(threading.local):
    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Nothing is open."""
        self.contexts: list[int] = [0]
        self.passes: list[_Open] = []
        self.depth = 0


class _Tap(GuardedTap):
    """Tells what happens to FX graphs."""

    COMPILER, PACKAGE, TITLE, DIALECT = "torch", "torch", "torch", DIALECT

    def __init__(self, stream: Stream) -> None:
        self._state = _State()
        self.patches: list[tuple[Any, str, Any]] = []
        """What was patched of the module that is loaded: where, the name, and what was there."""
        super().__init__(stream)

    def reset(self) -> None:
        """No graph, rule or pass is known."""
        self._state.reset()
        self._count, self._entries = itertools.count(1), itertools.count(1)
        self._graphs: weakref.WeakKeyDictionary[Any, Graph] = weakref.WeakKeyDictionary()
        self._rules: dict[Any, tuple[Any, int]] = {}
        self._texts = PassTexts(self._stream)
        self._compiled = itertools.count(0)

    def _set(self, owner: Any, name: str, value: Any) -> None:
        self.patches.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    # passes

    def begin(self, module: Any, name: str, subsystem: str, by: Any = None) -> _Open | None:
        """A pass begins; None where it is one inside of another one of the same graph, whose edits
        are those of the outer one."""
        state = self._state
        if any(one.module is module for one in state.passes):
            return None
        if not hasattr(module, "graph") or not hasattr(module, "_register_create_node_hook"):
            return None
        graph = self._graphs.get(module)
        if graph is None:
            graph = self._graphs[module] = Graph(self._stream, self._count)
        graph.attach(module)
        sink = graph.written(module.graph)
        number = next(self._entries)
        label = f"{subsystem}: {name}" if subsystem else name
        parent = state.passes[-1].number if state.passes else 0
        how = {"parent": parent, "at": self._stream.now()}
        self._stream.put("rewrite", number, state.contexts[-1], label, sink, how)
        opened = _Open(number, label, module, graph, by)
        opened.text = self._print(graph, module)
        state.passes.append(opened)
        return opened

    def end(self, opened: _Open, error: BaseException | None) -> None:
        """The pass is over: what it changed beside its matches is told."""
        state, at = self._state, self._stream.now()
        if opened not in state.passes:
            return
        while state.passes.pop() is not opened:
            pass
        self._settle(opened)
        graph = opened.graph
        graph.detach()
        rest = graph.rest(opened.module.graph)
        first = rest.first
        if first is None and rest.rebuilt and not opened.matches:  # it has only moved edges
            first = rest.rebuilt.pop(0)
        if first is not None:
            rule = self._pass_rule(opened)
            self._stream.put("match", opened.number, rule, *first, {}, 0)
        for old, new in rest.rebuilt:
            self._stream.put("rebuild", opened.number, old, new)
        said = None if error is None else {"message": f"{type(error).__name__}: {error}"[:2000]}
        if rest.sink != opened.sink:
            self._texts.tell(opened.number, opened.text, self._print(graph, opened.module))
        self._stream.put("result", opened.number, rest.sink, at, said)

    def _print(self, graph: Graph, module: Any) -> Printed | None:
        """The text of a graph that is told as it is now."""
        return graph.text(module) if self._texts.has_room else None

    def matched(
        self, module: Any, rule: int, node: Any, nodes: Any, ns: int, binds: dict[str, int]
    ) -> None:
        """A match is over, which began at `node`."""
        opened = self._of(module)
        if opened is None:
            return
        opened.waits = None
        made = opened.graph.match(node, module.graph)
        self._stream.put("match", opened.number, rule, made.old, made.new, binds, ns)
        for old, new in made.rebuilt:
            self._stream.put("rebuild", opened.number, old, new)
        opened.matches += 1

    def _of(self, module: Any) -> _Open | None:
        return next((one for one in reversed(self._state.passes) if one.module is module), None)

    # what patterns said

    def tried(self, pattern: Any, node: Any, found: Any) -> None:
        """A pattern of the pass that is open was tried at a node."""
        opened = self._of(getattr(node.graph, "owning_module", None))
        entry = None if opened is None else opened.entries.get(id(pattern))
        if opened is None or entry is None:
            return
        self._settle(opened)
        if found:
            opened.waits = entry, node
            return
        if opened.reasons.get(id(entry), 0) < _REASONS:
            self._decline(opened, entry, node, _reason(found))

    def _settle(self, opened: _Open) -> None:
        """The pattern that fitted last has not been applied."""
        if opened.waits is not None:
            entry, node = opened.waits
            opened.waits = None
            why = "its pattern fits, and its check declined (extra_check), or it spans a mutation"
            self._decline(opened, entry, node, why)

    def _decline(self, opened: _Open, entry: Any, node: Any, why: str) -> None:
        known = opened.graph.number(node)
        if known:
            opened.reasons[id(entry)] = opened.reasons.get(id(entry), 0) + 1
            rule = self.rule_of(entry)
            self._stream.put("decline", opened.number, rule, known, why[:_LONGEST])

    # rules

    def rule_of(self, entry: Any) -> int:
        """The number of a pattern entry."""
        known = self._rules.get(id(entry))
        if known is not None:
            return known[1]
        search = _in_closure(getattr(entry, "extra_check", None), "search_fn")
        handler = getattr(entry, "handler", None) or search
        handler = getattr(handler, "func", handler)
        name = getattr(entry, "pattern_name", None) or getattr(handler, "__name__", "") or "pattern"
        about = _about(handler)
        about["doc"] = (inspect.getdoc(handler) or "") if handler is not None else ""
        text = repr(entry.pattern)
        about["source"] = f"{about.get('source', '')}\n# {text[:4000]}\n".lstrip("\n")
        return self._tell_rule(id(entry), entry, str(name), about)

    def function_rule(self, function: Any) -> int:
        """The number of a pattern that is a function, of `subgraph_rewriter`."""
        known = self._rules.get(id(function))
        name = getattr(function, "__name__", "") or type(function).__name__
        return (
            known[1] if known else self._tell_rule(id(function), function, name, _about(function))
        )

    def _pass_rule(self, opened: _Open) -> int:
        known = self._rules.get(opened.name)
        about = {"doc": "what a pass changed without a pattern", **_about(opened.by)}
        return known[1] if known else self._tell_rule(opened.name, None, opened.name, about)

    def _tell_rule(self, key: Any, kept: Any, name: str, about: dict[str, Any]) -> int:
        number = len(self._rules) + 1
        self._rules[key] = kept, number
        self._stream.put("rule", number, name, about)
        return number

    # groups

    def begin_context(self, name: str, kind: str) -> int:
        """A group of passes begins."""
        number = next(self._entries)
        contexts = self._state.contexts
        self._stream.put("context", number, contexts[-1], name, kind, self._stream.now())
        contexts.append(number)
        return number

    def end_context(self, number: int, error: BaseException | None) -> None:
        """It is over."""
        contexts = self._state.contexts
        if number in contexts:
            while contexts.pop() != number:
                pass
            said = None if error is None else {"message": f"{type(error).__name__}: {error}"[:2000]}
            self._stream.put("end-context", number, self._stream.now(), said)
            self._stream.flush()

    def tell_code(self, text: str) -> None:
        """Inductor has made its program for the graph whose context is open."""
        context = self._state.contexts[-1]
        if context and text:
            self._stream.put("text", context, "output_code", "", text[:_MAX_TEXT])

    # patches

    def around(
        self, function: Callable[..., Any], name_of: Callable[[Any, Any], tuple[str, str]]
    ) -> Callable[..., Any]:
        """A function whose calls are groups, the inner ones of several that are nested not."""
        state = self._state

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            name, kind = name_of(args, kwargs)
            if kind == "group" and state.depth:
                return function(*args, **kwargs)
            number = self.safely(self.begin_context, name, kind)
            state.depth += 1
            error: BaseException | None = None
            try:
                return function(*args, **kwargs)
            except BaseException as raised:
                error = raised
                raise
            finally:
                state.depth -= 1
                if number is not None:
                    self.safely(self.end_context, number, error)

        return call

    def patch_observer(self, module: ModuleType) -> None:
        """Brackets of passes."""
        observer = module.GraphTransformObserver
        enter, leave = observer.__enter__, observer.__exit__
        tap = self

        def tell_enter(self: Any) -> Any:
            found = enter(self)
            name, subsystem = str(self.passname), str(getattr(self, "subsystem", None) or "")
            self._uopviz_pass = tap.safely(tap.begin, self.gm, name, subsystem)
            return found

        def tell_exit(self: Any, kind: Any, value: Any, trace: Any) -> Any:
            opened = getattr(self, "_uopviz_pass", None)
            if opened is not None:
                tap.safely(tap.end, opened, value)
            return leave(self, kind, value, trace)

        self._set(observer, "__enter__", tell_enter)
        self._set(observer, "__exit__", tell_exit)

    def patch_matcher(self, module: ModuleType) -> None:
        """Matches of patterns, and why others were none."""
        tap = self

        def applied(apply: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(apply)
            def call(self: Any, match: Any, graph: Any, node: Any) -> Any:
                owner = getattr(graph, "owning_module", None)
                told = tap.safely(tap.before_match, owner, self, match)
                begun = time.perf_counter_ns()
                made = apply(self, match, graph, node)
                if told is not None:
                    ns = time.perf_counter_ns() - begun
                    tap.safely(tap.matched, owner, told[0], node, match.nodes, ns, told[1])
                return made

            return call

        for name in _ENTRIES:
            entry = getattr(module, name)
            self._set(entry, "apply", applied(entry.apply))
        match = module.PatternExpr.match

        @functools.wraps(match)
        def tell_match(self: Any, node: Any) -> Any:
            found = match(self, node)
            if tap._state.passes:
                tap.safely(tap.tried, self, node, found)
            return found

        self._set(module.PatternExpr, "match", tell_match)
        run = module.PatternMatcherPass.apply

        @functools.wraps(run)
        def tell_pass(self: Any, gm: Any) -> Any:
            owner = gm if hasattr(gm, "graph") else getattr(gm, "owning_module", None)
            outer = tap._of(owner)
            if outer is not None:  # its own bracket is inside of one that is open
                tap.safely(tap.offer, outer, self)
                return run(self, gm)
            name = str(getattr(self, "pass_name", None) or "pattern_matcher")
            subsystem = str(getattr(self, "subsystem", None) or "")
            opened = tap.safely(tap.begin, owner, name, subsystem)
            if opened is None:
                return run(self, gm)
            tap.safely(tap.offer, opened, self)
            error: BaseException | None = None
            try:
                return run(self, gm)
            except BaseException as raised:
                error = raised
                raise
            finally:
                tap.safely(tap.end, opened, error)

        self._set(module.PatternMatcherPass, "apply", tell_pass)

    def offer(self, opened: _Open, patterns: Any) -> None:
        """The patterns of a matcher are tried in a pass from here on."""
        for entries in patterns.patterns.values():
            opened.entries.update({id(entry.pattern): entry for entry in entries})

    def before_match(self, owner: Any, entry: Any, match: Any) -> tuple[int, dict[str, int]] | None:
        """The rule of a match that begins, and the nodes that it has bound."""
        opened = self._of(owner)
        if opened is None:
            return None
        opened.graph.begin_match()
        binds = {
            str(name): number
            for name, node in match.kwargs.items()
            if (number := opened.graph.number(node))
        }
        for at, node in enumerate(match.args):
            if number := opened.graph.number(node):
                binds[f"arg{at}"] = number
        return self.rule_of(entry), binds

    def patch_lowering(self, module: ModuleType) -> None:
        """The program that Inductor makes."""
        lowering, tap = module.GraphLowering, self
        codegen = lowering.codegen

        @functools.wraps(codegen)
        def tell(self: Any, *args: Any, **kwargs: Any) -> Any:
            made = codegen(self, *args, **kwargs)
            first = made[0] if isinstance(made, tuple) and made else made
            tap.safely(tap.tell_code, str(getattr(first, "value", first)))
            return made

        self._set(lowering, "codegen", tell)

    def patch_compile(self, module: ModuleType) -> None:
        """Groups: each compilation, and each of its graphs."""

        def compilation(args: Any, kwargs: Any) -> tuple[str, str]:
            return f"compilation {next(self._compiled)}" if not self._state.depth else "", "group"

        def graph(args: Any, kwargs: Any) -> tuple[str, str]:
            number = kwargs.get("graph_id")
            kind = "backward" if kwargs.get("is_backward") else "forward"
            kind = "inference" if kwargs.get("is_inference") else kind
            return f"graph {number if number is not None else 0} {kind}", "kernel"

        self._set(module, "compile_fx", self.around(module.compile_fx, compilation))
        inner = self.around(module.fx_codegen_and_compile, graph)
        self._set(module, "fx_codegen_and_compile", inner)

    def patch_rewriter(self, module: ModuleType) -> None:
        """What `replace_pattern` and its like replaced."""
        replace, tap = module._replace_pattern, self

        @functools.wraps(replace)
        def tell(gm: Any, pattern: Any, *args: Any, **kwargs: Any) -> Any:
            name = getattr(pattern, "__name__", "") or type(pattern).__name__
            opened = tap.safely(tap.begin, gm, f"replace_pattern {name}", "")
            within = opened or tap._of(gm)
            error: BaseException | None = None
            try:
                made = replace(gm, pattern, *args, **kwargs)
                if within is not None:
                    tap.safely(tap.replaced, within, pattern, made)
                return made
            except BaseException as raised:
                error = raised
                raise
            finally:
                if opened is not None:
                    tap.safely(tap.end, opened, error)

        self._set(module, "_replace_pattern", tell)

    def replaced(self, opened: _Open, pattern: Any, made: Any) -> None:
        """The matches of `replace_pattern`, told after all of them are done."""
        rule = self.function_rule(pattern)
        for one in made:
            new = one.replacements[-1] if one.replacements else None
            pair = opened.graph.replaced(one.anchor, new)
            if pair is not None:
                opened.matches += 1
                self._stream.put("match", opened.number, rule, *pair, {}, 0)

    def patch_manager(self, module: ModuleType) -> None:
        """Passes of users that an fx PassManager runs."""
        manager, tap = module.PassManager, self
        run = manager.__call__

        def bracketed(function: Callable[..., Any]) -> Callable[..., Any]:
            name = function.__name__ if inspect.isfunction(function) else type(function).__name__

            def call(gm: Any) -> Any:
                opened = tap.safely(tap.begin, gm, name, "", function)
                error: BaseException | None = None
                try:
                    return function(gm)
                except BaseException as raised:
                    error = raised
                    raise
                finally:
                    if opened is not None:
                        tap.safely(tap.end, opened, error)

            call.__name__ = name
            return call

        @functools.wraps(run)
        def tell_run(self: Any, module: Any) -> Any:
            if not self._validated:
                self.solve_constraints()
            own = self.passes
            self.passes = [bracketed(one) for one in own]
            try:
                return run(self, module)
            finally:
                self.passes = own

        self._set(manager, "__call__", tell_run)


_PATCHES: dict[str, tuple[Callable[[_Tap, ModuleType], None], tuple[str, ...]]] = {
    "torch.fx.passes.graph_transform_observer": (
        _Tap.patch_observer,
        ("GraphTransformObserver.__enter__", "GraphTransformObserver.__exit__"),
    ),
    "torch._inductor.pattern_matcher": (
        _Tap.patch_matcher,
        (*(f"{name}.apply" for name in _ENTRIES), "PatternExpr.match", "PatternMatcherPass.apply"),
    ),
    "torch._inductor.graph": (_Tap.patch_lowering, ("GraphLowering.codegen",)),
    "torch._inductor.compile_fx": (
        _Tap.patch_compile,
        ("compile_fx", "fx_codegen_and_compile"),
    ),
    "torch.fx.subgraph_rewriter": (_Tap.patch_rewriter, ("_replace_pattern",)),
    "torch.fx.passes.infra.pass_manager": (_Tap.patch_manager, ("PassManager.__call__",)),
}
MODULES = (*_PATCHES,)


def _reason(failed: Any) -> str:
    """Why a pattern did not match, in PyTorch's own words."""
    try:
        return str(failed)
    except Exception:
        return str(getattr(failed, "format_string", "") or failed.__class__.__name__)


def _in_closure(function: Any, name: str) -> Any:
    """A variable that a function has taken from around it; None for none."""
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    names = getattr(code, "co_freevars", ())
    if name not in names or not cells:
        return None
    try:
        return cells[names.index(name)].cell_contents
    except ValueError:  # it has no value yet
        return None


def _about(function: Any) -> dict[str, Any]:
    """Place and text of a function; nothing for anything else."""
    function = inspect.unwrap(function) if callable(function) else function
    code = getattr(function, "__code__", None)
    if code is None:
        return {}
    lines = linecache.getlines(code.co_filename)[
        code.co_firstlineno - 1 : code.co_firstlineno + 120
    ]
    try:
        source = "".join(inspect.getblock(lines)) if lines else ""
    except Exception:
        source = lines[0]
    return {"file": code.co_filename, "line": code.co_firstlineno, "source": source}
