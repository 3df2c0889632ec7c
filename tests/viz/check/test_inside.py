"""A wrong step inside another one, in a rewrite that a rule began, is named itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.dtype import dtypes
from core.passes.schedule.simplify import consts
from core.tensor import Tensor
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.engine.observe import context
from core.uop.kernelinfo import KernelInfo
from core.uop.patterns.rule import Assumes
from tests.core.passes.kernels import plain, store
from tests.viz.check.mutating import wrong
from viz.trace import Recorder


@rule(UPat.var("x", dtypes.ints) * UPat.cvar("c"))
def factor_lost(x: UOp, c: UOp) -> UOp:
    """x * c -> x, which is wrong"""
    return x


@rule(UPat(Ops.SUB, src=(UPat.var("a"), UPat.var("b"))))
def in_normal_form(a: UOp, b: UOp) -> UOp:
    """a - b -> a + b * -1, simplified"""
    return graph_rewrite(a + b * -1, PatternMatcher([factor_lost]), name="inside")


def test_a_rule_inside_another(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run.viz").start()
    try:
        with context("schedule 1 kernel", "schedule"):
            x, y = (UOp.variable(name, 0, 9) for name in "xy")
            graph_rewrite(UOp.sink(x - y), PatternMatcher([in_normal_form]), name="outside")
    finally:
        recorder.close()
    assert list(wrong(tmp_path / "run.viz")) == ["factor_lost"]


def test_a_rule_that_folds_an_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consts, "symbolic", PatternMatcher([factor_lost]))
    cached = vars(consts)["_simplified_element"]
    cached.cache_clear()
    x = Tensor(np.arange(6, dtype=np.int32)).realize()
    recorder = Recorder(tmp_path / "run.viz").start()
    try:
        (x * 3).realize()
    finally:
        recorder.close()
        cached.cache_clear()
    assert list(wrong(tmp_path / "run.viz")) == ["factor_lost"]


@rule(UPat(Ops.CONST, dtypes.float32, name="c"), assumes=(Assumes.CONTEXT,))
def larger(c: UOp) -> UOp | None:
    """2.0 -> 3.0, together with others"""
    return c.const_like(3.0) if c.arg == 2.0 else None


@rule(UPat(Ops.SQRT, src=(UPat.var("x"),)), assumes=(Assumes.CONTEXT,))
def without_root(x: UOp) -> UOp:
    """sqrt(x) -> x, together with others"""
    return x


def test_rules_that_are_right_together_alone_are_said_to_be_possible(tmp_path: Path) -> None:
    kernel = UOp.sink(store((plain(1, (8,)) * 2.0).sqrt()), arg=KernelInfo())
    recorder = Recorder(tmp_path / "run.viz").start()
    try:
        with context("kernel", "kernel"):
            graph_rewrite(kernel, PatternMatcher([larger, without_root]), name="both")
    finally:
        recorder.close()
    found = wrong(tmp_path / "run.viz")
    assert set(found) == {"larger", "without_root"}
    assert all("one of these rules is wrong: larger or without_root" in f for f in found.values())
