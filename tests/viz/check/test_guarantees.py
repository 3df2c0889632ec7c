"""The passes of a trace are held to what they guarantee: the first that has not done it is named,
with the node; and none of a right compiler is."""

from __future__ import annotations

import gc
import importlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import viz
from core import Tensor, compile
from core.dtype import dtypes
from core.errors import FormatError, UopvizError
from core.passes.guarantees import LANES
from core.passes.schedule import pipeline
from core.target import targets
from core.uop import Ops, PatternMatcher, UOp
from core.uop.kernelinfo import Opt, OptOps
from tests.viz.test_json import SHAPES
from viz.check import guarantees
from viz.check.message import message
from viz.check.part import check_part
from viz.check.parts import Part
from viz.cli import main
from viz.corecommand.check import lines
from viz.known.kept import checked_pass
from viz.views.store import Store
from viz.whatif.narrowing.culprit import Kernel


def product() -> UOp:
    (item,) = (Tensor.empty(8, 16) @ Tensor.empty(16, 12)).schedule()
    return item.ast


def odd_product() -> UOp:
    """One that shares no loop with kernels of other tests, whose lines its nodes would have."""
    (item,) = (Tensor.empty(56, 88) @ Tensor.empty(88, 104)).schedule()
    return item.ast


def compared() -> UOp:
    x = Tensor.empty(8, 16)
    (item,) = ((x < 1) < (x < 2)).schedule()
    return item.ast


def converted() -> UOp:
    (item,) = (Tensor.empty(8, 16) < 1).cast("int32").schedule()
    return item.ast


def counted() -> UOp:
    (item,) = (Tensor.empty(8) + Tensor.arange(8)).schedule()
    return item.ast


def odd() -> UOp:
    (item,) = (Tensor.empty(7, 16) @ Tensor.empty(16, 12)).schedule()
    return item.ast


OPTS = {
    product: (Opt(OptOps.UPCAST, 0, 4), Opt(OptOps.UNROLL, 0, 4)),
    odd: (Opt(OptOps.PADTO, 0, 4),),
}
"""Of kernels for CPUs; others are optimised as chosen by default."""
MISSING: list[tuple[str, str, str, str, Callable[[], UOp], str, str]] = [
    ("lower", "lower", "lowering", "index_iota", counted, "x86-64", "IOTA"),
    ("expand", "vectors.expand", "expanding", "contract_lanes", product, "x86-64", "UNROLL"),
    ("gpudims", "loops.gpudims", "hardware", "hardware_range", product, "sm_90", "RANGE"),
    ("reduce", "loops.reduce", "accumulate", "reduce_in_loop", product, "x86-64", "REDUCE"),
    ("loadstore", "vectors.loadstore", "moving", "store_runs", product, "x86-64", "INDEX"),
    ("final", "program.final", "for_vectors", "store_gate", odd, "x86-64", "STORE"),
    ("loops", "loops.loops", "nesting", "nest_loops", product, "x86-64", "END"),
    ("ptx: operations", "ptx.operations", "_operations", "smaller_bool", compared, "sm_90",
     "CMPLT"),
    ("ptx: casts", "ptx.casts", "_casting", "cast_from_bool", converted, "sm_90", "CAST"),
    ("ptx: memory", "ptx.memory", "moves", "store_of_bools", compared, "sm_90", "STORE"),
    ("ptx: operands", "ptx.operands", "addressing", "address_in_bytes", converted, "sm_90",
     "INDEX"),
]  # fmt: skip
"""A pass, its module and rules, the rule that is left out, a kernel, a target, and what is left."""


def leave_out(patch: pytest.MonkeyPatch, module: str, rules: str, missing: str) -> None:
    home = importlib.import_module(f"core.passes.{module}")
    known: PatternMatcher = getattr(home, rules)
    kept = [rule for rule in known.rules if rule.name != missing]
    assert len(kept) < len(known.rules), "there is no such rule any more"
    patch.setattr(home, rules, PatternMatcher(kept, name=known.name))


def record(path: Path, kernel: Callable[[], UOp], target: str) -> None:
    vars(compile)["_kept"].cache_clear()
    gc.collect()  # a node that other tests have left names their line
    opts = OPTS.get(kernel) if target == "x86-64" else None
    with viz.record(path), suppress(UopvizError):
        compile.compile_kernel(kernel(), targets[target], opts)


