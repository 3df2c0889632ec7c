"""How time grows with size: CPU seconds at a size and at ten times that size.

A cost in proportion to the graph gives 10, one with its square 100. Each case makes a fresh graph
per run, so that nothing is remembered from the run before.
"""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable
from itertools import count

from core import Tensor
from core.compile import compile_kernel
from core.target import targets
from core.uop import UOp, graph_rewrite
from core.uop.symbolic import symbolic
from tests.bench.measure import table

RUNS = 3
Work = Callable[[], object]
_serial = count()


def variables(n: int) -> list[UOp]:
    """`n` variables that no other run has seen."""
    run = next(_serial)
    return [UOp.variable(f"v{run}_{i}", 0, 100) for i in range(n)]


def memory(*shape: int) -> Tensor:
    """Memory on the device that computes nothing."""
    return Tensor.empty(*shape, device="NULL").realize()


def sum_of_terms(n: int) -> Work:
    """A flat sum of `n` products over 20 variables, simplified as an index is."""
    names = variables(20)
    rng = random.Random(n)
    total = names[0]
    for _ in range(n):
        total = total + rng.choice(names) * rng.randrange(1, 50)
    return total.simplify


def mixed_arithmetic(n: int) -> Work:
    """A graph of about `n` additions, products and remainders that share parts, simplified."""
    rng = random.Random(n)
    pool = variables(50)
    while len(pool) < n // 2:
        a, b = rng.choices(pool[-200:], k=2)
        pool.append(rng.choice((a + b, (a % 7) * (b % 5 + 1), (a + b) % 13)))
    sink = UOp.sink(*pool[-200:])
    return lambda: graph_rewrite(sink, symbolic)


def chained_reduces(n: int) -> Work:
    """`n` reduces, each of the result of the one before it, scheduled."""
    x = memory(8, 8)
    for _ in range(n):
        x = x - x.max(axis=1, keepdim=True)
    return x.schedule


def small_reduces(n: int) -> Work:
    """`n` reduces that have nothing to do with each other, scheduled together."""
    tensors = [(memory(4, 4) * i).sum(1) for i in range(n)]
    return lambda: tensors[0].schedule(*tensors[1:])


def wide_sum(n: int) -> Work:
    """A balanced tree of additions over `n` buffers, scheduled."""
    leaves = [memory(4) for _ in range(n)]
    while len(leaves) > 1:
        odd = [leaves.pop()] if len(leaves) % 2 else []
        leaves = [a + b for a, b in zip(leaves[::2], leaves[1::2], strict=True)] + odd
    return leaves[0].schedule


def chained(n: int) -> Work:
    """A chain of `n` operations, which is one kernel, scheduled."""
    x = memory(4)
    for i in range(n):
        x = x + float(i % 7) if i % 2 else x * 1.0001
    return x.schedule


def diamonds(n: int) -> Work:
    """`n` operations, of which two use what every third makes, scheduled."""
    x = memory(4)
    for _ in range(n // 3):
        x = x * 2.0 + (x + 1.0)
    return x.schedule


def side_by_side(n: int) -> Work:
    """`n` kernels of two operations that have nothing to do with each other, scheduled."""
    x = memory(4)
    outs = [x * float(i) + 1 for i in range(n)]
    return lambda: outs[0].schedule(*outs[1:])


def joined(n: int) -> Work:
    """`n` buffers joined, scheduled."""
    parts = [memory(4) for _ in range(n)]
    return lambda: parts[0].cat(*parts[1:]).schedule()


def deep_gradient(n: int) -> Work:
    """The gradient of `n` nested functions, scheduled."""
    x = memory(4, 4)
    y = x
    for _ in range(n):
        y = (y * 2).relu()

    def work() -> object:
        return y.sum().gradient(x)[0].schedule()

    return work


def long_kernel(n: int) -> Work:
    """A kernel of `n` elementwise operations, through all passes to text for a GPU: another one at
    each call, because compiled ones are kept."""
    x = memory(64)
    y = x + next(_serial)
    for i in range(n):
        y = (y * 1.5 + x) if i % 2 else (y - x).maximum(0.5)
    ast = y.schedule()[-1].ast
    return lambda: compile_kernel(ast, targets["sm_90"])


CASES: list[tuple[str, Callable[[int], Work], int]] = [
    ("sum of n terms over 20 variables, simplified", sum_of_terms, 3_000),
    ("n nodes of add, mul and mod, simplified", mixed_arithmetic, 10_000),
    ("n operations in a chain, scheduled", chained, 10_000),
    ("n operations in diamonds, scheduled", diamonds, 10_000),
    ("n kernels side by side, scheduled", side_by_side, 1_000),
    ("n chained reduces, scheduled", chained_reduces, 200),
    ("n separate reduces, scheduled", small_reduces, 300),
    ("tree of sums over n buffers, scheduled", wide_sum, 1_000),
    ("n buffers joined, scheduled", joined, 200),
    ("gradient of n nested functions, scheduled", deep_gradient, 300),
    ("kernel of n elementwise operations, to PTX", long_kernel, 300),
]


def seconds(case: Callable[[int], Work], n: int) -> float:
    """Median CPU seconds of the work, without making its graph."""
    times: list[float] = []
    for _ in range(RUNS):
        work = case(n)
        gc.collect()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def figures() -> str:
    """The table."""
    rows: list[list[object]] = []
    for name, case, n in CASES:
        small, large = seconds(case, n), seconds(case, 10 * n)
        rows.append([name, f"{n:,}", f"{small:.2f}", f"{large:.2f}", f"{large / small:.1f}"])
    header = ["work", "n", "CPU s", "CPU s at 10 n", "times as long"]
    return table("Growth with size", header, rows)
