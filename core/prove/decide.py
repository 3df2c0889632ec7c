"""Decides whether one expression may stand for another: `Checker.check(before, after)`.

Equal terms are proved at once. Else samples look for a difference; where there is none, integers
are proved by trying every value, or with z3, and floats are said to hold for the samples. A
difference counts only where it is still there when the inputs are opened, level by level, down to
variables, loops and memory. Answers are kept by what a question depends on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from math import prod
from typing import Any, Final

import numpy as np

from core.dtype import dtypes
from core.errors import UopvizError
from core.prove import bitvector
from core.prove.counterexample import Counterexample
from core.prove.floats import EXACT, Floats, UndecidedError, compare_floats, same_values
from core.prove.questions.effects import reads_any
from core.prove.questions.outside import ANEW, BELOW, OUTSIDE, below, inside, new_reads, writes_anew
from core.prove.questions.pairs import Question, question
from core.prove.questions.rare import HIDDEN, under_rare_conditions
from core.prove.questions.refine import is_defined, refined
from core.prove.questions.writes import matched
from core.prove.samples.hints import hints_of
from core.prove.samples.sample import SAMPLES, Samples
from core.prove.solver import HINT
from core.prove.terms.cut import cut_at, depths, key_of
from core.prove.terms.term import Kind, Term, postorder
from core.prove.terms.value import UnknownMeaningError
from core.prove.verdict import MAX_VALUES, Verdict
from core.uop import Ops, UOp
from core.uop.patterns.rule import Assumes

MAX_TRIED: Final = 1 << 16
"""Values that are all tried."""
MAX_PAIRS: Final = 2048
MAX_CONDITIONS: Final = 8
"""Pairs of conditions that are told apart, where floats are chosen by them."""
PROVED: Final = "equal in normal form"
TRIED: Final = "every value was tried"
BY_Z3: Final = "z3"
LENGTHS: Final = "what lies behind the length of an axis is left out later"
WRITTEN: Final = "what differs is made of memory that is written before"
OPEN: Final = "no sample shows a difference where what is replaced has a value"
INSIDE: Final = "exact, and inside of memory"
RENAMED: Final = "the argument of a kernel stands for this memory"


@dataclass(frozen=True)
class Options:
    """How much is tried. `timeout`: milliseconds of z3 for one pair."""

    samples: int = SAMPLES
    timeout: int = bitvector.TIMEOUT
    seed: int = 1


class Checker:
    """Answers questions, and keeps what it has answered."""

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self._known: dict[tuple[Any, ...], Verdict] = {}
        self.asked = self.made = 0
        self.counterexample: Counterexample | None = None
        """The values of the last answer that says "differs"."""

    def check(self, before: UOp, after: UOp, assumes: Sequence[Assumes] = ()) -> Verdict:
        """What is known of `after` in place of `before`. `assumes`: what the rule declares to give
        up. Never raises for graphs that it cannot read: then the answer is "unchecked"."""
        self.asked += 1
        if before is after:
            return Verdict("proved", "the same node")
        if Assumes.CONTEXT in assumes:
            return Verdict("assumes", str(Assumes.CONTEXT))
        found = Verdict("unchecked", "nothing was compared")
        previous: frozenset[UOp] | None = None
        fresh: set[UOp] | None = None
        for depth in depths(after):
            cut = cut_at(before, after, depth)
            if cut == previous:
                continue  # what both have lies between: a cut that is deeper still opens it
            previous = cut
            try:
                found = self._at(before, after, cut, tuple(assumes))
            except UnknownMeaningError as error:
                found = Verdict("unchecked", error.what)
            except (UopvizError, RecursionError, ArithmeticError, AssertionError,
                    ValueError, LookupError, TypeError) as error:  # fmt: skip
                found = Verdict("unchecked", f"cannot be translated: {type(error).__name__}")
            if found.kind in ("proved", "sampled"):
                fresh = new_reads(before, after) if fresh is None else fresh
                if below(fresh, after, cut - {before, after}):
                    found = Verdict("unchecked", BELOW)
                elif before.dtype is not dtypes.void and writes_anew(before, after):
                    found = Verdict("unchecked", ANEW)
            if found.kind not in ("differs", "unchecked"):
                return found
        return found

    def _at(
        self, before: UOp, after: UOp, cut: frozenset[UOp], assumes: tuple[Assumes, ...]
    ) -> Verdict:
        if before.dtype is dtypes.void:  # order depends on what lies below the cut, too
            self.made += 1
            return self._decide(before, after, cut, assumes)
        key = (*key_of(before, after, cut), assumes)
        known = self._known.get(key)
        if known is None:
            self.made += 1
            known = self._decide(before, after, cut, assumes)
            if known.kind not in ("differs", "unchecked"):
                self._known[key] = known  # others depend on which inputs both sides have below
        return known

    def _decide(
        self, before: UOp, after: UOp, cut: frozenset[UOp], assumes: tuple[Assumes, ...]
    ) -> Verdict:
        if before.op is after.op is Ops.REDUCE_AXIS and before.src[0].lengths:
            found = self._answer(question(before, after, cut, unaware=True), assumes)
            if found.kind in ("proved", "sampled", "assumes"):
                return found
            found = self._answer(question(before, after, cut), assumes)
            right = found.kind in ("proved", "sampled")
            return replace(found, kind="assumes", how=LENGTHS) if right else found
        return self._answer(question(before, after, cut), assumes)

    def _answer(self, asked: Question, assumes: tuple[Assumes, ...]) -> Verdict:
        open_pairs, counted = _open(asked)
        if len(open_pairs) > MAX_PAIRS:
            raise UnknownMeaningError(f"{len(open_pairs):,} pairs of values")
        reduces = any(t.op is Kind.REDUCE for t in postorder(t for p in open_pairs for t in p))
        if open_pairs and reduces and asked.unknown:
            return _unknown(asked)
        found = self._all(asked, open_pairs, assumes) if open_pairs else Verdict("proved", PROVED)
        if found.kind == "differs" and asked.unknown:
            return _unknown(asked)
        if found.kind == "differs" and self._may_be_written(asked):
            return Verdict("unchecked", WRITTEN)
        if found.kind == "differs" and any(counts is not None for counts in counted):
            found = self._where_it_counts(asked, found, open_pairs, counted, assumes)
        if found.kind == "sampled" and self._is_hidden(asked, open_pairs, assumes):
            return Verdict("unchecked", HIDDEN)
        if found.kind in ("proved", "sampled"):
            found = self._inside(asked, found)
        if asked.memories and found.kind == "proved":
            return replace(found, kind="assumes", how=RENAMED)
        return found

    def _where_it_counts(
        self,
        asked: Question,
        found: Verdict,
        pairs: list[tuple[Term, Term]],
        counted: list[Term | None],
        assumes: tuple[Assumes, ...],
    ) -> Verdict:
        """The answer to pairs that were found to differ: compared once more where what is written
        is written, and where the first side is defined and inside of memory."""
        if (shown := self.counterexample) is not None and shown.pair in pairs:
            counts = counted[pairs.index(shown.pair)]
            if counts is None or shown.holds(counts):
                return found
        choose, again = asked.terms.alu, list[tuple[Term, Term]]()
        for (a, b), counts in zip(pairs, counted, strict=True):
            again.append((a, b if counts is None else choose(Ops.WHERE, a.dtype, (counts, b, a))))
        again = [(a, b) for a, b in again if a is not b]
        found = self._all(asked, again, assumes) if again else Verdict("unchecked", OPEN)
        return found if found.kind == "differs" else Verdict("unchecked", OPEN)

    def _may_be_written(self, asked: Question) -> bool:
        """Whether the last values that differ are of memory that an earlier write may be to: it may
        not hold them then."""
        writes = [w for stores in asked.stores for side in stores for w in side]
        if self.counterexample is None or len({w.store for w in writes}) <= 1:
            return False
        return reads_any(self.counterexample.pair, writes)

    def _inside(self, asked: Question, found: Verdict) -> Verdict:
        """The answer, where what comes after stays inside of memory if what was before does."""
        if not asked.leaves:
            return found
        count = self.options.samples
        try:
            held = Samples(count, self.options.seed, 1 << 16).run(asked.leaves)
        except UnknownMeaningError:
            held = []
        if any(values.any() for values in held):
            return Verdict("unchecked", OUTSIDE)
        if found.kind != "proved":
            return found
        false = asked.terms.const(dtypes.bool, False)
        for condition in asked.leaves:
            way = self._proof(condition, false)
            if isinstance(way, dict):
                return Verdict("unchecked", OUTSIDE)
            if way is None:
                hint = HINT if bitvector.solver_module() is None else ""
                return Verdict("sampled", INSIDE, count, hint=hint)
        return found

    def _is_hidden(
        self, asked: Question, pairs: list[tuple[Term, Term]], assumes: tuple[Assumes, ...]
    ) -> bool:
        """Whether pairs that no sample tells apart differ where a rare condition is met."""
        samples = Samples(self.options.samples, self.options.seed, 1 << 16)
        for changed in under_rare_conditions(asked.terms, pairs, samples):
            if changed and self._sampled(changed, assumes).kind == "differs":
                return True
        return False

    def _all(
        self, asked: Question, pairs: list[tuple[Term, Term]], assumes: tuple[Assumes, ...]
    ) -> Verdict:
        """The answer to all pairs: the worst of the answers to each."""
        sampled = self._sampled(pairs, assumes)
        if sampled.kind in ("differs", "unchecked"):
            return sampled
        if (hinted := self._hinted(pairs, assumes)) is not None and hinted.kind == "differs":
            return hinted
        if sampled.ulps:
            worst = [t for pair in pairs if (t := self._tried(pair, assumes)) is not None]
            return next((t for t in worst if t.kind == "differs"), sampled)
        ways: set[str] = set()
        exact: list[tuple[Term, Term]] = []
        for pair in pairs:
            if (tried := self._tried(pair, assumes)) is None:
                continue
            if tried.kind != "sampled" or tried.ulps or tried.how != EXACT:
                return tried
            exact.append(pair)
        if exact:
            ways.add(TRIED)
            pairs = [pair for pair in pairs if pair not in exact]
        asked_of = {goal: pair for pair in pairs for goal in goals(*pair)}
        for goal, pair in asked_of.items():
            way = self._proof(*goal)
            if isinstance(way, dict):
                for values in (way, *self._apart(*pair)):
                    if (wrong := self._counterexample(pair, values, assumes)) is not None:
                        return wrong
                way = None
            if way is None:
                no_z3 = bitvector.solver_module() is None
                return replace(sampled, hint=HINT) if no_z3 else sampled
            ways.add(way)
        if sampled.kind == "assumes":
            return sampled
        return Verdict("proved", ", ".join(sorted(ways)) or PROVED)

    def _tried(self, pair: tuple[Term, Term], assumes: tuple[Assumes, ...]) -> Verdict | None:
        """The answer to two terms made of one value of at most 16 bits, a float among them: every
        value is tried. None of others."""
        terms = postorder(pair)
        leaves = [t for t in leaves_of(pair) if not t.constant]
        if len(leaves) != 1 or not any(dtypes.is_float(t.dtype) for t in terms):
            return None
        (leaf,) = leaves
        if leaf.op is Kind.REDUCE:
            return None  # not every value is one that it may have
        count = leaf.high - leaf.low + 1
        if dtypes.is_float(leaf.dtype) or leaf.op is Kind.READ:
            count = 1 << leaf.dtype.bits if not dtypes.is_bool(leaf.dtype) else MAX_TRIED + 1
        if count > MAX_TRIED:
            return None
        samples = Samples(count, self.options.seed, 1 << 16)
        samples.given = {leaf: samples.every_value(leaf)}
        try:
            found = self._compared(samples, [pair], assumes)
            with np.errstate(invalid="ignore"):  # NaNs that signal are values like others
                same = same_values(*(np.asarray(x, np.float64) for x in samples.run(pair)))
        except UnknownMeaningError:
            return None
        return found if found.kind != "sampled" or found.ulps or same.all() else None

    def _proof(self, a: Term, b: Term) -> str | dict[Term, int] | None:
        """How two terms are proved equal; None where they are not, or values for which they may
        differ."""
        whole = [t for t in postorder([a, b]) if t.op is Kind.INPUT]
        leaves = {t for t in postorder([a, b]) if not t.args and not t.constant}
        unknown = any(
            t.op in (Kind.READ, Kind.REDUCE) or dtypes.is_float(t.dtype) for t in postorder([a, b])
        )
        sizes = [t.high - t.low + 1 for t in whole]
        if not unknown and leaves == set(whole) and prod(sizes) <= MAX_TRIED:
            samples = Samples(prod(sizes))
            left, right = samples.run_given([a, b], samples.exhaust(whole))
            return TRIED if np.array_equal(left, right) else None
        answer, values = bitvector.solve(a, b, None, self.options.timeout)
        return BY_Z3 if answer == "equal" else values or None

    def _apart(self, a: Term, b: Term) -> Iterator[dict[Term, int]]:
        """Integers for which a condition that only the first of two floats chooses by and one that
        only the second does are not both met, or both not."""
        if not dtypes.is_float(a.dtype):
            return
        left, right = (
            {t.args[0]: None for t in postorder([side]) if t.op is Ops.WHERE} for side in (a, b)
        )
        only = product((c for c in left if c not in right), (c for c in right if c not in left))
        for one, other in islice(only, MAX_CONDITIONS):
            if values := bitvector.solve(one, other, None, self.options.timeout)[1]:
                yield values

    def _counterexample(
        self, pair: tuple[Term, Term], values: dict[Term, int], assumes: tuple[Assumes, ...]
    ) -> Verdict | None:
        """The difference of two terms, where some sample shows one with the integers for which z3
        says that a part of them differs, and any floats and memory."""
        try:
            fixed = consistent(pair, values)
            found = self._on(self.options.samples, 1 << 16, [pair], assumes, fixed)
        except UnknownMeaningError:
            return None
        return found if found.kind == "differs" else None

    def _sampled(self, pairs: list[tuple[Term, Term]], assumes: tuple[Assumes, ...]) -> Verdict:
        count, error = self.options.samples, UnknownMeaningError("nothing")
        for many, work in ((count, 1 << 16), (count // 6, 1 << 16), (count // 48, 1 << 19)):
            try:
                return self._on(max(4, many), work, pairs, assumes)
            except UndecidedError:
                raise
            except UnknownMeaningError as why:
                error = why
        raise error

    def _hinted(
        self, pairs: list[tuple[Term, Term]], assumes: tuple[Assumes, ...]
    ) -> Verdict | None:
        """The answer of samples for which the pairs are likely to differ; None where there are
        none, or they say nothing."""
        hints = hints_of(pairs)
        if not hints:
            return None
        count = self.options.samples
        if count >= SAMPLES:  # as many as it takes for each to have its turn
            count = max(count, 2 * max(map(len, hints.values())))
        samples = Samples(count, self.options.seed, 1 << 16, None, hints)
        try:
            return self._compared(samples, pairs, assumes)
        except UnknownMeaningError:
            return None

    def _on(
        self,
        count: int,
        work: int,
        pairs: list[tuple[Term, Term]],
        assumes: tuple[Assumes, ...],
        fixed: dict[Term, int] | None = None,
    ) -> Verdict:
        return self._compared(Samples(count, self.options.seed, work, fixed), pairs, assumes)

    def _compared(
        self, samples: Samples, pairs: list[tuple[Term, Term]], assumes: tuple[Assumes, ...]
    ) -> Verdict:
        """The answer of some samples."""
        roots = [term for pair in pairs for term in pair]
        values = samples.run(roots)
        floats = Floats()
        for at, (a, b) in enumerate(pairs):
            left, right = values[2 * at], values[2 * at + 1]
            if not dtypes.is_float(a.dtype):
                wrong = np.flatnonzero(left != right)
                if len(wrong):
                    return self._differs(samples, a, b, int(wrong[0]))
                continue
            compared = compare_floats(samples, a, b, left, right, assumes)
            if compared.wrong is not None:
                return self._differs(samples, a, b, compared.wrong)
            floats = floats.joined(compared)
        return floats.verdict(samples.count)

    def _differs(self, samples: Samples, a: Term, b: Term, row: int) -> Verdict:
        """The values of one sample for which two terms differ."""
        self.counterexample = Counterexample(samples, row, (a, b))
        leaves = [t for t in postorder([a, b]) if t.op in (Kind.INPUT, Kind.READ)]
        try:
            found = samples.run([a, b, *leaves])
            shown = [_text(x[row]) for x in found]
        except UnknownMeaningError:
            return Verdict("differs", "for one sample", samples.count)
        except KeyError:
            shown = [_text(x[row]) for x in samples.run([a, b])]
            leaves = []
        names = tuple((_name(t, n), shown[n + 2]) for n, t in enumerate(leaves[:MAX_VALUES]))
        return Verdict("differs", "for these values", samples.count, 0.0, names, shown[0], shown[1])


def _open(asked: Question) -> tuple[list[tuple[Term, Term]], list[Term | None]]:
    """The pairs that are not the same terms, and the condition under which each counts; None:
    always."""
    terms, all_ = asked.terms, list(asked.pairs)
    pairs, counted = list[tuple[Term, Term]](), list[Term | None]()
    for stores in asked.stores:
        all_ += matched(terms, *stores)
    allowed = asked.allowed
    if asked.stores:
        written = inside(terms, [w.address for stores in asked.stores for w in stores[0]])
        allowed = terms.both(allowed, written) if written is not None else allowed
    for a, b, gate in all_:
        if a.dtype != b.dtype:
            raise UnknownMeaningError(f"{a.dtype} becomes {b.dtype}")
        x, y = refined(terms, a, b)
        if x is y:
            continue
        parts = [gate, allowed, *(is_defined(terms, t) for t in (a, gate) if t is not None)]
        conditions = [c for c in parts if c is not None and not (c.constant and c.data)]
        pairs.append((x, y))
        counted.append(terms.both(*conditions) if conditions else None)
    return pairs, counted


def _unknown(asked: Question) -> Verdict:
    ops = ", ".join(sorted({u.op.name for u in asked.unknown}))
    return Verdict("unchecked", f"what {ops} computes here is not known")


def leaves_of(pair: tuple[Term, Term]) -> list[Term]:
    """What two terms are made of: inputs, and what is read, into which no look is taken. What is
    reduced has no end."""
    found: dict[Term, None] = {}
    stack = list(pair)
    seen: set[Term] = set()
    while stack:
        t = stack.pop()
        if t in seen:
            continue
        seen.add(t)
        if t.op in (Kind.INPUT, Kind.READ, Kind.REDUCE):
            found[t] = None
            if t.op is Kind.REDUCE:
                found |= dict.fromkeys(t.args)
        else:
            stack += t.args
    return list(found)


def consistent(pair: tuple[Term, Term], values: dict[Term, int]) -> dict[Term, int]:
    """Of the values that z3 proposes, those that go together: none of what changes in a reduction;
    and where not all that is read of a memory has one, its other elements would not fit."""
    terms = postorder(pair)
    reduces = [t for t in terms if t.op is Kind.REDUCE]
    inner = {*postorder(arg for t in reduces for arg in t.args)}
    inner = {t for t in inner if t.op is Kind.READ}.union(*(t.data[1] for t in reduces))
    kept = {t: v for t, v in values.items() if t not in inner}
    free = {t.data for t in terms if t.op is Kind.READ and t not in kept}
    return {t: v for t, v in kept.items() if t.op is not Kind.READ or t.data not in free}


def goals(a: Term, b: Term) -> list[tuple[Term, Term]]:
    """Pairs whose equality is enough for that of two terms: the arguments of what is alike."""
    found: list[tuple[Term, Term]] = []
    stack = [(a, b)]
    while stack:
        x, y = stack.pop()
        if x is y:
            continue
        alike = x.op is y.op and x.dtype == y.dtype and x.data == y.data
        alike = alike and [s.dtype for s in x.args] == [s.dtype for s in y.args]
        opaque = x.op in (Kind.REDUCE, Kind.READ) or dtypes.is_float(x.dtype)
        if alike and opaque and x.op is not Ops.WHERE and 0 < len(x.args) == len(y.args):
            stack += zip(x.args, y.args, strict=True)
        else:
            found.append((x, y))
    return found


def _name(t: Term, n: int) -> str:
    match t.data:
        case (UOp() as u, *_):
            return f"{u.op.name.lower()} {n}" if u.op is not Ops.DEFINE_VAR else str(u.arg[0])
        case UOp() as u:
            return f"{u.op.name.lower()}[{n}]"
        case (str(name), *_):
            return f"{name} {n}"
        case _:
            return f"value {n}"


def _text(value: Any) -> str:
    return str(value.item())