def said(path: Path) -> dict[str, Any]:
    store = Store(path)
    try:
        numbers = tuple(r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite")
        made = message(store, check_part(Part(str(path), numbers)))
    finally:
        store.close()
    assert all(SHAPES.problems(one, "UndoneAt") == [] for one in made["undone"])
    return made


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "module", "rules", "missing", "kernel", "target", "op"), MISSING)
def test_the_pass_that_leaves_something_undone_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    module: str,
    rules: str,
    missing: str,
    kernel: Callable[[], UOp],
    target: str,
    op: str,
) -> None:
    ast = kernel()
    opts = OPTS.get(kernel) if target == "x86-64" else None
    right = Kernel(ast, targets[target], opts).find()
    assert not right.failed
    record(tmp_path / "right.viz", kernel, target)
    assert said(tmp_path / "right.viz")["undone"] == []
    leave_out(monkeypatch, module, rules, missing)
    record(tmp_path / "wrong.viz", kernel, target)
    made = said(tmp_path / "wrong.viz")
    (left,) = made["undone"]
    assert left["pass"] == name
    assert left["text"].startswith(op)
    assert made["counts"]["differs"] == 0, "no step is to blame for what a pass leaves undone"
    # the same predicate is what a search for what is wrong is led by
    found = Kernel(ast, targets[target], opts).find()
    assert found.failed == name
    assert found.error is not None
    assert left["says"] in found.error.what
    assert found.culprit is found.illegal is None


def test_it_is_printed_with_the_node_and_the_line_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    leave_out(monkeypatch, "loops.gpudims", "hardware", "hardware_range")
    path = tmp_path / "run.viz"
    record(path, odd_product, "sm_90")
    for again in (False, True):  # the second time it is what was kept
        assert main(["check", str(path), "--run-seconds", "0"]) == 1, again
        out = capsys.readouterr().out
        assert 'pass gpudims left "no loop that the hardware runs' in out
        assert "undone at u" in out
        assert "test_guarantees.py:" in out
    assert main(["check", str(path), "--run-seconds", "0", "--json"]) == 1
    (left,) = json.loads(capsys.readouterr().out)["undone"]
    store = Store(path)
    process = store.processes[0]
    assert process.file.text(int(process.file.nodes.field("op")[left["node"]])) == "RANGE"
    store.close()


def test_what_is_kept_is_read_strictly() -> None:
    plain = {"rewrite": 1, "steps": [], "verdicts": [], "integers": [], "unseen": ""}
    assert checked_pass(plain | {"undone": None})["undone"] is None
    for bad in (3, {}, {"pass": 1}, {"node": "1"}):
        with pytest.raises(FormatError):
            checked_pass(plain | {"undone": bad})


def test_gates_of_lanes_may_be_wide_and_values_not() -> None:
    target = targets["x86-64"]
    lanes = 2 * target.alu_lanes(dtypes.int32)
    total = UOp.const(dtypes.int32.vec(lanes), 1) + UOp.const(dtypes.int32.vec(lanes), 2)
    memory = UOp(Ops.DEFINE_GLOBAL, dtypes.int8.ptr(64), arg=0)
    place = memory.index(UOp.const(dtypes.int32, 0), gate=total < total.const_like(7))
    load = place.load(dtype=dtypes.int8.vec(lanes))
    assert LANES.breach([*UOp.sink(load).toposort()], target) is None
    assert LANES.breach([*UOp.sink(load, total).toposort()], target) is total


def test_what_cannot_be_looked_at_is_said_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path / "right.viz", product, "x86-64")
    assert said(tmp_path / "right.viz")["unseen"] == []

    def strange(*_: object) -> None:
        raise ValueError("no such thing")

    monkeypatch.setattr(guarantees, "_broken", strange)
    path = tmp_path / "run.viz"
    record(path, product, "x86-64")
    made = said(path)
    assert {one["why"] for one in made["unseen"]} == {"ValueError: no such thing"}
    unseen = next(one for one in made["unseen"] if one["name"] == "lower")
    for _ in range(2):  # the second time it is what was kept
        assert main(["check", str(path), "--run-seconds", "0"]) == 0
    monkeypatch.undo()
    assert main(["check", str(path), "--run-seconds", "0"]) == 0
    store = Store(path)
    parts = check_part(Part(str(path), (unseen["rewrite"],)))
    store.close()
    assert checked_pass(parts[0])["unseen"] == parts[0]["unseen"]
    many = len(made["unseen"])
    said_of = f"of {many} kernels or schedules, what passes guarantee was not looked at"
    assert any(said_of in str(line) for line in lines(made))


def wrong_pass(graph: UOp, _: object) -> UOp:
    """A pass that changes a value, and has no step that does."""
    twos = [u for u in graph.toposort() if u.op is Ops.CONST and u.arg == 2.0]
    return graph.substitute({u: u.replace(arg=3.0) for u in twos})


def test_a_schedule_that_stores_something_else_and_no_step_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def program() -> None:
        (Tensor([1.0, 2.5, 4.0]).realize() * 2.0).sum().realize()

    with viz.record(tmp_path / "right.viz"):
        program()
    assert said(tmp_path / "right.viz")["undone"] == []
    table = (
        replace(step, function=wrong_pass, runs=None) if step.name == "fuse" else step
        for step in pipeline.PASSES
    )
    monkeypatch.setattr(pipeline, "PASSES", tuple(table))
    with viz.record(tmp_path / "wrong.viz"):
        program()
    made = said(tmp_path / "wrong.viz")
    assert made["counts"]["differs"] == 0
    (left,) = made["undone"]
    assert left["pass"] == "schedule"
    assert left["said"].startswith("the schedule as a whole: its kernels store ")
