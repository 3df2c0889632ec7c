"""What is decided outside of rewrites is told to observers: the order of a linear program, what is
stored, which results share memory."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import viz
from core import Tensor
from core.compile import compile_kernel
from core.helpers import Context
from core.passes.program.order import order_report
from core.passes.schedule import create_schedule
from core.passes.schedule import pipeline as schedule_pipeline
from core.passes.schedule.grouping.fanout import COMPUTE
from core.passes.schedule.grouping.group import Grouping
from core.passes.schedule.pipeline import run_passes
from core.render.kinds import KIND
from core.uop import Ops, PatternMatcher, UOp
from core.uop.engine.observe import NullObserver, observing, recording
from tests.core.passes import kernels
from tests.core.passes.kernels import CPU, GPU
from tests.core.passes.schedule.evaluate import Graphs
from viz.format.rows import ARTIFACT_HEADS
from viz.read.tracefile import TraceFile


class Texts(NullObserver):
    def __init__(self) -> None:
        self.open: list[str] = []
        self.texts: list[tuple[str, str, str, Sequence[Sequence[UOp]]]] = []

    def context_begin(self, name: str, kind: str, meta: Mapping[str, object]) -> None:
        self.open.append(kind)

    def context_end(self, error: BaseException | None) -> None:
        self.open.pop()

    def artifact(
        self,
        kind: str,
        target: str,
        text: str,
        lines: Sequence[Sequence[UOp]],
        facts: Mapping[str, str],
    ) -> None:
        assert kind in KIND
        assert not lines or len(text.splitlines()) == len(lines)
        self.texts.append((self.open[-1] if self.open else "", kind, text, lines))

    def linear(self, target: str, uops: Sequence[UOp]) -> None:
        self.artifact("linear", target, *order_report(uops), {})

    def of(self, kind: str) -> tuple[list[str], Sequence[Sequence[UOp]]]:
        (text, lines) = next((t, n) for _, k, t, n in self.texts if k == kind)
        return text.splitlines(), lines


class Inputs(NullObserver):
    """The graph that each rewrite begins with, by its name."""

    def __init__(self) -> None:
        self.sinks: dict[str, UOp] = {}

    def rewrite_begin(
        self, name: str, sink: UOp, matcher: PatternMatcher, bottom_up: bool, caller: str
    ) -> None:
        self.sinks[name] = sink


def test_the_order_of_a_program_and_its_reasons() -> None:
    with observing(Texts()) as seen:
        program = compile_kernel(kernels.matmul(10, 14, 22).ast, CPU)
    assert [(context, kind) for context, kind, _, _ in seen.texts] == [
        ("kernel", "choice"),
        ("kernel", "llvm"),
        ("kernel", "linear"),
    ]
    lines, nodes = seen.of("linear")
    assert [line for line in nodes if line] == [(u,) for u in program.lowered]
    depth = 0
    for line, behind in zip(lines[1:], nodes[1:], strict=True):
        depth -= behind[0].op in (Ops.END, Ops.ENDIF)
        assert len(line) - len(line.lstrip()) == 2 * depth
        depth += behind[0].op in (Ops.RANGE, Ops.IF)
        if behind[0].op in (Ops.RANGE, Ops.END):
            assert "; begins " in line or "; ends " in line
    assert any(" = STORE(" in line and "last: a store to global memory" in line for line in lines)


def test_a_gate_says_what_it_is_for() -> None:
    text, _ = order_report(compile_kernel(kernels.total(1024).ast, GPU).uops)
    assert "; neighbouring stores that share this gate" in text
    assert "a store to global memory comes after every load" in text


def test_what_is_stored_and_why() -> None:
    g = Graphs()
    x = g.buffer(4, 6)
    total = x.r(Ops.ADD, (1,))
    spread = (x - total.expand((4, 6))) * x
    with observing(Texts()) as seen:
        items, _ = create_schedule(UOp.sink((spread.r(Ops.MAX, (1,)) + total) * total))
    lines, nodes = seen.of("grouping")
    assert seen.texts[0][0] == "schedule"
    said = {line.partition("; ")[2].partition(":")[0] for line in lines[1:]}
    assert said == {"stored", "computed where it is used"}
    stored = [behind[0] for line, behind in zip(lines, nodes, strict=True) if "; stored: " in line]
    assert len(stored) == len(items) == int(lines[0].split()[0])
    assert any("; stored: an output" in line for line in lines)
    assert any("follows a reduce element for element" in line for line in lines)


def test_every_value_has_a_decision_and_a_reason() -> None:
    g = Graphs()
    x, y = g.buffer(8, 8), g.buffer(8, 8)
    value = (x + y).r(Ops.ADD, (1,)).expand((8, 8)) * (x.permute((1, 0)) + y).contiguous()
    ended = ((x * y).r(Ops.MAX, (0,)) + 1).contiguous()
    for opt in (0, 1, 2, 3):
        with Context(OPT=opt), observing(Texts()) as seen, observing(Inputs()) as inputs:
            grouped = run_passes(UOp.sink(value, ended), stop="group")
        lines, nodes = seen.of("grouping")
        said = {n[0]: t.partition("; ")[2] for t, n in zip(lines, nodes, strict=True) if n}
        graph = inputs.sinks["group"].toposort()
        asked = {u for u in graph if u.op is Ops.CONTIGUOUS}
        assert asked
        assert said.keys() == {u for u in graph if u.op in COMPUTE} | asked
        stored = {u for u, why in said.items() if why.startswith("stored: ")}
        assert all(said[u].startswith("computed where it is used: ") for u in said.keys() - stored)
        assert stored >= asked
        made = [u for u in grouped.toposort() if u.op is Ops.CONTIGUOUS]
        assert len(made) == len(stored - {u.src[0] for u in asked})


def test_nobody_decides_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unwatched, no text is made and no reason is kept."""

    def fail(*_: object) -> None:
        raise AssertionError("a report that nobody reads")

    for name in ("grouping_report", "order_report", "memory_report"):
        monkeypatch.setattr(schedule_pipeline, name, fail)
    monkeypatch.setattr(Grouping, "explain_rest", fail)
    x = Tensor.ones(6, 7).contiguous()
    items, _ = create_schedule(UOp.sink((x - x.sum(1, keepdim=True)).max().uop))
    assert len(items) > 1


