"""Whether the pattern of a rule fits a node of a trace, and where it does not.

By the installed rule, where it is the recorded one, on nodes of `core`; else by the recorded
pattern, on texts, which runs no code. Both are walked by the interpreted matcher. Never calls the
function of a rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.errors import BudgetError, UopvizError
from core.uop.engine.explain import Kind, Misfits, misfit
from core.uop.patterns.interpreted import matches
from core.uop.patterns.rule import Rule
from core.uop.patterns.upat import UPat
from core.uop.uop import UOp
from viz.budget import take
from viz.coredialect.facts import INVALID, core_facts
from viz.views.runs.process import Process
from viz.why.rules.installed import Installed
from viz.why.rules.recorded import TextNode, TextNodes, as_uop, pattern_of

MAX_GRAPH: Final = 200_000
"""Nodes below one that installed rules look at; conditions may ask for bounds and shapes."""
_NODE: Final = 40
"""Items that a node of `core` counts for: making it takes as long as looking at that many."""
_BYTES: Final = 1500


@dataclass(frozen=True)
class Misfit:
    """Where a pattern failed: which child of the pattern it is (`path`, from the whole pattern
    down), what was expected of the node there, and what was found."""

    kind: Kind
    path: tuple[int, ...]
    node: int
    expected: str
    found: str


@dataclass(frozen=True)
class Fit:
    """How far a pattern fits a node; nodes by their numbers in the file. `misfit`: None where it
    fits. `fitted`: the parts that do, with their nodes. `installed`: whether the installed rule was
    asked; `why`: why it was not."""

    misfit: Misfit | None
    binds: tuple[tuple[str, int], ...]
    fitted: tuple[tuple[tuple[int, ...], int], ...]
    installed: bool
    why: str

    @property
    def fits(self) -> bool:
        """Whether the whole pattern does."""
        return self.misfit is None


class Fitter:
    """The nodes and rules of one file. Its answers raise BudgetError."""

    def __init__(self, process: Process, own: bool, installed: Installed) -> None:
        self._process, self._own, self._installed = process, own, installed
        self._texts = TextNodes(process.file)
        self._numbers: dict[UOp, int] = {}
        self._known: set[int] = set()
        self._patterns: dict[int, UPat | str] = {}
        self._rules: dict[int, tuple[Rule | None, str]] = {}

    def rule(self, rule: int) -> tuple[Rule | None, str]:
        """The installed rule that a rule of the file is; or why there is none."""
        if rule not in self._rules:
            record = self._process.file.rules.get(rule)
            if not self._own:
                self._rules[rule] = None, "the run is another compiler's"
            elif record is None:
                self._rules[rule] = None, "the trace does not have it"
            else:
                self._rules[rule] = self._installed.find(record)
        return self._rules[rule]

    def fit(self, rule: int, node: int) -> Fit | str:
        """How far the pattern of a rule fits a node; or why that cannot be told."""
        installed, why = self.rule(rule)
        if installed is not None:
            uop = self.uop(node)
            if uop is None:
                why = "the node cannot be made anew"
            else:
                try:
                    return self._by_installed(installed, uop)
                except INVALID as error:
                    if isinstance(error, BudgetError):
                        raise
                    why = f"its pattern raises {type(error).__name__} at this node"
        return self._by_recorded(rule, node, why)

    def uop(self, node: int) -> UOp | None:
        """A node as one of `core`; None where it cannot be made, or is too large."""
        self._learn(node)
        if node not in self._known:
            return None
        return core_facts(self._process).uops([node])[0]

    def _learn(self, node: int) -> None:
        """Makes a node with all below it, and keeps their numbers."""
        if node in self._known:
            return
        order = self._process.file.nodes.reachable(node)
        if len(order) > MAX_GRAPH:
            return
        new = [n for n in order if n not in self._known]
        take(_NODE * len(new), _BYTES * len(new))
        for number, uop in zip(new, core_facts(self._process).uops(new), strict=True):
            if uop is not None:
                self._known.add(number)
                self._numbers.setdefault(uop, number)

    def _by_installed(self, rule: Rule, uop: UOp) -> Fit:
        found = misfit(rule.pattern, uop)
        if found is None:
            return self._whole(next(matches(rule.pattern, uop)), self._numbers, True, "")
        return self._partial(found, self._numbers, True, "")

    def _by_recorded(self, rule: int, node: int, why: str) -> Fit | str:
        record = self._process.file.rules.get(rule)
        if record is None:
            return "the trace does not have this rule"
        if rule not in self._patterns:
            try:
                self._patterns[rule] = pattern_of(record.texts.get("pattern"))
            except BudgetError:
                raise
            except UopvizError as error:
                self._patterns[rule] = error.what
        pattern = self._patterns[rule]
        if isinstance(pattern, str):
            return pattern
        start = as_uop(self._texts.node(node))
        try:
            found = misfit(pattern, start)
            if found is None:
                return self._whole(next(matches(pattern, start)), None, False, why)
            return self._partial(found, None, False, why)
        except RecursionError:
            return "the recorded pattern is too deep"

    def _whole(
        self, binds: Mapping[str, UOp], numbers: Mapping[UOp, int] | None, own: bool, why: str
    ) -> Fit:
        return Fit(None, self._bound(binds, numbers), (), own, why)

    def _partial(
        self, found: Misfits, numbers: Mapping[UOp, int] | None, own: bool, why: str
    ) -> Fit:
        at = _number(found.node, numbers)
        made = Misfit(found.kind, found.path, at, found.expected, found.found)
        fitted = tuple((path, _number(node, numbers)) for path, node in found.fitted)
        return Fit(made, self._bound(found.binds, numbers), fitted, own, why)

    def _bound(
        self, binds: Mapping[str, UOp], numbers: Mapping[UOp, int] | None
    ) -> tuple[tuple[str, int], ...]:
        take(len(binds), 200 * len(binds))
        return tuple((name, _number(node, numbers)) for name, node in binds.items())


def _number(node: UOp | TextNode, numbers: Mapping[UOp, int] | None) -> int:
    """The number of a node in the file; 0 for one that a condition made, or that is unknown."""
    if isinstance(node, TextNode):
        return node.number
    return 0 if numbers is None else numbers.get(node, 0)
