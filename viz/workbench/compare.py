"""Runs both programs of a workbench: on every kind of input, against each other and the reference,
and in turn for their times.

Limits of time and memory are the caller's. Never compiles.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.errors import RunError, TraceError
from core.isolation.safety import BASE, argument_bytes
from core.runtime.numeric import Array
from core.runtime.reference.kernel import evaluate_kernel
from core.trial.difference import differences
from core.trial.trial import arguments
from viz.ratio import ratio_of
from viz.whatif.results.inturn import pairs_in_turn
from viz.workbench.inputs import MAX_ARGUMENTS, Offered
from viz.workbench.kinds import KINDS
from viz.workbench.outputs import difference_of, errors, number, picture
from viz.workbench.sides import Side

SECONDS: Final = 1.5
"""What the turns take together; TURNS of them at most."""
TURNS: Final = 500
CHECKING: Final = 60.0
"""Seconds after which no further kind of input is begun."""
Progress = Callable[[str], None]
Data = dict[str, Any]


@dataclass(frozen=True)
class Judged:
    """Both sides on one kind of input: `worst` is the output that differs most."""

    data: Data
    worst: Data
    picture: Data


class Bench:
    """Two sides of one kernel. Raises RunError for arguments that take too much memory."""

    def __init__(self, offered: Offered, original: Side, edited: Side, memory: int) -> None:
        ast = offered.ast
        taken = argument_bytes(ast)
        if taken > MAX_ARGUMENTS:
            raise RunError(
                f"the arguments of this kernel take {taken:,} bytes",
                hint=f"the workbench takes {MAX_ARGUMENTS:,}; run it from its sources",
            )
        self._ast, self._sides = ast, (original, edited)
        self._room = memory - BASE - 6 * taken
        self._offered = offered

    def judge(self, kind: str) -> Judged:
        """Runs both on inputs of a kind. Raises UopvizError."""
        inputs = self._offered.of(kind)
        held = [inputs.buffers[n] for n in range(len(arguments(self._ast)))]
        original, edited = (side.run(inputs) for side in self._sides)
        right, why = self._reference(held, inputs.variables)
        judged: tuple[Data, Data, float] | None = None
        same = True
        for output, _, allowed in differences(self._ast, original, original):
            dtype = arguments(self._ast)[output].dtype.base
            a, b = original[output], edited[output]
            apart = errors(a, b, dtype)
            worst = float(apart.max())
            same &= worst <= allowed
            if judged is None or worst > judged[2]:
                found = difference_of(self._ast, output, dtype, a, b, apart).data()
                drawn = picture(self._ast, output, dtype, a, b, apart)
                judged = found, drawn, worst
        if judged is None:
            raise RunError("this kernel stores nothing")
        agrees = [
            None
            if right is None
            else all(error <= allowed for _, error, allowed in differences(self._ast, got, right))
            for got in (original, edited)
        ]
        data = {
            "kind": kind,
            "title": KINDS[kind],
            "same": same,
            "original": agrees[0],
            "edited": agrees[1],
            "ulps": judged[0]["ulps"],
            "error": judged[0]["error"],
            "why": why,
        }
        return Judged(data, judged[0], judged[1])

    def _reference(
        self, held: Sequence[Array], variables: Mapping[str, int]
    ) -> tuple[list[Array] | None, str]:
        """What the reference computes; None, and why, where it cannot."""
        results = [values.copy() for values in held]
        try:
            evaluate_kernel(self._ast, results, variables, max(0, self._room))
        except RunError as error:
            return None, error.what
        return results, ""

    def times(self) -> Data | None:
        """Times in turn, of what was judged last; None where instructions are counted in their
        place."""
        if any(side.is_counted for side in self._sides):
            return None
        pairs = pairs_in_turn(self._sides[0].launch, self._sides[1].launch, SECONDS, TURNS)
        us = [[1e6 * pair[side] for pair in pairs] for side in (0, 1)]
        return {**ratio_of(pairs).data(), "original": spread(us[0]), "edited": spread(us[1])}


def spread(us: Sequence[float]) -> Data:
    """Times in microseconds, and what says how they lie."""
    ordered = sorted(us)
    at = [ordered[min(len(ordered) - 1, int(part * len(ordered)))] for part in (0.1, 0.9)]
    return {
        "us": [round(t, 3) for t in us],
        "median": statistics.median(us),
        "p10": at[0],
        "p90": at[1],
    }


def compare_sides(
    offered: Offered,
    original: Side,
    edited: Side,
    memory: int,
    progress: Progress,
    kind: str | None = None,
) -> Data:
    """All that the workbench says of two sides; times and picture are of inputs of `kind`, or of
    the first kind that there is. Raises UopvizError."""
    bench = Bench(offered, original, edited, memory)
    begun = time.monotonic()
    first, *others = offered.kinds(kind)
    progress("comparing outputs")
    judged = bench.judge(first)
    progress("timing in turn")
    times = bench.times()
    sides = [side.data() for side in (original, edited)]
    inputs = [judged.data]
    for kind in others:
        progress(f"comparing outputs: {KINDS[kind]}")
        if time.monotonic() - begun > CHECKING:
            inputs.append(_not_run(kind, "left out: the kernel takes too long"))
            continue
        try:
            inputs.append(bench.judge(kind).data)
        except (RunError, TraceError) as error:
            inputs.append(_not_run(kind, error.what))
    return {
        "device": original.device,
        "target": original.program.target.name,
        "flops": original.program.flops,
        "bytes": original.program.bytes,
        "original": sides[0],
        "edited": sides[1],
        "times": times,
        "outputs": judged.worst,
        "picture": judged.picture,
        "inputs": inputs,
    }


def _not_run(kind: str, why: str) -> Data:
    return {
        "kind": kind,
        "title": KINDS[kind],
        "same": None,
        "original": None,
        "edited": None,
        "ulps": None,
        "error": number(0.0),
        "why": why,
    }
