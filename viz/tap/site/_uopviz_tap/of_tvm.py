"""TVM: its passes over modules, each one step; what a pass changed follows from the printed module.

A pass inside of which others run, such as a pipeline, is a group. An instrument hears of passes: it
is added to each context that the program makes, and to the one that is there without.
"""

from __future__ import annotations

import functools
import itertools
import weakref
from importlib import import_module
from types import ModuleType
from typing import Any

from _uopviz_tap.guard import GuardedTap, member, version_of
from _uopviz_tap.passtexts import PassTexts
from _uopviz_tap.stream import Stream
from _uopviz_tap.tvmscript import Script

DIALECT = 1
"""The version of the dialect in which nodes are told: `viz/compilers/tvm.py`."""
_WANTED = ("PassContext.__init__", "PassContext.override_instruments", "PassContext.current",
           "Pass.__call__")  # fmt: skip
_taps: weakref.WeakKeyDictionary[Stream, _Tap] = weakref.WeakKeyDictionary()


def attach(module: ModuleType, stream: Stream) -> None:
    """Patches `tvm.ir.transform`, whose body has just run; tells a problem where it is not what is
    known, and leaves it as it was."""
    missing = next((name for name in _WANTED if member(module, name) is None), None)
    if missing is not None:
        what = f"tvm {version_of('apache-tvm')}: {missing} is not as expected; nothing is recorded"
        stream.problem(what, module.__name__, "uopviz records TVM 0.27 and its neighbours")
        return
    tap = _taps.get(stream)
    if tap is None:
        tap = _taps[stream] = _Tap(stream)
    tap.patch(module)


class _Open:
    """A pass that runs. `context`: its group, once another pass runs inside of it."""

    def __init__(self, name: str, at: int, module: Any) -> None:
        self.name, self.at, self.module = name, at, module
        self.context = 0


class _Tap(GuardedTap):
    """Tells what passes do to modules."""

    COMPILER, PACKAGE, TITLE, DIALECT = "tvm", "apache-tvm", "TVM", DIALECT

    def reset(self) -> None:
        """No module or pass is known."""
        self._entries = itertools.count(1)
        self._open: list[_Open] = []
        self._rules: dict[str, int] = {}
        self._nodes: dict[tuple[Any, ...], int] = {}
        self._texts = PassTexts(self._stream)
        self._last: tuple[Any, Script | None] = (None, None)

    def _script(self, module: Any) -> Script | None:
        """A module as it is told; None for one that cannot be printed or read."""
        known, made = self._last
        if known is not None and module.same_as(known):
            return made
        try:
            text = str(module.script())
            found = (
                made
                if made is not None and text == made.printed.text
                else Script(text, self._stream, self._nodes)
            )
        except (SyntaxError, ValueError, RecursionError, RuntimeError):
            found = None
        self._last = module, found
        return found

    def begin(self, module: Any, name: str) -> None:
        """A pass begins."""
        around = 0
        for one in self._open:
            if not one.context:
                one.context = next(self._entries)
                self._stream.put("context", one.context, around, one.name, "group", one.at)
            around = one.context
        self._open.append(_Open(name, self._stream.now(), module))

    def end(self, module: Any, name: str) -> None:
        """A pass is over."""
        at = self._stream.now()
        if all(one.name != name for one in self._open):
            return
        while (opened := self._open.pop()).name != name:
            pass
        if opened.context:
            self._stream.put("end-context", opened.context, at)
        elif self._texts.has_room:
            self._tell(opened, module, at)
        if not self._open:
            self._stream.flush()

    def _tell(self, opened: _Open, module: Any, at: int) -> None:
        before = self._script(opened.module)
        after = self._script(module)
        if before is None or after is None:
            return
        number, context = next(self._entries), self._open[-1].context if self._open else 0
        how = {"at": opened.at}
        self._stream.put("rewrite", number, context, opened.name, before.sink, how)
        if before.sink != after.sink:
            changed = [
                (old, after.pairs[place])
                for place, old in before.pairs.items()
                if after.pairs.get(place, old) != old
            ]
            rule = self._rule(opened.name)
            self._stream.put("match", number, rule, *changed.pop(0), {}, 0)
            for old, new in changed:
                self._stream.put("rebuild", number, old, new)
            self._texts.tell(number, before.printed, after.printed)
        self._stream.put("result", number, after.sink, at)

    def _rule(self, name: str) -> int:
        known = self._rules.get(name)
        if known is None:
            known = self._rules[name] = len(self._rules) + 1
            self._stream.put("rule", known, name, {"doc": "a pass of TVM"})
        return known

    def patch(self, module: ModuleType) -> None:
        """Adds an instrument to every context."""
        tap, context = self, module.PassContext
        make, run = context.__init__, module.Pass.__call__
        instrument: list[Any] = []

        def hearing() -> list[Any]:
            """The instrument, made when TVM is loaded."""
            if not instrument:
                base: Any = import_module("tvm.ir.instrument").PassInstrument

                class Instrument(base):
                    """Tells of passes."""

                    def run_before_pass(self, mod: Any, info: Any) -> None:
                        tap.safely(tap.begin, mod, str(info.name))

                    def run_after_pass(self, mod: Any, info: Any) -> None:
                        tap.safely(tap.end, mod, str(info.name))

                instrument.append(Instrument())
            return instrument

        @functools.wraps(make)
        def init(
            self: Any,
            opt_level: Any = 2,
            required_pass: Any = None,
            disabled_pass: Any = None,
            instruments: Any = None,
            config: Any = None,
        ) -> None:
            own = [*(instruments or []), *(tap.safely(hearing) or [])]
            make(self, opt_level, required_pass, disabled_pass, own, config)

        def hear_default() -> None:
            """The context that nobody made has no instruments."""
            now = context.current()
            if not [*now.instruments]:
                now.override_instruments(hearing())

        @functools.wraps(run)
        def call(self: Any, mod: Any) -> Any:
            tap.safely(hear_default)
            return run(self, mod)

        context.__init__ = init
        module.Pass.__call__ = call
