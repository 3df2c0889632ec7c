"""The open loops that a node is shown with are those that `core` knows of it."""

from __future__ import annotations

import random

import pytest

from core.dtype import dtypes
from core.errors import BudgetError
from core.uop.kernelinfo import AxisType
from core.uop.ops import Ops
from core.uop.uop import UOp
from viz.budget import Budget, within
from viz.coredialect.openranges import MAX_TEXT, OpenRanges


def numbered(*sinks: UOp) -> dict[UOp, int]:
    """A number for every node, sources first."""
    nodes = UOp.sink(*sinks).toposort()
    return {u: i for i, u in enumerate(nodes, 1)}


def spelled(u: UOp) -> str:
    """What `core` says of it."""
    found = sorted(u.ranges, key=lambda r: str(r.arg))
    return " ".join(f"{r.arg[1].letter}{r.arg[0]}" for r in found)[:MAX_TEXT]


@pytest.mark.parametrize("seed", [None, *range(20)])
def test_the_loops_of_a_node_are_those_of_the_compiler(seed: int | None) -> None:
    seed = random.randrange(1 << 30) if seed is None else seed
    print("seed", seed)
    choose = random.Random(seed)
    kinds = [*AxisType]
    loops = [UOp.range(9, i, choose.choice(kinds)) for i in choose.sample(range(200), 100)]
    loops.append(UOp.range(loops[0] + 1, 500))
    nodes = [UOp.const(dtypes.index, 1), *loops]
    for _ in range(300):
        a, b = choose.choice(nodes[-20:]), choose.choice(nodes)
        ended = choose.sample(loops, choose.randrange(1, 5))
        if choose.random() < 0.2:
            ended.append(choose.choice(nodes))
        made = (a + b, a + b, a + b, a.reduce(Ops.ADD, *ended), a.after(b.end(*ended)))
        nodes.append(choose.choice(made))
    numbers = numbered(*nodes)
    shown = OpenRanges()
    for at, (u, number) in enumerate(numbers.items()):
        shown.add(number, u, [numbers[s] for s in u.src])
        if at % 64 == 0:  # some are spelled before all loops are known
            assert shown.text(number) == spelled(u)
    for u, number in numbers.items():
        assert shown.text(number) == spelled(u)


def test_sets_without_end_are_refused_by_the_budget() -> None:
    total, numbers = UOp.const(dtypes.index, 0), dict[UOp, int]()
    for i in range(3_000):
        total = total + UOp.range(9, i)
    numbers = numbered(total)
    shown = OpenRanges()

    def work_out() -> None:
        for u, number in numbers.items():
            shown.add(number, u, [numbers[s] for s in u.src])

    with within(Budget("the answer", memory=300_000)), pytest.raises(BudgetError):
        work_out()
