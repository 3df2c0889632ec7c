"""Which pass, and which match in it, made the result of a kernel differ from the reference.

First the pass after which the result differs, then the match inside it, then, where that match
began rewrites of its own, the match inside those. Every state is run by an interpreter; nothing is
rendered. The rules may be those of the installation or, by a policy, others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from core.errors import SpecError, UopvizError
from core.passes.contract import Pass, check_contract, undone
from core.passes.pipeline import PASSES, TEXT_PASSES, entry, program_of
from core.passes.program.verify import verify_program
from core.prove.decide import Checker
from core.render.renderers import rendered_kinds
from core.runtime.reference.kernel import evaluate_kernel
from core.runtime.reference.selfreads import KERNELIZE, SELF_READS, misread
from core.target import Target
from core.uop.kernelinfo import KernelInfo, Opt
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.policy import Policy, following, ignoring, stage
from core.uop.patterns.rule import Rule
from core.uop.show import excerpt
from core.uop.spec.spec import broken_rule, machine_spec, program_spec
from core.uop.uop import UOp
from viz.whatif.narrowing.search import first_wrong_step
from viz.whatif.narrowing.states import Match, PassStates, names_of
from viz.whatif.results.arguments import givens
from viz.whatif.results.outcome import MEMORY, Expected, Outcome

LINEARIZE: Final = "linearize"
"""What follows the passes: a graph is put in order."""
Judged = Callable[[UOp | Sequence[UOp]], Outcome | None]
"""What a graph computes; None where that is not known."""
MAX_CHECKED: Final = 1_000
"""Matches that are checked one by one, where a graph breaks rules of graphs after them."""
MAX_LEFT_OUT: Final = 12
"""Rules that are left out, one at a time, where states between cannot be run."""


@dataclass(frozen=True, eq=False)
class Culprit:
    """What made a result wrong. `place`: the pass; `match`: the one in it. That is None where it is
    code of the pass outside of rules, without `candidates`, or where it could not be narrowed down
    further: then these are the rules that it may be. `occurrence`: which rewrite called `rewrite`
    with matches it is in, counted over all passes from 1. `before` and `after`: what the kernel
    computes without it and with it, as far as that is known. `left_out`: found by leaving the rule
    out, as the states around the match cannot be run."""

    place: str
    match: Match | None = None
    candidates: tuple[str, ...] = ()
    rewrite: str = ""
    occurrence: int = 0
    before: Outcome | None = None
    after: Outcome | None = None
    left_out: bool = False


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a search found. `outcome`: of the last state that was reached. `failed`: the pass that
    raised `error`; the culprit is then what made the state before it wrong, if it is, and `illegal`
    the match after which the graph breaks its rules, or whose function raised; or one before it in
    that pass whose two nodes do not compute the same. `asked`: states that were run."""

    outcome: Outcome | None
    culprit: Culprit | None
    asked: int
    failed: str = ""
    error: UopvizError | None = None
    illegal: Culprit | None = None


