"""What differs between two runs, for scripts: `uopviz diff` as typed objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import TraceError
from viz.api.listed import Listed
from viz.api.run import Run
from viz.api.run import open as open_run
from viz.compare.comparison import Comparison
from viz.compare.gate import failed_gates, parse_gates


@dataclass(frozen=True)
class KernelPair:
    """A kernel, schedule or pass of both runs, or of one: then the other name is None."""

    kind: str
    state: str
    """ "equal", "changed", "added" or "removed"."""
    a: str | None
    b: str | None
    steps: tuple[int | None, int | None]
    us: tuple[float | None, float | None]
    """Median of a launch in microseconds."""
    first_pass: str | None
    """The first pass that differs, with the step and the rule in each run; None: none does."""
    first_steps: tuple[int | None, int | None]
    first_rules: tuple[str | None, str | None]


@dataclass(frozen=True)
class RulePair:
    """A rule that matched in either run, or whose text differs."""

    name: str
    file: str
    state: str
    """ "more", "less", "gone", "new" or "equal"."""
    matches: tuple[int | None, int | None]
    us: tuple[float | None, float | None]
    text_differs: bool


class Difference:
    """What differs between run `a`, which was, and run `b`, which is."""

    def __init__(self, a: Run, b: Run) -> None:
        self.a, self.b = a, b
        self._comparison = Comparison(a.store, b.store)
        self.data: Mapping[str, Any] = self._comparison.overview()
        """As `uopviz diff --json` has it: `Comparison` of docs/json.md."""

    @property
    def equal(self) -> bool:
        """Whether nothing differs but times."""
        return bool(self.data["equal"])

    @property
    def totals(self) -> dict[str, tuple[float | None, float | None]]:
        """Kernels, steps, times and others of both runs."""
        return {row["what"]: (row["a"], row["b"]) for row in self.data["totals"]}

    @property
    def notes(self) -> list[str]:
        """Sentences: that these are different programs, what could not be read."""
        return [*self.data["notes"]]

    @property
    def kernels(self) -> Listed[KernelPair]:
        """Kernels, schedules, and passes outside of both; the most changed first."""
        pairs = [self._pair(row) for row in self.data["scopes"]]
        return Listed(pairs, vars)

    @property
    def rules(self) -> Listed[RulePair]:
        """Rules, those that differ most first."""
        pairs = [
            RulePair(
                *(row["name"], row["file"], row["state"]),
                (row["matches"]["a"], row["matches"]["b"]),
                (row["us"]["a"], row["us"]["b"]),
                row["text"],
            )
            for row in self.data["rules"]
        ]
        return Listed(pairs, vars)

    def failed(self, conditions: str) -> list[str]:
        """The conditions of `--fail-on` that hold, such as "added-kernels,slower:1.05". Raises
        TraceError for ones that there are not."""
        return failed_gates(self._comparison.compared(), parse_gates(conditions))

    def _pair(self, row: Mapping[str, Any]) -> KernelPair:
        first = row["first"]
        rules: tuple[str | None, str | None] = (None, None)
        if first is not None:
            numbers = first["ruleA"], first["ruleB"]
            names = [
                None if number is None else run.store.rule_name(number)
                for run, number in zip((self.a, self.b), numbers, strict=True)
            ]
            rules = names[0], names[1]
        return KernelPair(
            *(row["kind"], row["state"], row["name"]["a"], row["name"]["b"]),
            (row["steps"]["a"], row["steps"]["b"]),
            (row["us"]["a"], row["us"]["b"]),
            None if first is None else first["pass"],
            (None, None) if first is None else (first["stepA"], first["stepB"]),
            rules,
        )

    def __repr__(self) -> str:
        if self.equal:
            return "Difference: none"
        changed = sum(pair.state != "equal" for pair in self.kernels)
        return f"Difference: {changed} of {len(self.kernels)} kernels, schedules and passes"


def diff(a: Run | str | Path, b: Run | str | Path) -> Difference:
    """Compares two runs. Raises TraceError where one cannot be read."""
    runs = [one if isinstance(one, Run) else open_run(one) for one in (a, b)]
    if runs[0].store is runs[1].store:
        raise TraceError("this is one run", str(runs[0].path), "open it twice to compare it so")
    return Difference(*runs)
