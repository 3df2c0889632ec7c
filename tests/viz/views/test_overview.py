"""The overview of a run and the page of a kernel: every number is what the trace says."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

import viz
from core import Tensor
from core.compile import compile_kernel
from core.errors import TraceError
from core.target import target_named
from core.uop.data.serial import from_data
from core.uop.kernelinfo import Opt, OptOps
from tests.bench.traces import many_passes
from tests.effort import at_most
from viz.files.alive import process_info
from viz.files.machine import machine_text
from viz.share.exportfile import VERSION
from viz.share.held.run import Held, Reopened
from viz.share.html import export_html
from viz.share.reopened import Unpacked, open_run
from viz.views.answers import KERNEL_PAGE, OVERVIEW
from viz.views.overview.activity import BINS
from viz.views.overview.lines import MAX_LINES
from viz.views.overview.table import MAX_ROWS
from viz.views.store import Store
from viz.whatif.subject import subject_of
from viz.whatif.variants.recompile import applied_opts
from viz.write.writer import TraceWriter

Data = dict[str, Any]


def told(path: Path) -> Data:
    """The overview as a page reads it: JSON without NaN and infinities."""
    store = Store(path)
    made = json.loads(json.dumps(store.overview(), allow_nan=False))
    store.close()
    return made


def page_of(path: Path, context: int) -> Data:
    """The page of a kernel, in the same way."""
    store = Store(path)
    made = store.kernel_page(context)
    store.close()
    assert made is not None
    return json.loads(json.dumps(made, allow_nan=False))


def timed(path: Path, **meta: object) -> Path:
    """A run with fixed times: 100 us of a schedule, 200 of a kernel, three launches."""
    with TraceWriter(path, {"command": ["python", "a.py"], "cwd": "/w", **meta}) as t:
        x = t.node("CONST", "int32", arg="1")
        y = t.node("NEG", "int32", (x,))
        fold = t.rule("fold", "rules.py", 12, equation="-1 -> 1")
        other = t.rule("other", "rules.py", 20, equation="x -> x")
        schedule = t.context_begin("schedule 1 kernel", "schedule", at=100)
        tidy = t.rewrite_begin("tidy", sink=y, context=schedule, at=110)
        t.match(tidy, fold, y, x, {}, ns=20_000)
        t.rewrite_end(tidy, x, at=150)
        t.context_end(schedule, at=200)
        calls = ["/w/a.py:3 relu", "/w/a.py:4 sum", "/w/a.py:3 relu"]
        kernel = t.context_begin("k", "kernel", at=200, meta={"metadata": calls, "target": "cpu"})
        lower = t.rewrite_begin("lower", sink=y, context=kernel, at=210)
        inner = t.rewrite_begin("inner", sink=y, context=kernel, parent=lower, at=220)
        t.match(inner, other, y, x, {}, ns=5_000)
        t.rewrite_end(inner, x, at=250)
        t.rewrite_end(lower, x, at=310)
        opt = t.rewrite_begin("optimize: UPCAST(0, 8)", sink=y, context=kernel, at=310)
        t.rewrite_end(opt, y, at=320)
        info = {"flops": 4000, "bytes": 800, "inputs": [{"name": "d", "dtype": "f", "size": 3}]}
        t.kernel(kernel, "k", target="x86-64", ast=y, info=info)
        t.artifact(kernel, "ptx", "sm_90", "text\n", facts={"registers": "24"})
        t.context_end(kernel, at=400)
        for start, ns in ((500, 10_000), (600, 20_000), (700, 60_000)):
            t.launch("k", "CPU", start, ns, 800)
        t.memory("CPU", 1024, at=450)
        t.memory("GPU", 500, at=460)
        t.memory("CPU", 24, at=650)
    return path


def test_a_kernel_compiled_before_the_recording_has_a_row(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    with TraceWriter(tmp_path / "t.p5.viz", {"run": "r", "process": {"pid": 5}}) as t:
        t.launch("early", "CPU", 10, 40_000, 8)
    with TraceWriter(path, {"run": "r", "process": {"pid": 4}}) as t:
        kernel = t.context_begin("k", "kernel")
        t.kernel(kernel, "k")
        t.context_end(kernel)
        for name in ("k", "early", "early"):
            t.launch(name, "CPU", 10, 20_000, 8)
    made = told(path)
    rows = [(k["name"], k["context"], k["equal"], k["launches"], k["us"]) for k in made["kernels"]]
    assert sorted(rows) == [("early", -1, 0, 1, 40), ("early", -1, 0, 2, 40), ("k", 1, 1, 1, 20)]
    assert made["whole"] == 100 and {k["device"] for k in made["kernels"]} == {"CPU"}
    assert sum(k["share"] for k in made["kernels"]) == pytest.approx(1)
    early = made["kernels"][0]
    assert (early["status"], early["steps"], early["compileUs"]) == ("ok", 0, 0)


def test_a_run_with_fixed_times(tmp_path: Path) -> None:
    made = told(timed(tmp_path / "t.viz", ended=0.002))
    assert (made["by"], made["whole"], made["devices"], made["truncated"]) == (
        "run",
        90,
        ["CPU"],
        None,
    )
    parts = {part["kind"]: part for part in made["activity"]["parts"]}
    assert {kind: part["us"] for kind, part in parts.items()} | {"rest": 0} == {
        "run": 90,
        "compile": 200,
        "schedule": 100,
        "rest": 0,
    }
    assert sum(part["us"] for part in parts.values()) == pytest.approx(made["activity"]["end"])
    assert parts["run"]["reach"] == [500, 760]
    assert made["activity"]["peak"] == 1524
    assert max(made["activity"]["memory"]) == 1524
    (kernel,) = made["kernels"]
    assert kernel["registers"] == [{"target": "sm_90", "value": "24"}]
    assert (kernel["launches"], kernel["us"], kernel["share"]) == (3, 90, 1)
    assert (kernel["calls"], kernel["place"]) == ("relu, sum", "a.py:3")
    assert (kernel["flops"], kernel["bytes"], kernel["steps"]) == (4000, 800, 1)
    assert (kernel["spread"]["low"], kernel["spread"]["median"]) == (10, 20)
    assert sum(kernel["spread"]["bins"]) + kernel["spread"]["beyond"] == 3
    lines = {line["line"]: line for line in made["lines"]}
    assert {n: (line["calls"], line["us"], line["share"]) for n, line in lines.items()} == {
        3: ("relu", 45, 0.5),
        4: ("sum", 45, 0.5),
    }
    assert [rule["name"] for rule in made["rules"]] == ["fold", "other"]
    assert made["passesUs"] == 40 + 100 + 10
    assert made["rules"][0]["share"] == pytest.approx(20 / made["passesUs"])
    own = {one["name"]: one["us"] for one in made["passes"]}
    assert own == {"lower": 70, "tidy": 40, "inner": 30, "optimize: UPCAST(0, 8)": 10}


def test_the_page_of_a_kernel(tmp_path: Path) -> None:
    path = timed(tmp_path / "t.viz")
    (kernel,) = told(path)["kernels"]
    page = page_of(path, kernel["context"])
    assert page["calls"] == ["a.py:3 relu", "a.py:4 sum", "a.py:3 relu"]
    assert [(p["name"], p["depth"], p["steps"], p["us"]) for p in page["passes"]] == [
        ("lower", 0, 0, 100),
        ("inner", 1, 1, 30),
        ("optimize: UPCAST(0, 8)", 0, 0, 10),
    ]
    assert page["opts"] == ["UPCAST(0, 8)"]
    assert (page["launches"], page["us"], page["first"], page["rank"], page["of"]) == (
        3,
        90,
        500,
        1,
        1,
    )
    assert page["compileUs"] == 200
    assert page["inputs"] == [{"name": "d", "dtype": "f", "size": 3}]
    store = Store(path)
    assert store.kernel_page(987) is None
    store.close()


def test_the_strip_adds_up_to_the_parts(tmp_path: Path) -> None:
    activity = told(timed(tmp_path / "t.viz"))["activity"]
    assert all(len(of) == BINS for of in activity["strip"].values())
    width = activity["end"] / BINS
    for part in activity["parts"]:
        if part["kind"] != "rest":
            sum_ = sum(activity["strip"][part["kind"]]) * width / 1000
            assert sum_ == pytest.approx(part["us"], abs=BINS * width / 1000)


def test_several_processes_are_one_run(tmp_path: Path) -> None:
    """Equal kernels are one row; a moment at which both work counts once."""
    started = {"run": "r1", "started": "2026-01-01T00:00:00+00:00"}
    later = {"run": "r1", "started": "2026-01-01T00:00:00.001+00:00"}
    timed(tmp_path / "t.viz", **started)
    timed(tmp_path / "t.p9.viz", **later)
    made = told(tmp_path / "t.viz")
    (kernel,) = made["kernels"]
    assert (kernel["equal"], kernel["launches"], kernel["us"]) == (2, 6, 180)
    parts = {part["kind"]: part["us"] for part in made["activity"]["parts"]}
    assert (parts["run"], parts["compile"], parts["schedule"]) == (180, 400, 200)
    numbers = {one["id"] for one in made["passes"]}
    assert len(numbers) == len(made["passes"]) == 8
    store = Store(tmp_path / "t.viz")
    assert all(store.bundle(number) is not None for number in numbers)
    both = store.kernels()
    page = store.kernel_page(both[1])
    assert page is not None and page["equal"] == [both[0]] and page["first"] == 500
    store.close()
    timed(tmp_path / "s.viz", **started)
    timed(tmp_path / "s.p9.viz", **started)  # at the very same time
    parts = {part["kind"]: part["us"] for part in told(tmp_path / "s.viz")["activity"]["parts"]}
    assert (parts["run"], parts["compile"], parts["schedule"]) == (90, 200, 100)


def test_a_real_run(tmp_path: Path) -> None:
    """What the overview says is what the other answers say."""
    with viz.record(tmp_path / "t.viz"):
        # in shapes that no other test of this process has compiled before
        a, b = Tensor.rand(37, 41).realize(), Tensor.rand(41, 43).realize()
        (a @ b).relu().sum(axis=1).realize()
    store = Store(tmp_path / "t.viz")
    made = store.overview()
    assert made["here"] and made["kernels"]
    assert sorted(line["context"] for line in made["kernels"]) == sorted(store.kernels())
    rows = {row["id"]: row for row in store.tree()["rows"] if row["kind"] == "context"}
    for line in made["kernels"]:
        kernel = store.kernel(line["context"])
        assert kernel is not None
        assert line["launches"] == kernel["launches"]["count"] > 0
        assert line["us"] == pytest.approx(sum(kernel["launches"]["us"]))
        assert line["spread"]["median"] == pytest.approx(
            statistics.median(kernel["launches"]["us"])
        )
        assert (line["flops"], line["bytes"]) == (kernel["flops"], kernel["bytes"])
        assert line["steps"] == rows[line["context"]]["steps"]
        assert line["place"].startswith("tests/viz/views/test_overview.py:")
        page = store.kernel_page(line["context"])
        assert page is not None
        assert sum(one["steps"] for one in page["passes"]) == line["steps"]
        subject = subject_of(store, line["context"])
        again = compile_kernel(from_data(subject.graph)[0], target_named(subject.target))
        assert " ".join(page["opts"]) == " ".join(kernel["opts"]) == applied_opts(again)
    totals, told = Counter[str](), store.rule_totals()
    for row in told["rows"]:
        totals[row["rule"]] += row["cost"]  # substitutions have no tries
    for silent in told["silent"]:
        for rule, us in zip(silent["id"], silent["us"], strict=True):
            totals[store.rule_name(rule)] += us
    ranked = [us for _, us in totals.most_common(len(made["rules"]))]
    assert [rule["us"] for rule in made["rules"]] == pytest.approx(ranked)
    for rule in made["rules"]:
        assert rule["us"] == pytest.approx(totals[rule["name"]])
    assert sum(line["share"] for line in made["lines"]) == pytest.approx(1)
    parts = made["activity"]["parts"]
    assert sum(part["us"] for part in parts) == pytest.approx(made["activity"]["end"])
    store.close()


def test_opts_that_make_no_pass_are_listed_too(tmp_path: Path) -> None:
    ast = (Tensor.empty(8, 12) @ Tensor.empty(12, 16)).schedule()[-1].ast
    opts = (Opt(OptOps.SWAP, 0, 1), Opt(OptOps.UPCAST, 0, 4))
    with viz.record(tmp_path / "t.viz"):
        compile_kernel(ast, target_named("sm_90"), opts)
    store = Store(tmp_path / "t.viz")
    page = store.kernel_page(store.kernels()[-1])
    assert page is not None and page["opts"] == ["SWAP(0, 1)", "UPCAST(0, 4)"]
    store.close()


def test_a_live_run_is_told_of_what_is_new(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.viz", {"process": process_info(True)}) as t:
        kernel = t.context_begin("k", "kernel")
        t.flush()
        store = Store(tmp_path / "t.viz")
        assert [(k["name"], k["status"]) for k in store.overview()["kernels"]] == [("k", "open")]
        for n in range(1, 4):
            t.launch("k", "CPU", 100 * n, 5000, 1)
            t.flush()
            store.refresh()
            (line,) = store.overview()["kernels"]
            assert (line["launches"], line["us"]) == (n, 5 * n)
        t.kernel(kernel, "k", info={"flops": 7})
        t.context_end(kernel)
        t.flush()
        store.refresh()
        (line,) = store.overview()["kernels"]
        assert (line["flops"], line["status"]) == (7, "ok")
        store.close()


def test_a_trace_without_times_has_steps(tmp_path: Path) -> None:
    """Of another compiler: what it does not say is not made up."""
    with TraceWriter(tmp_path / "t.viz", {"command": ["mycc"]}) as t:
        x, y = t.node("A"), t.node("B")
        rules = [t.rule(name, equation=f"{name} -> x") for name in ("rare", "often")]
        for name, count in (("small", 1), ("large", 3)):
            kernel = t.context_begin(name, "kernel", at=0)
            step = t.rewrite_begin("fold", x, context=kernel, at=0)
            for _ in range(count):
                t.match(step, rules[count > 1], x, y, {}, ns=0)
            t.rewrite_end(step, y, at=0)
            t.context_end(kernel, at=0)
    made = told(tmp_path / "t.viz")
    assert made["by"] == "steps"
    assert [(k["name"], k["share"]) for k in made["kernels"]] == [("large", 0.75), ("small", 0.25)]
    assert [rule["name"] for rule in made["rules"]] == ["often", "rare"]
    assert [one["steps"] for one in made["passes"]] == [3, 1]
    assert (made["lines"], made["devices"], made["here"]) == ([], [], False)
    assert all(k["spread"] is None and k["calls"] == "" for k in made["kernels"])


def test_a_failed_and_an_empty_run(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "failed.viz", {}) as t:
        x = t.node("A")
        kernel = t.context_begin("k", "kernel")
        step = t.rewrite_begin("breaks", x, context=kernel)
        t.rewrite_end(step, error={"message": "it broke"})
        t.context_end(kernel, error={"message": "it broke"})
    made = told(tmp_path / "failed.viz")
    (line,) = made["kernels"]
    assert line["status"] == "error"
    assert made["passes"][0]["status"] == "error"
    page = page_of(tmp_path / "failed.viz", line["context"])
    assert (page["status"], page["passes"][0]["status"]) == ("error", "error")
    TraceWriter(tmp_path / "empty.viz", {}).close()
    made = told(tmp_path / "empty.viz")
    assert [made[key] for key in ("kernels", "lines", "rules", "passes")] == [[], [], [], []]
    assert made["activity"]["memory"] == []


def test_numbers_that_mean_harm(tmp_path: Path) -> None:
    far = (1 << 62) - 1
    path = tmp_path / "t.viz"
    with TraceWriter(path, {"ended": 1e300, "process": {"host": 7}, "started": "never"}) as t:
        x = t.node("A")
        meta = {"metadata": ["x" * 9000 + ":1 f", 7, None, "no place", "a.py:999999999 g"] * 99}
        for start, end in ((-far, far), (far, -far), (far, far)):
            kernel = t.context_begin("k" * 5000, "kernel", at=start, meta=meta)
            step = t.rewrite_begin("p", x, context=kernel, at=start)
            t.rewrite_end(step, x, at=end)
            t.kernel(kernel, "k", info={"flops": -5, "bytes": 1 << 80, "inputs": 3})
            t.artifact(kernel, "ptx", "t", "x", facts={"registers": "9" * 999})
            t.context_end(kernel, at=end)
        for start, ns in ((-far, far), (far, far), (0, -far), (5, 0)):
            t.launch("k", "D" * 500, start, ns, far)
        t.memory("CPU", far, at=-far)
        t.memory("CPU", -far, at=far)
    made = told(path)
    assert made["activity"]["end"] > 0
    assert all(0 <= n <= 1000 for of in made["activity"]["strip"].values() for n in of)
    for line in made["kernels"]:
        assert line["flops"] == 0
        assert all(len(one["value"]) <= 20 for one in line["registers"])
        page_of(path, line["context"])
    assert all(line["line"] >= 0 for line in made["lines"])


def test_many_kernels_and_lines_are_bounded(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.viz", {}) as t:
        for i in range(MAX_ROWS + 50):
            meta = {"metadata": [f"a.py:{i + 1} f"]}
            t.context_end(t.context_begin(f"k{i}", "kernel", at=i, meta=meta), at=i + i + 1)
    made = told(tmp_path / "t.viz")
    assert (len(made["kernels"]), made["kernelsLeft"]) == (MAX_ROWS, 50)
    assert made["kernels"][0]["name"] == f"k{MAX_ROWS + 49}"
    assert "50 lighter kernels" in made["truncated"]
    assert len(made["lines"]) == MAX_LINES


def test_a_large_run_is_answered_at_once(tmp_path: Path) -> None:
    """6,000 passes of 600 kernels, a fifth of what is to be answered in half a second."""
    store = Store(many_passes(tmp_path / "t.viz", 6_000, 1))
    with at_most(35):
        made = store.overview()
    assert len(made["kernels"]) == 600
    store.close()


def test_whose_machine_it_was(tmp_path: Path) -> None:
    mine = {"process": process_info(True), "machine": machine_text()}
    other = {"process": {**process_info(True), "host": "elsewhere"}, "machine": machine_text()}
    assert told(timed(tmp_path / "a.viz", **mine))["here"]
    assert not told(timed(tmp_path / "b.viz", **other))["here"]
    assert not told(timed(tmp_path / "c.viz"))["here"]
    larger = {**mine, "machine": "Linux x86_64, 4096 cores"}
    assert not told(timed(tmp_path / "d.viz", **larger))["here"]


def test_it_is_served(client: FlaskClient, store: Store) -> None:
    made = client.get("/api/A/overview").get_json()
    assert sorted(line["context"] for line in made["kernels"]) == sorted(store.kernels())
    context = made["kernels"][0]["context"]
    assert client.get(f"/api/A/kernel-page/{context}").get_json()["context"] == context
    assert client.get("/api/A/kernel-page/999").status_code == 404


def test_an_export_has_it(tmp_path: Path, dist: Path) -> None:
    store = Store(timed(tmp_path / "t.viz"))
    (tmp_path / "t.html").write_text(export_html(store).html)
    wanted = store.overview()
    store.close()
    opened = open_run(tmp_path / "t.html")
    assert isinstance(opened, Unpacked)
    made = opened.ask(OVERVIEW)
    assert made["kernels"] == wanted["kernels"] and made["activity"] == wanted["activity"]
    opened.close()
    alone = Reopened(Held(tmp_path / "t.html", (tmp_path / "t.html").read_text(), VERSION, "A"), [])
    context = wanted["kernels"][0]["context"]
    assert alone.ask(OVERVIEW)["rules"] == wanted["rules"]
    assert alone.ask(KERNEL_PAGE, context)["launches"] == 3
    with pytest.raises(TraceError):
        Reopened(Held(tmp_path / "x", "<!doctype html>", 1, "A"), [])