class Kernel:
    """A kernel that goes through the passes for a target, under a policy without a limit. Raises
    RunError where the reference cannot evaluate it."""

    def __init__(
        self,
        ast: UOp,
        target: Target,
        opts: Sequence[Opt] | None = None,
        policy: Policy | None = None,
    ) -> None:
        self.target, self.policy = target, policy or Policy()
        self.asked = 0
        self._ast = ast
        with ignoring():
            self._first = self._expected = Expected(ast)
        self._sets: list[Expected | None] = [self._first]
        """Of each set of arguments; None of one that the reference cannot evaluate."""
        if opts is not None:
            info = ast.arg if isinstance(ast.arg, KernelInfo) else KernelInfo()
            ast = ast.replace(arg=replace(info, opts=tuple(opts), found_for=""))
        begin = next(at for at, step in enumerate(PASSES) if step.name == entry(ast))
        own = TEXT_PASSES.get(rendered_kinds(target.family)[0], ())
        self._own_text = bool(own)
        self.steps: tuple[Pass[Target], ...] = (*PASSES[begin:], *own)
        self.states: list[PassStates] = []
        """Of each pass, up to one that fails."""
        self.graphs = [ast]
        """The graph before each pass, and the last one."""

    def find(self, searching: bool = True) -> Verdict:
        """Compiles, and looks for what made the result wrong; without `searching`, only whether it
        is."""
        if misread(self._ast) is not None:
            error = SpecError(
                f"the kernel does not hold what pass {KERNELIZE} guarantees: {SELF_READS}",
                where=excerpt(self._ast),
                hint="record the program, and check the steps of its schedule",
            )
            return Verdict(None, None, self.asked, KERNELIZE, error)
        for step in self.steps:
            made = PassStates(self.function(step), self.graphs[-1], self.policy)
            self.states.append(made)
            error = made.error or self._broken(made.result, step)
            if made.result is None or error is not None:
                return self._where_it_failed(step.name, error, searching)
            self.graphs.append(made.result)
        try:
            program = self._program()
        except UopvizError as error:
            return self._where_it_failed(LINEARIZE, error, searching)
        final = self._first_wrong(program)
        if final is None or final.equal or not searching:
            return Verdict(final, None, self.asked)
        return Verdict(final, self._search(len(self.graphs), final), self.asked)

    def _first_wrong(self, graph: UOp | Sequence[UOp]) -> Outcome | None:
        """What a graph computes for the first set of arguments for which that is wrong, which the
        search goes on with; else for the first set. None where it cannot be run."""
        first = self.judge(graph)
        if first is None or not first.equal:
            return first
        for expected in self._more_sets():
            self._expected = expected
            found = self.judge(graph)
            if found is not None and not found.equal:
                return found
        self._expected = self._first
        return first

    def _more_sets(self) -> Iterator[Expected]:
        """The kernel on further arguments, without those on which the reference cannot evaluate
        it; each is made once."""
        for at, given in enumerate(islice(givens(self._ast), 1, None), 1):
            if at == len(self._sets):
                try:
                    with ignoring():
                        self._sets.append(Expected(self._ast, given))
                except (UopvizError, ArithmeticError, ValueError):
                    self._sets.append(None)
            if (expected := self._sets[at]) is not None:
                yield expected

    def function(self, step: Pass[Target]) -> Callable[[UOp], UOp]:
        """A pass as a function of a graph."""

        def run(graph: UOp) -> UOp:
            if step.runs is not None and not step.runs():
                return graph
            with stage(f"pass {step.name}"):
                return step.function(graph, self.target)

        return run

    def _broken(self, graph: UOp | None, step: Pass[Target]) -> UopvizError | None:
        """What breaks the contract of a pass in the graph that it made."""
        try:
            if graph is not None:
                check_contract(graph, step, self._gone, self.target, step.name)
        except UopvizError as error:
            return error
        return None

    @property
    def _gone(self) -> set[Ops]:
        """The ops that the passes until now remove."""
        return {op for one in self.steps[: len(self.states)] for op in one.gone}

    def _program(self) -> list[UOp]:
        """What is left in the end, in order, and verified as the compiler does it. Raises
        UopvizError."""
        with following(self.policy), stage(LINEARIZE):
            program = program_of(self.graphs[-1])
            spec = machine_spec if self._own_text else program_spec
            verify_program(program, self.target, "the kernel", spec)
        return program

    def judge(self, graph: UOp | Sequence[UOp]) -> Outcome | None:
        """What a graph of any stage, or a program, computes; None where it cannot be run."""
        self.asked += 1
        try:
            with ignoring():
                return self._expected.judge(
                    lambda held, variables: evaluate_kernel(graph, held, variables, MEMORY)
                )
        except (UopvizError, ValueError, LookupError, ArithmeticError, TypeError, AttributeError):
            return None

    def _where_it_failed(self, name: str, error: UopvizError | None, searching: bool) -> Verdict:
        """A pass failed; where the graph before it is wrong already, that may be why."""
        if not searching:
            return Verdict(None, None, self.asked, name, error)
        last = len(self.graphs) - 1
        found = self._first_wrong(self.graphs[last])
        culprit = None if found is None or found.equal else self._search(last, found)
        undone = culprit is None and self._is_undone(name)
        illegal = None if culprit is not None or undone else self._illegal(name)
        return Verdict(found, culprit, self.asked, name, error, illegal)

    def _is_undone(self, name: str) -> bool:
        """Whether the pass that failed left something that it is there to remove: no match of it
        is to blame for that."""
        if name == LINEARIZE:
            return False
        states, step = self.states[-1], self.steps[len(self.states) - 1]
        if states.result is None:
            return False
        left = undone(states.result, step, self._gone, self.target)
        if left is None:
            return False
        before = {u.op for u in states.boundaries[0].graph.toposort()}
        return left.node.op not in self._gone or left.node.op in before

    def _illegal(self, name: str) -> Culprit | None:
        """The match of the pass that failed after which its graph breaks a rule of graphs, which
        it breaks in the end; else the one whose function raised. None where it is neither, as where
        a pass leaves undone what it is there for."""
        if name == LINEARIZE:
            return None
        number = len(self.states) - 1
        states, spec = self.states[number], self.steps[number].spec
        last = states.boundaries[-1].graph
        rule = None if spec is None else _broken(last, spec)
        if (
            spec is not None
            and rule is not None
            and _broken(states.boundaries[0].graph, spec, rule) is None
        ):

            def judge(graph: UOp | Sequence[UOp]) -> Outcome | None:
                legal = isinstance(graph, UOp) and _broken(graph, spec, rule) is None
                return Outcome(legal, 0.0, 0.0, 0)

            inside = InPass(self, number, judge)
            span = first_wrong_step(0, inside.boundaries - 1, inside.right)
            found = inside.between(span.good, span.bad)
            earlier = None if found.match is None else self._first_that_differs(found.match)
            return earlier or replace(found, before=None, after=None)
        if states.raised is None:
            return None
        return self._first_that_differs(states.raised) or self._at(states.raised)

    def _first_that_differs(self, last: Match) -> Culprit | None:
        """The first match of the last pass before `last` whose two nodes do not compute the same:
        what the others made of that may break rules of graphs that it does not break itself."""
        checker = Checker()
        for match in islice(self.states[-1].matches, MAX_CHECKED):
            if match is last:
                return None
            if _differs(match, checker):
                return self._at(match)
        return None

    def _at(self, match: Match) -> Culprit:
        """A match of the last pass, of which is not known what the kernel computes around it."""
        rewrite, occurrence = self.place(len(self.states) - 1, match.rewrite)
        return Culprit(self.steps[len(self.states) - 1].name, match, (), rewrite, occurrence)

    def place(self, number: int, rewrite: int) -> tuple[str, int]:
        """The name of a rewrite of pass number `number`, and which of this name it is, of those
        with matches."""
        states = self.states[number]
        name = states.rewrites[rewrite].name
        before = (r for earlier in self.states[:number] for r in earlier.rewrites)
        within = states.rewrites[: rewrite + 1]
        return name, sum(r.name == name and r.matches > 0 for r in (*before, *within))

    def _search(self, wrong: int, outcome: Outcome) -> Culprit:
        """What made the state after so many passes wrong; one more than there are: the program in
        order."""
        outcomes: dict[int, Outcome | None] = {wrong: outcome}

        def judge(number: int) -> bool | None:
            found = outcomes[number] = self.judge(self.graphs[number])
            return None if found is None else found.equal

        span = first_wrong_step(0, wrong, judge)
        passes = [InPass(self, at) for at in range(span.good, min(span.bad, len(self.states)))]
        points = [(one, at) for one in passes for at in range(one.boundaries)]
        if span.bad > len(self.states) or not points:
            ends = outcomes.get(span.good), outcomes.get(span.bad)
            unsure = [] if span.found else [m for s in self.states[span.good :] for m in s.matches]
            return Culprit(LINEARIZE, None, tuple(names_of(unsure)), "", 0, *ends)

        def right(point: int) -> bool | None:
            one, boundary = points[point]
            return one.right(boundary)

        inner = first_wrong_step(0, len(points) - 1, right)
        (one, boundary), (other, end) = points[inner.good], points[inner.bad]
        if one is other:
            return one.between(boundary, end)
        between = [two for two in passes if one.number <= two.number <= other.number]
        names = dict.fromkeys(
            name
            for two in between
            for name in two.rules(
                boundary if two is one else 0, end if two is other else two.boundaries - 1
            )
        )
        return Culprit(other.name, None, tuple(names), "", 0)


