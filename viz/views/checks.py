"""What checks have found of the passes and kernels of a run, as the page shows it: no part of the
trace.

Results come from the file beside the trace, from the workers of a server, and lie in exported
files. They are kept packed, with what is counted of them. Never checks.
"""

from __future__ import annotations

import gzip
import json
import math
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from viz.format.jsontext import to_json
from viz.views.kernels.compiled import FIRST
from viz.views.runs.process import STRIDE

KINDS: Final = ("proved", "sampled", "assumes", "unchecked", "differs")
"""What a verdict can be, the best first."""
MAX_DIFFERING: Final = 1000
"""Steps of one pass that are listed because they differ."""
_LEVEL: Final = 1
_LARGEST: Final = 1e308
Data = dict[str, Any]


@dataclass(frozen=True)
class _Checked:
    """A pass: `packed` is what `Checks.of` gives."""

    packed: bytes
    counts: tuple[int, ...]
    differing: tuple[int, ...]
    whole: bool
    undone: str
    """What the pass left undone, in words; "" for nothing."""
    stated: bool
    """An exported file says so: nothing was checked here."""


class Checks:
    """By pass what `CheckedPass.data` of `viz/check/part.py` makes; by kernel `WholeKernel`, what
    is known of it as a whole. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._passes: dict[int, _Checked] = {}
        self._kernels: dict[int, tuple[Data, bool]] = {}
        self.read: object = None
        """Which state of the file beside the trace is in it; for those who read that."""

    def add(self, checked: Data, *, whole: bool = True, stated: bool = False) -> None:
        """Takes up the result of a pass: of all its steps, or of those of some rules, which are
        joined with what is known. `stated`: an exported file says so; it is shown until the pass
        is checked here."""
        number = int(checked["rewrite"])
        with self._lock:
            before = self._passes.get(number)
            if not whole and before is not None and before.stated == stated:
                checked, whole = _joined(_unpacked(before), checked), before.whole
            self._passes[number] = _made(checked, whole, stated)

    def add_kernel(self, whole: Data, *, stated: bool = False) -> None:
        """Takes up what is known of a kernel as a whole."""
        with self._lock:
            self._kernels[int(whole["kernel"])] = whole, stated

    def kernels(self) -> list[Data]:
        """What is known of kernels as a whole, in the order of their numbers."""
        with self._lock:
            return [self._kernels[number][0] for number in sorted(self._kernels)]

    def run_here(self) -> set[int]:
        """The kernels that were run as a whole here, or of which it is known why they cannot be."""
        with self._lock:
            return {number for number, (_, stated) in self._kernels.items() if not stated}

    def of(self, rewrite: int) -> Data | None:
        """What is known of a pass, with "whole": whether of all its steps."""
        with self._lock:
            found = self._passes.get(rewrite)
        return None if found is None else _unpacked(found) | {"whole": found.whole}

    def rewrites(self) -> list[int]:
        """The numbers of the passes of which something is known."""
        with self._lock:
            return sorted(self._passes)

    def whole(self) -> set[int]:
        """The passes of which all steps were checked here."""
        with self._lock:
            return {n for n, one in self._passes.items() if one.whole and not one.stated}

    def __iter__(self) -> Iterator[tuple[Data, bool]]:
        """Each pass, and whether all its steps are known."""
        with self._lock:
            kept = [self._passes[number] for number in sorted(self._passes)]
        return ((_unpacked(one), one.whole) for one in kept)

    def publish(self, others: Checks, rewrites: Collection[int], kernels: Collection[int]) -> None:
        """Takes up those of some passes and kernels."""
        with others._lock:
            kept = {n: one for n, one in others._passes.items() if n in rewrites}
            whole = {n: one for n, one in others._kernels.items() if n in kernels}
        with self._lock:
            self._passes |= kept
            self._kernels |= whole

    def summary(self) -> Data:
        """Counts of the verdicts of each pass, and the steps that differ, as parallel arrays."""
        with self._lock:
            rows = sorted(self._passes.items())
        return {
            "rewrite": [number for number, _ in rows],
            **{kind: [one.counts[i] for _, one in rows] for i, kind in enumerate(KINDS)},
            "whole": [one.whole for _, one in rows],
            "differing": [list(one.differing) for _, one in rows],
            "undone": [one.undone for _, one in rows],
        }

    def counts(self, rewrites: Collection[int]) -> dict[str, int]:
        """How many steps of some passes have each kind of verdict."""
        with self._lock:
            found = [self._passes[n].counts for n in rewrites if n in self._passes]
        return {kind: sum(counts[i] for counts in found) for i, kind in enumerate(KINDS)}


def missing(summary: Data, rows: Sequence[Data]) -> int:
    """How many steps of a program's passes were not checked: `summary` is that of `Checks`, `rows`
    are those of the tree."""
    counts = zip(*(summary[kind] for kind in KINDS), strict=True)
    checked = dict(zip(summary["rewrite"], map(sum, counts), strict=True))
    whole = {
        n for n, is_whole in zip(summary["rewrite"], summary["whole"], strict=True) if is_whole
    }
    return sum(
        max(1, row["steps"] - checked.get(row["id"], 0))
        for row in rows
        if row["kind"] == "rewrite"
        and row["steps"]
        and row["id"] < FIRST * STRIDE
        and row["id"] not in whole
    )


def unrun(kernels: Sequence[Data], rows: Sequence[Data]) -> int:
    """How many kernels of a program were not run as a whole; rows are those of the tree."""
    ran = {one["kernel"] for one in kernels if one["state"] != "unknown"}
    return sum(
        row["kind"] == "context"
        and row["label"] == "kernel"
        and row["id"] < FIRST * STRIDE
        and row["id"] not in ran
        for row in rows
    )


def summary_in(stated: object) -> Data:
    """The summary that a file states, which may hold anything: its rows, where it has the form of
    `Checks.summary`, else none."""
    fields = cast("Data", stated) if isinstance(stated, dict) else {}
    columns = {name: fields.get(name) for name in ("rewrite", *KINDS, "whole", "differing")}
    rewrites = columns["rewrite"]
    nothing = [""] * len(cast("list[Any]", rewrites)) if isinstance(rewrites, list) else []
    columns["undone"] = fields.get("undone", nothing)  # older files do not say it
    lists = [cast("list[Any]", one) for one in columns.values() if isinstance(one, list)]
    fits = len(lists) == len(columns) and len({len(one) for one in lists}) == 1
    if not fits or not all(_is_row(row) for row in zip(*lists, strict=True)):
        return {name: [] for name in columns}
    return columns


def _is_row(row: tuple[Any, ...]) -> bool:
    *numbers, whole, differing, undone = row
    return (
        isinstance(undone, str)
        and all(type(n) is int for n in numbers)
        and isinstance(whole, bool)
        and isinstance(differing, list)
        and all(type(n) is int for n in cast("list[Any]", differing))
    )


def _made(checked: Data, whole: bool, stated: bool) -> _Checked:
    kinds = [verdict["kind"] for verdict in checked["verdicts"]]
    total = Counter(kinds[at] for _, _, at in checked["steps"])
    differing = [step for step, _, at in checked["steps"] if kinds[at] == "differs"]
    kept = {name: checked[name] for name in ("rewrite", "steps", "verdicts", "integers")}
    kept["undone"] = left = checked.get("undone")
    kept["unseen"] = checked.get("unseen", "")
    kept["verdicts"] = [_finite(verdict) for verdict in checked["verdicts"]]
    return _Checked(
        gzip.compress(to_json(kept), _LEVEL, mtime=0),
        tuple(total[kind] for kind in KINDS),
        tuple(sorted(differing)[:MAX_DIFFERING]),
        whole,
        "" if left is None else left["said"],
        stated,
    )


def _finite(verdict: Data) -> Data:
    """A verdict whose numbers JSON has."""
    if not math.isfinite(verdict.get("ulps", 0.0)):
        return verdict | {"ulps": _LARGEST}
    return verdict


def _unpacked(one: _Checked) -> Data:
    found: Data = json.loads(gzip.decompress(one.packed))
    return found


def _joined(before: Data, now: Data) -> Data:
    """What is known of a pass, with what is known of some of its steps now."""
    first = len(before["verdicts"])
    rows = {step: [step, rule, at] for step, rule, at in before["steps"]}
    rows |= {step: [step, rule, first + at] for step, rule, at in now["steps"]}
    used = sorted({at for _, _, at in rows.values()})
    place = {at: i for i, at in enumerate(used)}
    verdicts = [*before["verdicts"], *now["verdicts"]]
    return {
        "rewrite": before["rewrite"],
        "steps": [[step, rule, place[at]] for step, rule, at in sorted(rows.values())],
        "verdicts": [verdicts[at] for at in used],
        "integers": sorted({*before["integers"], *now["integers"]}),
        "undone": now.get("undone") or before.get("undone"),
        "unseen": now.get("unseen", ""),
    }
