"""The pass that a question is about: its steps, its rules in order, and where they were tried.

Never says why.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from core.errors import BudgetError, TraceError
from viz.budget import part, take
from viz.format.cells import as_int, as_list, as_object, as_text
from viz.read.nodes import Sources
from viz.read.records import Rewrite
from viz.read.steps import RewriteSteps, read_steps
from viz.terminal import show_command
from viz.views.runs.process import STRIDE, Process
from viz.views.store import Store
from viz.why.fit import Fitter
from viz.why.rules.installed import Installed
from viz.why.rules.rulesets import RuleSet, RuleSets
from viz.why.walked import SUBSTITUTIONS, Hit, Walked, hits_of, walk

MAX_STEPS: Final = 100_000
MAX_STATED: Final = 300
"""Characters of why a rule declined."""
MAX_SETS: Final = 8
"""Sets of rules of passes of one name that are tried in pairs."""


class Subject:
    """A pass of a run, by its number. Raises TraceError where there is none, and BudgetError."""

    def __init__(self, store: Store, rewrite: int) -> None:
        self.store = store
        self.process = process_of(store, rewrite)
        self.file = self.process.file
        found = self.file.rewrites.get(rewrite % STRIDE)
        if found is None:
            raise TraceError(
                f"there is no pass {rewrite} in this trace",
                hint=f"`{show_command(store.path, '--tree')}` lists the numbers",
            )
        self.rewrite: Rewrite = found
        self.number = rewrite
        with part(1 / 2):
            self.events: RewriteSteps = read_steps(self.file, found, MAX_STEPS)
        self.hits: dict[int, Hit] = hits_of(self.events)
        self.rule_sets = RuleSets(self.file)
        self.fitter = Fitter(self.process, store.compiles, Installed())

    def stated(self, rule: int, node: int) -> str:
        """Why a rule declined a node in this pass, in the words of its compiler; "" where it told
        none."""
        told = as_object(self.file.meta.get("reasons"))
        texts, rows = as_list(told.get("texts")), as_list(told.get("rows"))
        take(len(rows))
        for row in map(as_list, rows):
            if len(row) == 4 and row[:3] == [self.rewrite.id, rule, node]:
                at = as_int(row[3])
                return as_text(texts[at], MAX_STATED) if 0 <= at < len(texts) else ""
        return ""

    @property
    def place(self) -> str:
        """How its numbers are named to the user."""
        return f"pass {self.number} {self.rewrite.name}"

    def u(self, node: int) -> str:
        """A node of the file as people write it: `u123`."""
        return f"u{self.process.node(node)}"

    def rule_name(self, rule: int) -> str:
        """The name of a rule of the file."""
        record = self.file.rules.get(rule)
        return record.name if record is not None else "?"

    def node(self, number: int) -> int:
        """The number in the file of a node of the run. Raises TraceError for one that it does not
        have."""
        local = self.process.local_node(number)
        if local is None:
            raise TraceError(
                f"there is no node u{number} in the process of this pass",
                hint="the page has the number of each node, `uopviz show PASS STEP` of bound ones",
            )
        return local

    def locals_of(self, rule: int) -> list[int]:
        """The rules of the file that are a rule of the run: equal ones are one there."""
        return [n for n in [*self.file.rules] if self.process.rule(n) == rule]

    @cached_property
    def sets(self) -> list[RuleSet]:
        """Its sets of rules, in the order in which they are tried; none where it is not known."""
        return self._way[0]

    @cached_property
    def walked(self) -> Walked | None:
        """Where rules were tried; None where that cannot be told."""
        return self._way[1]

    @property
    def first(self) -> RuleSet:
        """The rules that go before a node's sources."""
        return self.sets[0] if self.sets and (self.rewrite.bottom_up or len(self.sets) > 1) else ()

    @cached_property
    def order(self) -> dict[int, int]:
        """Its rules, and which place each has."""
        rules = itertools.chain.from_iterable(self.sets)
        return {rule: at for at, rule in enumerate(dict.fromkeys(rules))}

    @cached_property
    def members(self) -> set[int]:
        """Every node that its graph had at any time."""
        sources, found = Sources(self.file.nodes), set[int]()
        for root in self._roots():
            stack = [root]
            while stack:
                node = stack.pop()
                if node not in found:
                    take(1, 100)
                    found.add(node)
                    stack += sources[node]
        return found

    def _roots(self) -> Iterator[int]:
        if 0 < self.rewrite.sink <= self.file.nodes.count:
            yield self.rewrite.sink
        for _, new in self.events.leading:
            yield new
        for match, rebuilds in self.events.steps:
            yield match.after
            for _, new in rebuilds:
                yield new

    def _roots_of(self, way: Sequence[RuleSet]) -> frozenset[str] | None:
        """The ops that the rules of some sets may begin with; None: any."""
        found = [self.file.root_ops(rule) for one in way for rule in one]
        return None if None in found else frozenset().union(*(ops for ops in found if ops))

    @cached_property
    def _way(self) -> tuple[list[RuleSet], Walked | None]:
        """Passes of one name mostly have one set of rules; of several, those that go with the
        steps."""
        known = self.rule_sets.of(self.rewrite.name)
        if not self.store.compiles or len(known) > MAX_SETS:
            return known, None
        heard = {match.rule for match, _ in self.events.steps}
        heard |= {rule for _, rule, _ in self.events.declines}
        heard = {rule for rule in heard if self.rule_name(rule) not in SUBSTITUTIONS}
        ways: list[list[RuleSet]] = [[one] for one in known]
        if self.file.visits.counts and not heard:
            ways = ways or [[()]]  # no node was offered to any rule
        if not self.rewrite.bottom_up and "+" in self.rewrite.matcher:
            ways = [[*pair] for pair in itertools.permutations(known, 2)] + ways
        for way in ways:
            if len(ways) > 1 and not heard.issubset(itertools.chain.from_iterable(way)):
                continue
            two = len(way) == 2
            first = way[0] if two or self.rewrite.bottom_up else ()
            try:
                with part(1 / 3):
                    bottom, roots = not self.rewrite.bottom_up, self._roots_of(way)
                    walked = walk(self.file, self.rewrite, self.events, first, bottom, roots)
            except BudgetError:
                continue
            if walked is not None:
                return (way if known else []), walked
        return known, None


def process_of(store: Store, number: int) -> Process:
    """The process, or the compilation on request, that a number of the run belongs to. Raises
    TraceError where there is none."""
    for process in (*store.processes, *store.compilations):
        if process.number == number // STRIDE:
            return process
    raise TraceError(f"nothing in this run has the number {number}", hint="`uopviz show --tree`")
