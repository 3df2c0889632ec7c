"""`Comparison`: two runs, and the answers about what differs between them.

Answers are in the form of viz/web/src/data/messages/compare.ts; numbers are those of each run. Each
answer has a budget (`viz/budget.py`). Safe to use from several threads. Never writes, and never
runs anything.
"""

from __future__ import annotations

import threading
from typing import Any, Final

from core.errors import BudgetError
from viz.budget import answering, take
from viz.compare.gate import Compared
from viz.compare.instep import pass_alignment, rule_counts
from viz.compare.lines.sources import source_difference
from viz.compare.matching.canonical import text_key
from viz.compare.matching.difference import PassMatch, compare_passes, depth_of
from viz.compare.matching.rules import Rules
from viz.compare.matching.side import Scope, Side
from viz.compare.matching.texts import canonical
from viz.compare.slots import Walked
from viz.compare.work import Work
from viz.views.store import Store

Data = dict[str, Any]
MAX_PASSES: Final = 20_000
"""Passes of two scopes in an answer."""
_PASS: Final = 800


class Comparison:
    """Run `a`, which was, and run `b`, which is. Does not close them."""

    def __init__(self, a: Store, b: Store) -> None:
        self.a, self.b = a, b
        self._sides = Side(a), Side(b)
        for side, other in (self._sides, self._sides[::-1]):
            side.beside(other)
        self._work: Work | None = None
        self._rules: Rules | None = None
        self._ruled: tuple[int, ...] = ()
        self._lock = threading.Lock()
        """Held while an answer is made: what is kept of both sides grows meanwhile."""

    def overview(self, seconds: float = float("inf")) -> Data:
        """What differs, `Comparison` of the page: as far as it was worked out in about `seconds`;
        asking again goes on. Where a run has gone on since the last whole answer, it is compared
        anew. Raises BudgetError."""
        with self._lock:
            now = tuple(side.version() for side in self._sides)
            if self._work is None or (self._work.done and self._work.version != now):
                self._work = Work(*self._sides)
            return self._work.go_on(seconds)

    def compared(self) -> Compared:
        """Everything, once `overview` is done. Raises BudgetError."""
        made = self.overview()
        work = self._work
        return Compared(made, work.pairs, work.left_out) if work is not None else Compared(made, [])

    def scopes(self, of: int, with_: int) -> Data | None:
        """The passes and texts of scope `of` of A and `with_` of B, 0 for none; None for numbers
        that no scope has. Raises BudgetError."""
        with self._lock, answering("the passes of two kernels"):
            rules = self._prepare()
            a, b = self._sides[0].scope(of), self._sides[1].scope(with_)
            if _unknown(of, a) or _unknown(with_, b) or (a is None and b is None):
                return None
            passes = _passes_of(a, b, rules)
            shown = passes[:MAX_PASSES]
            take(4 * len(shown), _PASS * len(shown))
            return {
                "passes": [_pass_data(a, b, one) for one in shown],
                "sources": self._source_names(a, b),
            }

    def passes(self, of: int, with_: int) -> Data | None:
        """How rewrite `of` of A and `with_` of B go in step, 0 for none; None for numbers that no
        rewrite has. Raises BudgetError."""
        with self._lock, answering("two passes in step"):
            rules = self._prepare()
            walked: list[Walked | None] = []
            classes = rules.classes_a, rules.classes_b
            for side, number, known in zip(self._sides, (of, with_), classes, strict=True):
                found = side.rewrite(number)
                bundle = side.store.bundle(number) if found is not None else None
                if _unknown(number, found):
                    return None
                walked.append(
                    None if found is None or bundle is None else Walked(found[0], bundle, known)
                )
            a, b = walked
            if a is None and b is None:
                return None
            made = pass_alignment(a, b)
            matched = [
                [s["rule"] for s in w.bundle["steps"]] if w is not None else [] for w in walked
            ]
            made["rules"] = [
                {"name": self._rule_name(rules, number), "a": of_a, "b": of_b}
                for number, of_a, of_b in rule_counts(matched[0], matched[1], classes)
            ]
            return made

    def sources(self, of: int, with_: int, kind: str, target: str) -> Data | None:
        """A kind of text of scope `of` of A and `with_` of B, line by line, 0 for none; None for
        numbers that no scope has, and for a text that neither has. Raises BudgetError."""
        with self._lock, answering("the texts of two kernels"):
            found = [
                {(t["kind"], t["target"]): t for t in _texts(side.store, side.scope(number))}
                for side, number in zip(self._sides, (of, with_), strict=True)
            ]
            a, b = (texts.get((kind, target)) for texts in found)
            if a is None and b is None:
                return None
            known = self.b.dialect.kinds.get(kind) or self.a.dialect.kinds.get(kind)
            language = known.language if known is not None else ""
            return source_difference(
                a["text"] if a is not None else "", b["text"] if b is not None else "", language
            )

    def _prepare(self) -> Rules:
        """Reads what is new of both runs; their rules. Raises BudgetError."""
        for side in self._sides:
            side.refresh()
        now = tuple(len(part.process.rules) for side in self._sides for part in side.parts)
        if self._rules is None or now != self._ruled:
            self._rules, self._ruled = Rules(*self._sides), now
        return self._rules

    def _rule_name(self, rules: Rules, number: int) -> str:
        return rules.record(rules.matches[number - 1]).name[:300] if number else "?"

    def _source_names(self, a: Scope | None, b: Scope | None) -> list[Data]:
        """The texts that either scope has, and whether they are equal but for names."""
        texts: list[dict[tuple[str, str], tuple[str, int]]] = []
        on_request: set[tuple[str, str]] = set()
        for side, scope in zip(self._sides, (a, b), strict=True):
            found: dict[tuple[str, str], tuple[str, int]] = {}
            made = () if scope is None else side.store.texts.of(scope.number)
            on_request |= {(text["kind"], text["target"]) for text in made}
            for text in _texts(side.store, scope):
                if scope is not None and not text["error"]:
                    said = canonical(scope, text["kind"], text["text"])
                    key = text["kind"], text["target"]
                    found[key] = text["title"], text_key(said)
                    if text["passes"] not in (None, scope.number):
                        on_request.add(key)
            texts.append(found)
        scopes = zip((a, b), texts, strict=True)
        edited = [found for scope, found in scopes if scope is not None and scope.is_edited]
        every = {key for found in edited or texts for key in found}  # of a text no others are made
        order = {**self.a.dialect.preferred, **self.b.dialect.preferred}
        keys = sorted(every, key=lambda k: (order.get(k[0], len(order)), k))
        return [
            {
                "kind": key[0],
                "target": key[1],
                "title": (texts[1].get(key) or texts[0][key])[0],
                "a": key in texts[0],
                "b": key in texts[1],
                "equal": key in texts[0]
                and key in texts[1]
                and texts[0][key][1] == texts[1][key][1],
                "onRequest": key in on_request,
            }
            for key in keys
        ]


