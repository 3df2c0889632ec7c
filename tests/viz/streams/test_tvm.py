"""The tap of TVM without TVM: modules of TVMScript told as nodes, and an interface that differs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from viz.tap import SITE

BEFORE = """\
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        with R.dataflow():
            y = R.add(x, x)
            z: R.Tensor((4,), dtype="float32") = R.multiply(y, y)
            R.output(y)
        return y
"""
AFTER = BEFORE.replace('            z: R.Tensor((4,), dtype="float32") = R.multiply(y, y)\n', "")


class Told:
    """A stream that keeps its events."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def put(self, *event: Any) -> None:
        self.events.append(event)

    def problem(self, what: str, where: str = "", hint: str = "") -> None:
        self.put("problem", what)


@pytest.fixture
def tap(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(SITE))
    yield importlib.import_module
    for name in [name for name in sys.modules if name.startswith("_uopviz_tap")]:
        del sys.modules[name]


def test_a_statement_is_a_node_that_reads_others(tap: Any) -> None:
    told, known = Told(), dict[Any, int]()
    script = tap("_uopviz_tap.tvmscript").Script
    before, after = script(BEFORE, told, known), script(AFTER, told, known)
    nodes = {number: (op, src, more) for _, number, op, _, src, more in told.events}
    ops = {op: number for number, (op, _, _) in nodes.items()}
    assert nodes[ops["R.add"]][1] == [ops["argument"]]
    assert nodes[ops["R.add"]][2] == {"arg": '"$0, $0"'}
    assert nodes[ops["R.multiply"]][1] == [ops["R.add"]]
    assert before.sink != after.sink
    same = {key for key, number in before.pairs.items() if after.pairs.get(key) == number}
    assert {name for _, name, _ in same} >= {"x", "y", "R.output"}
    line = BEFORE.splitlines().index("            y = R.add(x, x)")
    assert before.printed.nodes[line] == ops["R.add"]


def test_what_has_changed_in_tvm_is_said_and_left_alone(tap: Any) -> None:
    module, told = ModuleType("tvm.ir.transform"), Told()
    tap("_uopviz_tap.of_tvm").attach(module, told)
    ((kind, what),) = told.events
    assert kind == "problem" and "is not as expected; nothing is recorded" in what
    assert vars(module).keys().isdisjoint({"Pass", "PassContext"})
