"""Why opts were chosen, in words: what was compared, what bounds the time, what else was predicted.

Never predicts and never measures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from core.hardware.cpu import Cpu
from core.passes.cost.nest import Nest
from core.passes.cost.plan import opts_of
from core.passes.cost.plans import Candidate

MOST: Final = 12
"""Candidates that are listed."""
_BOUNDS: Final[Mapping[str, str]] = {
    "arithmetic": "arithmetic: units for vectors are busy throughout",
    "instructions": "instructions: more cannot be issued in a cycle",
    "loads": "loads: every cycle loads as many vectors as it can",
    "stores": "stores: every cycle stores as many vectors as it can",
    "chain": "the chain of a reduce: each step waits for the one before",
    "L2": "the second-level cache: what is used again does not fit the first",
    "L3": "the third-level cache: what is used again does not fit the second",
    "memory": "memory: what is used does not fit the caches",
    "loops": "loops: they are short and often left",
    "threads": "threads: sharing the launch takes longer than the rest",
}


def choice_report(
    nest: Nest, candidates: Sequence[Candidate], chosen: Candidate, target: str, cpu: Cpu
) -> str:
    """A line that says what was chosen, what bounds it, then a table: the chosen candidate, those
    that are predicted to come next, and the kernel without opts, in microseconds."""
    one = chosen.predicted
    opts = " ".join(map(str, opts_of(nest, chosen.plan))) or "none"
    plain = next((c for c in candidates if c.plan.lanes == 1 and not c.plan.thread), None)
    listed = [chosen, *(c for c in candidates if c is not chosen)][:MOST]
    if plain is not None and plain not in listed:
        listed.append(plain)
    parts = [name for name in _BOUNDS if any(c.predicted.parts.get(name) for c in listed)]
    head = ["predicted, us", *parts, "opts"]
    rows = [
        [
            _us(c.predicted.cycles, cpu),
            *(_us(c.predicted.parts.get(name, 0.0), cpu) for name in parts),
            " ".join(map(str, opts_of(nest, c.plan))) or "none",
        ]
        for c in listed
    ]
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head) - 1)]
    table = [
        "  ".join([*(text.rjust(n) for text, n in zip(row, widths, strict=False)), row[-1]])
        for row in (head, *rows)
    ]
    caches = ", ".join(f"L{n} {getattr(cpu, f'l{n}') >> 10}K" for n in (1, 2, 3))
    machine = f"{target}, {cpu.cores} cores, {caches}, {cpu.registers} vector registers"
    return (
        "\n".join(
            [
                f"chosen     {opts}",
                f"predicted  {_us(one.cycles, cpu)} us",
                f"bound by   {_BOUNDS[one.bound]}",
                f"machine    {machine}",
                f"looked at  {len(candidates)} candidates",
                "",
                *table,
            ]
        )
        + "\n"
    )


def _us(cycles: float, cpu: Cpu) -> str:
    return f"{cycles / cpu.ghz / 1e3:.2f}"
