"""The timeline, its trace events, what rules cost, and the history of nodes."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import re
from collections import Counter
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from core.errors import ServerError
from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from core.uop.uop import UOp
from tests.viz.samples import random_graph, rules
from viz.cli import main
from viz.server.app import create_app
from viz.server.security import Guard
from viz.share.html import export_html
from viz.share.perfetto import trace_events
from viz.trace import Recorder
from viz.views.nodes.history import node_history
from viz.views.runs.recent import cached_trace, recent_traces
from viz.views.store import Store
from viz.views.timeline import OPEN
from viz.write.writer import TraceWriter

Data = dict[str, Any]
SHARED = Path(__file__).resolve().parents[3] / "viz" / "web" / "test" / "data" / "views.json"


def small_trace(path: Path) -> Path:
    """A run with fixed times: nested spans, an open one, launches on two devices, memory."""
    with TraceWriter(path, {"command": ["python", "a.py"], "process": {"pid": 7}}) as t:
        x = t.node("CONST", "int32", arg="1", origin="a.py:3")
        y = t.node("NEG", "int32", (x,), origin="a.py:4")
        z = t.node("NEG", "int32", (y,), origin="a.py:5")
        fold = t.rule("double_neg", "rules.py", 12, equation="--x -> x")
        schedule = t.context_begin("schedule 1 kernel", "schedule", thread=1, at=100)
        step = t.rewrite_begin("tidy", sink=z, context=schedule, at=150)
        t.match(step, fold, z, x, {"x": x}, ns=4000)
        t.rewrite_end(step, x, nodes=1, at=200)
        t.context_end(schedule, at=300)
        kernel = t.context_begin("kernel a", "kernel", thread=2, at=250)
        lower = t.rewrite_begin("lower", sink=x, context=kernel, at=260)
        t.rewrite_end(lower, x, nodes=1, at=280)
        t.context_begin("not over", "group", parent=kernel, thread=2, at=290)
        t.launch("kernel a", "CPU", 400, 2500, 64)
        t.launch("kernel a", "GPU", 390, 1000, 64)
        t.launch("kernel a", "CPU", 420, 2000, 64)
        t.memory("CPU", 1024, at=380)
        t.memory("CPU", 0, at=500)
        t.context_end(kernel, at=350)
    return path


@pytest.fixture
def small(tmp_path: Path) -> Store:
    return Store(small_trace(tmp_path / "small.viz"))


def spans(track: Data) -> list[tuple[int, int, int]]:
    """(level, start, us) of a thread."""
    return list(zip(track["level"], accumulate(track["start"]), track["us"], strict=True))


def test_timeline_has_a_track_per_thread_device_and_memory(small: Store) -> None:
    made = small.timeline()
    assert [(t["kind"], t["name"], t["pid"]) for t in made["tracks"]] == [
        ("thread", "main thread", 7),
        ("thread", "thread 2", 7),
        ("device", "CPU", 7),
        ("device", "GPU", 7),
        ("memory", "CPU", 7),
    ]
    main_thread, second = made["tracks"][:2]
    assert spans(main_thread) == [(0, 100, 200), (1, 150, 50)]
    assert spans(second) == [(0, 250, 100), (1, 260, 20), (1, 290, OPEN)]
    cpu = next(t for t in made["tracks"] if t["kind"] == "device" and t["name"] == "CPU")
    assert list(accumulate(cpu["start"])) == [400, 420]
    assert cpu["ns"] == [2500, 2000]
    memory = made["tracks"][-1]
    assert (list(accumulate(memory["start"])), memory["bytes"]) == ([380, 500], [1024, 0])
    assert made["end"] == 500 and made["truncated"] is None


def test_spans_of_one_level_never_overlap(store: Store) -> None:
    for track in store.timeline()["tracks"]:
        ends: dict[int, int] = {}
        for level, start, us in spans(track) if track["kind"] == "thread" else ():
            assert start >= ends.get(level, 0)
            ends[level] = start + us


def check_events(events: list[Data]) -> None:
    """The rules of the trace event format that Perfetto's importer holds a file to."""
    for event in events:
        assert event["ph"] in ("X", "B", "C", "M")
        assert isinstance(event["name"], str) and isinstance(event["pid"], int)
        if event["ph"] == "M":
            assert event["name"] in (
                "process_name",
                "process_sort_index",
                "thread_name",
                "thread_sort_index",
            )
            continue
        assert event["ts"] >= 0
        if event["ph"] == "X":
            assert event["dur"] >= 0 and isinstance(event["tid"], int)
        if event["ph"] == "C":
            assert all(isinstance(v, int | float) for v in event["args"].values())


