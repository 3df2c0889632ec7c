"""A rewrite that failed: its node, its line in the user's code, its traceback, its loop."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from core.errors import RewriteLoopError, RuleError, UopvizError
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from core.uop.ops import Ops
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import Rule, rule
from core.uop.patterns.upat import UPat
from core.uop.uop import UOp
from tests.viz.samples import add_zero
from viz.recording.exceptions import error_data
from viz.share.copy import write_trace
from viz.trace import Recorder
from viz.views.store import Store
from viz.write.writer import TraceWriter

a, b = UOp.variable("a", 0, 9), UOp.variable("b", 0, 9)
x = UPat.var("x")
sink = UOp.sink((a + 0) * 3, (b + 0) * 5, a.alu(Ops.MAX, b))


def helper(u: UOp) -> UOp:
    return u.src[7]


@rule(x * 3)
def raises(x: UOp) -> UOp:
    """x * 3 -> nothing that there is"""
    return helper(x)


@rule(x * 3)
def wrong(x: UOp) -> Any:
    """x * 3 -> 3"""
    return 3


@rule(x * 3)
def asks_too_much(x: UOp) -> UOp:
    """x * 3 -> a shape that x has not, found out in the project's own code"""
    return x.reshape((7, 7, 7))


@rule(x * 5)
def to_seven(x: UOp) -> UOp:
    """x * 5 -> x * 7"""
    return x * 7


@rule(x * 7)
def to_five(x: UOp) -> UOp:
    """x * 7 -> x * 5"""
    return x * 5


def run_pass(*rules: Rule, start: UOp = sink) -> UOp:
    """The user's function that calls the engine."""
    return graph_rewrite(start, PatternMatcher([add_zero, *rules]), name="mine")


def record(path: Path, *rules: Rule) -> UopvizError:
    recorder = Recorder(path).start()
    try:
        with pytest.raises(UopvizError) as caught, context("k", "kernel"):
            run_pass(*rules)
    finally:
        recorder.close()
    return caught.value


def failed_bundle(path: Path) -> dict[str, Any]:
    store = Store(path)
    row = next(row for row in store.tree()["rows"] if row["kind"] == "rewrite")
    assert row["status"] == "error"
    bundle = store.bundle(row["id"])
    store.close()
    assert bundle is not None
    return bundle


def last_state(bundle: dict[str, Any]) -> dict[int, int]:
    initial = bundle["initial"]
    state = dict(zip(initial["slot"], initial["node"], strict=True))
    for step in bundle["steps"]:
        state |= {slot: node for slot, node, _ in step["set"]}
        for slot in step["drop"]:
            del state[slot]
    return state


def line_of(text: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.strip() == text)


@pytest.mark.parametrize("failing", [raises, wrong, asks_too_much])
def test_the_failing_node_is_marked_in_the_last_graph(failing: Rule, tmp_path: Path) -> None:
    record(tmp_path / "t.viz", failing)
    bundle = failed_bundle(tmp_path / "t.viz")
    error = bundle["error"]
    assert error["step"] == len(bundle["steps"]) == 1
    node = error["node"]
    assert bundle["ops"][bundle["nodes"]["op"][node]] == "MUL"
    assert last_state(bundle)[error["slot"]] == node
    assert error["loop"] == []


def test_the_traceback_is_that_of_the_users_code(tmp_path: Path) -> None:
    error = record(tmp_path / "t.viz", raises)
    assert isinstance(error, RuleError)
    line = line_of("return u.src[7]")
    assert error.hint == f"look at {__file__}:{line}, in helper"
    found = failed_bundle(tmp_path / "t.viz")["error"]
    functions = re.findall(r"in (\w+)$", found["traceback"], re.MULTILINE)
    assert functions[-4:] == ["record", "run_pass", "raises", "helper"]
    assert "rewrite.py" not in found["traceback"]
    assert "compiled pattern" not in found["traceback"]
    assert found["traceback"].endswith("IndexError: tuple index out of range\n")
    assert found["place"].endswith(f"test_failures.py:{line}")
    assert "rewrite.py" in found["full"]
    assert "direct cause" in found["full"]