def test_the_order_of_kernels_and_what_each_waits_for() -> None:
    x = Tensor.ones(16, 16).contiguous().realize()
    y = x.sum(0, keepdim=True).contiguous()
    z = (x * y).sum(1).contiguous()
    x.assign(x * 2)
    with observing(Texts()) as seen:
        items = create_schedule(UOp.sink(z.uop, x.uop))[0]
    lines, nodes = seen.of("order")
    assert len(items) == len(lines) - 1 == 3
    assert [behind[0].op for behind in nodes[1:]] == [Ops.KERNEL] * 3
    assert [line.split(" = ")[0] for line in lines[1:]] == ["item 0", "item 1", "item 2"]
    assert "; needs no other item" in lines[1]
    assert "; uses what item 0 made" in lines[2]
    assert "; overwrites what items 0, 1 used" in lines[3]
    assert "float32[256] CPU, 0 more buffers" in lines[3]


def test_results_that_share_memory() -> None:
    x = Tensor.ones(64, 64).contiguous().realize()
    value = x
    for _ in range(4):
        value = (value.sum(0, keepdim=True).expand(64, 64) + value).contiguous()
    with observing(Texts()) as seen:
        value.schedule()
    lines, nodes = seen.of("memory")
    assert len(lines) > 4
    needed, taken = re.findall(r"([\d,]+) bytes", lines[0])
    assert int(needed.replace(",", "")) > int(taken.replace(",", ""))
    sizes = [int(re.findall(r"([\d,]+) bytes", line)[0].replace(",", "")) for line in lines[1:]]
    assert sum(sizes) == int(needed.replace(",", ""))
    assert any("in the memory of t" in line for line in lines)
    assert any("later ones reuse" in line for line in lines)
    for line, behind in zip(lines[1:], nodes[1:], strict=True):
        assert len(behind) == (2 if "in the memory of" in line else 1)
        assert all(u.op is Ops.BUFFER for u in behind)


def test_loops_of_their_own_are_steps() -> None:
    """Two ENDs of one range, the second needing the first: what used to be a substitution."""
    with recording() as seen:
        compile_kernel(kernels.softmax_kernel(4, 48).ast, CPU, ())
    assert {"share_loop", "own_loop", "nest_loops"} & set(seen.rules)


def test_a_trace_has_them(tmp_path: Path) -> None:
    path = tmp_path / "run.viz"
    with viz.record(path):
        x = Tensor.ones(37, 5).contiguous()
        (x - x.sum(1, keepdim=True)).max().realize()
    file = TraceFile(path)
    file.refresh()
    kinds = {c.id: c.kind for c in file.contexts.values()}
    found = {(kinds[row.context], row.kind) for row in file.db.all(ARTIFACT_HEADS)}
    wanted = {("schedule", kind) for kind in ("grouping", "order", "memory")} | {
        ("kernel", "linear")
    }
    assert wanted <= found
