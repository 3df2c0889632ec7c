"""What is said of a pair of scopes: how it was matched, what it takes on both sides, and the first
thing that differs. `ScopePair` of viz/web/src/data/messages/compare.ts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from viz.budget import take
from viz.compare.matching.difference import (
    FirstDifference,
    PassMatch,
    compare_passes,
    first_difference,
    node_words,
)
from viz.compare.matching.pairing import ScopeMatch
from viz.compare.matching.rules import Rules
from viz.compare.matching.side import Part, Scope, Side
from viz.compare.matching.texts import Digest, digests_of
from viz.format.cells import as_text
from viz.ratio import Apart, Times, apart
from viz.read.records import Context, Rewrite
from viz.views.overview.programs import Program

Data = dict[str, Any]
_MAX_NAME: Final = 200
_PAIR: Final = 3000
"""Bytes of the answer about a pair."""
_NEVER: Final[Times] = np.zeros(0)
STATES: Final = ("changed", "added", "removed", "equal")
"""In the order in which pairs are listed."""


@dataclass(frozen=True)
class Figures:
    """What a scope takes on one side; None: the trace does not say."""

    steps: int
    nodes: int | None
    launches: int | None
    us: float | None
    bytes: int | None
    lines: int | None
    registers: Mapping[str, int]

    @property
    def whole_us(self) -> float:
        """Of all launches, by their median."""
        return (self.us or 0.0) * (self.launches or 0)


@dataclass(frozen=True)
class Failure:
    """A rewrite that failed on one side only."""

    in_b: bool
    rewrite: int
    where: str
    message: str


@dataclass(eq=False)
class Pair:
    """A pair of scopes as it was compared."""

    match: ScopeMatch
    state: str
    a: Figures | None
    b: Figures | None
    first: FirstDifference | None
    ratio: Apart | None = None
    """How the times of launches compare; None where there are too few to tell."""
    says_the_same: bool = False
    """Whether each text of the scope is the same on both sides: its times differ by chance."""
    failures: list[Failure] = field(default_factory=list[Failure])

    def order(self) -> tuple[int, bool, float, int]:
        """The most changed first: those whose texts differ, then by time, then by steps."""
        one, other = self.a, self.b
        us = abs((one.whole_us if one else 0.0) - (other.whole_us if other else 0.0))
        steps = abs((one.steps if one else 0) - (other.steps if other else 0))
        us = us if math.isfinite(us) else 0.0
        return STATES.index(self.state), self.says_the_same, -us, -steps

    def data(self, sides: tuple[Side, Side], rules: Rules) -> Data:
        """As the page has it. Raises BudgetError."""
        match, a, b = self.match, self.a, self.b
        either = match.b or match.a
        assert either is not None
        targets = dict.fromkeys([*(a.registers if a else ()), *(b.registers if b else ())])
        take(8, _PAIR)
        return {
            "a": match.a.number if match.a else None,
            "b": match.b.number if match.b else None,
            "kind": either.kind,
            "state": self.state,
            "name": {
                "a": match.a.name[:_MAX_NAME] if match.a else None,
                "b": match.b.name[:_MAX_NAME] if match.b else None,
            },
            "call": either.call,
            "by": match.by,
            **{
                name: {
                    "a": getattr(a, name) if a else None,
                    "b": getattr(b, name) if b else None,
                }
                for name in ("steps", "nodes", "launches", "bytes", "lines")
            },
            "us": {
                "a": a.us if a else None,
                "b": b.us if b else None,
                "ratio": self.ratio.data() if self.ratio and not self.says_the_same else None,
            },
            "registers": [
                {
                    "target": target,
                    "a": a.registers.get(target) if a else None,
                    "b": b.registers.get(target) if b else None,
                }
                for target in targets
            ],
            "first": self._first(rules),
        }

    def _first(self, rules: Rules) -> Data | None:
        first = self.first
        if first is None or self.match.a is None or self.match.b is None:
            return None
        part_a, part_b = self.match.a.part, self.match.b.part
        one, other, place = first.match.a, first.match.b, first.place
        named = other or one
        return {
            "pass": named.name[:_MAX_NAME] if named else "",
            "a": part_a.process.id(one.id) if one else None,
            "b": part_b.process.id(other.id) if other else None,
            "stepA": place.a,
            "stepB": place.b,
            "ruleA": _rule_at(part_a, one, place.a),
            "ruleB": _rule_at(part_b, other, place.b),
            "node": node_words(part_b if first.in_b else part_a, first.node),
        }


def _rule_at(part: Part, rewrite: Rewrite | None, step: int | None) -> int | None:
    if rewrite is None or step is None:
        return None
    return part.process.rule(int(part.matches.of(rewrite.id)[step - 1, 0]))


def compare_pair(match: ScopeMatch, rules: Rules) -> Pair:
    """Compares a pair. Raises BudgetError."""
    a, b = match.a, match.b
    texts_a = digests_of(a) if a is not None else {}
    texts_b = digests_of(b) if b is not None else {}
    times_a, times_b = (_launched(s) if s is not None else _NEVER for s in (a, b))
    figures_a = figures_of(a, texts_a, times_a) if a is not None else None
    figures_b = figures_of(b, texts_b, times_b) if b is not None else None
    if a is None or b is None:
        failures = [f for s in (a, b) if s for f in _all_failures(s, s is b)]
        state = "removed" if b is None else "added"
        return Pair(match, state, figures_a, figures_b, None, failures=_innermost(failures))
    edited = a.is_edited or b.is_edited  # then there are no steps to compare
    passes = [] if edited else compare_passes(a, b, rules)
    first = None if edited else first_difference(a, b, passes)
    texts = texts_a.keys() == texts_b.keys() and all(
        text.key == texts_b[key].key for key, text in texts_a.items()
    )
    same = (
        first is None
        and texts
        and a.target == b.target
        and _failed(a) == _failed(b)
        and (bool(a.passes) or a.key == b.key)
    )
    return Pair(
        match,
        "equal" if same else "changed",
        figures_a,
        figures_b,
        first,
        apart(times_a, times_b),
        texts and bool(texts_a),
        _failures(a, b, passes),
    )


def _failed(scope: Scope) -> bool:
    return scope.entry.error is not None


def _all_failures(scope: Scope, in_b: bool) -> list[Failure]:
    own = [_own_failure(scope, in_b)] if _failed(scope) else []
    return [*own, *(_failure(scope, one, in_b) for one in scope.passes if one.error)]


def _failures(a: Scope, b: Scope, passes: list[PassMatch]) -> list[Failure]:
    found: list[Failure] = []
    if _failed(a) != _failed(b):
        found.append(_own_failure(b, True) if _failed(b) else _own_failure(a, False))
    for one in passes:
        failed_a = one.a is not None and one.a.error is not None
        failed_b = one.b is not None and one.b.error is not None
        if failed_a and not failed_b and one.a is not None:
            found.append(_failure(a, one.a, False))
        elif failed_b and not failed_a and one.b is not None:
            found.append(_failure(b, one.b, True))
    return _innermost(found)


def _innermost(failures: list[Failure]) -> list[Failure]:
    """Of those that one exception passed through, the last one that began."""
    return [*{(one.in_b, one.message): one for one in failures}.values()]


def _own_failure(scope: Scope, in_b: bool) -> Failure:
    """That of the scope as a whole, such as of a kernel whose text does not assemble; its last pass
    stands for it."""
    last = max((one.id for one in scope.passes), default=scope.entry.id)
    number = scope.part.process.id(last)
    return Failure(in_b, number, scope.name[:_MAX_NAME], _message(scope.entry.error))


def _failure(scope: Scope, rewrite: Rewrite, in_b: bool) -> Failure:
    where = f'{scope.name[:_MAX_NAME]}, pass "{rewrite.name[:_MAX_NAME]}"'
    return Failure(in_b, scope.part.process.id(rewrite.id), where, _message(rewrite.error))


def _message(error: Mapping[str, Any] | None) -> str:
    return as_text((error or {}).get("message"), 5000).partition("\n")[0][:500]


def figures_of(scope: Scope, texts: Mapping[tuple[str, str], Digest], times: Times) -> Figures:
    """What a scope takes; `times`: microseconds of its launches. Raises BudgetError."""
    program = _program(scope)
    lines = next((text.lines for text in texts.values()), None)
    registers: dict[str, int] = {}
    for target, value in program.registers if program is not None else ():
        if value.isascii() and value.isdigit():
            registers[target] = int(value)
    return Figures(
        scope.steps,
        scope.nodes or None,
        len(times) or None,
        float(np.median(times)) if len(times) else None,
        program.bytes or None if program is not None else None,
        lines,
        registers,
    )


def _program(scope: Scope) -> Program | None:
    if scope.kind != "kernel" or not isinstance(scope.entry, Context):
        return None
    return scope.part.process.programs.of(scope.entry)


def _launched(scope: Scope) -> Times:
    """How long each launch of a kernel took, on the devices that run its code."""
    program = _program(scope)
    if program is None:
        return _NEVER
    devices = scope.part.process.launches.named.get(program.name, {})
    may_run = scope.part.process.dialect.dialect.may_run
    times = [np.array(one.us) for name, one in devices.items() if may_run(name, program.target)]
    take(sum(map(len, times)))
    return np.concatenate([_NEVER, *times])
