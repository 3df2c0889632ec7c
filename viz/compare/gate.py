"""`--fail-on`: conditions on which a comparison fails a check, such as "slower:1.05".

One table has every condition. A condition on a figure that neither trace has is an error, never
passed. Never compares: it is given what was compared.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from core.errors import TraceError
from viz.compare.pairs import Figures, Pair
from viz.ratio import FEWEST, Apart, change_words, figure

Data = dict[str, Any]
MAX_FACTOR: Final = 1000.0
MAX_SAID: Final = 5
"""Kernels that a failed condition names."""


@dataclass(frozen=True)
class Compared:
    """What conditions are about: the overview as the page has it, every pair, and sentences of what
    could not be compared."""

    overview: Data
    pairs: Sequence[Pair]
    left_out: Sequence[str] = ()

    @property
    def both(self) -> list[tuple[Pair, Figures, Figures]]:
        """The kernels that both runs have."""
        return [
            (pair, pair.a, pair.b)
            for pair in self.pairs
            if pair.a is not None and pair.b is not None and _kind(pair) == "kernel"
        ]


@dataclass(frozen=True)
class Condition:
    """One row of the table. `check` gets what was compared and the factor, and says what fails, ""
    for nothing; None: the traces do not say it."""

    name: str
    takes_factor: bool
    doc: str
    check: Callable[[Compared, float], str | None]


@dataclass(frozen=True)
class Gate:
    """A condition as it was asked for."""

    condition: Condition
    factor: float

    @property
    def text(self) -> str:
        """As it is written."""
        return f"{self.condition.name}:{self.factor:g}" if self.factor != 1 else self.condition.name


def parse_gates(text: str) -> list[Gate]:
    """The conditions of a list such as "added-kernels,slower:1.05". Raises TraceError for what is
    none."""
    found: list[Gate] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, colon, number = part.partition(":")
        condition = CONDITIONS.get(name)
        if condition is None:
            close = difflib.get_close_matches(name, CONDITIONS, 1)
            hint = f"did you mean {close[0]}?" if close else "one of " + ", ".join(CONDITIONS)
            raise TraceError(f"there is no condition {name!r}", hint=hint)
        if colon and not condition.takes_factor:
            raise TraceError(f"{name} takes no factor", hint=f"write {name}")
        found.append(Gate(condition, _factor(name, number) if colon else 1.0))
    if not found:
        raise TraceError("no condition is named", hint="one of " + ", ".join(CONDITIONS))
    return found


def _factor(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 1 <= value <= MAX_FACTOR:
        raise TraceError(
            f"{text!r} is no factor for {name}",
            hint=f"factors are 1 to {MAX_FACTOR:g}: {name}:1.05 allows 5 % more",
        )
    return value


def failed_gates(compared: Compared, gates: Iterable[Gate]) -> list[str]:
    """A sentence for each condition that holds. Raises TraceError for one that cannot be told."""
    said: list[str] = []
    if compared.left_out:
        raise TraceError(
            f"whether conditions hold cannot be told: {compared.left_out[0].rstrip('.')}",
            hint="uopviz diff without --fail-on shows what could be compared",
        )
    for gate in gates:
        found = gate.condition.check(compared, gate.factor)
        if found is None:
            raise TraceError(
                f"whether {gate.text} holds cannot be told: the traces do not say it",
                hint="record both runs in the same way, or leave the condition out",
            )
        if found:
            said.append(f"{gate.text}: {found}")
    return said


def _kind(pair: Pair) -> str:
    either = pair.match.b or pair.match.a
    return either.kind if either is not None else ""


def _changed(compared: Compared, _: float) -> str:
    counts: dict[str, int] = {}
    for pair in compared.pairs:
        if pair.state != "equal":
            counts[pair.state] = counts.get(pair.state, 0) + 1
    if compared.overview["equal"]:
        return ""
    said = ", ".join(f"{count:,} {state}" for state, count in counts.items())
    return said or "the runs are not equal"


def _of_state(state: str) -> Callable[[Compared, float], str]:
    def check(compared: Compared, _: float) -> str:
        found = [p for p in compared.pairs if p.state == state and _kind(p) == "kernel"]
        return _named(found)

    return check


def _named(pairs: Sequence[Pair]) -> str:
    names = [(p.match.b or p.match.a) for p in pairs[:MAX_SAID]]
    more = f" and {len(pairs) - MAX_SAID:,} more" if len(pairs) > MAX_SAID else ""
    return ", ".join(scope.name[:100] for scope in names if scope is not None) + more


def _total(what: str) -> Callable[[Compared, float], str | None]:
    def check(compared: Compared, factor: float) -> str | None:
        rows = cast("list[Data]", compared.overview["totals"])
        row = next(row for row in rows if row["what"] == what)
        if row["a"] is None or row["b"] is None:
            return None
        return _more(row["a"], row["b"], factor)

    return check


def _sum_of(figure: Callable[[Figures], float | None]) -> Callable[[Compared, float], str | None]:
    """Of the kernels that both have and that say it."""

    def check(compared: Compared, factor: float) -> str | None:
        rows = [(figure(a), figure(b)) for _, a, b in compared.both]
        known = [(a, b) for a, b in rows if a is not None and b is not None]
        if not known:
            return None
        return _more(sum(a for a, _ in known), sum(b for _, b in known), factor)

    return check


def _timed(compared: Compared) -> list[tuple[Pair, Apart, float]]:
    """The kernels of both whose times can be told apart, and what their launches in A took.
    Raises TraceError where kernels were launched, and all of them too seldom."""
    rows = [
        (pair, pair.ratio, a.whole_us)
        for pair, a, b in compared.both
        if a.us is not None and b.us is not None
    ]
    found = [(pair, ratio, us) for pair, ratio, us in rows if ratio is not None]
    if rows and not found:
        raise TraceError(
            "how long kernels take is not judged: each was launched once, or a few times",
            hint=f"launch the kernels {FEWEST} times or more in each run",
        )
    return found


def _slower(compared: Compared, factor: float) -> str | None:
    """By the lower end of each kernel's interval, with launches as often as A had them."""
    rows = _timed(compared)
    if not rows:
        return None
    before = sum(us for _, _, us in rows)
    if sum(us * ratio.low for _, ratio, us in rows) <= before * factor:
        return ""
    now = sum(us * ratio.ratio for _, ratio, us in rows)
    return f"{before:,.10g} us before, {now:,.10g} us now, {change_words(now / before)}"