def test_trace_events_are_in_the_format(small: Store, store: Store) -> None:
    for run in (small, store):
        made = trace_events(run.timeline(), "a.py")
        check_events(made["traceEvents"])
        assert json.loads(json.dumps(made)) == made
    kinds = Counter(e["ph"] for e in trace_events(small.timeline(), "a.py")["traceEvents"])
    assert kinds == {"M": 10, "X": 7, "B": 1, "C": 2}


def shared_views(small: Store) -> Data:
    """What the page makes of the same messages, too: viz/web/test/views.test.ts."""
    rows = {r["name"]: r["id"] for r in small.tree()["rows"]}
    timeline = small.timeline()
    return {
        "timeline": timeline,
        "events": trace_events(timeline, "a.py"),
        "lineages": {str(s): small.lineage(s) for s in (1, 3)},
        "scopes": {"tidy": 1, "lower": 3},
        "rewrites": {"tidy": rows["tidy"], "lower": rows["lower"]},
        "back": node_history(small, 1, rows["lower"], 9.0),
        "forward": node_history(small, 3, rows["tidy"], 9.0),
    }


def test_page_and_commands_agree(small: Store) -> None:
    made = json.loads(json.dumps(shared_views(small)))
    assert json.loads(SHARED.read_text()) == made, "run: python -m tests.viz.views.test_views"


