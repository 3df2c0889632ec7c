"""A small run that is recorded, with what the engine really did: which nodes it offered to which
rules, which matched, and which declined."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.dtype import dtypes
from core.tensor import Tensor
from core.uop.engine.observe import NullObserver, context, observing
from core.uop.engine.rewrite import graph_rewrite
from core.uop.engine.visits import Visits
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import Rule, Variant
from core.uop.patterns.upat import UPat
from core.uop.uop import UOp
from tests.viz.samples import add_zero, double, mul_one, random_graph, rules, same, subtract
from viz.trace import Recorder

first = PatternMatcher([double, same], name="first")
second = PatternMatcher([subtract, mul_one, double, add_zero], name="second")


def refused(x: UOp) -> UOp:
    """fails"""
    raise ValueError("no")


failing = PatternMatcher([add_zero, (UPat(Ops.MAX, src=(UPat.var("x"), UPat())), refused)])


@dataclass
class Pass:
    """What the engine did in one rewrite."""

    name: str
    sink: UOp
    offered: list[tuple[PatternMatcher, UOp]] = field(default_factory=list[Any])
    matched: dict[UOp, Rule] = field(default_factory=dict[UOp, Rule])
    declined: set[tuple[Rule, UOp]] = field(default_factory=set[Any])
    rebuilt: dict[UOp, UOp] = field(default_factory=dict[UOp, UOp])
    matchers: list[PatternMatcher] = field(default_factory=list[PatternMatcher])
    failed: UOp | None = None


class Watch(NullObserver):
    """Takes down every rewrite."""

    def __init__(self) -> None:
        self.passes: list[Pass] = []
        self._open: list[Pass] = []
        self._offered: dict[int, list[UOp]] = {}

    def counting(self, visits: Visits) -> Callable[[UOp], tuple[Variant, ...]]:
        """In place of `Visits.counting`: takes down each node, too."""
        mine = self._offered.setdefault(id(visits), [])
        find = _counting(visits)

        def told(node: UOp) -> tuple[Variant, ...]:
            mine.append(node)
            return find(node)

        return told

    def rewrite_begin(
        self, name: str, sink: UOp, matcher: PatternMatcher, bottom_up: bool, caller: str
    ) -> None:
        self._open.append(Pass(name, sink))
        self.passes.append(self._open[-1])

    def match(
        self, rule: Rule, before: UOp, after: UOp, binds: Mapping[str, object], ns: int
    ) -> None:
        self._open[-1].matched.setdefault(before, rule)

    def rebuild(self, old: UOp, new: UOp) -> None:
        self._open[-1].rebuilt.setdefault(old, new)

    def decline(self, rule: Rule, node: UOp) -> None:
        self._open[-1].declined.add((rule, node))

    def visited(self, name: str, visits: Visits) -> None:
        self._open[-1].matchers.append(visits.matcher)
        nodes = self._offered.pop(id(visits), [])
        self._open[-1].offered += [(visits.matcher, node) for node in nodes]

    def rewrite_end(self, result: UOp | None, error: Any, rule: Any, node: UOp | None) -> None:
        self._open.pop().failed = node


_counting = Visits.counting


def work() -> None:
    """Tensors through all passes of the compiler; and passes of every order, with a gate, with one
    name for several sets, and one that fails."""
    a = Tensor(np.ones((4, 8), np.float32))
    b = Tensor(np.ones((8, 4), np.float32))
    ((a @ b).relu() + 1).sum(axis=0).numpy()
    with context("planted", "kernel"):
        for seed in range(3):
            graph_rewrite(random_graph(seed, 40), rules, name="down")
            graph_rewrite(random_graph(seed, 40), rules, name="up", bottom_up=True)
            graph_rewrite(random_graph(seed, 40), second, before=first, name="both")
        x = UOp.variable("x", 0, 9)
        gated = (x + 0).alu(Ops.MAX, (x * 2).cast(dtypes.float).cast(dtypes.int))
        graph_rewrite(UOp.sink(gated), rules, name="gated", gate=lambda u: u.op is not Ops.CAST)
        many = UOp.sink(*(x * i for i in range(3, 83)))  # more declines than are kept one by one
        graph_rewrite(many, rules, name="many")
        with pytest.raises(Exception, match="no"):
            graph_rewrite(random_graph(5), failing, name="failing")


def record(path: Path, patch: pytest.MonkeyPatch) -> Watch:
    """Records the work in a file."""
    watch = Watch()

    def counting(visits: Visits) -> Callable[[UOp], tuple[Variant, ...]]:
        return watch.counting(visits)

    patch.setattr(Visits, "counting", counting)
    recorder = Recorder(path).start()
    try:
        with observing(watch):
            work()
    finally:
        recorder.close()
    return watch
