"""Runs that are made in pairs, and what the engine says of each: the truth that comparing is held
against.

Nodes are interned, so that two runs of one process have equal graphs where these are one object.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.dtype import DType, dtypes
from core.uop.engine.observe import NullObserver, context, observing
from core.uop.engine.rewrite import graph_rewrite
from core.uop.kernelinfo import KernelInfo, Opt, OptOps
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import Rule
from core.uop.uop import UOp
from tests.viz.replay.engine_graphs import Outcomes
from tests.viz.samples import add_constants, add_zero, double, mul_one, same, subtract, wrap
from viz.compare.comparison import Comparison
from viz.trace import Recorder
from viz.views.store import Store

RULES = (add_zero, mul_one, double, same, subtract, add_constants, wrap)
_buffers = itertools.count(1000)


@dataclass(frozen=True)
class Kernel:
    """One kernel of a made run."""

    seed: int
    call: str
    size: int = 40
    dtype: DType = dtypes.int
    opts: tuple[Opt, ...] | None = None
    name: str = ""


@dataclass(frozen=True)
class Program:
    """A run that can be made any number of times."""

    kernels: tuple[Kernel, ...]
    rules: tuple[Any, ...] = RULES
    before: int = 0
    """Nodes that the trace has before the first kernel, of passes in no kernel."""


@dataclass
class Pass:
    """What the engine did in one pass: its graph, and of each step rule, nodes and further
    events."""

    sink: UOp
    steps: list[tuple[str, UOp, UOp, list[tuple[UOp, UOp]]]] = field(default_factory=list)

    def key(self) -> list[object]:
        """Equal for passes in which the engine did the same."""
        return [self.sink, *((rule, a, b) for rule, a, b, _ in self.steps)]

    def graphs(self) -> list[UOp]:
        """The engine's graph before the first step and after each."""
        outcomes, found = Outcomes(), [self.sink]
        for _, before, after, rebuilds in self.steps:
            outcomes.add([(before, after), *rebuilds])
            found.append(outcomes.of(self.sink))
        return found


class Watcher(NullObserver):
    """Keeps what the engine did, by the name of the kernel."""

    def __init__(self) -> None:
        self.kernels: dict[str, list[Pass]] = {}
        self._name = ""

    def context_begin(self, name: str, *_: object) -> None:
        self._name = name
        self.kernels[name] = []

    def rewrite_begin(self, name: str, sink: UOp, *_: object) -> None:
        self.kernels[self._name].append(Pass(sink))

    def match(self, rule: Rule, before: UOp, after: UOp, *_: object) -> None:
        self.kernels[self._name][-1].steps.append((rule.name, before, after, []))

    def rebuild(self, old: UOp, new: UOp) -> None:
        steps = self.kernels[self._name][-1].steps
        if steps:
            steps[-1][3].append((old, new))

    @property
    def matches(self) -> Counter[str]:
        """Of each rule."""
        passes = itertools.chain.from_iterable(self.kernels.values())
        return Counter(step[0] for one in passes for step in one.steps)


@dataclass
class Made:
    """A recorded run, and the truth about it."""

    path: Path
    truth: Watcher


def graph(kernel: Kernel) -> UOp:
    """Arithmetic on a few memories, whose numbers are others each time."""
    choose = random.Random(kernel.seed)
    dtype = kernel.dtype
    device = UOp(Ops.DEVICE, dtypes.void, arg="CPU")
    nodes = [UOp.variable(f"v{i}", 0, 10, dtypes.int).cast(dtype) for i in range(3)]
    for kept in (dtypes.short, dtypes.char):
        unique = UOp(Ops.UNIQUE, dtypes.void, arg=next(_buffers))
        nodes.append(UOp(Ops.BUFFER, kept, (unique, device), 4).cast(dtype))
    for _ in range(kernel.size):
        a, b = choose.choice(nodes[-12:]), choose.choice(nodes)
        kind = choose.randrange(8)
        one = [a + 0, a * 1, a * 2, a * 3, a - b, a + b, a.alu(Ops.MAX, b), a + choose.randrange(4)]
        nodes.append(one[kind])
    sink = UOp.sink(*choose.sample(nodes[-8:], 3))
    return sink.replace(arg=KernelInfo(kernel.name, kernel.opts)) if kernel.opts else sink


def record(program: Program, path: Path, keep: dict[int, UOp] | None = None) -> Made:
    """Records a run. With `keep`, graphs of kernels are those of the run that had it before, so
    that the engine's graphs of both can be compared as objects."""
    known: dict[int, UOp] = {} if keep is None else keep
    truth = Watcher()
    matcher = PatternMatcher([*program.rules], name="arithmetic")
    recorder = Recorder(path).start()
    try:
        for i in range(program.before):
            graph_rewrite(UOp.variable(f"w{i}", 0, 3) * 7 + i, PatternMatcher([], name="none"))
        with observing(truth):
            for kernel in program.kernels:
                sink = known.setdefault(hash(replace(kernel, name="")), graph(kernel))
                origin = f"net.py:{kernel.seed} {kernel.call}"
                with context(kernel.name, "kernel", target="x86-64", metadata=[origin]):
                    graph_rewrite(sink, matcher, name="first")
                    graph_rewrite(sink, matcher, name="again", bottom_up=True)
    finally:
        recorder.close()
    return Made(path, truth)


def program(seed: int, kernels: int = 4) -> Program:
    """A run of a few kernels, each with a call of its own."""
    return Program(
        tuple(
            Kernel(1000 * seed + i, f"call_{i}", name=f"E_{seed}_{i}_abcd") for i in range(kernels)
        )
    )


def compare(a: Path, b: Path) -> dict[str, Any]:
    """The overview of two traces."""
    stores = Store(a), Store(b)
    try:
        return Comparison(*stores).overview()
    finally:
        for store in stores:
            store.close()


def states(overview: dict[str, Any]) -> dict[str, str]:
    """The state of each kernel by its name, in B where it is there."""
    kernels: Sequence[dict[str, Any]] = overview["scopes"]
    return {k["name"]["b"] or k["name"]["a"]: k["state"] for k in kernels if k["kind"] == "kernel"}


def opts(size: int) -> tuple[Opt, ...]:
    """One optimisation."""
    return (Opt(OptOps.UPCAST, 0, size),)