def test_command_writes_the_timeline(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "run.json"
    assert main(["timeline", str(trace), "-o", str(target), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    written = json.loads(target.read_text())
    assert said["events"] == len(written["traceEvents"]) > 5
    check_events(written["traceEvents"])
    assert main(["timeline", str(trace), "-o", str(tmp_path / "no" / "x.json")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_rule_totals_agree_with_the_bundles(
    store: Store, trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    totals = store.rule_totals()
    assert totals["counted"] == totals["steps"] > 0
    expected: Counter[tuple[str, int, str]] = Counter()
    for row in store.tree()["rows"]:
        bundle = store.bundle(row["id"]) if row["kind"] == "rewrite" else None
        if bundle is None:
            continue
        for step in bundle["steps"]:
            for what in ("added", "removed"):
                expected[bundle["name"], step["rule"], what] += len(step[what])
            expected[bundle["name"], step["rule"], "matches"] += 1
    assert expected
    for row in totals["rows"]:
        for what in ("added", "removed", "matches"):
            assert row[what] == expected[row["pass"], row["id"], what], (row, what)
    assert main(["stats", str(trace), "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["rules"]
    assert [row for row in listed if row["matches"] or row["declines"]] == totals["rows"]


def test_matches_of_rules_agree_with_the_bundles(store: Store) -> None:
    expected: Counter[tuple[int, int]] = Counter()
    for row in store.tree()["rows"]:
        bundle = store.bundle(row["id"]) if row["kind"] == "rewrite" else None
        for step in bundle["steps"] if bundle is not None else ():
            expected[step["rule"], row["id"]] += 1
    found = store.rule_matches()
    assert found["done"] and found["leftOut"] == 0
    pairs = list(zip(found["rule"], found["rewrite"], strict=True))
    assert dict(zip(pairs, found["matches"], strict=True)) == expected
    assert len({rule for rule, _ in pairs}) > 3
    for (rule, rewrite), (then, later) in itertools.pairwise(pairs):
        assert rule != then or rewrite < later


def test_matches_that_are_too_many_are_left_out_from_the_end(
    store: Store, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = store.rule_matches()
    monkeypatch.setattr("viz.views.rules.matches.MAX_PAIRS", 5)
    cut = Store(trace).rule_matches()
    assert len(cut["rule"]) == 5 and cut["leftOut"] > 0
    pairs = set(zip(whole["rule"], whole["rewrite"], whole["matches"], strict=True))
    assert set(zip(cut["rule"], cut["rewrite"], cut["matches"], strict=True)) <= pairs


def test_counting_nodes_stops_when_its_time_is_over(store: Store) -> None:
    first = store.rule_totals(0.0)
    assert first["counted"] < first["steps"]
    assert all(row["added"] == row["removed"] == 0 for row in first["rows"])
    assert store.rule_totals()["counted"] == first["steps"]


def test_every_node_of_a_pass_leads_back_to_its_first_graph(tmp_path: Path) -> None:
    path = tmp_path / "two.viz"
    recorder = Recorder(path).start()
    try:
        with context("kernel a", "kernel"):
            graph = graph_rewrite(random_graph(5), rules, name="first")
            graph_rewrite(UOp.sink(graph.src[0] * 2), rules, name="second")
    finally:
        recorder.close()
    store = Store(path)
    scope = next(r["id"] for r in store.tree()["rows"] if r["label"] == "kernel")
    rewrites = [r["id"] for r in store.tree()["rows"] if r["kind"] == "rewrite"]
    lineage = store.lineage(scope)
    assert lineage is not None and lineage["done"]
    bundles = {r: store.bundle(r) for r in rewrites}
    known = dict(zip(lineage["node"]["id"], range(len(lineage["node"]["id"])), strict=True))
    for bundle in bundles.values():
        assert bundle is not None
        assert set(bundle["nodes"]["id"]) <= set(known)
    events = lineage["event"]
    for i, (rewrite, step, rule) in enumerate(
        zip(events["rewrite"], events["step"], events["rule"], strict=True)
    ):
        if rule > 0:
            bundle = bundles[rewrite]
            assert bundle is not None
            told = bundle["steps"][step - 1]
            ids = bundle["nodes"]["id"]
            assert told["rule"] == rule
            assert ids[told["before"]] == lineage["node"]["id"][events["old"][i]]
            assert ids[told["after"]] == lineage["node"]["id"][events["new"][i]]
    for at, event in enumerate(lineage["node"]["event"]):
        if event >= 0:  # a walk back always ends
            assert lineage["node"]["event"][events["old"][event]] < event, at
    inputs = [i for i, e in enumerate(lineage["node"]["event"]) if e < 0]
    first = bundles[rewrites[0]]
    assert first is not None
    begun = {first["nodes"]["id"][n] for n in first["initial"]["node"]}
    assert begun <= {lineage["node"]["id"][i] for i in inputs}


def test_history_crosses_from_the_schedule_into_the_kernel(small: Store) -> None:
    rows = {r["name"]: r["id"] for r in small.tree()["rows"]}
    back = node_history(small, 1, rows["lower"], 9.0)
    assert back is not None and back["done"]
    assert [(r["kind"], r["rewrite"], r["op"]) for r in back["rows"]] == [
        ("input", rows["tidy"], "CONST"),
        ("input", rows["lower"], "CONST"),
    ]
    forward = node_history(small, 3, rows["tidy"], 9.0)
    assert forward is not None
    assert [(r["kind"], r["step"], r["line"]) for r in forward["rows"]] == [
        ("input", 0, "a.py:5"),
        ("became", 1, "a.py:3"),
        ("input", 0, "a.py:3"),
    ]
    assert forward["rows"][-1]["rewrite"] == rows["lower"]
    assert node_history(small, 1, 999, 9.0) is None
    assert small.lineage(999) is None
    kernels = small.lineage(1)
    assert kernels is not None
    assert [k["rewrite"] for k in kernels["kernels"]] == [rows["lower"]]


def test_lineage_says_how_far_it_is(store: Store) -> None:
    scope = next(r["id"] for r in store.tree()["rows"] if r["label"] == "kernel")
    waits = store.lineage(scope, 0.0)
    assert waits is not None and not waits["done"] and 0 <= waits["progress"] < 1
    assert node_history(store, 1, 0, 0.0) is None
    done = store.lineage(scope)
    assert done is not None and done["done"]


def test_lineage_is_bounded(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz.views.nodes.lineage.MAX_NODES", 10)
    store = Store(trace)
    for row in store.tree()["rows"]:
        if row["label"] == "schedule":
            made = store.lineage(row["id"])
            assert made is not None
            assert len(made["node"]["id"]) == 10
            assert made["truncated"] == "only the first 10 nodes"


def test_recent_traces_are_those_of_the_cache(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache" / "uopviz"
    folder.mkdir(parents=True)
    (folder / "broken.viz").write_bytes(b"nothing")
    (folder / "a-1.viz").write_bytes(trace.read_bytes())
    monkeypatch.setattr("viz.views.runs.recent.cache_folder", lambda: folder)
    listed = recent_traces(tmp_path / "other.viz")
    assert [t["name"] for t in listed] == ["a-1.viz"]
    assert listed[0]["kernels"] == 2 and listed[0]["steps"] > 0
    assert not listed[0]["open"]
    assert [t["open"] for t in recent_traces(folder / "a-1.viz")] == [True]
    assert cached_trace("a-1.viz") == folder / "a-1.viz"
    for name in ("../run.viz", str(trace), "", "b.viz"):
        with pytest.raises(ServerError):
            cached_trace(name)


def test_routes_answer(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cache" / "uopviz"
    folder.mkdir(parents=True)
    small_trace(folder / "b.viz")
    monkeypatch.setattr("viz.views.runs.recent.cache_folder", lambda: folder)
    guard = Guard(port=80)
    store = Store(trace)
    client = create_app(store, guard).test_client()
    headers = {"X-Uopviz-Token": guard.token, "Host": "127.0.0.1:80"}

    def ask(path: str, status: int = 200) -> Any:
        found = client.get(f"/api/A/{path}", headers=headers)
        assert found.status_code == status, found.text
        return found.json

    rows = store.tree()["rows"]
    rewrite = next(r["id"] for r in rows if r["kind"] == "rewrite" and r["steps"])
    scope = store.scope_of(rewrite)
    assert ask("timeline") == store.timeline()
    totals = ask("rule-totals")
    for _ in range(100):
        if totals["counted"] < totals["steps"]:
            totals = ask("rule-totals")
    assert totals["counted"] == totals["steps"] > 0
    assert ask(f"lineage/{scope}")["done"]
    assert ask("lineage/99999", 404)["error"]["what"]
    assert ask("tree?since=x", 400)["error"]["what"]
    before = ask("traces")
    assert [(t["name"], t["open"]) for t in before["traces"]] == [("b.viz", False)]
    assert (before["open"], before["former"]) == (trace.name, None)

    def go(body: Data) -> int:
        return client.post("/api/A/traces/open", json=body, headers=headers).status_code

    assert go({"former": True}) == 400
    bad = client.post("/api/A/traces/open", json={"name": "../run.viz"}, headers=headers)
    assert bad.status_code == 400
    assert client.post("/api/A/traces/open", json={"name": "b.viz"}).status_code == 403
    good = client.post("/api/A/traces/open", json={"name": "b.viz"}, headers=headers)
    assert good.status_code == 200
    assert ask("run")["totals"]["kernels"] == 1
    assert [r["name"] for r in ask("tree")["rows"]][:2] == ["schedule 1 kernel", "tidy"]
    after = ask("traces")
    assert [(t["name"], t["open"]) for t in after["traces"]] == [("b.viz", True)]
    assert (after["open"], after["former"]) == ("b.viz", trace.name)
    assert go({"name": "b.viz"}) == 200  # opened anew, it is not the one before itself
    assert ask("traces")["former"] == trace.name
    assert go({"former": True}) == 200
    back = ask("traces")
    assert (back["open"], back["former"]) == (trace.name, "b.viz")
    assert ask("run")["totals"]["kernels"] == 2
    (folder / "b.viz").unlink()
    assert go({"former": True}) == 400  # it is gone: this one stays
    assert ask("traces")["open"] == trace.name


def test_an_export_holds_the_views_of_what_it_keeps(trace: Path) -> None:
    store = Store(trace)
    kernel = store.kernels()[0]
    html = export_html(store, kernels=[kernel], redact=True).html
    entries: Data = {}
    for block in re.findall(r'id="uopviz-data-\d+">(.*?)</script>', html):
        entries |= json.loads(block)
    unpacked: Data = {}
    for paths, packed in entries.items():
        answers = json.loads(gzip.decompress(base64.b64decode(packed)))
        unpacked |= dict(zip(paths.split(" "), answers, strict=True))
    kept = {r["id"] for r in store.tree()["rows"]} - set(store.kernels()[1:])
    for track in unpacked["/api/A/timeline"]["tracks"]:
        assert set(track.get("id", [])) <= kept
    totals = unpacked["/api/A/rule-totals"]
    assert totals["counted"] == totals["steps"]
    assert f"/api/A/lineage/{kernel}" in unpacked
    assert f"/api/A/lineage/{store.kernels()[1]}" not in unpacked
    assert all("/" not in line for line in unpacked[f"/api/A/lineage/{kernel}"]["lines"])


def test_names_of_programs_are_relative_to_where_they_ran(tmp_path: Path) -> None:
    for command, cwd, name in (
        (["python", "/home/me/work/a/b.py", "-x"], "/home/me/work", "a/b.py"),
        (["python", "/elsewhere/b.py"], "/home/me/work", "/elsewhere/b.py"),
        (["python", "-m", "pkg.tool"], "/", "pkg.tool"),
        (["python", "/home/me/worker.py"], "/home/me/work", "/home/me/worker.py"),
        (["xdsl-opt", "-p", "cse", "a.mlir"], "/home/me/work", "a.mlir"),
        (["/opt/env/bin/xdsl-opt", "-p", "cse"], "/home/me/work", "xdsl-opt"),
    ):
        path = tmp_path / f"{abs(hash(name))}.viz"
        TraceWriter(path, {"command": command, "cwd": cwd}).close()
        assert Store(path).run()["name"] == name


if __name__ == "__main__":  # rewrites the file that the page's tests read
    with TemporaryDirectory() as folder:
        SHARED.parent.mkdir(exist_ok=True)
        made = shared_views(Store(small_trace(Path(folder) / "small.viz")))
        SHARED.write_text(json.dumps(made, indent=1) + "\n")
