"""xDSL: walks of `PatternRewriteWalker`, the patterns that changed something in them, and passes.

A pass is a walk over a region; what a `ModulePass` does around its walks is a group, and one more
pass where it changed the module without a walk. A step is a pattern that has done something, the
innermost where a pattern tries others. Ops change in place: each keeps the number of what was
written of it last, and is written anew where a listener named it, or at the end of its walk.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import json
import re
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

from _uopviz_tap.guard import GuardedTap, member, version_of
from _uopviz_tap.passtexts import PassTexts, Printed
from _uopviz_tap.stream import Stream
from _uopviz_tap.xdsltext import printed

DIALECT = 1
_MAX_ARG = 2000
_MAX_TYPE = 200
_taps: weakref.WeakKeyDictionary[Stream, _Tap] = weakref.WeakKeyDictionary()


def attach(module: ModuleType, stream: Stream) -> None:
    """Patches `xdsl.pattern_rewriter` or `xdsl.passes`, whose body has just run; reports a problem
    where its form is not known, and leaves it unchanged."""
    tap = _taps.get(stream)
    if tap is None:
        tap = _taps[stream] = _Tap(stream)
    patches, wanted = _PATCHES[module.__name__]
    missing = next((name for name in wanted if member(module, name) is None), None)
    if missing is not None:
        what = f"xdsl {version_of('xdsl')}: {missing} is not as expected"
        what = f"{what}; {module.__name__} is not recorded"
        stream.problem(what, module.__name__, "uopviz records xDSL 0.74 and its neighbours")
        return
    patches(tap, module)


class _Walk:
    """A walk that is open, and what listeners have said since the last step."""

    def __init__(self, number: int, root: Any, module: _Module, text: Printed | None) -> None:
        self.number, self.root, self.module = number, root, module
        self.sink, self.text = module.number(root), text
        """The module before it, as a node and as text."""
        self.claimed = False
        """Whether an inner pattern has been told for what the outer one sees done."""
        self.steps = 0
        self.forget()

    def forget(self) -> None:
        """The step is over."""
        self.replaced: dict[Any, Any] = {}
        self.touched: dict[Any, None] = {}
        self.removed: dict[Any, Any] = {}
        """Ops that were erased, and the blocks that they were in."""


class _Tap(GuardedTap):
    """Tells what patterns and passes do to modules."""

    COMPILER, PACKAGE, TITLE, DIALECT = "xdsl", "xdsl", "xDSL", DIALECT

    def reset(self) -> None:
        """No module, pattern or walk is known."""
        self._count, self._entries = itertools.count(1), itertools.count(1)
        self._modules: dict[int, _Module] = {}
        self._texts = PassTexts(self._stream)
        self._rules: dict[Any, int] = {}
        self._walks: list[_Walk] = []
        self._contexts: list[tuple[int, str]] = [(0, "")]
        """The groups that are open, and their names."""

    # walks and passes

    def _module(self, root: Any) -> _Module:
        module = self._modules.get(id(root))
        if module is None or module.root is not root:
            module = self._modules[id(root)] = _Module(self._stream, self._count, root)
        return module

    def _print(self, module: _Module) -> Printed | None:
        """The text of a module that is told as it is now."""
        return module.text() if self._texts.has_room else None

    def begin(self, root: Any, name: str) -> _Walk:
        """A walk over a part of `root` begins."""
        module = self._module(root)
        sink = module.rest()[0]
        number = next(self._entries)
        parent = self._walks[-1].number if self._walks else 0
        how = {"parent": parent, "at": self._stream.now()}
        context, called = self._contexts[-1]
        self._stream.put("rewrite", number, context, called or name, sink, how)
        walk = _Walk(number, root, module, self._print(module))
        self._walks.append(walk)
        return walk

    def end(self, walk: _Walk, name: str, error: BaseException | None) -> None:
        """Ends the walk: reports everything that differs from what was written."""
        at = self._stream.now()
        while self._walks and self._walks.pop() is not walk:
            pass
        sink, rebuilt = walk.module.rest()
        if rebuilt and not walk.steps:
            old, new = rebuilt.pop(0)
            self._stream.put(
                "match", walk.number, self._rule((name,), name, _by_pass), old, new, {}, 0
            )
        for old, new in rebuilt:
            self._stream.put("rebuild", walk.number, old, new)
        if sink != walk.sink:
            self._texts.tell(walk.number, walk.text, self._print(walk.module))
        said = None if error is None else {"message": f"{type(error).__name__}: {error}"[:2000]}
        self._stream.put("result", walk.number, sink, at, said)

    def changed(self, pattern: Any, op: Any) -> None:
        """A pattern has changed something at an op."""
        walk = self._walks[-1] if self._walks else None
        if walk is None:
            return
        module, steps = walk.module, walk
        old = module.number(op)
        new = 0
        if op in steps.replaced:
            results = steps.replaced[op]
            value = next((one for one in results if one is not None), None)
            new = 0 if value is None else module.value(value)
        elif op not in steps.removed and old:
            new = module.write(op)
            new = 0 if new == old and steps.touched else new
        if not old or not new:
            old, new = module.around([op.parent, steps.removed.get(op), *steps.removed.values()])
        name = type(pattern).__name__
        if name == "GreedyRewritePatternApplier":  # what it does itself, beside its patterns
            name = "dead code" if op in steps.removed and op not in steps.replaced else "fold"
        rule = self._rule(name, name, lambda: _about(type(pattern)))
        self._stream.put("match", walk.number, rule, old, new, {}, 0)
        for one, results in steps.replaced.items():
            was = module.number(one)
            value = next((v for v in results if v is not None), None)
            if one is not op and was and value is not None:
                self._stream.put("rebuild", walk.number, was, module.value(value))
        walk.steps += 1
        walk.forget()

    def _rule(self, key: Any, name: str, about: Callable[[], dict[str, Any]]) -> int:
        known = self._rules.get(key)
        if known is None:
            known = self._rules[key] = len(self._rules) + 1
            self._stream.put("rule", known, name, about())
        return known

    def begin_context(self, name: str, root: Any) -> int:
        """A pass of a pipeline begins."""
        number, around = next(self._entries), self._contexts[-1][0]
        self._stream.put("context", number, around, name, "group", self._stream.now())
        self._contexts.append((number, name))
        module = self._module(root)
        module.rest()
        self._print(module)  # a pass that walks nowhere may change it
        return number

    def end_context(self, number: int, name: str, root: Any) -> None:
        """Ends the pass: what it changed outside of its walks is a pass of one step."""
        if all(one != number for one, _ in self._contexts):
            return
        while self._contexts[-1][0] != number:
            self._contexts.pop()
        module, at = self._module(root), self._stream.now()
        sink, text = module.number(root), module.last_text
        result, rebuilt = module.rest()
        if rebuilt:
            entry = next(self._entries)
            self._stream.put("rewrite", entry, number, name, sink, {"at": at})
            old, new = rebuilt.pop(0)
            self._stream.put("match", entry, self._rule((name,), name, _by_pass), old, new, {}, 0)
            for old, new in rebuilt:
                self._stream.put("rebuild", entry, old, new)
            self._texts.tell(entry, text, self._print(module))
            self._stream.put("result", entry, result, at)
        self._contexts.pop()
        self._stream.put("end-context", number, at)
        self._stream.flush()

    # patches

    def patch_rewriter(self, module: ModuleType) -> None:
        """Walks, and patterns of all classes that are defined from here on."""
        tap = self
        walker, pattern = module.PatternRewriteWalker, module.RewritePattern
        run, known = walker.rewrite_region, pattern.__dict__.get("__init_subclass__")

        @functools.wraps(run)
        def tell_walk(self: Any, region: Any) -> Any:
            root = _root(region)
            name = type(self.pattern).__name__
            walk = None if root is None else tap.safely(tap.begin, root, name)
            if walk is None:
                return run(self, region)
            undo = _listen(self.listener, walk)
            error: BaseException | None = None
            try:
                return run(self, region)
            except BaseException as raised:
                error = raised
                raise
            finally:
                undo()
                tap.safely(tap.end, walk, name, error)

        def wrap(cls: Any) -> None:
            own = cls.__dict__.get("match_and_rewrite")
            if own is None or getattr(own, "__isabstractmethod__", False):
                return

            @functools.wraps(own)
            def match_and_rewrite(self: Any, op: Any, rewriter: Any) -> Any:
                walk = tap._walks[-1] if tap._walks else None
                if walk is None:
                    return own(self, op, rewriter)
                done, walk.claimed = rewriter.has_done_action, False
                rewriter.has_done_action = False
                try:
                    return own(self, op, rewriter)
                finally:
                    if rewriter.has_done_action and not walk.claimed:
                        tap.safely(tap.changed, self, op)
                        walk.claimed = True
                    elif not rewriter.has_done_action:
                        walk.claimed = False
                    rewriter.has_done_action |= done

            cls.match_and_rewrite = match_and_rewrite

        def init_subclass(cls: Any, **kwargs: Any) -> None:
            if known is None:
                super(pattern, cls).__init_subclass__(**kwargs)
            else:
                known.__func__(cls, **kwargs)
            tap.safely(wrap, cls)

        pattern.__init_subclass__ = classmethod(init_subclass)
        for cls in _below(pattern):
            wrap(cls)
        walker.rewrite_region = tell_walk

    def patch_passes(self, module: ModuleType) -> None:
        """Passes of all classes that are defined from here on."""
        tap, base = self, module.ModulePass

        def wrap(cls: Any) -> None:
            own = cls.__dict__.get("apply")
            if own is None or getattr(own, "__isabstractmethod__", False):
                return

            @functools.wraps(own)
            def apply(self: Any, ctx: Any, op: Any) -> Any:
                name = str(getattr(self, "name", type(self).__name__))
                number = tap.safely(tap.begin_context, name, op)
                try:
                    return own(self, ctx, op)
                finally:
                    if number is not None:
                        tap.safely(tap.end_context, number, name, op)

            cls.apply = apply

        known = base.__dict__.get("__init_subclass__")

        def init_subclass(cls: Any, **kwargs: Any) -> None:
            if known is None:
                super(base, cls).__init_subclass__(**kwargs)
            else:
                known.__func__(cls, **kwargs)
            tap.safely(wrap, cls)

        base.__init_subclass__ = classmethod(init_subclass)
        for cls in _below(base):
            wrap(cls)


_PATCHES: dict[str, tuple[Callable[[_Tap, ModuleType], None], tuple[str, ...]]] = {
    "xdsl.pattern_rewriter": (
        _Tap.patch_rewriter,
        (
            "PatternRewriteWalker.rewrite_region",
            "RewritePattern.match_and_rewrite",
            "PatternRewriterListener.handle_operation_replacement",
        ),
    ),
    "xdsl.passes": (_Tap.patch_passes, ("ModulePass.apply",)),
}


class _Module:
    """The ops below one op, told as nodes that never change."""

    def __init__(self, stream: Stream, count: Any, root: Any) -> None:
        self._stream, self._count, self.root = stream, count, root
        self._known: dict[Any, tuple[int, tuple[Any, ...]]] = {}
        """The number of each op, block and argument, and what was written of it."""
        self._serials: dict[Any, int] = {}
        self.last_text: Printed | None = None
        self._printed = 0
        """The node of all of it when it was printed last."""

    def text(self) -> Printed | None:
        """Its text as last written, which is current; None where xDSL cannot print it."""
        now = self.number(self.root)
        if now != self._printed:
            self._printed, self.last_text = now, printed(self.root, self.number)
        return self.last_text

    def number(self, op: Any) -> int:
        """The number of an op as it was written last; 0 for none."""
        known = self._known.get(op)
        return 0 if known is None else known[0]

    def value(self, value: Any) -> int:
        """The number of what a value is of."""
        owner = value.owner
        return self._argument(value) if hasattr(owner, "args") else self.write(owner)

    def write(self, op: Any) -> int:
        """The number of an op as it is now, with all that it needs."""
        stack: list[tuple[Any, bool]] = [(op, False)]
        while stack:
            at, opened = stack.pop()
            if opened:
                self._tell(at)
                continue
            stack.append((at, True))
            for below in self._below(at):
                if below not in self._known:
                    stack.append((below, False))
        return self._known[op][0]

    def around(self, blocks: list[Any]) -> tuple[int, int]:
        """The first of these blocks, in which something has changed, before and after; the whole
        module where none is known."""
        block = next((block for block in blocks if block is not None), None)
        while block is not None and block not in self._known:
            parent = block.parent_op()
            block = None if parent is None else parent.parent
        if block is None:
            old = self.number(self.root)
            return old, self.rest()[0]
        for one in block.ops:
            if one not in self._known:
                self.write(one)
        old = self._known[block][0]
        return old, self._tell(block)

    def rest(self) -> tuple[int, list[tuple[int, int]]]:
        """The whole module as it is now: its number, and which nodes have changed, sources
        first."""
        rebuilt: list[tuple[int, int]] = []
        seen: set[Any] = set()
        stack: list[tuple[Any, bool]] = [(self.root, False)]
        while stack:
            at, opened = stack.pop()
            if opened:
                known = self._known.get(at)
                number = self._tell(at)
                if known is not None and known[0] != number:
                    rebuilt.append((known[0], number))
            elif at not in seen:
                seen.add(at)
                stack.append((at, True))
                stack += [(below, False) for below in self._below(at) if below not in seen]
        for gone in [one for one in self._known if one not in seen and not hasattr(one, "owner")]:
            del self._known[gone]
        return self._known[self.root][0], rebuilt

    def _below(self, at: Any) -> list[Any]:
        """What an op reads, and its blocks; the ops of a block."""
        if hasattr(at, "operands"):
            read = [v.owner for v in at.operands if not hasattr(v.owner, "args")]
            return [*read, *(block for region in at.regions for block in region.blocks)]
        return [*at.ops]

    def _tell(self, at: Any) -> int:
        is_op = hasattr(at, "operands")
        what = self._op(at) if is_op else self._block(at)
        known = self._known.get(at)
        if known is not None and known[1] == what:
            return known[0]
        number = next(self._count)
        self._known[at] = number, what
        op, dtype, arg, place, sources = what
        more = {"tag": json.dumps(f"#{self._serial(at)}")}
        if arg:
            more["arg"] = json.dumps(arg)
        if place:
            more["call"] = place
        self._stream.put("node", number, op, dtype, [*sources], more)
        return number

    def _op(self, op: Any) -> tuple[Any, ...]:
        sources = [
            self._argument(v) if hasattr(v.owner, "args") else self._known[v.owner][0]
            for v in op.operands
        ]
        sources += [self._known[b][0] for region in op.regions for b in region.blocks]
        types = ", ".join(str(result.type) for result in op.results)[:_MAX_TYPE]
        named = {**getattr(op, "properties", {}), **op.attributes}
        parts = [f"{name} = {value}" for name, value in named.items()]
        places = [getattr(v, "index", 0) for v in op.operands]
        parts += [
            f"${at}#{n}" for at, n in enumerate(places) if n and not self._is_argument(op, at)
        ]
        text = ", ".join(parts)
        return op.name, types, text[:_MAX_ARG], "", tuple(sources)

    def _is_argument(self, op: Any, at: int) -> bool:
        return hasattr(op.operands[at].owner, "args")

    def _block(self, block: Any) -> tuple[Any, ...]:
        """Its arguments, and the ops that nothing else in it reads."""
        ops = [*block.ops]
        read = {v.owner for op in ops for v in op.operands}
        ends = [self._known[op][0] for op in ops if op not in read]
        arguments = [self._argument(one) for one in block.args]
        return "block", "", "", "", (*arguments, *ends)

    def _argument(self, value: Any) -> int:
        known = self._known.get(value)
        if known is None:
            number = next(self._count)
            known = self._known[value] = number, ()
            more = {
                "arg": json.dumps(f"#{value.index}"),
                "tag": json.dumps(f"#{self._serial(value)}"),
            }
            self._stream.put("node", number, "argument", str(value.type)[:_MAX_TYPE], [], more)
        return known[0]

    def _serial(self, at: Any) -> int:
        return self._serials.setdefault(at, len(self._serials) + 1)


def _root(region: Any) -> Any:
    """The op that all around a region is in."""
    op = region.parent
    while op is not None and (outer := op.parent_op()) is not None:
        op = outer
    return op


def _listen(listener: Any, walk: _Walk) -> Callable[[], None]:
    """Hears of what patterns do; the answer ends that."""

    def inserted(op: Any) -> None:
        walk.touched[op] = None

    def removed(op: Any) -> None:
        walk.removed[op] = op.parent

    def replaced(op: Any, results: Any) -> None:
        walk.replaced[op] = [*results]

    pairs = (
        (listener.operation_insertion_handler, inserted),
        (listener.operation_modification_handler, inserted),
        (listener.operation_removal_handler, removed),
        (listener.operation_replacement_handler, replaced),
    )
    for handlers, one in pairs:
        handlers.append(one)

    def undo() -> None:
        for handlers, one in pairs:
            if one in handlers:
                handlers.remove(one)

    return undo


def _below(cls: Any) -> list[Any]:
    found = [*cls.__subclasses__()]
    for one in found:
        found += [sub for sub in one.__subclasses__() if sub not in found]
    return found


def _by_pass() -> dict[str, Any]:
    return {"doc": "what a pass changed without a pattern"}


def _about(cls: Any) -> dict[str, Any]:
    try:
        lines, line = inspect.getsourcelines(cls)
        file = inspect.getsourcefile(cls) or ""
    except (OSError, TypeError):
        return {}
    doc = re.sub(r"\s+\n", "\n", inspect.getdoc(cls) or "")
    return {"file": file, "line": line, "source": "".join(lines[:120]), "doc": doc[:2000]}