def _slower_kernel(compared: Compared, factor: float) -> str | None:
    rows = _timed(compared)
    return _named([pair for pair, ratio, _ in rows if ratio.low > factor]) if rows else None


def _any_kernel(
    figure: Callable[[Figures, Figures], Iterable[tuple[float, float]]],
) -> Callable[[Compared, float], str | None]:
    def check(compared: Compared, factor: float) -> str | None:
        known, found = 0, list[Pair]()
        for pair, a, b in compared.both:
            rows = [*figure(a, b)]
            known += len(rows)
            if any(more > factor * before for before, more in rows):
                found.append(pair)
        return _named(found) if known else None

    return check


def _registers(a: Figures, b: Figures) -> Iterable[tuple[float, float]]:
    return [(a.registers[t], b.registers[t]) for t in a.registers.keys() & b.registers.keys()]


def _more(a: float, b: float, factor: float) -> str:
    if b <= a * factor:
        return ""
    return f"{a:,.10g} before, {b:,.10g} now{f', {figure(b / a)}' if a else ''}"


def _errors(compared: Compared, _: float) -> str:
    found = [e for e in compared.overview["errors"] if e["b"] is not None]
    return "; ".join(f"{e['where']}: {e['message']}" for e in found[:MAX_SAID])


def _gone_rules(compared: Compared, _: float) -> str:
    found = [r["name"] for r in compared.overview["rules"] if r["state"] == "gone"]
    more = f" and {len(found) - MAX_SAID:,} more" if len(found) > MAX_SAID else ""
    return ", ".join(found[:MAX_SAID]) + more


_TABLE: Final = (
    Condition("changed", False, "anything but times differs", _changed),
    Condition("added-kernels", False, "B has kernels that A has not", _of_state("added")),
    Condition("removed-kernels", False, "A has kernels that B has not", _of_state("removed")),
    Condition("changed-kernels", False, "a kernel of both differs", _of_state("changed")),
    Condition("more-kernels", True, "B has more kernels", _total("kernels")),
    Condition("more-steps", True, "B takes more matches of rules", _total("steps")),
    Condition("more-nodes", True, "the kernels' last graphs have more nodes", _total("nodes")),
    Condition("more-lines", True, "the kernels of both have longer texts",
              _sum_of(lambda f: f.lines)),
    Condition("more-bytes", True, "the kernels of both move more bytes, as estimated",
              _sum_of(lambda f: f.bytes)),
    Condition("more-registers", True, "a kernel of both takes more registers on a target",
              _any_kernel(_registers)),
    Condition("more-launches", True, "B launches more kernels", _total("launches")),
    Condition("more-memory", True, "B allocates more memory at its peak", _total("memory")),
    Condition("slower", True, "the kernels of both take longer, each as often as A launched it: "
              "with 95 % confidence", _slower),
    Condition("slower-kernel", True, "a kernel of both takes longer, with 95 % confidence",
              _slower_kernel),
    Condition("slower-compile", True, "compiling took longer, as measured once",
              _total("compile")),
    Condition("errors", False, "a pass fails in B that did not in A", _errors),
    Condition("gone-rules", False, "a rule that matched in A matches no more", _gone_rules),
)  # fmt: skip
CONDITIONS: Final = {condition.name: condition for condition in _TABLE}
"""Every condition by its name."""
