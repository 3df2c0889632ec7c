"""Mistakes that the operators of tests/mutants.py make of rules, in programs that use them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

import core
from core.uop.patterns.rule import Rule
from tests.mutants import texts_of
from tests.planted.mistake import ROOT, Kind, Mistake

SEED: Final = 1
_KINDS: Final[Mapping[str, Kind]] = {
    "core/uop/symbolic": "integers, interaction of rules",
    "core/passes/decompose": "decompositions",
    "core/passes/loops/collapse.py": "collapse",
    "core/passes/schedule/multi": "several devices, lengths, gradients, renderers, memory",
    "core/passes/schedule": "views, schedule, size 1",
    "core/passes/loops/trim.py": "several devices, lengths, gradients, renderers, memory",
    "core/gradients/gradient.py": "several devices, lengths, gradients, renderers, memory",
    "core/passes/ptx": "GPU dims, PTX, tensor cores",
    "core/passes/loops/gpudims.py": "GPU dims, PTX, tensor cores",
    "core/passes/vectors/products.py": "GPU dims, PTX, tensor cores",
    "core/passes": "lower to devectorize, lanes, opts, gates",
}
"""The kind of the mistakes in a file or folder; the first that fits."""


@cache
def rules() -> dict[str, Rule]:
    """The rules of the compiler by name, without those whose name others have, too."""
    found: dict[str, list[Rule]] = {}
    for module in pkgutil.walk_packages(core.__path__, "core."):
        if not module.name.startswith(
            ("core.passes", "core.uop.symbolic", "core.gradients.gradient")
        ):
            continue
        made = importlib.import_module(module.name)
        for value in vars(made).values():
            if isinstance(value, Rule) and value.function.__module__ == module.name:
                found.setdefault(value.name, []).append(value)
    return {name: same[0] for name, same in found.items() if len(same) == 1}


def generated(count: int, used: Mapping[str, Mapping[str, Any]]) -> Iterator[Mistake]:
    """So many, each once. `used`: for each program the rules that match in it."""
    rng = Random(SEED)
    programs: dict[str, list[str]] = {}
    for program, names in used.items():
        for name in names:
            programs.setdefault(name, []).append(program)
    known = rules()
    names = sorted(set(programs).intersection(known))
    choices = [(name, *text) for name in names for text in texts_of(known[name])]
    rng.shuffle(choices)
    made = 0
    for name, how, line, text in choices:
        mistake = _mistake(known[name], how, line, text, min(programs[name], key=len))
        if mistake is None or made == count:
            continue
        made += 1
        yield mistake


def _mistake(rule: Rule, how: str, line: str, text: str, program: str) -> Mistake | None:
    path = Path(inspect.getsourcefile(rule.function) or "")
    if not path.is_relative_to(ROOT):
        return None
    file = path.relative_to(ROOT).as_posix()
    kinds: list[Kind] = [kind for begin, kind in _KINDS.items() if file.startswith(begin)]
    if not kinds:
        return None
    name = f"{rule.name}: {how}: {line}"
    found = Mistake(name, kinds[0], file, rule.source, text, program, (rule.name,), how)
    return None if found.problem() else found
