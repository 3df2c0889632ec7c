"""Finds a recorded rule in a file that the user names, which is run to have it.

For rules of the user's own script, which no installation has. A trace never names the file, and it
is run only in the worker, which records nothing and writes no file. What it prints goes to standard
error. Never calls a rule.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

from core.uop.patterns.rule import Rule
from viz.format.cells import as_text
from viz.read.records import RuleRecord
from viz.recording.patterns import pattern_data, source_of
from viz.views.rules.rulebook import clean_pattern
from viz.why.rules.installed import rules_of

_NAME: Final = "uopviz_given"


def find_given(path: Path, record: RuleRecord) -> tuple[Rule | None, str]:
    """The rule that a recorded one is, with the same text and pattern; or None, and why there is
    none."""
    try:
        module = _loaded(path)
    except (Exception, SystemExit) as error:
        return None, f"{path.name} raises {type(error).__name__} when it is run: {error}"
    named = [rule for rule in _rules(module, path) if rule.name == record.name]
    if not named:
        return None, f"{path.name} has no rule {record.name}"
    source = as_text(record.texts.get("source"))
    wanted = clean_pattern(record.texts.get("pattern"))
    for rule in named:
        same = source_of(rule).rstrip() == source.rstrip()
        if same and clean_pattern(pattern_data(rule.pattern)) == wanted:
            return rule, ""
    return None, f"the text of {record.name} in {path.name} is not the recorded one"


def _loaded(path: Path) -> ModuleType:
    """The file as a module, which is not `__main__`."""
    spec = spec_from_file_location(_NAME, path)
    if spec is None or spec.loader is None:
        raise ImportError("this is no Python file")
    module = module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    sys.modules[_NAME] = module
    with redirect_stdout(sys.stderr):
        spec.loader.exec_module(module)
    return module


def _rules(module: ModuleType, path: Path) -> Iterator[Rule]:
    """The rules that the file itself has."""
    for value in [*vars(module).values()]:
        yield from (rule for rule in rules_of(value) if Path(rule.file) == path)
