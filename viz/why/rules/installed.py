"""Finds the rule of this installation that a recorded rule is, where its text is the same today.

Only rules of `core`, in modules that the compiler is made of: a name in a trace has nothing
imported. The text of the function has to be the same, line by line, and the pattern. Never calls a
rule.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final, cast

from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import Rule
from viz.coredialect.adapter import DIALECT
from viz.files.sources import lines_today
from viz.format.cells import as_int, as_text
from viz.read.records import RuleRecord
from viz.recording.patterns import pattern_data
from viz.views.rules.rulebook import clean_pattern
from viz.views.since.files import own_file
from viz.views.since.rules import FileToday

_OWN: Final = "; uopviz why-not --load FILE takes it from a file of yours"
LOADING: Final = ("core.compile", "core.gradients.gradient", "core.realize")
"""Modules that load all others of `core` whose rules a trace has. Loaded with the first question: a
server does not wait for the compiler before it shows the page."""


class Installed:
    """The rules of this installation, each looked up once."""

    def __init__(self) -> None:
        self._files: dict[Path, FileToday | None] = {}
        self._rules: dict[str, list[Rule]] = {}
        """By file."""

    def find(self, record: RuleRecord) -> tuple[Rule | None, str]:
        """The rule, and "" ; or None, and why there is none."""
        path = own_file(record.file, DIALECT.sources)
        if path is None:
            return None, f"it is not a rule of this installation{_OWN}"
        today = self._today(path)
        if today is None:
            return None, f"{path.name} cannot be read"
        source = as_text(record.texts.get("source"))
        line = as_int(record.texts.get("sourceLine"), record.line)
        state = today.find(record.name, source, line)
        if state is None:
            return None, "the trace has no text of it"
        if state.state not in ("same", "moved"):
            return None, "its text has changed since the run"
        wanted = clean_pattern(record.texts.get("pattern"))
        at = record.line + state.line - line
        for rule in self._of(path):
            named = rule.name == record.name and rule.line == at
            if named and clean_pattern(pattern_data(rule.pattern)) == wanted:
                return rule, ""
        return None, "no such rule with this pattern is loaded"

    def _today(self, path: Path) -> FileToday | None:
        if path not in self._files:
            lines = lines_today(path)
            self._files[path] = None if lines is None else FileToday(lines)
        return self._files[path]

    def _of(self, path: Path) -> list[Rule]:
        """The rules that are written in a file of `core`."""
        if not self._rules:
            for rule in dict.fromkeys(_loaded()):
                self._rules.setdefault(rule.file, []).append(rule)
        return self._rules.get(str(path), [])


def _loaded() -> Iterator[Rule]:
    """The rules of all modules of `core` that are loaded: those with a name, and those of sets."""
    for name in LOADING:
        import_module(name)
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] != "core":
            continue
        for value in [*vars(module).values()]:
            yield from rules_of(value)


def rules_of(value: object) -> Iterator[Rule]:
    """The rules that a name of a module stands for: one, those of a set, or of a list."""
    if isinstance(value, Rule):
        yield value
    elif isinstance(value, PatternMatcher):
        yield from value.rules
    elif isinstance(value, tuple | list):
        for item in cast("tuple[object, ...]", value):
            if isinstance(item, Rule):
                yield item
