"""Which step of a whole run is wrong: in kernels, outside of them, in none, or not known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import core.gradients.gradient
import viz
from core import Tensor
from core.errors import ServerError
from core.gradients.gradient import derivatives
from core.uop import Ops, PatternMatcher, UOp, UPat, rule
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.viz.test_json import SHAPES
from tests.viz.whatif.running import record
from viz.bisect import worker as bisect_worker
from viz.bisect.search import RunSearch, bisect_run
from viz.bisect.tasks import MOST_SEARCHED, Tasks, do_all
from viz.corecommand.bisect import run_lines
from viz.known.beside import take_kept
from viz.terminal import plain
from viz.views.store import Store
from viz.whatif import worker
from viz.whatif.variants.variant import Variant


@rule(UPat(Ops.SUB, src=(UPat.var("a"), UPat.var("b"))))
def swapped(a: UOp, b: UOp) -> UOp:
    """a - b -> b - a, which is wrong"""
    return b + a * -1


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks are done in this process."""
    monkeypatch.setattr(worker, "limit_files", abs)
    monkeypatch.setattr(bisect_worker, "limit_memory", abs)

    class Here:
        def __init__(self, jobs: int, seconds: float) -> None:
            pass

        def do(self, tasks: Sequence[dict[str, Any]], told: Any) -> None:
            for at, task in enumerate(tasks):
                told(at, {"result": bisect_worker.TASKS[task["job"]](task)})

        def close(self) -> None:
            pass

    monkeypatch.setattr("viz.bisect.search.Workers", Here)


def said(made: dict[str, Any]) -> str:
    assert SHAPES.problems(made, "RunBisection") == []
    return "\n".join(map(plain, run_lines(made, Path("run.viz"))))


@pytest.mark.usefixtures("here")
def test_nothing_is_found_and_what_was_tried_is_said(tmp_path: Path) -> None:
    record(tmp_path / "run.viz")
    store = Store(tmp_path / "run.viz")
    progress: list[str] = []
    made = bisect_run(store, progress=lambda share, text: progress.append(text))
    text = said(made)
    assert (made["wrong"], made["told"]) == (False, True)
    assert text.startswith("no difference was found\n")
    assert "2 kernels compiled, the code on disk: 2 agree with the reference" in text
    assert "on random numbers and corner values" in text and "not proved" in text
    assert "right" not in text
    assert progress[-1] == "2 of 2 kernels judged"
    steps = made["steps"]
    assert sum(steps["counts"].values()) > 0
    known = take_kept(store).whole()  # the verdicts of steps are kept as those of a check
    assert len(known) == steps["passes"]
    again = bisect_run(store)
    assert again["steps"] == steps
    store.close()


@pytest.mark.usefixtures("here")
def test_a_pass_that_fails_in_every_kernel_is_one_culprit(tmp_path: Path) -> None:
    record(tmp_path / "run.viz")
    store = Store(tmp_path / "run.viz")
    made = bisect_run(store, Variant(skip=("reduce_in_loop",)))
    text = said(made)
    assert made["wrong"]
    states = {row["name"][0]: row["state"] for row in made["kernels"]}
    assert states == {"r": "fails", "E": "agrees"}
    assert [one["kernel"]["name"][0] for one in made["found"]] == ["r"]
    assert "reduce fails" in text
    assert "1 agrees with the reference, 1 fails to compile" in text
    store.close()


@pytest.mark.usefixtures("here")
def test_a_wrong_step_of_a_schedule_is_found(tmp_path: Path) -> None:
    with viz.record(tmp_path / "run.viz"), context("schedule 1 kernel", "schedule"):
        x = UOp.variable("x", 0, 9)
        graph_rewrite(UOp.sink(x - 3), PatternMatcher([swapped]), name="tidy")
    store = Store(tmp_path / "run.viz")
    made = bisect_run(store)
    text = said(made)
    assert made["wrong"] and made["kernels"] == []
    (step,) = made["steps"]["differing"]
    assert (step["rule"]["name"], step["pass"], step["step"]) == ("swapped", "tidy", 1)
    assert "swapped is wrong, in pass tidy" in text
    assert f"`uopviz show run.viz {step['rewrite']} 1`" in text
    store.close()


