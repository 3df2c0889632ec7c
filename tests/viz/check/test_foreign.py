"""Steps of FX graphs are judged by a worker in the user's Python, here a stand-in that says what it
was asked; `tests/peers` has PyTorch do it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import viz
from viz.check.part import check_part
from viz.check.parts import Part
from viz.foreign import torchrun
from viz.foreign.fx import judge
from viz.foreign.states import states_of
from viz.read.tracefile import TraceFile
from viz.views.store import Store

ANSWERS = """#!{python}
import json, sys
request = json.load(sys.stdin)
for line in {lines!r}:
    print(line)
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """relu(x) + relu(y): a step to abs(x), and one that only gives a node another name."""
    path = tmp_path / "run.viz"
    with viz.TraceWriter(path, {}) as t:
        t.meta("compiler", "torch 2.13.0")
        t.meta("dialect", {"name": "torch", "version": 1})
        shape = {"shape": "4"}
        x = t.node("placeholder", "float32", arg='[{"text": "x"}]', tag='"x"', extra=shape)
        y = t.node("placeholder", "float32", arg='[{"text": "y"}]', tag='"y"', extra=shape)
        a = t.node("aten.relu.default", "float32", (x,), tag='"a"', extra=shape)
        b = t.node("aten.relu.default", "float32", (y,), tag='"b"', extra=shape)
        both = t.node("aten.add.Tensor", "float32", (a, b), arg='["$0", "$1"]', tag='"both"')
        out = t.node("output", src=(both,), arg='["$0"]')
        graph = t.node("graph", src=(out,))
        rewrite = t.rewrite_begin("edit", sink=graph)
        rule = t.rule("relu_becomes_abs")
        c = t.node("aten.abs.default", "float32", (x,), tag='"c"', extra=shape)
        d = t.node("aten.relu.default", "float32", (y,), tag='"d"', extra=shape)
        t.match(rewrite, rule, a, c, {}, 1)
        t.match(rewrite, rule, b, d, {}, 1)
        new = t.node("aten.add.Tensor", "float32", (c, d), arg='["$0", "$1"]', tag='"both"')
        out2 = t.node("output", src=(new,), arg='["$0"]')
        graph2 = t.node("graph", src=(out2,))
        for pair in ((both, new), (out, out2), (graph, graph2)):
            t.rebuild(rewrite, *pair)
        t.rewrite_end(rewrite, graph2)
    return path


def python(tmp_path: Path, *lines: object) -> str:
    """A stand-in for the user's Python, which answers with these lines."""
    path = tmp_path / "python"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text(ANSWERS.format(python=sys.executable, lines=texts))
    path.chmod(0o755)
    return str(path)


def verdicts(trace: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> list[tuple[str, str]]:
    monkeypatch.setenv("UOPVIZ_PYTHON", command)
    (checked,) = check_part(Part(str(trace), (1,)))
    found = checked["verdicts"]
    return [(found[at]["kind"], found[at]["how"]) for _, _, at in checked["steps"]]


def test_states_share_what_is_equal(trace: Path) -> None:
    file = TraceFile(trace)
    file.refresh()
    states = states_of(file, file.rewrites[1], 100)
    assert [op for op, *_ in states.nodes].count("placeholder") == 2
    first, second, third = states.roots
    assert first != second and second == third  # a name is no part of what a graph computes
    ops = {states.nodes[at][0] for at in range(len(states.nodes))}
    assert {"aten.relu.default", "aten.abs.default"} < ops


def test_steps_have_what_the_worker_says(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    differs = {"kind": "differs", "why": "output 0: 1 before, 2 after", "sample": 0}
    command = python(tmp_path, differs, {"kind": "same", "samples": 0})
    found = verdicts(trace, monkeypatch, command)
    assert [kind for kind, _ in found] == ["differs", "proved"]
    same = python(tmp_path, {"kind": "same", "samples": 3}, {"kind": "unknown", "why": "no op"})
    assert verdicts(trace, monkeypatch, same) == [
        ("sampled", "the whole graph, executed in float64, gives the same"),
        ("unchecked", "cannot be executed: no op"),
    ]


@pytest.mark.parametrize(
    ("lines", "how"),
    [
        ((), "the process that executed it ended"),
        (("no JSON",), "the process that executed it ended"),
        (("[]",), "the process that executed it ended"),
        (({"error": "PyTorch cannot be imported"},), "PyTorch cannot be imported"),
    ],
)
def test_a_worker_that_fails_leaves_steps_unchecked(
    trace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lines: tuple[object, ...],
    how: str,
) -> None:
    found = verdicts(trace, monkeypatch, python(tmp_path, *lines))
    assert found == [("unchecked", how)] * 2


def test_a_python_that_is_not_there_is_said(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = verdicts(trace, monkeypatch, "/no/such/python")
    assert found == [("unchecked", "/no/such/python cannot be run: No such file or directory")] * 2


class Value:
    """A tensor of so many elements, as far as it matters."""

    def __init__(self, count: int) -> None:
        self.count = count

    def numel(self) -> int:
        return self.count


CHAIN: list[Any] = [["aten.relu.default", "float32", "", "", [at - 1] if at else []]
                    for at in range(4)]  # fmt: skip


def test_a_machine_without_memory_makes_no_step_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def value(self: torchrun.Graphs, at: int) -> Value:
        if at > 1:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried 8 bytes")
        return Value(1)

    monkeypatch.setattr(torchrun.Graphs, "value", value)
    verdict = torchrun.Judge(None, CHAIN).judge(1, 2)
    assert verdict["kind"] == "unknown" and "allocate memory" in verdict["why"]


def test_values_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torchrun, "_TOGETHER", 10)

    def value(self: torchrun.Graphs, at: int) -> Value:
        return Value(4)

    monkeypatch.setattr(torchrun.Graphs, "value", value)
    judge = torchrun.Judge(None, CHAIN)
    graphs = judge.graphs[True][0]
    graphs.of(1)
    with pytest.raises(torchrun.CannotError, match="too much memory"):
        graphs.of(2)
    judge.next(0)
    assert [*graphs.values] == [0]
    assert graphs.of(1) and judge.room.left == 2


def test_a_pass_that_did_not_end_is_not_judged(trace: Path) -> None:
    store = Store(trace)
    file = store.files[0]
    rewrite = file.rewrites[1]
    rewrite.result = 0
    assert [v.how for v in judge(file, rewrite, 2)] == ["the pass did not end"] * 2
    store.close()
