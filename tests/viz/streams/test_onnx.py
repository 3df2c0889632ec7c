"""The tap of ONNX Script: a stream that it wrote, of `tests/peers/programs/rules.py`, and what it
does with a rewriter that is another one."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.viz.importers.test_import import is_exact
from viz.cli import main
from viz.tap import SITE
from viz.views.store import Store

STORED = Path(__file__).parent / "stored" / "onnx.jsonl"


def test_a_stream_is_steps_and_reasons(tmp_path: Path) -> None:
    path = tmp_path / "run.viz"
    assert main(["import", "-o", str(path), str(STORED)]) == 0
    store = Store(path)
    file = store.files[0]
    assert [(row["name"], row["steps"]) for row in store.tree()["rows"]] == [("rewrite rules", 1)]
    assert is_exact(file) and store.run()["problems"] == []
    assert store.dialect.title == "ONNX" and store.dialect.op("MatMul").group == "reduce"
    (rewrite,) = file.rewrites.values()
    op = file.nodes.field("op")
    ops = [{file.text(int(op[n])) for n in file.nodes.reachable(at)}
           for at in (rewrite.sink, rewrite.result)]  # fmt: skip
    assert ops[0] == ops[1] == {"model", "graph", "Neg", "Relu", "Add", "Identity", "input"}
    rows: Any = file.meta["reasons"]
    rules = {rule.id: rule.name for rule in file.rules.values()}
    said = {(rules[rule], rows["texts"][at]) for _, rule, _, at in rows["rows"]}
    assert ("relu_is_plain", "its pattern fits, and its condition says no: it is never so") in said
    assert (
        "neg_neg",
        "its pattern fits in 1 nodes: OpType mismatch: expected Neg, got Add.",
    ) in said
    store.close()


class Told:
    """A stream that keeps its problems."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def problem(self, what: str, where: str = "", hint: str = "") -> None:
        self.problems.append(what)


class RewriteRule:
    def try_rewrite(self, model: Any, node: Any) -> None: ...


class RewriteRuleSet:
    def apply_to_model(self, model: Any, *, verbose: Any = None, tracer: Any = None) -> None: ...


def test_another_rewriter_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SITE))  # pyright: ignore[reportUnknownMemberType]
    tap = importlib.import_module("_uopviz_tap.of_onnx")
    module = ModuleType("onnxscript.rewriter._rewrite_rule")
    module.__dict__.update(RewriteRule=RewriteRule, RewriteRuleSet=RewriteRuleSet)
    before = dict(vars(RewriteRuleSet)), dict(vars(RewriteRule))
    told = Told()
    tap.attach(module, told)
    (problem,) = told.problems
    assert problem.endswith("RewriteRule.try_rewrite is not as expected; nothing is recorded")
    assert (dict(vars(RewriteRuleSet)), dict(vars(RewriteRule))) == before