def test_the_place_is_in_the_rule_where_it_fails_deeper(tmp_path: Path) -> None:
    record(tmp_path / "t.viz", asks_too_much)
    found = failed_bundle(tmp_path / "t.viz")["error"]
    line = line_of("return x.reshape((7, 7, 7))")
    assert found["place"].endswith(f"test_failures.py:{line}")
    assert "in reshape" in found["traceback"]


def test_a_loop_names_its_steps_and_where_they_happen(tmp_path: Path) -> None:
    error = record(tmp_path / "t.viz", to_seven, to_five)
    assert isinstance(error, RewriteLoopError)
    assert [made.name for made, _, _ in error.loop] == ["to_seven", "to_five"]
    bundle = failed_bundle(tmp_path / "t.viz")
    found = bundle["error"]
    steps = [bundle["steps"][one["step"] - 1] for one in found["loop"]]
    assert [one["rule"] for one in found["loop"]] == [step["rule"] for step in steps]
    assert len({one["rule"] for one in found["loop"]}) == 2
    assert found["loop"][-1]["step"] == len(bundle["steps"])
    assert {one["slot"] for one in found["loop"]} == {found["slot"]}
    assert found["slot"] in last_state(bundle)


def test_copies_keep_where_it_failed(tmp_path: Path) -> None:
    record(tmp_path / "t.viz", to_seven, to_five)
    store = Store(tmp_path / "t.viz")
    write_trace(store, tmp_path / "part.viz", kernels=store.kernels())
    write_trace(store, tmp_path / "redacted.viz", redact=True)
    store.close()
    original = failed_bundle(tmp_path / "t.viz")["error"]
    assert failed_bundle(tmp_path / "part.viz")["error"] == original
    redacted = failed_bundle(tmp_path / "redacted.viz")["error"]
    assert (redacted["slot"], redacted["loop"]) == (original["slot"], original["loop"])
    assert redacted["full"] == redacted["place"] == ""
    assert "test_failures" not in redacted["traceback"]


def test_numbers_that_lead_nowhere(tmp_path: Path) -> None:
    loop = [[1, 2, 999], [1], "x", [1, "2", 1], None, [7, 1, 1]]
    error = {"message": "m", "traceback": "t", "rule": 9, "node": 77, "loop": loop, "place": 5}
    with TraceWriter(tmp_path / "t.viz", {}) as t:
        n = t.node("CONST")
        t.rewrite_end(t.rewrite_begin("p", n), error=error)
    found = failed_bundle(tmp_path / "t.viz")["error"]
    assert (found["node"], found["slot"], found["loop"], found["place"]) == (-1, -1, [], "")


def test_the_last_match_of_an_endless_rewrite_is_where_it_failed(tmp_path: Path) -> None:
    """The rule and the node that are named belong together, whichever rule was met first."""

    @rule(UPat(Ops.DEFINE_VAR, name="v"))
    def forth(v: UOp) -> UOp | None:
        """a -> b, and c -> a"""
        return {"a": b, "c": a}.get(v.arg[0])

    @rule(UPat(Ops.DEFINE_VAR, name="v"))
    def on(v: UOp) -> UOp | None:
        """b -> c"""
        return UOp.variable("c", 0, 9) if v is b else None

    recorder = Recorder(tmp_path / "t.viz").start()
    try:
        with pytest.raises(RewriteLoopError) as caught:
            run_pass(forth, on, start=a * 2)
    finally:
        recorder.close()
    last, node, _ = caught.value.loop[-1]
    assert [r.name for r, _, _ in caught.value.loop] == ["forth", "on", "forth"]
    error = failed_bundle(tmp_path / "t.viz")["error"]
    assert (last, node.arg[0]) == (forth, "c")
    store = Store(tmp_path / "t.viz")
    assert store.rule_name(error["rule"]) == "forth"
    store.close()


def test_an_exception_that_cannot_say_anything() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise TypeError("no")

    said = error_data(MuteError())
    assert said["message"] == "MuteError: (its text cannot be made)"


def test_errors_that_no_rule_raised() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        _ = 1 // 0
    data = error_data(caught.value)
    assert data["place"] == ""
    assert str(data["traceback"]).endswith(
        "ZeroDivisionError: integer division or modulo by zero\n"
    )
    assert error_data(ValueError("never raised"))["traceback"] == "ValueError: never raised\n"