@pytest.mark.usefixtures("here")
def test_a_step_that_a_check_found_wrong_is_named_where_the_kernel_agrees(tmp_path: Path) -> None:
    """The kernel was not run on the values for which it is wrong."""
    record(tmp_path / "run.viz")
    store = Store(tmp_path / "run.viz")
    rows = store.tree()["rows"]
    kernel = next(r["row"] for r in rows if r["label"] == "kernel" and r["name"].startswith("E"))
    steps = [r["id"] for r in rows if r["kind"] == "rewrite" and r["steps"] and r["row"] > kernel]
    verdict = {"kind": "differs", "how": "for these values", "values": [["x", "nan"]]}
    rule = store.rules()[0]
    checked = {"rewrite": steps[0], "steps": [[1, rule["id"], 0]], "verdicts": [verdict]}
    store.checks.add(checked | {"integers": []})
    made = bisect_run(store)
    assert {row["state"] for row in made["kernels"]} == {"agrees"}
    assert made["wrong"]
    (step,) = made["steps"]["differing"]
    assert (step["rewrite"], step["rule"]["name"]) == (steps[0], rule["name"])
    assert step["verdict"]["values"] == [["x", "nan"]]
    assert rule["name"] in said(made)
    store.close()


def test_what_cannot_be_judged_is_no_agreement(tmp_path: Path) -> None:
    record(tmp_path / "run.viz")
    store = Store(tmp_path / "run.viz")
    search = RunSearch(store, Variant())
    lost = {"error": {"what": "its process ended without an answer", "where": "", "hint": ""}}
    search.take({"kernel": 0, "answer": lost})
    search.take({"kernel": 1, "answer": lost})
    made = search.answer()
    assert (made["wrong"], made["told"]) == (False, False)
    text = said(made)
    assert text.startswith("no difference was found, but not everything could be judged")
    assert "2 could not be judged" in text
    with pytest.raises(ServerError, match="those of one kernel"):
        RunSearch(store, Variant(opts="UPCAST(0, 4)"))
    store.close()


def test_only_some_wrong_kernels_are_searched_the_smallest_first() -> None:
    count = MOST_SEARCHED + 3
    kernels = [{"subject": {"graph": {"nodes": [0] * (count - n)}}, "n": n} for n in range(count)]
    wrong = {"outcome": None, "wrong": True, "culprit": None}
    rounds: list[list[int]] = []

    def do(tasks: Sequence[dict[str, Any]], told: Any) -> None:
        rounds.append([task["n"] for task in tasks])
        for at in range(len(tasks)):
            told(at, {"result": wrong})

    do_all(Tasks(kernels, [], kernels, 1), do, lambda part: None, lambda share, text: None)
    assert rounds == [list(range(count)), list(range(count - 1, 2, -1))]


@pytest.mark.usefixtures("here")
def test_a_wrong_derivative_is_named_with_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every kernel computes what it was given: the graph of the gradient is wrong."""

    @rule(UPat(Ops.SIN, src=(UPat.var("x"),)))
    def sin(ctx: UOp, x: UOp) -> tuple[UOp]:
        """d sin(x) = cos(x) dx"""
        return (-ctx * x.cos(),)

    wrong = derivatives.changed((), {"sin": sin})
    monkeypatch.setattr(core.gradients.gradient, "derivatives", wrong)
    with viz.record(tmp_path / "run.viz"):
        x = Tensor([0.5, 1.0, 2.0]).realize()
        x.requires_grad = True
        (x.sin() * x).sum().backward()
        assert x.grad is not None
        x.grad.realize()
    store = Store(tmp_path / "run.viz")
    made = bisect_run(store)
    store.close()
    assert made["wrong"]
    assert {row["state"] for row in made["kernels"]} == {"agrees"}
    (one,) = made["steps"]["differing"]
    assert (one["rule"]["name"], one["pass"]) == ("sin", "gradient")
    values = dict(one["verdict"]["values"])
    before, after = (float(one["verdict"][side]) for side in ("before", "after"))
    slope = math.cos(float(values["source 0"])) * float(values["gradient"])
    assert before == pytest.approx(slope, rel=1e-4)
    assert after == pytest.approx(-slope, rel=1e-4)
    text = said(made)
    assert text.startswith("sin is wrong, in pass gradient\n")
    assert "differences of the operation give another derivative" in text
    assert f"{one['verdict']['before']}" in text
