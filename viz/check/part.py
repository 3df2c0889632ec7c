"""Checks the steps of some passes of a trace: what one process does.

Plain data in and out, so that any `concurrent.futures.Executor` can be given the work. A trace of
another compiler, and nodes that cannot be rebuilt, are answered, not raised.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Final

from core.dtype import PtrDType, dtypes
from core.errors import BudgetError, FormatError, TraceError, UopvizError
from core.prove.decide import LENGTHS, RENAMED, Checker, Options
from core.prove.loops import change_of_variables, same_work
from core.prove.verdict import Verdict
from core.uop.data.args import decode_dtype
from core.uop.ops import Ops
from core.uop.patterns.rule import Assumes
from core.uop.uop import UOp
from viz.budget import Budget, within
from viz.check.around import Around, step_around
from viz.check.gradients.judge import Gradients
from viz.check.guarantees import Guarantees
from viz.check.parts import Part
from viz.check.rebuilt import Rebuilt
from viz.check.states import States
from viz.check.tensors import compare, compare_states
from viz.dialect.adapters import judge_of
from viz.known.left import Left
from viz.read.records import Rewrite, RuleRecord
from viz.read.steps import Match, read_steps
from viz.views.runs.process import STRIDE, Process
from viz.views.store import Store
from viz.why.rules.installed import Installed

MAX_STEPS: Final = 200_000
"""Steps of one pass."""
FOREIGN: Final = "the trace is of another compiler: its nodes have no meaning here"
AMONG: Final = "one of these rules is wrong:"
"""Begins the names of rules that may have made a pass wrong."""
LEFT: Final = "its graph is not what it should be after pass"
"""Begins the name of a pass that left something undone before this one."""
UNUSED: Final = Verdict("proved", "the rule that began its pass declined: nothing came of it")
_UNDONE: Final = Verdict("unchecked", "its pass left something undone")
_BESIDE: Final = Verdict("assumes", f"{Assumes.CONTEXT} (another step of its pass is wrong)")
_INSIDE: Final = Verdict("assumes", f"{Assumes.CONTEXT} (a step inside it is wrong)")
_SECONDS: Final = 3600.0
_WITHIN: Final = 60.0
"""Seconds for the passes inside a step that differs."""
_DEEPEST: Final = 8
"""Passes inside each other that are looked into for what is to blame."""


@dataclass
class CheckedPass:
    """The steps of one pass that were asked for: (step, rule, verdict); steps count from 1."""

    rewrite: int
    steps: list[tuple[int, int, Verdict]] = field(
        default_factory=lambda: list[tuple[int, int, Verdict]]()
    )
    integers: list[int] = field(default_factory=list[int])
    """Of the steps, those that replace an integer or a bool."""
    undone: Left | None = None
    """What the pass left undone that it guarantees."""
    unseen: str = ""
    """Why that was not looked at, of this pass and those after it; "" where it was."""

    def data(self) -> dict[str, Any]:
        """What was found as plain data, each verdict once."""
        verdicts: dict[Verdict, int] = {}
        rows = [
            [step, rule, verdicts.setdefault(verdict, len(verdicts))]
            for step, rule, verdict in self.steps
        ]
        return {
            "rewrite": self.rewrite,
            "steps": rows,
            "verdicts": [v.data() for v in verdicts],
            "integers": self.integers,
            "undone": None if self.undone is None else self.undone.data(),
            "unseen": self.unseen,
        }


def check_part(part: Part) -> list[dict[str, Any]]:
    """`CheckedPass.data` of each pass. Raises TraceError where the trace cannot be read, or the
    files of the run have been replaced."""
    store = _opened(part.path, part.files)
    until = time.monotonic() + part.seconds
    return [check_pass(store, number, part, until).data() for number in part.rewrites]


def check_pass(store: Store, number: int, part: Part, until: float) -> CheckedPass:
    """Checks the steps of one pass."""
    checked = CheckedPass(number)
    process = next((p for p in store.processes if p.number == number // STRIDE), None)
    rewrite = process.file.rewrites.get(number % STRIDE) if process is not None else None
    if process is None or rewrite is None:
        return checked
    with within(Budget("the check of a pass", seconds=_SECONDS)):
        try:
            steps = [match for match, _ in read_steps(process.file, rewrite, MAX_STEPS).steps]
        except BudgetError as error:
            checked.steps.append((0, 0, Verdict("unchecked", error.what)))
            return checked
        if not store.compiles:
            _judged(store, process, rewrite, part, checked, steps)
            return checked
        guarantees = _tools(part.path, part.options).guarantees(process)
        checked.undone, checked.unseen = guarantees.left(rewrite), guarantees.unseen(rewrite)
        _Pass(store, process, rewrite, part, checked).run(steps, until)
    return checked


def _judged(
    store: Store,
    process: Process,
    rewrite: Rewrite,
    part: Part,
    checked: CheckedPass,
    steps: Sequence[Match],
) -> None:
    """The steps of a pass of another compiler, by what its dialect brings."""
    judge = judge_of(store.dialect.name)
    if judge is None or not steps:
        verdicts: Sequence[Verdict] = [Verdict("unchecked", FOREIGN)] * len(steps)
    else:
        try:
            verdicts = judge(process.file, rewrite, len(steps))
        except BudgetError as error:
            verdicts = [Verdict("unchecked", error.what)] * len(steps)
    for at, (match, verdict) in enumerate(zip(steps, verdicts, strict=True), 1):
        record = process.file.rules.get(match.rule)
        if not part.rules or (record is not None and record.name in part.rules):
            checked.steps.append((at, process.rule(match.rule), verdict))


class _Pass:
    """One pass that is checked."""

    def __init__(
        self,
        store: Store,
        process: Process,
        rewrite: Rewrite,
        part: Part,
        checked: CheckedPass,
        depth: int = 0,
    ) -> None:
        self.store, self.process, self.rewrite = store, process, rewrite
        self.part, self.checked, self._depth = part, checked, depth
        self.tools = _tools(part.path, part.options)
        self._whole: Verdict | None = None
        self._outer: Verdict | None = None
        self._replaced: str | None = None
        self._steps: Sequence[Match] = ()

    def run(self, steps: Sequence[Match], until: float) -> None:
        """The verdict of each step that is asked for."""
        self._steps = steps
        for at, match in enumerate(steps, 1):
            record = self.process.file.rules.get(match.rule)
            name = record.name if record is not None else ""
            if self.part.rules and name not in self.part.rules:
                continue
            if time.monotonic() > until:
                verdict = Verdict("unchecked", "time limit reached")
            else:
                verdict = self.verdict(match)
                if verdict.kind == "differs" and self._is_wrong_inside(at, until):
                    verdict = _INSIDE
            self.checked.steps.append((at, self.process.rule(match.rule), verdict))
        self._settle()
        made = (at for at, _, _ in self.checked.steps)
        self.checked.integers = [at for at in made if self._is_integer(steps[at - 1].before)]

    @cached_property
    def _inside(self) -> dict[int, list[Rewrite]]:
        """The passes that the rules of this one began, by its steps."""
        found: defaultdict[int, list[Rewrite]] = defaultdict(list)
        for inner in self.process.file.rewrites.values():
            if inner.parent == self.rewrite.id:
                around = step_around(self.process.file, inner)
                if around is not None:
                    found[around.step].append(inner)
        return found

    def _is_wrong_inside(self, step: int, until: float) -> bool:
        """Whether a step of a pass that the rule of this one began is wrong by itself: then that is
        to blame for what this one made of it."""
        part = replace(self.part, rules=frozenset())
        until = min(until, time.monotonic() + _WITHIN)
        for inner in self._inside.get(step, ()) if self._depth < _DEEPEST else ():
            checked = CheckedPass(inner.id)
            try:
                made = read_steps(self.process.file, inner, MAX_STEPS).steps
            except BudgetError:
                continue  # it is too large to be looked into
            nested = _Pass(self.store, self.process, inner, part, checked, self._depth + 1)
            nested.run([match for match, _ in made], until)
            if any(v.kind == "differs" or v is _INSIDE for _, _, v in checked.steps):
                return True
        return False

    def _settle(self) -> None:
        """Where a step of the pass is wrong by itself, no other is to blame for its result; where
        steps of several rules may be, that is said."""
        self._tell_arguments_apart()
        whole, made = self._whole, self.checked.steps
        if not self._depth:
            left = self.tools.guarantees(self.process).before(self.rewrite)
            if left is not None:  # what is done with its graph has no meaning
                after = Verdict("unchecked", f"{LEFT} {left.name}, which left something undone")
                made = [(a, r, after if v.kind == "differs" else v) for a, r, v in made]
                self.checked.steps = made
        if whole is None or whole.kind != "differs":
            return
        if self.checked.undone is not None:
            said = _UNDONE
        elif any(v.kind == "differs" and v is not whole for _, _, v in made):
            said = _BESIDE
        elif len(rules := {self._steps[a - 1].rule for a, _, v in made if v is whole}) > 1:
            records = (self.process.file.rules.get(rule) for rule in sorted(rules))
            names = " or ".join(record.name if record is not None else "?" for record in records)
            said = replace(whole, how=f"{whole.how}; {AMONG} {names}"[:300])
        else:
            return
        self.checked.steps = [(a, r, said if v is whole else v) for a, r, v in made]

    def _tell_arguments_apart(self) -> None:
        """Of memory that is renamed to an argument of a kernel, no two are the same argument."""
        known: dict[UOp, UOp] = {}
        for place, (at, rule, verdict) in enumerate(self.checked.steps):
            if verdict.how != RENAMED:
                continue
            match, rebuilt = self._steps[at - 1], self.tools.rebuilt(self.process)
            memory, after = rebuilt.node(match.before), rebuilt.node(match.after)
            for pointer in (u for u in after.toposort() if u.op is Ops.DEFINE_GLOBAL):
                if known.setdefault(pointer, memory) is not memory:
                    how = f"argument {pointer.arg} of the kernel stands for other memory, too"
                    self.checked.steps[place] = (at, rule, Verdict("differs", how))

    def verdict(self, match: Match) -> Verdict:
        """What is known of one step."""
        assumes = self.tools.assumes(self.process.file.rules.get(match.rule))
        rebuilt = self.tools.rebuilt(self.process)
        try:
            before, after = rebuilt.node(match.before), rebuilt.node(match.after)
        except UopvizError as error:
            return Verdict("unchecked", f"its nodes cannot be rebuilt: {error.what}"[:300])
        if before.op is Ops.GRADIENT:
            return self.tools.gradients.judge(before, after)
        if Assumes.CONTEXT not in assumes:
            found = self.tools.checker.check(before, after, assumes)
            if found.kind == "assumes" and found.how == LENGTHS:  # by the whole pass, which is
                whole = self._of_pass()  # to leave out what lies behind
                return whole if whole.kind == "differs" else found
            if found.kind != "unchecked":
                return found
            if (computed := compare(before, after)) is not None:
                return computed
            whole = self._of_pass()
            return found if whole.kind == "unchecked" else whole
        if (proof := self._proof(before, after)) is not None:
            return Verdict("proved", proof)
        if self.rewrite.parent and (outer := self._of_step_around()) is not None:
            return outer
        whole = self._of_pass()
        if whole.kind != "unchecked":
            return whole
        return Verdict("assumes", f"{Assumes.CONTEXT} ({whole.how})")

    def _proof(self, before: UOp, after: UOp) -> str | None:
        """How a step that changes loops is proved."""
        states = self._states
        if states is None:
            return None
        if before.op is Ops.RANGE and before.dtype == after.dtype:
            return self._loops_replaced(*states)
        return same_work(before, after, *states)

    @cached_property
    def _states(self) -> tuple[UOp, UOp] | None:
        """The graphs before and after the pass."""
        rebuilt = self.tools.rebuilt(self.process)
        if not self.rewrite.sink or not self.rewrite.result:
            return None
        try:
            return rebuilt.node(self.rewrite.sink), rebuilt.node(self.rewrite.result)
        except UopvizError:
            return None

    def _loops_replaced(self, sink: UOp, result: UOp) -> str | None:
        if self._replaced is None:
            rebuilt = self.tools.rebuilt(self.process)
            try:
                pairs = [(rebuilt.node(m.before), rebuilt.node(m.after)) for m in self._steps]
                loops = [(old, new) for old, new in pairs if old.op is Ops.RANGE]
                self._replaced = change_of_variables(loops, sink, result) or ""
            except (UopvizError, ArithmeticError, LookupError, ValueError, TypeError):
                self._replaced = ""
        return self._replaced or None

    def _of_step_around(self) -> Verdict | None:
        """The verdict of the step that this pass is part of; None where it is part of none."""
        if self._outer is None:
            around = step_around(self.process.file, self.rewrite)
            if around is None:
                return None
            self._outer = UNUSED if not around.step else self._within(around)
        return self._outer

    def _within(self, around: Around) -> Verdict:
        steps = read_steps(self.process.file, around.rewrite, around.step).steps
        if len(steps) < around.step:
            return Verdict("unchecked", "the step around it cannot be read")
        match = steps[around.step - 1][0]
        record = self.process.file.rules.get(match.rule)
        outer = _Pass(self.store, self.process, around.rewrite, self.part, self.checked)
        found = outer.verdict(match)
        kind = found.kind if found.kind in ("proved", "sampled") else "assumes"
        name = record.name if record is not None else "a rule"
        return Verdict(kind, f"part of a step of {name}: {found.how}"[:300], found.samples)

    def _is_integer(self, number: int) -> bool:
        """Whether a node is an integer or bool, or a vector of them."""
        text = self.process.file.text(int(self.process.file.nodes.field("dtype")[number]))
        return self.tools.is_integer(text)

    def _of_pass(self) -> Verdict:
        """The verdict of the pass as a whole."""
        if self._whole is None:
            states = self._states
            if not self.rewrite.result:
                self._whole = Verdict("unchecked", "the pass did not end")
            elif states is None:
                self._whole = Verdict("unchecked", "its graphs cannot be rebuilt")
            else:
                self._whole = self.tools.states.compare(*states)
                if self._whole.kind == "unchecked":
                    self._whole = compare_states(*states) or self._whole
        return self._whole


class _Tools:
    """What is kept between the passes that a process checks."""

    def __init__(self, options: Options) -> None:
        self.checker, self.states = Checker(options), States()
        self.gradients = Gradients()
        self._installed = Installed()
        self._rebuilt: dict[int, Rebuilt] = {}
        self._guarantees: dict[int, Guarantees] = {}
        self._assumes: dict[int, tuple[Assumes, ...]] = {}
        self._integers: dict[str, bool] = {}

    def rebuilt(self, process: Process) -> Rebuilt:
        """The nodes of a process."""
        return self._rebuilt.setdefault(process.number, Rebuilt(process.file))

    def guarantees(self, process: Process) -> Guarantees:
        """What the passes of a process left undone."""
        if process.number not in self._guarantees:
            made = Guarantees(process, self.rebuilt(process))
            self._guarantees[process.number] = made
        return self._guarantees[process.number]

    def is_integer(self, text: str) -> bool:
        """Whether a dtype, as it is written in a trace, is of integers or bools."""
        known = self._integers.get(text)
        if known is None:
            try:
                dtype = decode_dtype(text)
                scalar = dtype.scalar()
                known = not isinstance(dtype, PtrDType) and (
                    dtypes.is_int(scalar) or dtypes.is_bool(scalar)
                )
            except FormatError:
                known = False
            self._integers[text] = known
        return known

    def assumes(self, record: RuleRecord | None) -> tuple[Assumes, ...]:
        """What a rule gives up: as recorded, or as this installation has it."""
        if record is None:
            return ()
        known = self._assumes.get(id(record))
        if known is None:
            said = record.texts.get("assumes")
            texts = said if isinstance(said, list) else []
            known = tuple(one for one in Assumes if one.value in texts)
            if not known:
                rule, _ = self._installed.find(record)
                known = rule.assumes if rule is not None else ()
            self._assumes[id(record)] = known
        return known


@lru_cache(maxsize=2)
def _tools(path: str, options: Options) -> _Tools:
    return _Tools(options)


@lru_cache(maxsize=2)
def _opened(path: str, files: tuple[str, ...]) -> Store:
    return opened_as(path, files)


def opened_as(path: str, files: tuple[str, ...]) -> Store:
    """The run with its processes numbered in the order of `files`. Raises TraceError where one of
    them is not there any more, and numbers of passes would mean others."""
    store = Store(path, order=files)
    if files and tuple(file.path.name for file in store.files)[: len(files)] != files:
        store.close()
        raise TraceError(
            "the files of this run have been replaced", path, "open the trace again, and check it"
        )
    return store
