"""A long run of another compiler: 300,000 steps in 600 passes of 60 kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from viz.format import schema
from viz.format.events import events_of
from viz.write.writer import TraceWriter

KERNELS: Final = 60
PASSES: Final = 10
STEPS: Final = 500


def long_run(path: Path) -> Path:
    """Each step adds one to a sum; rules take turns. The last pass of the last kernel has a rule of
    its own, `rare`, at its last step."""
    with TraceWriter(path, {"command": ["long.py"]}) as t:
        one = t.node("CONST", "int32", arg="1")
        sums = [one]
        for _ in range(STEPS):
            sums.append(t.node("ADD", "int32", (sums[-1], one)))
        fold = t.rule("fold", "long.py", 3, equation="x -> x + 1")
        grow = t.rule("grow", "long.py", 7, equation="x -> x + 1")
        rare = t.rule("rare", "long.py", 11, equation="x -> x + 1")
        for number in range(KERNELS):
            kernel = t.context_begin(f"kernel_{number}", "kernel")
            for turn in range(PASSES):
                last = number == KERNELS - 1 and turn == PASSES - 1
                step = t.rewrite_begin(f"pass {turn}", sums[0], context=kernel)
                rules = [(fold, grow)[k % 2] for k in range(STEPS)]
                if last:
                    rules[-1] = rare
                rows = [
                    (schema.MATCH, step, rule, before, after, 1000, 0, 0)
                    for rule, before, after in zip(rules, sums[:-1], sums[1:], strict=True)
                ]
                t.extend(events_of(rows))
                t.rewrite_end(step, sums[-1])
            t.context_end(kernel)
    return path