def _unknown(number: int, found: object) -> bool:
    """Whether something was asked for that is not there."""
    return bool(number) and found is None


def _texts(store: Store, scope: Scope | None) -> list[Data]:
    """The texts of a kernel or schedule, those that were compiled on request, too."""
    if scope is None or scope.kind == "other":
        return []
    try:
        of = store.kernel if scope.kind == "kernel" else store.schedule
        made = of(scope.number)
    except BudgetError:
        return []
    return made["artifacts"] if made is not None else []


def _passes_of(a: Scope | None, b: Scope | None, rules: Rules) -> list[PassMatch]:
    if a is not None and b is not None:
        return compare_passes(a, b, rules, count=True)
    only = a or b
    return [
        PassMatch(r if a is not None else None, r if b is not None else None, 0, None)
        for r in (only.passes if only is not None else ())
    ]


def _pass_data(a: Scope | None, b: Scope | None, one: PassMatch) -> Data:
    """A pass in the form `PassPair` of the page."""
    side, rewrite = (b, one.b) if one.b is not None else (a, one.a)
    assert side is not None and rewrite is not None
    both = one.a is not None and one.b is not None
    state = ("equal" if one.equal else "changed") if both else "added" if one.b else "removed"
    return {
        "name": rewrite.name[:300],
        "depth": depth_of(side.part, rewrite),
        "a": a.part.process.id(one.a.id) if a is not None and one.a is not None else None,
        "b": b.part.process.id(one.b.id) if b is not None and one.b is not None else None,
        "state": state,
        "stepsA": one.a.matches if one.a is not None else 0,
        "stepsB": one.b.matches if one.b is not None else 0,
        "same": one.same,
        "first": {"stepA": one.first.a, "stepB": one.first.b}
        if both and one.first is not None
        else None,
    }
