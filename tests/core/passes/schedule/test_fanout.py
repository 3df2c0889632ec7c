"""Where the uses of a value meet, and which ways lead there, by brute force on random graphs."""

from __future__ import annotations

import random

from core.dtype import dtypes
from core.passes.schedule.grouping.fanout import Fanout
from core.uop import Ops, UOp


def random_graph(rng: random.Random) -> UOp:
    pool = [UOp.new_buffer("CPU", 4, dtypes.int32) for _ in range(2)]
    for _ in range(rng.randrange(1, 16)):
        x, y = rng.choices(pool[-5:], k=2)
        kind = rng.randrange(4)
        made = x + y if kind else y.r(Ops.ADD, (0,)).expand((4,))
        pool.append(made.flip((True,)) if kind == 1 else made)
    return UOp.sink(*(x for x in pool[2:] if rng.random() < 0.2), pool[-1])


def ways(fanout: Fanout, u: UOp) -> set[UOp]:
    """All nodes that something leads to from `u`."""
    found: set[UOp] = set()
    stack = [u]
    while stack:
        users = {use.user for use in fanout.uses[stack.pop()]} - found
        found |= users
        stack += users
    return found


def test_meeting_points() -> None:
    seed = random.randrange(1 << 30)
    for at in range(60):
        rng = random.Random(f"{seed} {at}")
        graph = random_graph(rng)
        fanout = Fanout(graph, graph.toposort())
        allowed = {u for u in fanout.order if rng.random() < 0.7}
        clean = fanout.meeting(allowed.__contains__)
        for u, meet in fanout.meets.items():
            if u is fanout.sink or not fanout.uses[u]:
                continue
            passed = ways(fanout, u) - ways(fanout, meet) - {meet}
            assert meet in ways(fanout, u), (seed, at)
            assert (u in clean) == (passed <= allowed), (seed, at)
            region = fanout.between(u, meet, allowed.__contains__)
            want = sorted({*passed, meet}, key=fanout.order.__getitem__)
            assert region == (want if passed <= allowed else None), (seed, at)


def test_meeting_points_far_apart() -> None:
    """Long chains with uses far up: walking up from use to use finds the same meeting points."""
    seed = random.randrange(1 << 30)
    rng = random.Random(seed)
    chain = [UOp.new_buffer("CPU", 4, dtypes.int32) + 1]
    for n in range(1000):
        far = rng.choice(chain) if rng.random() < 0.3 else chain[-1]
        chain.append(chain[-1] + far.const_like(n) * far)
    sink = UOp.sink(*rng.choices(chain, k=3), chain[-1])
    fanout = Fanout(sink, sink.toposort())
    for u, uses in fanout.uses.items():
        ways = [use.user for use in uses]
        while len(set(ways)) > 1:
            deepest = max(ways, key=fanout.depth.__getitem__)
            ways = [fanout.meets[w] if w is deepest else w for w in ways]
        assert not ways or fanout.meets[u] is ways[0], seed