class InPass:
    """The search in one pass: number `number` of the kernel. `judge`: what says whether a graph is
    right; by default, whether it computes what it should."""

    def __init__(self, kernel: Kernel, number: int, judge: Judged | None = None) -> None:
        self._kernel, self.number = kernel, number
        self._judge = judge or kernel.judge
        self._states = kernel.states[number]
        self.name = kernel.steps[number].name
        self.boundaries = len(self._states.boundaries)
        """How many graphs of the whole kernel there are in it, between its rewrites."""
        self._known: dict[tuple[int, int, int], Outcome | None] = {}

    def right(self, boundary: int) -> bool | None:
        """Whether the graph at a boundary is; None where it cannot be run."""
        outcome = self._at(self._states.boundaries[boundary].matches, boundary, 0)
        return None if outcome is None else outcome.equal

    def rules(self, first: int, last: int) -> list[str]:
        """The rules that matched between two boundaries."""
        ends = [self._states.boundaries[at].matches for at in (first, last)]
        return names_of(self._states.matches[ends[0] : ends[1]])

    def between(self, good: int, bad: int) -> Culprit:
        """What is to blame between a boundary that is right and one that is wrong, where none
        between them says anything."""
        first, last = (self._states.boundaries[at].matches for at in (good, bad))
        if first == last:
            return Culprit(self.name, before=self._at(first, good, 0), after=self._at(last, bad, 0))
        return self._among(first, last, bad, 0)

    def _at(self, matches: int, boundary: int, whole: int) -> Outcome | None:
        """What the graph at a boundary computes, where nothing matched after so many matches."""
        key = matches, boundary, whole
        if key not in self._known:
            known = self._states.boundaries[boundary]
            full = matches >= known.matches and not whole
            graph = known.graph if full else self._states.after(matches, boundary, whole)
            judged = None if graph is None else self._judge(graph)
            self._known[key] = judged
        return self._known[key]

    def _among(self, first: int, last: int, boundary: int, whole: int) -> Culprit:
        """What is to blame of the matches after `first` up to `last`: they are right without these
        and wrong with them, or that is not known."""

        def judge(count: int) -> bool | None:
            outcome = self._at(count, boundary, whole)
            return None if outcome is None else outcome.equal

        begin = judge(first)
        if begin is False:  # the code of the pass makes of it what is wrong, or the match around it
            return self._culprit(last if whole else None, first, last, boundary, whole)
        if begin is None:
            return self._left_out(first, last + (whole > 0), boundary, whole)
        span = first_wrong_step(first, last, judge)
        if not span.found:
            return self._left_out(span.good, span.bad, boundary, whole)
        match = span.bad - 1
        inside = self._states.inside(match)
        if inside and judge(span.good) is not None:
            # of the matches inside, how many does it take until the whole is wrong?
            return self._inner_or_outer(match, inside, boundary, whole)
        return self._culprit(match, span.good, span.bad, boundary, whole)

    def _culprit(
        self, match: int | None, good: int, bad: int, boundary: int, whole: int
    ) -> Culprit:
        outcomes = (self._at(good, boundary, whole), self._at(bad, boundary, whole))
        if match is None:
            return Culprit(self.name, after=outcomes[0])
        found = self._states.matches[match]
        rewrite, occurrence = self._kernel.place(self.number, found.rewrite)
        return Culprit(self.name, found, (), rewrite, occurrence, *outcomes)

    def _inner_or_outer(self, match: int, inside: int, boundary: int, whole: int) -> Culprit:
        """A match with others inside: the one of these without which it is right, unless that is
        right by itself. Then it is what the match around it makes of that, which is wrong."""
        found = self._among(match - inside, match, boundary, whole + 1)
        inner, outer = found.match, self._states.matches[match]
        if inner is None or inner is outer:
            return found
        if _differs(inner) or not _differs(outer):
            return found
        rewrite, occurrence = self._kernel.place(self.number, outer.rewrite)
        return replace(found, match=outer, rewrite=rewrite, occurrence=occurrence)

    def _left_out(self, good: int, bad: int, boundary: int, whole: int) -> Culprit:
        """No state between can be run: the rule without which the pass leads to a right state."""
        matches = self._states.matches[good:bad]
        names = names_of(matches)
        before, after = self._at(good, boundary, whole), self._at(bad, boundary, whole)
        if len(names) > 1:
            right = [name for name in names[:MAX_LEFT_OUT] if self._without(name)]
            names = right or names
        if len(names) > 1:
            return Culprit(self.name, None, tuple(names), "", 0, before, after)
        found = next(m for m in reversed(matches) if m.rule.name == names[0])
        rewrite, occurrence = self._kernel.place(self.number, found.rewrite)
        return Culprit(self.name, found, (), rewrite, occurrence, before, after, True)

    def _without(self, name: str) -> bool:
        """Whether the pass leads to a right state without a rule."""
        kernel = self._kernel
        policy = replace(kernel.policy, skip=kernel.policy.skip | {name})
        step = kernel.steps[self.number]
        made = PassStates(kernel.function(step), kernel.graphs[self.number], policy)
        if made.result is None:
            return False
        outcome = self._judge(made.result)
        return outcome is not None and outcome.equal


def _differs(match: Match, checker: Checker | None = None) -> bool:
    """Whether the two nodes of a match are known to compute something else."""
    with ignoring():
        found = (checker or Checker()).check(match.before, match.after, match.rule.assumes)
    return found.kind == "differs"


def _broken(graph: UOp, spec: PatternMatcher, only: Rule | None = None) -> Rule | None:
    """The first rule of a specification that a graph breaks; of one rule, whether it does."""
    found = (broken_rule(u, spec) for u in graph.toposort())
    return next((rule for rule in found if rule is not None and only in (None, rule)), None)
